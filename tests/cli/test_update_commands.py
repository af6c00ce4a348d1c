"""Rows come and go in models of the command: train --update and forget."""

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import SVC
from mercer.cli.update_commands import row_numbers
from mercer.cli.user_error import UserError


@pytest.fixture
def halves(tmp_path):
    """Two files with the rows of one table."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.normal(size=90), "b": rng.normal(size=90)})
    frame["kind"] = np.where(frame["a"] + 0.5 * rng.normal(size=90) > 0, "x", "y")
    frame.head(60).to_csv(tmp_path / "first.csv", index=False)
    frame.tail(30).to_csv(tmp_path / "second.csv", index=False)
    return frame


def test_update_and_forget_equal_a_fit_on_the_rows_that_are_left(mercer_command, halves, tmp_path):
    path = tmp_path / "first.mercer"
    assert mercer_command("train", "first.csv", "--updatable").code == 0
    done = mercer_command("train", "second.csv", "--update", path, "--json")
    assert done.code == 0
    assert (done.json["learned"], done.json["rows"]) == (30, 90)
    done = mercer_command("forget", path, "--rows", "0,5-7", "--json")
    assert done.code == 0
    assert (done.json["forgotten"], done.json["rows"]) == ([0, 5, 6, 7], 86)
    model = mercer.load(path)
    left = halves.drop(index=[0, 5, 6, 7])
    machine = model[-1]
    prepared = model[:-1].transform(left[["a", "b"]])
    fresh = SVC(kernel=machine.kernel_, tol=1e-9, C=machine.C).fit(np.asarray(prepared), left["kind"])
    np.testing.assert_allclose(
        model.decision_function(left[["a", "b"]]), fresh.decision_function(np.asarray(prepared)), atol=1e-6
    )
    # The rows' numbers, as they were prepared, are no longer in the file.
    gone = model[:-1].transform(halves[["a", "b"]].iloc[[5]])
    content = path.read_bytes()
    assert all(np.float64(value).tobytes() not in content for value in np.asarray(gone).ravel())
    assert "86" in mercer_command("show", path).out


def test_another_file_leaves_the_model_alone(mercer_command, halves, tmp_path):
    mercer_command("train", "first.csv", "--updatable")
    before = (tmp_path / "first.mercer").read_bytes()
    assert mercer_command("forget", "first.mercer", "--rows", "1", "-o", "other.mercer").code == 0
    assert (tmp_path / "first.mercer").read_bytes() == before
    assert mercer.load(tmp_path / "other.mercer")[-1].shape_fit_ == (59, 2)


def test_what_cannot_be_updated_is_refused(mercer_command, halves):
    mercer_command("train", "first.csv")
    update = ("train", "second.csv", "--update", "first.mercer")
    for words in (update, ("forget", "first.mercer", "--rows", "1")):
        done = mercer_command(*words)
        assert done.code != 0
        assert "--updatable" in done.err
    done = mercer_command("train", "first.csv", "--nu", "0.2", "--updatable")
    assert done.code != 0
    assert "NuSVC has no exact updates" in done.err
    mercer_command("train", "first.csv", "--updatable")
    done = mercer_command("train", "second.csv", "--update", "first.mercer", "--C", "3")
    assert "leave out" in done.err
    done = mercer_command("forget", "first.mercer", "--rows", "60")
    assert "rows 0 to 59" in done.err


def test_lists_of_rows():
    assert row_numbers("3, 1,5-7,6") == [1, 3, 5, 6, 7]
    for bad in ("", "a", "7-5", "-1", "1,,2"):
        with pytest.raises(UserError, match="such as"):
            row_numbers(bad)
