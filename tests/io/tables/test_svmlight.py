"""svmlight and LIBSVM text: as scikit-learn reads it, with better messages."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from table_samples import write

from mercer.io import DataFileError, read_batches, read_data
from mercer.io.tables import file_bytes, svmlight

pytestmark = pytest.mark.core


@pytest.mark.parametrize("zero_based", [True, False])
def test_svmlight_agrees_with_scikit_learn(tmp_path, zero_based, monkeypatch):
    rng = np.random.default_rng(0)
    X = sp.random(500, 30, density=0.2, random_state=0, format="csr")
    X.data[:] = rng.normal(size=X.nnz) * 10.0 ** rng.integers(-300, 300, X.nnz)
    y = rng.integers(-2, 3, 500)
    query = np.repeat(np.arange(50), 10)
    path = tmp_path / "t.svm"
    dump_svmlight_file(X, y, str(path), zero_based=zero_based, query_id=query, comment="made up")
    table = read_data(path, zero_based=zero_based, n_features=30, n_jobs=3)
    theirs, labels, ids = load_svmlight_file(str(path), n_features=30, query_id=True, zero_based=zero_based)
    np.testing.assert_array_equal(table.X.toarray().view(np.int64), theirs.toarray().view(np.int64))
    np.testing.assert_array_equal(table.y, labels)
    np.testing.assert_array_equal(table.query, ids)
    monkeypatch.setattr(svmlight, "BLOCK", 900)
    monkeypatch.setattr(file_bytes, "PIECE", 700)
    batches = list(read_batches(path, target="last", batch_rows=33, zero_based=zero_based, n_features=30))
    np.testing.assert_array_equal(sp.vstack([b.X for b in batches]).toarray(), table.X.toarray())
    np.testing.assert_array_equal(np.concatenate([b.y for b in batches]), labels)


def test_svmlight_comments_blank_lines_and_order(tmp_path):
    text = "# a comment\n+1 3:2 1:0.5 # another 9:9\n\n  -1.5\t2:1e-320 \n0\n"
    text += "1e0 1:nan 2:inf 3:12345678901234567890\n"
    table = read_data(write(tmp_path, "t.txt", text))
    assert table.format == "svmlight"
    want = [[0.5, 0, 2], [0, 1e-320, 0], [0, 0, 0], [math.nan, math.inf, 12345678901234567890.0]]
    np.testing.assert_array_equal(table.X.toarray(), want)
    np.testing.assert_array_equal(table.y, [1, -1.5, 0, 1])
    assert table.X.has_sorted_indices
    zero = read_data(write(tmp_path, "z.svm", "1 0:1 2:3\n"))
    assert zero.X.toarray().tolist() == [[1, 0, 3]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1:2 3\n", "line 1: expected index:value, found '3'"),
        ("0 1:1\n1:2 2:3\n", "line 2: the row has no label"),
        ("1 1:x\n", "the value is not a number"),
        ("1 1:1_0\n", "the value is not a number"),
        ("1 1:\n", "expected index:value"),
        ("1,2 1:3\n", "several labels"),
        ("cat 1:3\n", "the label is not a number"),
        ("1 -1:3\n", "expected index:value"),
        ("1 1:2 1:3\n", "same index twice"),
        ("1 99999999999999999999:3\n", "index is too large"),
        ("1 qid:x 1:2\n", "qid must be a whole number"),
        ("1 qid:1 1:2\n1 1:2\n", "1 of 2 rows have a qid"),
        ("# nothing\n", "has no rows"),
    ],
)
def test_svmlight_mistakes_are_named(tmp_path, text, message):
    with pytest.raises(DataFileError, match=message):
        read_data(write(tmp_path, "bad.svm", text))
