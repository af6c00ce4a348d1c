"""Tables in other formats: ARFF, NPZ, gzip of any, and data sets by name."""

import gzip
import io
import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from table_samples import write

from mercer.io import DataFileError, Table, read_batches, read_data

pytestmark = pytest.mark.core


ARFF = """% a comment
@RELATION weather
@attribute 'air temperature' REAL
@attribute wind numeric
@attribute play {yes, 'not today'}
@data
20.5, 3, yes
% in between
?,4.5,'not today'
"""


def test_arff_dense_and_sparse(tmp_path):
    path = write(tmp_path, "t.arff", ARFF)
    table = read_data(path)
    np.testing.assert_array_equal(table.X, [[20.5, 3], [math.nan, 4.5]])
    assert table.y.tolist() == ["yes", "not today"]
    assert table.feature_names == ("air temperature", "wind")
    sparse = ARFF.partition("@data")[0] + "@data\n{0 1.5, 2 'not today'}\n{1 -2}\n"
    table = read_data(write(tmp_path, "s.arff", sparse))
    np.testing.assert_array_equal(table.X, [[1.5, 0], [0, -2]])
    assert table.y.tolist() == ["not today", "yes"]
    for name in ("t.arff", "s.arff"):
        whole = read_data(tmp_path / name)
        batches = list(read_batches(tmp_path / name, target="play", batch_rows=1))
        np.testing.assert_array_equal(np.vstack([b.X for b in batches]), whole.X)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("@data", "@datum", "has no line @data"),
        ("numeric", "date", "attribute 'wind' is of type 'date'"),
        ("4.5", "much", "'much' is not a number"),
        ("'not today'\n", "never\n", "'never' is not among the declared values of 'play'"),
        ("4.5,", "4.5,,", "4 cells"),
        ("@attribute wind", "wind", "has no meaning before @data"),
        ("today'}", "today'", "no closing brace"),
    ],
)
def test_arff_mistakes_are_named(tmp_path, old, new, message):
    with pytest.raises(DataFileError, match=message):
        read_data(write(tmp_path, "bad.arff", ARFF.replace(old, new)))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1,2", "line 11: 2 cells"),
        ("1,much,yes", "line 11: 'much' is not a number"),
        ("1,2,never", "line 11: 'never' is not among the declared values of 'play'"),
        ("1,2,'yes", "line 11: a quote is opened here"),
    ],
)
def test_a_bad_arff_row_has_its_true_line(tmp_path, row, message):
    pytest.importorskip("pandas")  # good rows before the bad one have a column of text
    path = write(tmp_path, "bad.arff", ARFF + f"\n{row}\n20,1,yes\n")
    with pytest.raises(DataFileError, match=message):
        read_data(path)
    with pytest.raises(DataFileError, match=message):
        list(read_batches(path, batch_rows=1))


@pytest.mark.parametrize("row", ["0 1", "{9 1}", "{0 much}", "{2 never}", "{0}"])
def test_a_bad_sparse_arff_row_has_its_true_line(tmp_path, row):
    sparse = ARFF.partition("@data")[0] + f"@data\n{{0 1.5}}\n\n% in between\n{row}\n"
    path = write(tmp_path, "bad.arff", sparse)
    for read in (read_data, lambda path: list(read_batches(path))):
        with pytest.raises(DataFileError, match=r"bad\.arff, line 10: "):
            read(path)


def test_npz_dense_sparse_and_one_table(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), np.array(["a", "b"] * 10)
    np.savez_compressed(
        tmp_path / "a.npz",
        X=np.asfortranarray(X),
        y=y,
        sample_weight=np.ones(20),
        feature_names=["u", "v", "w"],
    )
    table = read_data(tmp_path / "a.npz")
    np.testing.assert_array_equal(table.X, X)
    np.testing.assert_array_equal(table.y, y)
    assert table.feature_names == ("u", "v", "w")
    np.testing.assert_array_equal(table.sample_weight, np.ones(20))
    np.savez(tmp_path / "b.npz", X.astype(np.float32))
    assert read_data(tmp_path / "b.npz").X.shape == (20, 2)
    for kind in ("csr", "csc", "coo"):
        sp.save_npz(tmp_path / "c.npz", sp.random(9, 4, 0.5, format=kind, random_state=0))
        np.testing.assert_array_equal(
            read_data(tmp_path / "c.npz", target=None).X.toarray(),
            sp.random(9, 4, 0.5, random_state=0).toarray(),
        )
    assert [b.n_rows for b in read_batches(tmp_path / "a.npz", batch_rows=15)] == [15, 5]


@pytest.mark.parametrize("level", [1, 9])
def test_gzip_of_tables_that_are_mostly_zeros(tmp_path, level):
    """What the first bytes expand to is more than what a reader takes at a time."""
    rows = 200_000
    text = b"a,b,c,d,e,f\n" + b"0,0,0,0,0,0\n" * (rows - 1) + b"1,2,3,4,5,6\n"
    packed = gzip.compress(text, level)
    assert len(packed) < 1 << 16 < 1 << 20 < len(text)
    path = write(tmp_path, "zeros.csv.gz", packed)
    table = read_data(path)
    assert table.X.shape == (rows, 5)
    assert table.X[:-1].any() == table.y[:-1].any() == False  # noqa: E712
    assert [*table.X[-1], table.y[-1]] == [1, 2, 3, 4, 5, 6]
    assert sum(batch.n_rows for batch in read_batches(path)) == rows


def test_gzip_of_any_format(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.eye(3), y=[1, 2, 3])
    sources_ = {
        "t.csv": b"a,b\n1,2\n3,4\n",
        "t.svm": b"1 1:2\n",
        "t.arff": ARFF.encode(),
        "a.npz": (tmp_path / "a.npz").read_bytes(),
    }
    for name, content in sources_.items():
        plain = read_data(write(tmp_path, name, content))
        packed = gzip.compress(content[:7]) + gzip.compress(
            content[7:]
        )  # two members, as concatenated files have
        zipped = read_data(write(tmp_path, f"{name}.gz", packed))
        assert zipped.format == plain.format
        np.testing.assert_array_equal(np.nan_to_num(_dense(zipped)), np.nan_to_num(_dense(plain)))


def _dense(table):
    return table.X.toarray() if table.is_sparse else table.X


def test_formats_are_recognised_by_content(tmp_path):
    for content, kind in (
        (ARFF.encode(), "arff"),
        (b"# c\n1 qid:2 1:3\n", "svmlight"),
        (b"1 2 3\n4 5 6\n", "csv"),
    ):
        assert read_data(write(tmp_path, "mystery", content)).format == kind


def test_standard_input(monkeypatch):
    class Stdin:
        buffer = io.BytesIO(b"a,b\n1,2\n")

    monkeypatch.setattr("sys.stdin", Stdin)
    assert read_data("-").source == "standard input"


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits", "diabetes", "linnerud"])
def test_data_sets_of_scikit_learn_by_name(name):
    table = read_data(name)
    assert isinstance(table, Table)
    assert table.n_rows == len(table.y)
    assert len(table.feature_names) == table.n_features
    assert sum(b.n_rows for b in read_batches(name, batch_rows=50)) == table.n_rows


def test_classes_of_named_sets_have_their_names():
    table = read_data("iris")
    np.testing.assert_array_equal(table.X, load_iris().data)
    assert sorted(set(table.y.tolist())) == ["setosa", "versicolor", "virginica"]


def test_a_file_wins_over_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "iris", "1,2\n3,4\n")
    assert read_data("iris").n_rows == 2
