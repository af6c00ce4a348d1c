"""Files read block by block: the same as the file read as a whole, with or without pyarrow."""

import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_samples import write

from mercer.io import DataFileError, read_batches, read_data
from mercer.io.tables import arrow_rows, delimited_files, number_rows
from mercer.io.tables.file_bytes import SizeLimits, Source

CELLS = st.sampled_from(["1", "-2.5", "", "NA", "1e-320", "123456789012345678901234", " 7 ", "inf", "0.1"])


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_any_numbers_in_any_blocks_are_those_of_the_whole(tmp_path_factory, data):
    columns = data.draw(st.integers(2, 4))
    rows = data.draw(st.lists(st.lists(CELLS, min_size=columns, max_size=columns), min_size=2, max_size=40))
    end = data.draw(st.sampled_from(["\n", "\r\n", "\n\n"]))
    lines = [",".join("abcd"[:columns]), *(",".join(row) for row in rows)]
    text = end.join(lines) + data.draw(st.sampled_from(["", end]))
    path = write(tmp_path_factory.mktemp("t"), "t.csv", data.draw(st.sampled_from(["", "\ufeff"])) + text)
    whole = read_data(path, target=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited_files, "BLOCK", data.draw(st.integers(3, 400)))
        for module in (arrow_rows, number_rows):
            patch.setattr(module, "LEAST", data.draw(st.sampled_from([1, 1 << 40])))
        found = read_data(path, target=None)
    np.testing.assert_array_equal(found.X.view(np.int64), whole.X.view(np.int64))
    assert found.feature_names == whole.feature_names


def table(rows, last="3"):
    return "a,b,c\n" + "".join(f"{k},0.5,2\n" for k in range(rows)) + f"1,2,{last}"


@pytest.fixture(params=[(), (arrow_rows,), (number_rows,)], ids=["careful", "pyarrow", "loop"])
def small_blocks(request, monkeypatch):
    monkeypatch.setattr(delimited_files, "BLOCK", 256)
    for module in (arrow_rows, number_rows):
        monkeypatch.setattr(module, "LEAST", 1 if module in request.param else 1 << 40)
        monkeypatch.setattr(module, "LEAST_ALONE", 1 if module in request.param else 1 << 40)


@pytest.mark.parametrize("separator", [" ", ","])
def test_blank_lines_first_and_between(tmp_path, small_blocks, separator):
    names, rows = ["a b c"], [f"{k} 2 3" for k in range(300)]
    lines = ["", " ", "\r", *(line.replace(" ", separator) for line in names + rows)]
    path = write(tmp_path, "t.csv", "\n \t\r\n".join(lines))
    for threads in (1, 2):
        found = read_data(path, target="a", separator=separator, n_jobs=threads)
        assert found.y.tolist() == list(range(300))
        assert found.feature_names == ("b", "c")


def test_mistakes_far_into_the_file_have_their_line(tmp_path, small_blocks):
    path = write(tmp_path, "t.csv", table(500, "3,4"))
    with pytest.raises(DataFileError, match="line 502: 4 cells"):
        read_data(path)
    with pytest.raises(DataFileError, match=r"line 502: .* is not UTF-8"):
        read_data(write(tmp_path, "t.csv", table(500, "\xff").encode("latin-1")))


def test_text_that_comes_late_is_text_from_the_first_row_on(tmp_path, small_blocks):
    path = write(tmp_path, "t.csv", table(500, "red"))
    assert read_data(path).y.tolist() == ["2"] * 500 + ["red"]
    with pytest.raises(DataFileError, match="line 502: 'red' is not a number, but column 'c' held numbers"):
        list(read_batches(path))
    both = "a,b,y\n" + "1,NA,2\n" * 200 + "1,blue,2\n" * 200 + "green,1,2\n"
    with pytest.raises(DataFileError, match="line 402: 'green' is not a number, but column 'a' is to hold"):
        read_data(write(tmp_path, "t.csv", both), categorical=["b"])
    pytest.importorskip("pandas")
    found = read_data(path := write(tmp_path, "t.csv", both))
    assert found.X["a"].tolist() == ["1"] * 400 + ["green"]
    assert found.categories == {"a": ("1", "green"), "b": ("1", "blue")}
    assert found.X["b"].isna().sum() == 200
    assert path.exists()


@pytest.mark.parametrize("shrinks", [True, False])
def test_rows_may_become_shorter_or_longer(tmp_path, small_blocks, shrinks):
    long, short = ["0.12345678901234567,1.5"] * 100, ["1,2"] * 300
    lines = ["a,b", *(long + short if shrinks else short + long)]
    want = [[float(c) for c in line.split(",")] for line in lines[1:]]
    np.testing.assert_array_equal(read_data(write(tmp_path, "t.csv", "\n".join(lines)), target=None).X, want)


def test_a_row_may_be_longer_than_a_block(tmp_path, small_blocks):
    wide = ",".join(f"x{k}" for k in range(500)) + "\n" + ",".join(map(str, range(500))) + "\n"
    np.testing.assert_array_equal(
        read_data(write(tmp_path, "t.csv", wide), target=None).X, [np.arange(500.0)]
    )


def test_the_target_and_the_features_are_the_wished_ones(tmp_path, small_blocks):
    path = write(tmp_path, "t.csv", table(500))
    whole = np.array([[k, 0.5, 2] for k in range(500)] + [[1, 2, 3]])
    for target, features in (("b", None), ("last", ["b"]), (0, ["c", "a"]), ("c", ["c", "a", "b"])):
        found = read_data(path, target=target, features=features)
        k = {"b": 1, "last": 2, 0: 0, "c": 2}[target]
        chosen = [j for j in range(3) if j != k] if features is None else ["abc".index(f) for f in features]
        np.testing.assert_array_equal(found.y, whole[:, k])
        np.testing.assert_array_equal(found.X, whole[:, chosen])
        assert found.X.flags.c_contiguous
    with pytest.raises(DataFileError, match="has no such column; its columns are 'a', 'b', 'c'"):
        read_data(path, target="d")


def test_a_file_that_shrinks_is_named(tmp_path, monkeypatch):
    path = write(tmp_path, "t.csv", table(5000))
    with Source(path, SizeLimits(1 << 30)) as source:
        size = source.plain_size()
        monkeypatch.setattr(Source, "plain_size", lambda _: size)
        os.truncate(path, size // 2)
        with pytest.raises(DataFileError, match=r"t\.csv became shorter while it was read"):
            list(source.again(1 << 10))


def test_the_text_is_never_held_as_a_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited_files, "BLOCK", 1 << 14)
    line = "1.23456789012345,2.34567890123456,3.45678901234567\n"
    path: Path = write(tmp_path, "t.csv", line * 40_000)
    tracemalloc.start()
    found = read_data(path, target=None, n_jobs=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.X.shape == (40_000, 3)
    assert peak < 1.05 * found.X.nbytes + 64 * delimited_files.BLOCK
    assert path.stat().st_size > 64 * delimited_files.BLOCK
