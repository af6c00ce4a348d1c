"""Bars move during one long fit, and there are none in a pipe."""

import io

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from mercer.cli.option_groups import Reading
from mercer.cli.row_count import rows_in
from mercer.cli.screen import Screen
from mercer.solvers import completion as nearing


@pytest.fixture
def looking():
    """Return a screen that somebody looks at, and what its bars have shown."""
    screen = Screen()
    screen.err = Console(file=io.StringIO(), force_terminal=True, width=90, highlight=False)
    return screen


def completed(steps):
    return steps._progress.tasks[0].completed


def test_fits_move_the_bar_between_two_steps(looking, monkeypatch):
    from mercer import SVC

    monkeypatch.setattr(nearing, "PAUSE", 0.0)
    monkeypatch.setattr("mercer.solvers.dual.decomposition.DENSE", 64)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = X[:, 0] + rng.normal(size=150) > 0
    seen = []
    with looking.steps(3) as steps:
        steps.done()
        told = steps.part
        monkeypatch.setattr(steps, "part", lambda share: (told(share), seen.append(completed(steps))))
        with steps.fitting():
            SVC(C=100.0, gamma=2.0, cache_size=0.1, tol=1e-5, n_jobs=1).fit(X, y)
        steps.done()
        assert completed(steps) == 2
    assert any(1.0 < value < 1.95 for value in seen)
    assert max(seen) == 2.0
    assert "time left" in looking.err.file.getvalue()


def test_searches_tell_how_many_pieces_there_are(looking):
    from mercer import SVCSearch

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    with looking.steps(None) as steps, steps.searching():
        SVCSearch(param_grid={"C": [0.1, 1.0]}, cv=3, refit=False).fit(X, X[:, 0] > 0)
        assert steps._progress.tasks[0].total == 6
        assert completed(steps) == 6


def test_without_a_screen_nobody_is_asked():
    quiet = Screen(quiet=True)
    quiet.err = Console(file=io.StringIO(), force_terminal=True)
    piped = Screen()
    piped.err = Console(file=io.StringIO(), force_terminal=False)
    for screen in (quiet, piped):
        with screen.steps(2) as steps, steps.fitting(), steps.searching():
            assert nearing.WAITING.get() is None
            steps.now("nothing")
            steps.done()
            steps.part(0.5)
        assert screen.err.file.getvalue() == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("train", "people.csv", "--target", "buys", "--folds", "2"), "fitting all 120 rows"),
        (("search", "people.csv", "--target", "buys", "--folds", "2"), "settings and folds"),
        (("path", "people.csv", "--target", "buys", "--C-max", "10"), "following the path"),
        (("predict", "people.mercer", "people.csv", "-o", "out.csv", "--batch-rows", "16"), "120/120"),
    ],
    ids=lambda v: v[0] if isinstance(v, tuple) else "",
)
def test_every_long_command_has_a_bar_for_people_and_none_in_a_pipe(
    arguments, words, mercer_command, people, monkeypatch
):
    if arguments[0] == "predict":
        mercer_command("train", "people.csv", "--target", "buys", "-q")
    piped = mercer_command(*arguments)
    assert piped.code == 0
    assert "time left" not in piped.out + piped.err
    assert "\x1b" not in piped.out + piped.err
    monkeypatch.setenv("FORCE_COLOR", "1")
    seen = mercer_command(*arguments)
    assert seen.code == 0
    assert words in seen.err
    assert "time left" in seen.err
    assert "time left" not in seen.out


def test_rows_are_counted_without_reading_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"a": np.arange(37.0), "b": np.arange(37.0)})
    frame.to_csv("some.csv", index=False)
    frame.to_parquet("some.parquet")
    frame.to_feather("some.feather")
    frame.to_csv("some.csv.gz", index=False)
    (tmp_path / "open.csv").write_text("a,b\n1,2\n3,4")
    assert rows_in("some.csv", Reading()) == 37
    assert rows_in("open.csv", Reading()) == 2
    assert rows_in("some.parquet", Reading()) == rows_in("some.feather", Reading()) == 37
    assert rows_in("some.csv.gz", Reading()) is rows_in("-", Reading()) is rows_in("iris", Reading()) is None
    assert rows_in("open.csv", Reading(header=False)) == 3
    (tmp_path / "junk.parquet").write_bytes(b"PAR1 nothing of the kind")
    assert rows_in("junk.parquet", Reading()) is None
