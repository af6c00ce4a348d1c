"""What holds for every kernel there is."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_examples import COMPARED, EXAMPLES, ITEMS, VECTORS, concrete_kernels, data_for
from sklearn.base import clone

import mercer.kernels
from mercer.kernels import Kernel, Precomputed

pytestmark = pytest.mark.core

each = pytest.mark.parametrize("example", EXAMPLES, ids=str)
each_compared = pytest.mark.parametrize("example", COMPARED, ids=str)
each_vector = pytest.mark.parametrize("example", VECTORS, ids=str)


def scope():
    names = {name: getattr(mercer.kernels, name) for name in mercer.kernels.__all__}
    import kernel_examples

    return {**names, **vars(kernel_examples), "np": np}


def close(a, b, tolerance=1e-7):
    scale = max(1.0, float(np.abs(b).max()))
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * scale)


def test_every_class_has_an_example():
    missing = concrete_kernels() - {type(e.kernel) for e in EXAMPLES}
    assert not missing, f"add these to kernel_examples.EXAMPLES: {missing}"


def test_every_class_is_public():
    assert {cls.__name__ for cls in concrete_kernels()} <= set(mercer.kernels.__all__)


@each
def test_shape_symmetry_and_diagonal(example):
    X = data_for(example.data)
    K = example.kernel(X)
    assert K.shape == (12, 12)
    assert K.dtype == np.float64
    close(K, K.T, 1e-13)
    close(example.kernel.diag(X), np.diagonal(K))
    close(example.kernel(X, X), K, 0)


@each_compared
def test_blocks_agree_with_the_whole(example):
    X = data_for(example.data)
    k = example.kernel.resolve(X)
    K = k(X)
    a, b = np.array([0, 3, 4, 11]), np.array([11, 2, 0, 7, 8])
    # The same item twice is only noise away from distance 0 in a block: a square root makes 1e-8 of 1e-16.
    close(k(k.take(X, a), k.take(X, b)), K[np.ix_(a, b)])
    close(k(k.take(X, b), k.take(X, a)), K[np.ix_(b, a)])
    close(k(k.take(X, a[:1]), X), K[a[:1]])


@each
def test_positive_semi_definite_where_it_says_so(example):
    for seed in range(5):
        X = data_for(example.data, n=30, seed=seed)
        K = np.asarray(example.kernel(X), dtype=np.float64)
        lowest = np.linalg.eigvalsh((K + K.T) / 2).min()
        if example.kernel.is_psd:
            assert lowest >= -1e-8 * np.trace(K)


def test_known_not_to_be_positive_semi_definite():
    for e in EXAMPLES:
        if e.kernel.is_psd is False:
            K = e.kernel(data_for(e.data, n=30))
            assert np.linalg.eigvalsh(K).min() < -1e-6


@each_vector
@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array])
def test_sparse_equals_dense(example, container):
    k = example.kernel
    X = data_for(example.data)
    if not k.accepts_sparse:
        with pytest.raises(TypeError, match=r"[Ss]parse"):
            k(container(X))
        return
    S = container(X)
    close(k(S), k(X), 1e-12)
    close(k.diag(S), k.diag(X), 1e-12)
    if k.is_resolved:
        close(k(S[:4], S[3:]), k(X[:4], X[3:]))
    assert k(S.astype(np.float32)).dtype == np.float32


@each_vector
def test_single_precision_stays_single_and_is_close(example):
    X = data_for(example.data).astype(np.float32)
    k = example.kernel.resolve(X)
    assert k.check(X) is X
    K = k(X)
    assert K.dtype == np.float32
    assert k(X[:3], X).dtype == np.float32
    assert k.diag(X).dtype == np.float32
    assert k(X[:3], X.astype(np.float64)).dtype == np.float64
    exact = example.kernel(X.astype(np.float64))
    close(K, exact, 1e-5)
    close(k.diag(X), np.diagonal(exact), 1e-5)
    close(k(X[:3], X.astype(np.float64)), exact[:3], 1e-5)


@each
def test_repr_evaluates_back(example):
    k = example.kernel
    again = eval(repr(k), scope())
    assert again == k
    assert type(again) is type(k)
    resolved = k.resolve(data_for(example.data))
    assert eval(repr(resolved), scope()) == resolved


@each
def test_a_value(example):
    k = example.kernel
    for copy in (clone(k), pickle.loads(pickle.dumps(k)), k.replaced()):
        assert copy == k
        assert hash(copy) == hash(k)
        assert type(copy) is type(k)
        close(copy(data_for(example.data)), k(data_for(example.data)), 0)
    assert k != "kernel"
    assert len({e.data for e in EXAMPLES if k == e.kernel}) == sum(k == e.kernel for e in EXAMPLES)
    assert len({k, clone(k)}) == 1


@each
def test_parameters(example):
    k = clone(example.kernel)
    shallow = k.get_params(deep=False)
    assert k.get_params().keys() >= shallow.keys()
    assert k.set_params(**shallow) is k
    assert k == example.kernel
    assert type(k)(*shallow.values()) == k  # by position, too
    with pytest.raises(ValueError, match="Invalid parameter 'nonsense'"):
        k.set_params(nonsense=1)


@each
def test_resolving_changes_neither_the_kernel_nor_its_hash(example):
    k = example.kernel
    before = hash(k), repr(k.get_params())
    resolved = k.resolve(data_for(example.data))
    assert resolved.is_resolved
    assert resolved is not k
    assert (hash(k), repr(k.get_params())) == before
    assert resolved.resolve(data_for(example.data)) == resolved


@each
def test_empty_and_missing_values_are_refused(example):
    k = example.kernel
    if example.data in ITEMS:
        with pytest.raises(ValueError, match="0 sample"):
            k([])
        return
    X = np.array(data_for(example.data))
    X[2, 1] = np.nan
    with pytest.raises(ValueError, match=r"(?s)X contains NaN"):
        k(X)
    with pytest.raises(ValueError, match=r"(?s)SVC does not accept missing values"):
        k.check(X, estimator="SVC")
    X[2, 1] = np.inf
    with pytest.raises(ValueError, match=r"(?s)Z contains infinity"):
        k(np.array(data_for(example.data)), X)
    with pytest.raises(ValueError, match="0 sample"):
        k(X[:0])


@each_vector
def test_widths_must_agree(example):
    X = data_for(example.data)
    with pytest.raises(ValueError, match="features"):
        example.kernel.resolve(X)(X, X[:, :4])


@each
def test_several_threads(example):
    from concurrent.futures import ThreadPoolExecutor

    X = data_for(example.data)
    k = example.kernel.resolve(X)
    expected = k(X)
    with ThreadPoolExecutor(3) as pool:
        for K in pool.map(lambda _: k(X), range(6)):
            close(K, expected, 1e-12)


def test_precomputed():
    K = data_for("matrix")
    k = Precomputed()
    assert k.pairwise
    np.testing.assert_array_equal(k(K), K)
    np.testing.assert_array_equal(k(K[:3]), K[:3])
    np.testing.assert_array_equal(k.take(K, [2, 1]), K[[2, 1]])
    Precomputed.check_square(K)
    for bad in (K[:3], K[0]):
        with pytest.raises(ValueError, match=r"shape \("):
            Precomputed.check_square(bad)
    with pytest.raises(ValueError, match="square"):
        k.diag(K[:3])
    with pytest.raises(ValueError, match=r"2D|dim"):
        k(K[0])
    with pytest.raises(ValueError, match="12 columns, but there are 3"):
        k(K, K[:3])
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        k(sp.csr_matrix(K))
    with pytest.raises(ValueError, match="Combine the matrices"):
        (k + Precomputed())(K)


def test_kernels_need_no_compiler_to_be_imported():
    import subprocess
    import sys

    code = "import sys, mercer.kernels; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_kernel_is_abstract():
    with pytest.raises(TypeError, match="abstract"):
        Kernel()
