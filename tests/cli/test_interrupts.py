"""Ctrl-C: exit code 130 and nothing written, or, with --keep-partial, what was reached and exit code 4."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import mercer

pytest.importorskip("typer")
pandas = pytest.importorskip("pandas")

COMMANDS = {
    "train": (["train", "people.csv", "--target", "buys", "-o", "new.mercer"], ["new.mercer"]),
    "train, search and report": (
        ["train", "people.csv", "--target", "buys", "--search", "--folds", "2", "--report", "new.html"],
        ["new.html", "people.mercer"],
    ),
    "predict": (["predict", "old.mercer", "new.csv", "-o", "out.csv"], ["out.csv"]),
    "report": (["report", "old.mercer", "people.csv", "--target", "buys", "--folds", "0"], ["old.html"]),
    "convert": (["convert", "old.model", "out.mercer"], ["out.mercer"]),
    "svm-train": (["svm-train", "-q", "d.svm", "out.model"], ["out.model"]),
    "svm-predict": (["svm-predict", "d.svm", "old.model", "out.txt"], ["out.txt"]),
    "svm-scale": (["svm-scale", "-s", "ranges", "d.svm"], ["ranges"]),
}


@pytest.fixture
def inputs(people, mercer_command, tmp_path):
    """A folder with data and models."""
    rng = np.random.default_rng(0)
    lines = (f"{1 if k % 2 else -1} 1:{k % 2 + rng.normal():.3g} 2:{rng.normal():.3g}\n" for k in range(60))
    (tmp_path / "d.svm").write_text("".join(lines))
    assert mercer_command("train", "people.csv", "--target", "buys", "-o", "old.mercer", "-q").code == 0
    assert mercer_command("svm-train", "-q", "d.svm", "old.model").code == 0
    return sorted(path.name for path in tmp_path.iterdir() if path.is_file())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="it forks")
@pytest.mark.slow
def test_an_interrupted_command_writes_nothing(inputs, tmp_path):
    """At whatever moment: all is written and the code is 0, or nothing and it is 130."""
    script = Path(__file__).with_name("interrupting.py")
    asked = json.dumps([(words, inputs) for words, _ in COMMANDS.values()])
    done = subprocess.run(
        [sys.executable, script], input=asked, capture_output=True, text=True, check=True, timeout=600
    )
    struck = 0
    for (name, (_, written)), (whole, trials) in zip(COMMANDS.items(), json.loads(done.stdout), strict=True):
        assert whole["code"] == 0, (name, whole["errors"])
        assert whole["files"] == sorted([*inputs, *written]), name
        for trial in trials:
            assert trial["code"] in (0, 130), (name, trial)
            assert trial["files"] == (whole["files"] if trial["code"] == 0 else inputs), (name, trial)
            assert "Traceback" not in trial["errors"], (name, trial)
        assert trials[0]["code"] == 130, (name, trials[0])
        struck += sum(trial["code"] == 130 for trial in trials)
    assert struck >= 1.5 * len(COMMANDS)  # not only at the first moment


def test_a_process_that_is_interrupted_ends_with_130(people, tmp_path):
    """As a shell would see it: the signal comes from outside, once the command has said its first word."""
    start = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    start += "from mercer.cli import main; main()"
    words = ["train", "people.csv", "--target", "buys", "--search", "--folds", "50"]
    with subprocess.Popen(
        [sys.executable, "-c", start, *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert "120 rows" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        assert process.wait(120) == 130
    assert rest.endswith("mercer: interrupted; nothing was written\n")
    assert not list(tmp_path.glob("*.mercer"))
    assert not list(tmp_path.glob(".*"))


@pytest.fixture
def ctrl_c():
    """Let Ctrl-C do what it does in a program of its own, and press it at the n-th call of a function."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def pressing(function, times):
        left = list(times)
        calls, lock = [0], threading.Lock()

        def pressed(*args, **options):
            with lock:
                calls[0] += 1
                now = calls[0] in left
            if now:
                signal.raise_signal(signal.SIGINT)
            if threading.current_thread() is not threading.main_thread() and calls[0] >= min(times):
                time.sleep(0.1)  # the main thread hears of it before all work is done
            return function(*args, **options)

        return pressed

    yield pressing
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("command", ["train", "search"])
@pytest.mark.parametrize("keep", [False, True])
def test_a_search_that_is_interrupted(command, keep, mercer_command, people, tmp_path, monkeypatch, ctrl_c):
    from mercer.selection.progress import Progress

    monkeypatch.setattr(Progress, "advance", ctrl_c(Progress.advance, [30]))
    words = [command, "people.csv", "--target", "buys", "--folds", "3"]
    words += ["--search"] if command == "train" else []
    done = mercer_command(*words, *(["--keep-partial"] if keep else []))
    assert done.code == (4 if keep else 130), done.err
    assert (tmp_path / "people.mercer").exists() == (keep and command == "train")
    if not keep:
        assert done.err.endswith("mercer: interrupted; nothing was written\n")
        assert done.out == ""
    elif command == "train":
        assert "ended early (interrupted)" in done.err
        assert done.err.endswith(
            "interrupted; the search ended early; partial results are in people.mercer\n"
        )
        assert mercer_command("verify", "people.mercer", "people.csv", "--target", "buys").code == 0
    else:
        assert "chosen" in done.out
        assert "the best of the settings tried so far" in done.err
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_that_is_swallowed_still_counts(mercer_command, people, tmp_path, monkeypatch, ctrl_c):
    """Somebody else's `except BaseException` may eat the exception; nothing is written all the same."""
    from mercer.cli.trainer import Trainer

    real, struck = Trainer.score, []

    def swallowing(self, *args, **options):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            struck.append(1)
        return real(self, *args, **options)

    monkeypatch.setattr(Trainer, "score", swallowing)
    done = mercer_command("train", "people.csv", "--target", "buys")
    assert struck
    assert done.code == 130
    assert not (tmp_path / "people.mercer").exists()


def test_measuring_that_is_interrupted_leaves_the_model(mercer_command, people, monkeypatch, ctrl_c):
    from mercer.cli.trainer import Trainer

    monkeypatch.setattr(Trainer, "score", ctrl_c(Trainer.score, [3]))
    done = mercer_command("train", "people.csv", "--target", "buys", "--keep-partial")
    assert done.code == 4
    assert "measuring ended early" in done.err
    assert "held-out rows" in done.out
    assert "cross-validation" in done.out  # of the one fold that was done
    assert "optimal" in done.out
    assert mercer.load("people.mercer")[-1].on_interrupt == "raise"


def test_a_last_fit_that_is_interrupted_is_said(mercer_command, people, monkeypatch):
    real = mercer.SVC.fit

    def fit(self, *args, **options):
        real(self, *args, **options)
        if self.on_interrupt == "keep":
            self.certificate_ = dataclasses.replace(self.certificate_, status="interrupted")
        return self

    monkeypatch.setattr(mercer.SVC, "fit", fit)
    done = mercer_command("train", "people.csv", "--target", "buys", "--folds", "0", "--keep-partial")
    assert done.code == 4
    assert "interrupted; the last fit ended early; partial results are in people.mercer" in done.err


def test_a_path_that_is_interrupted_is_said(mercer_command, people, monkeypatch):
    real = mercer.SVCPath.fit

    def fit(self, *args, **options):
        assert self.on_interrupt == "keep"
        real(self, *args, **options)
        self.paths_ = [dataclasses.replace(path, status="interrupted") for path in self.paths_]
        return self

    monkeypatch.setattr(mercer.SVCPath, "fit", fit)
    done = mercer_command("path", "people.csv", "--target", "buys", "--points", "3", "--keep-partial")
    assert done.code == 4
    assert "interrupted; the path ends at C = 1e+04" in done.err


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("keep", [False, True])
def test_predictions_that_are_interrupted(
    ending, keep, inputs, mercer_command, tmp_path, monkeypatch, ctrl_c
):
    monkeypatch.setattr(mercer.SVC, "predict", ctrl_c(mercer.SVC.predict, [2]))
    out = tmp_path / f"out.{ending}"
    out.write_text("what was there before")
    flags = ["--batch-rows", "10", *(["--keep-partial"] if keep else [])]
    done = mercer_command("predict", "old.mercer", "new.csv", "-o", out.name, *flags)
    if keep:
        assert done.code == 4
        assert f"interrupted; {out.name} has the first 20 predictions" in done.err
        read = pandas.read_csv if ending == "csv" else pandas.read_parquet
        assert len(read(out)) == 20
    else:
        assert done.code == 130
        assert out.read_text() == "what was there before"
    assert not list(tmp_path.glob(".*"))


def test_predictions_on_standard_output_say_how_far_they_came(inputs, mercer_command, monkeypatch, ctrl_c):
    monkeypatch.setattr(mercer.SVC, "predict", ctrl_c(mercer.SVC.predict, [2]))
    done = mercer_command("predict", "old.mercer", "new.csv", "--batch-rows", "10")
    assert done.code == 130
    assert done.out.startswith("prediction\n")
    assert "standard output ends after 10 predictions" in done.err


def test_a_result_keeps_the_mode_and_the_link_of_what_it_replaces(inputs, mercer_command, tmp_path):
    (tmp_path / "real.csv").write_text("")
    (tmp_path / "real.csv").chmod(0o600)
    (tmp_path / "link.csv").symlink_to("real.csv")
    assert mercer_command("predict", "old.mercer", "new.csv", "-o", "link.csv").code == 0
    assert (tmp_path / "link.csv").is_symlink()
    assert len((tmp_path / "real.csv").read_text().splitlines()) == 31
    assert (tmp_path / "real.csv").stat().st_mode & 0o777 == 0o600
