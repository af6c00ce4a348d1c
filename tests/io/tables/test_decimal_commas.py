"""Numbers with decimal commas are read as they are meant, and nothing else changes."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import io


def written(folder, text, name="data.csv"):
    path = folder / name
    path.write_bytes(text.encode())
    return path


def german(value, digits=2):
    whole, point, decimals = f"{value:,.{digits}f}".partition(".")
    return whole.replace(",", ".") + point.replace(".", ",") + decimals


def test_semicolons_and_commas(tmp_path):
    path = written(tmp_path, "area;rooms;price\n81,5; 3 ; 1.204,25 \n120;2;-0,5e3\n,5;NA;1.204\n")
    table = io.read_data(path, target="price")
    np.testing.assert_array_equal(table.X, [[81.5, 3], [120, 2], [0.5, np.nan]])
    np.testing.assert_array_equal(table.y, [1204.25, -500.0, 1204.0])
    assert table.decimal == ","


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_a_file_without_a_header(tmp_path, separator):
    rows = [["1,5", "2,5", "3,5"], ["4,5", "5,25", "6"]]
    path = written(tmp_path, "\n".join(separator.join(row) for row in rows))
    table = io.read_data(path, target=None)
    np.testing.assert_array_equal(table.X, [[1.5, 2.5, 3.5], [4.5, 5.25, 6.0]])


def test_texts_keep_their_commas_and_points(tmp_path):
    pytest.importorskip("pandas")
    body = 'Ort;Preis;Art\nBerlin, Mitte;1,5;"Typ 1,5"\nUlm;2,5;v1.200\n'
    table = io.read_data(written(tmp_path, body), target=None)
    assert table.categories == {"Ort": ("Berlin, Mitte", "Ulm"), "Art": ("Typ 1,5", "v1.200")}
    np.testing.assert_array_equal(table.X["Preis"], [1.5, 2.5])


@pytest.mark.parametrize(
    "body",
    [
        "a,b,c\n1.5,2,3\n4,5,6\n",  # commas separate
        "a;b\n1.5;2\n1.234;5\n",  # points, no comma anywhere
        "a;b\nred, green;2\nblue;5\n",  # commas in a text
    ],
)
def test_other_files_are_left_alone(tmp_path, body):
    path = written(tmp_path, body)
    table = io.read_data(path, target=None)
    plain = io.read_data(path, target=None, decimal=".")
    assert table.decimal == "."
    np.testing.assert_array_equal(np.asarray(table.X), np.asarray(plain.X))


def test_batches_and_gzip_agree_with_the_whole(tmp_path):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(scale=2000, size=(5000, 3)), 2)
    text = "a;b;c\n" + "".join(";".join(german(v) for v in row) + "\n" for row in X)
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    batches = list(io.read_batches(path, batch_rows=700))
    assert len(batches) > 5
    np.testing.assert_array_equal(np.concatenate([batch.X for batch in batches]), X)
    np.testing.assert_array_equal(io.read_data(path, target=None).X, X)


def test_a_comma_that_comes_late_must_be_told(tmp_path):
    path = written(tmp_path, "a;b\n" + "1;2\n" * 300 + "1,5;2\n")
    table = io.read_data(path, target=None, decimal=",")
    assert table.X[-1, 0] == 1.5


@pytest.mark.parametrize(
    ("options", "words"),
    [({"decimal": "x"}, "decimal='x' must be"), ({"decimal": ",", "separator": ","}, "between its cells")],
)
def test_impossible_wishes(tmp_path, options, words):
    with pytest.raises(io.DataFileError, match=words):
        io.read_data(written(tmp_path, "a;b\n1,5;2\n"), **options)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=8))
def test_every_number_comes_back(tmp_path_factory, hundredths):
    values = np.array(hundredths) / 100.0
    body = "x;y\n" + "".join(f"{german(v)};1\n" for v in values)
    table = io.read_data(written(tmp_path_factory.mktemp("n"), body), target=None)
    np.testing.assert_array_equal(table.X[:, 0], values)
