"""The shell commands in the documents are run."""

import re
import shlex
from pathlib import Path

import pytest

from shown_digits import differing_digits

ROOT = Path(__file__).resolve().parents[2]


def commands(path):
    blocks = re.findall(r"(?ms)^```sh\n(.*?)^```$", path.read_text(encoding="utf-8"))
    lines = [line.partition("  #")[0].strip() for block in blocks for line in block.splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith("mercer ")]


def test_the_page_of_the_command(mercer_command, people, tmp_path):
    pytest.importorskip("matplotlib")
    rows = [f"{1 if k % 3 else -1} 1:{k % 3} 2:{(7 * k) % 5}" for k in range(40)]
    (tmp_path / "train.svm").write_text("\n".join(rows) + "\n")
    people.assign(counts=[1 + k % 3 for k in range(len(people))])[
        ["age", "income", "city", "counts", "buys"]
    ].to_csv(tmp_path / "weighted.csv", index=False)
    found = commands(ROOT / "docs" / "command.md")
    assert {words[0] for words in found} >= {"train", "predict", "evaluate", "verify", "search", "path"}
    for words in found:
        done = mercer_command(*words)
        assert done.code == 0, (words, done.err)


def test_the_readme(mercer_command, tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    found = commands(ROOT / "README.md")
    assert [words[0] for words in found] == ["train", "predict", "verify"]
    shown = re.search(
        r"(?ms)^```text\n(plants.csv: .*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8")
    )[1]
    for words in found:
        done = mercer_command(*words)
        assert done.code == 0, (words, done.err)
        if words[0] == "train":
            masked = [re.sub(r"\d+(\.\d+)?", "#", text).split() for text in (done.err + done.out, shown)]
            assert masked[0] == masked[1]
            lines = [line for line in shown.splitlines() if line]
            assert not differing_digits(done.err + done.out, "\n".join(lines))
