"""Numbers that are too large or too small to compute with are told with place, value and way out."""

import numpy as np
import pytest

from mercer import SVCSearch

X = np.random.default_rng(0).normal(size=(60, 2))
KINDS = np.where(X[:, 0] > 0, "yes", "no")


@pytest.fixture
def written(tmp_path, mercer_command):
    def write(columns, target, name="data.csv"):
        rows = zip(*(np.asarray(c).tolist() for c in columns), np.asarray(target).tolist(), strict=True)
        (tmp_path / name).write_text("a,b,target\n" + "".join(",".join(map(str, r)) + "\n" for r in rows))

    return write


@pytest.mark.parametrize("command", ["train", "search", "path"])
@pytest.mark.parametrize("scale", ["--scale", "--no-scale"])
def test_huge_features(command, scale, mercer_command, written):
    huge = np.where(np.arange(60) == 6, 1.5e300, X[:, 1])
    written([X[:, 0], huge], KINDS)
    done = mercer_command(command, "data.csv", scale)
    assert done.code == 2
    words = (
        "column 'b' of data.csv is 1.5e+300 in row 7: squares of numbers beyond 1e+150 overflow. Write it "
    )
    assert words + "in a larger unit (divide it by 1e+300), or leave it out: --exclude b\n" in done.err


def test_huge_features_of_sparse_data(mercer_command, tmp_path):
    rows = [f"{1 if k % 2 else -1} 1:{k % 3} 4:{1e200 if k == 9 else 1}\n" for k in range(30)]
    (tmp_path / "d.svm").write_text("".join(rows))
    done = mercer_command("train", "d.svm")
    assert done.code == 2
    assert "of d.svm is 1e+200 in row 10: squares" in done.err


def test_huge_features_of_new_rows(mercer_command, written):
    written([X[:, 0], X[:, 1]], KINDS)
    assert mercer_command("train", "data.csv", "--folds", "0").code == 0
    written([X[:, 0], X[:, 1] * 1e180], KINDS, "new.csv")
    done = mercer_command("predict", "data.mercer", "new.csv")
    assert done.code == 2
    assert "column 'b' of new.csv is " in done.err


def test_tiny_features(mercer_command, written):
    written([X[:, 0], np.full(60, 3e-310) * (1 + np.arange(60))], KINDS)
    done = mercer_command("train", "data.csv")
    assert done.code == 2
    assert "column 'b' of data.csv has no value above 1.8e-308 in size: squares" in done.err
    assert "multiply it by 1e+308" in done.err


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (
            1e200,
            "in row 7: squares of numbers beyond 1e+150 overflow. Write it in a larger unit: divide it by",
        ),
        (1e-200, "below 1e-150 are 0. Write it in a smaller unit: multiply it by 1e+200"),
    ],
)
def test_targets_beyond_all_squares(factor, words, mercer_command, written):
    y = X[:, 0] / np.abs(X[:, 0]).max()
    y[6] = -1.5
    written([X[:, 0], X[:, 1]], y * factor)
    done = mercer_command("train", "data.csv", "--task", "regress")
    assert done.code == 2
    assert words in done.err
    assert "the target 'target'" in done.err


@pytest.mark.parametrize("command", ["train", "search"])
@pytest.mark.parametrize("factor", [1e32, 1e-32])
def test_targets_of_any_unit_are_learned(command, factor, mercer_command, written):
    """A tolerance of 1e-3 in units of 1e32 is below all rounding: no solver would ever reach it."""
    written([X[:, 0], X[:, 1]], X[:, 0] * factor)
    done = mercer_command(command, "data.csv", "--folds", "2", "--task", "regress", "--json")
    assert done.code == 0, done.err
    score = done.json["best_score"] if command == "search" else done.json["held_out"]["R²"]
    assert score > 0.8


def test_a_search_refuses_kernels_that_overflow():
    """As the machine itself would: scores of infinite kernel values mean nothing."""
    with pytest.raises(ValueError, match=r"kernel=Polynomial\(degree=4.* is not finite at 40 of 40 rows"):
        SVCSearch(param_grid={"kernel": ["poly"], "degree": [4], "gamma": [1.0]}, cv=2).fit(
            np.outer(np.arange(1.0, 41.0), [1e100, 1.0]), np.arange(40) % 2
        )


def test_messages_of_others_are_one_line_too(mercer_command, people, monkeypatch):
    import mercer.cli.learning_table

    def broken(*args):
        raise ValueError("first line.\n    second line\n")

    monkeypatch.setattr(mercer.cli.learning_table, "prepare_table", broken)
    assert mercer_command("train", "people.csv").err.endswith("mercer: first line. second line\n")
