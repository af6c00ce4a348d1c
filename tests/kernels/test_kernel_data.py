"""The data that kernels take, and what they make of them."""

import contextlib
import importlib

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_examples import data_for, shared_letters, smooth

from mercer.kernels import RBF, Chi2, Constant, FromFunction, HistogramIntersection, Kernel, Linear

pytestmark = pytest.mark.core

X = data_for("real")


def frames(table):
    """Return a table as data frames of the libraries that are there."""
    found = []
    for library in ("pandas", "polars"):
        with contextlib.suppress(ModuleNotFoundError):
            found.append(importlib.import_module(library).DataFrame(table))
    return found


def test_canonical_arrays():
    k = RBF()
    assert k.check(X) is X
    for given in (
        X.tolist(),
        np.asfortranarray(X),
        X[:, ::-1],
        *frames(X),
        X.astype(object),
    ):
        made = k.check(given)
        assert made.dtype == np.float64
        assert made.flags.c_contiguous
    assert k.check([[1, 2], [3, 4]]).dtype == np.float64
    assert k.check(np.array([[True, False]])).dtype == np.float64
    assert k.check(X.astype(np.float16)).dtype == np.float64
    assert k.check(np.asfortranarray(X.astype(np.float32))).dtype == np.float32


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array])
def test_canonical_sparse(index, container):
    S = container(X)
    S.indices, S.indptr = S.indices.astype(index), S.indptr.astype(index)
    made = RBF().check(S)
    assert made is S
    assert made.indices.dtype == index
    np.testing.assert_allclose(RBF(0.3)(S), RBF(0.3)(X), rtol=1e-12)
    assert sp.issparse(RBF().check(container(X).tocsc()))
    assert RBF().check(container(X).tocoo()).format == "csr"


def test_sparse_is_sorted_in_a_copy():
    data, indices, indptr = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2, 0, 1, 1]), np.array([0, 2, 4])
    S = sp.csr_matrix((data, indices, indptr), shape=(2, 3))  # unsorted, and an entry given twice
    made = RBF().check(S)
    assert made.has_canonical_format
    np.testing.assert_array_equal(made.toarray(), [[2, 0, 1], [0, 7, 0]])
    np.testing.assert_array_equal(S.indices, [2, 0, 1, 1])
    variance = made.toarray().var()
    assert RBF().resolve(S).gamma == pytest.approx(1 / (3 * variance))


@pytest.mark.parametrize("k", [Chi2(), HistogramIntersection()])
def test_negative_values_are_refused(k):
    for given in (X, sp.csr_matrix(X)):
        with pytest.raises(ValueError, match=r"Negative values in data passed to .*the smallest is -"):
            k(given)
        with pytest.raises(ValueError, match=r"Negative values in data passed to SVC \(.* kernel\)"):
            k.check(given, estimator="SVC")
    k(sp.csr_matrix((3, 2)))  # nothing stored
    assert k.requires_positive


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        (np.ones(3), ValueError, "1D"),
        (np.ones((2, 2, 2)), ValueError, "dim 3"),
        ([["a", "b"]], ValueError, "convert string to float"),
        (np.array([[1j, 2]]), ValueError, "[Cc]omplex"),
        (np.ones((3, 0)), ValueError, "0 feature"),
    ],
)
def test_what_is_no_table(bad, error, message):
    with pytest.raises(error, match=message):
        RBF()(bad)


def test_items_are_kept():
    k = shared_letters
    words = ["a", "bc"]
    assert k.check(words) is words
    assert k.check(("a", "bc")) == words
    objects = np.array(words, dtype=object)
    assert k.check(objects) is objects
    for given in (words, objects, np.array(words), *(frame["word"] for frame in frames({"word": words}))):
        np.testing.assert_array_equal(k(given), [[1, 0], [0, 2]])
    np.testing.assert_array_equal(k(words, ["cb"]), [[0], [2]])
    trees = [("a", ("b", "c")), ("a", "b"), ("a", "b", "c")]
    assert k.check(trees) is trees
    ragged = [[1, 2], [3]]
    assert k.check(ragged) is ragged
    series = np.ones((4, 3, 2))
    assert k.check(series) is series
    mixed = [np.ones(2), "x"]
    assert k.check(mixed) is mixed
    deeper = [[[1], [2, 3]], [[1], [2]]]
    assert k.check(deeper) is deeper


def test_tables_become_arrays_for_kernels_of_items_too():
    for given in ([[1, 2], [3, 4]], np.array([[1, 2], [3, 4]]), *frames({"a": [1, 3], "b": [2, 4]})):
        made = smooth.check(given)
        assert isinstance(made, np.ndarray)
        assert made.dtype == np.float64
    assert FromFunction(np.dot).check(sp.csr_matrix(X)).format == "csr"
    assert Constant(2.0)(sp.csr_matrix(X)).shape == (12, 12)


@pytest.mark.parametrize("bad", ["word", {"a": 1}, {1, 2}, 3, None, (c for c in "abc")])
def test_what_is_no_sequence_of_items(bad):
    with pytest.raises(TypeError, match=r"sequence of items.*by SVC"):
        shared_letters.check(bad, estimator="SVC")


def test_scalars_and_empty_sequences():
    with pytest.raises(ValueError, match="scalar"):
        shared_letters.check(np.array("word"))
    with pytest.raises(ValueError, match="0 sample"):
        shared_letters.check([])


def test_take():
    idx = np.array([3, 0, 3])
    np.testing.assert_array_equal(Kernel.take(X, idx), X[idx])
    np.testing.assert_array_equal(Kernel.take(sp.csr_matrix(X), idx).toarray(), X[idx])
    assert Linear().take(["a", "b", "c", "d"], idx) == ["d", "a", "d"]


def test_data_are_not_changed():
    for data in (np.array(X), sp.csr_matrix(X)):
        before = data.copy()
        for k in (
            RBF(),
            Linear(),
            RBF([1.0] * 5),
            (RBF() + 1) ** 2,
            Linear().normalized(),
            FromFunction(keeps),
        ):
            k(data)
            k(data, data[:3])
        assert abs(data - before).max() == 0


def keeps(A, B):
    return A if A.shape[0] == A.shape[1] else Linear()(A, B)


def test_what_a_function_returned_is_not_changed():
    K = np.array(data_for("matrix"))
    before = K.copy()
    for k in (3 * FromFunction(keeps), FromFunction(keeps) ** 2, FromFunction(keeps) + 1):
        k(K)
    for k in (
        FromFunction(keeps).normalized(),
        FromFunction(keeps).centered(),
        2 * FromFunction(keeps).on([*range(12)]),
    ):
        k(K)
    np.testing.assert_array_equal(K, before)
