"""``mercer play`` as a person starts and ends it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from urllib.request import urlopen

import pytest

pytest.importorskip("bokeh")
pytest.importorskip("typer")

TABLE = "size,colour,kind\n" + "".join(
    f"{i % 7},{'red' if i % 3 else 'blue'},{'a' if i % 7 > 3 else 'b'}\n" for i in range(40)
)


def start(folder, *words):
    # A job in the background of a shell ignores Ctrl-C, and so would its children.
    with_ctrl_c = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    code = with_ctrl_c + "from mercer.cli import main; sys.argv[0] = 'mercer'; main()"
    command = [sys.executable, "-c", code, "play", "--no-browser", *words]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_it_serves_a_file_until_ctrl_c(tmp_path):
    (tmp_path / "things.csv").write_text(TABLE)
    with start(tmp_path, "things.csv", "--target", "kind") as process:
        try:
            for line in process.stdout:
                if found := re.search(r"http://127\.0\.0\.1:\d+/\S+/", line):
                    break
            with urlopen(found.group(0)) as answer:
                assert b"mercer play" in answer.read()
        finally:
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Traceback" not in errors


def test_a_file_that_is_not_there_is_told_in_a_line(tmp_path):
    with start(tmp_path, "nothing.csv") as process:
        _, errors = process.communicate(timeout=120)
    assert process.returncode not in (0, 1)
    assert "nothing.csv" in errors
    assert "Traceback" not in errors
