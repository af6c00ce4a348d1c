"""Delimited text: every number to the last bit, every mistake with its line."""

import math
import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from table_samples import random_floats, write

from mercer.io import DataFileError, read_batches, read_data
from mercer.io.tables import delimited_files, file_bytes, svmlight

pytestmark = pytest.mark.core


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("sep", [",", ";", "\t", "|", " "])
def test_numbers_come_back_exactly(tmp_path, sep, end):
    X = np.array(random_floats(4000, 3)[:3990]).reshape(-1, 6) * np.array([1, -1, 1, -1, 1, 1.0])
    text = end.join(sep.join(map(repr, row)) for row in X.tolist()) + end
    table = read_data(write(tmp_path, "t.txt", text), format="csv", n_jobs=2)
    np.testing.assert_array_equal(np.column_stack([table.X, table.y]).view(np.int64), X.view(np.int64))
    assert list(table.feature_names) == ["x0", "x1", "x2", "x3", "x4"]
    assert not table.named


def naive(text, sep=","):
    """Read a table of numbers the slow way."""
    rows = [line.split(sep) for line in text.splitlines() if line.strip()]
    return np.array([[float(c) if c.strip() else math.nan for c in row] for row in rows])


def test_several_threads_may_be_the_first_to_need_the_compiler(tmp_path):
    X = np.random.default_rng(0).normal(size=(20_000, 2))
    path = write(tmp_path, "t.svm", "".join(f"1 1:{a!r} 2:{b!r}\n" for a, b in X.tolist()))
    code = f"from mercer.io import read_data; print(read_data({str(path)!r}, n_jobs=4).X.data.sum())"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "compiled")}  # nothing is compiled yet
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == X.ravel().sum()


def test_many_small_parts_give_the_same_as_one(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    text = (
        "\n".join(",".join(f"{v:.3g}" if v > -1.5 else "" for v in row) for row in rng.normal(size=(900, 3)))
        + "\n\n"
    )
    text = text.replace("\n", "\n\n", 20)
    path = write(tmp_path, "t.csv", text)
    want = naive(text)
    for jobs in (1, 3):
        monkeypatch.setattr(delimited_files, "BLOCK", 700)
        monkeypatch.setattr(file_bytes, "PIECE", 512)
        monkeypatch.setattr(file_bytes, "HEAD", 512)
        np.testing.assert_array_equal(read_data(path, target=None, n_jobs=jobs).X, want)
        batches = list(read_batches(path, batch_rows=7, n_jobs=jobs))
        np.testing.assert_array_equal(np.vstack([b.X for b in batches]), want)
        assert [b.first_row for b in batches] == np.cumsum([0, *[b.n_rows for b in batches]])[:-1].tolist()
        assert max(b.n_rows for b in batches) <= 7


@pytest.mark.parametrize("kind", ["csv", "svmlight"])
def test_batches_take_constant_memory(tmp_path, monkeypatch, kind):
    line = {"csv": "1.25,2.5,3,4,5,6,7,8\n", "svmlight": "1 1:1.25 2:2.5 3:3 4:4\n"}[kind]
    path = write(tmp_path, "t.txt", line * 20)
    for _ in read_batches(path, format=kind, n_jobs=1):  # compiled before memory is looked at
        pass
    for module in (delimited_files, svmlight):
        monkeypatch.setattr(module, "BLOCK", 1 << 16)
    monkeypatch.setattr(file_bytes, "PIECE", 1 << 14)
    peaks = []
    for rows in (20_000, 200_000):
        write(tmp_path, "t.txt", line * rows)
        tracemalloc.start()
        assert sum(b.n_rows for b in read_batches(path, format=kind, n_jobs=1, batch_rows=1000)) == rows
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


def test_headers_targets_and_missing_values(tmp_path):
    path = write(tmp_path, "t.csv", "\ufeffage,income,ok\n1,2,yes\n3,,no\n\n?,6.25,yes")
    table = read_data(path)
    np.testing.assert_array_equal(table.X, [[1, 2], [3, np.nan], [np.nan, 6.25]])
    assert table.y.tolist() == ["yes", "no", "yes"]
    assert (table.feature_names, table.target_name) == (("age", "income"), "ok")
    assert table.n_missing() == {"age": 1, "income": 1}
    chosen = read_data(path, target="income", features=["age"])
    np.testing.assert_array_equal(chosen.X, [[1], [3], [np.nan]])
    assert read_data(path, target=0, features=["income"]).target_name == "age"
    assert read_data(path, target=-1).target_name == "ok"
    assert read_data(path, target="first", features=["income"]).target_name == "age"
    assert read_data(path, target=None, features=["income"]).y is None
    np.testing.assert_array_equal(table.select(["income", "age"]).X, table.X[:, ::-1])


def test_quotes_hide_separators_and_line_ends(tmp_path):
    text = 'a,"b, and\tc",y\n1,"2.5","he said ""no"",\nand left"\n"3",4,5" pipe\n'
    table = read_data(write(tmp_path, "t.csv", text))
    np.testing.assert_array_equal(table.X, [[1, 2.5], [3, 4]])
    assert list(table.feature_names) == ["a", "b, and\tc"]
    assert table.y.tolist() == ['he said "no",\nand left', '5" pipe']


def test_an_empty_cell_may_end_the_file(tmp_path):
    for text in ("a,b,y\n1,2,", "a,b,y\n1,2, ", "a,b,y\r\n1,2,\r"):
        table = read_data(write(tmp_path, "t.csv", text), target="a")
        np.testing.assert_array_equal(table.X, [[2.0, np.nan]])


def test_hard_numbers_and_spaces(tmp_path):
    text = "a,b,y\n 1e400 , 1e-320,1\n-inf,1234567890123456789012345678,0\nNA, nan ,1\n"
    table = read_data(write(tmp_path, "t.csv", text))
    want = np.array([[math.inf, 1e-320], [-math.inf, 1234567890123456789012345678.0], [math.nan, math.nan]])
    np.testing.assert_array_equal(table.X, want)


@pytest.mark.parametrize("separator", [" ", ",", ";", "\t", "|"])
@pytest.mark.parametrize("blank", ["", " ", "   ", "\r", " \r", "\t"])
def test_lines_without_a_cell_are_no_rows(tmp_path, separator, blank):
    if separator == "\t" == blank:
        return  # two empty cells
    rows = [["a", "b"], ["1", "2"], ["3", "4.5"], ["5", "6"]]
    text = f"\n{blank}\n".join([blank, *(separator.join(row) for row in rows), blank, blank])
    want = [[1, 2], [3, 4.5], [5, 6]]
    path = write(tmp_path, "t.csv", text)
    np.testing.assert_array_equal(read_data(path, target=None).X, want)
    np.testing.assert_array_equal(read_data(path, target=None, separator=separator).X, want)
    np.testing.assert_array_equal(np.concatenate([batch.X for batch in read_batches(path)]), want)
    words = text.replace("4.5", "word")
    table = read_data(write(tmp_path, "t.csv", words))
    assert (table.X[:, 0].tolist(), table.y.tolist()) == ([1, 3, 5], ["2", "word", "6"])


def test_a_carriage_return_amid_a_row_of_spaces_moves_no_cell(tmp_path):
    table = read_data(write(tmp_path, "t.txt", "a b c\n1 \r2 x\n3 4 y\n"))
    assert (table.X.tolist(), table.y.tolist()) == ([[1, 2], [3, 4]], ["x", "y"])


def test_nothing_but_blanks_is_no_table(tmp_path):
    for text in (" \n\n  \n", " ", "\r\n \t\r\n"):
        for separator in (None, " ", ","):
            with pytest.raises(DataFileError, match="has no rows"):
                read_data(write(tmp_path, "t.csv", text), separator=separator)


@pytest.mark.parametrize("block", [32, 1 << 20])
def test_separators_at_the_end_of_lines_make_no_columns(tmp_path, monkeypatch, block):
    monkeypatch.setattr(delimited_files, "BLOCK", block)
    rows = "".join(f"{k},{2 * k},{k % 2},,\r\n" for k in range(40))
    path = write(tmp_path, "t.csv", "a,b,y,,\r\n" + rows)
    for options in ({}, {"target": "y"}, {"target": 2}):
        table = read_data(path, **options)
        assert (table.feature_names, table.target_name) == (("a", "b"), "y")
        assert table.y.tolist() == [k % 2 for k in range(40)]
    assert read_data(path, target=None).feature_names == ("a", "b", "y")
    path = write(tmp_path, "t.csv", "a,b,y,,\r\n" + rows + "1,2,1,,7\r\n")
    table = read_data(path, target="y")  # a value: the column is one, and its gaps are told
    assert table.feature_names == ("a", "b", "column 4")
    assert table.n_missing() == {"column 4": 40}


def test_an_index_without_a_name_is_a_column(tmp_path):
    table = read_data(write(tmp_path, "t.csv", ",a,y\n0,1.5,2\n1,2.5,3\n"))
    assert table.feature_names == ("column 0", "a")
    assert read_data(write(tmp_path, "t.csv", ",,\n,,\n,,\n"), target=None).n_features == 3


def test_a_missing_target_is_told_before_the_rows_are_read(tmp_path):
    path = write(tmp_path, "t.csv", "a,b\n1,2\n3\n")
    with pytest.raises(
        DataFileError, match=r"target='c': t\.csv has no such column; its columns are 'a', 'b'"
    ):
        read_data(path, target="c")


def test_a_first_row_with_a_number_is_no_header(tmp_path):
    assert read_data(write(tmp_path, "a.csv", "1,x\n2,y\n")).n_rows == 2
    assert read_data(write(tmp_path, "b.csv", "1,x\n2,y\n"), header=True).n_rows == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3\n", r"line 3: 1 cell separated by ',', but the rows before have 2"),
        ("a,b\n1,2\n\n3,4,5\n", "line 4: 3 cells"),
        ("a,b\n1,2,\n", "line 2: 3 cells .* the first row must name each column"),
        ("A title\na,b\n1,2\n", "line 2: 1 cell .* no title stands before it"),
        ("Report 2024\na,b\n1,2\n", "line 2: 1 cell .* no title or comment may stand before the table"),
        ('a,b\n1,2\n"3,4\n', "line 3: a quote is opened here and never closed"),
        ("a,a\n1,2\n", "two columns named 'a'"),
        ("a,b\n", "has no rows"),
        ("", "has no rows"),
        ("\n\n\n", "has no rows"),
        ("a\n1\n", "no column left for features"),
        ("a,b\n1,\0\n", "zero bytes"),
        ("a,b\n1,x\n2,\n", "target 'b' is missing in 1 row, first in row 2"),
    ],
)
def test_mistakes_are_named_with_their_line(tmp_path, text, message):
    with pytest.raises(DataFileError, match=message):
        read_data(write(tmp_path, "bad.csv", text))


def test_text_that_comes_late_is_refused_in_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited_files, "BLOCK", 64)
    monkeypatch.setattr(file_bytes, "PIECE", 64)
    monkeypatch.setattr(file_bytes, "HEAD", 64)
    path = write(tmp_path, "t.csv", "a,b\n" + "1,2\n" * 100 + "1,red\n")
    with pytest.raises(
        DataFileError, match=r"line 102: 'red' is not a number, but column 'b' held numbers so far"
    ):
        list(read_batches(path))
    with pytest.raises(DataFileError, match="column 'b' is to hold numbers"):
        read_data(path, categorical=[])


def test_wrong_requests_are_refused(tmp_path):
    path = write(tmp_path, "t.csv", "a,b\n1,2\n")
    for options, message in (
        ({"target": "c"}, "target='c': t.csv has no such column; its columns are 'a', 'b'"),
        ({"target": 5}, "numbered from 0 to 1"),
        ({"features": ["z"]}, "has no column 'z'"),
        ({"format": "xls"}, "format='xls' is invalid"),
        ({"separator": ",,"}, "must be one character"),
        ({"header": "maybe"}, "must be True, False or 'auto'"),
        ({"max_bytes": 3}, "raise max_bytes"),
    ):
        with pytest.raises(DataFileError, match=message):
            read_data(path, **options)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        read_data(tmp_path / "none.csv")
    with pytest.raises(DataFileError, match="is a folder"):
        read_data(tmp_path)
    with pytest.raises(DataFileError, match="batch_rows=0"):
        next(read_batches(path, batch_rows=0))
