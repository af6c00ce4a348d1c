"""Kernel matrices: values, memory, threads, fork."""

import multiprocessing
import os
import threading

import numpy as np
import pytest
import scipy.sparse as sp
import threadpoolctl

from clouds import blobs
from mercer import SVC
from mercer.gram import GenericGram, MatrixGram, Workers, gram, resolve_threads
from mercer.gram.generic import RowCache
from mercer.gram.signed import SignedGram
from mercer.gram.spectrum import spectrum
from mercer.kernels import RBF, FromFunction, Laplacian, Linear, Polynomial, Precomputed

pytestmark = pytest.mark.core

KERNELS = [Linear(), Polynomial(degree=2, gamma=0.5, coef0=1.0), RBF(gamma=0.3), Laplacian(gamma=0.2)]
IDS = ["linear", "poly", "rbf", "laplacian"]


def definition(kernel, X):
    return kernel(np.asarray(X.todense() if sp.issparse(X) else X, dtype=np.float64))


def data(kind, n=300, d=6, dtype=np.float64):
    X, _ = blobs(n, d, 2, seed=3)
    X = np.ascontiguousarray(X, dtype=dtype)
    if kind == "wide":
        X = np.hstack([X] * 7)
    if kind == "sparse":
        X = np.hstack([X, np.zeros((n, 30))])
        X[np.abs(X) < 1.2] = 0.0
    return sp.csr_matrix(X) if kind == "sparse" else X


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("kind", ["narrow", "wide", "sparse"])
@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
def test_blocks_rows_diagonal_and_products(kernel, kind, precision, threads):
    X = data(kind)
    K = definition(kernel, X)
    matrix = gram(kernel, X, precision=precision, workers=Workers(threads), cache_bytes=100_000)
    close = {"atol": (2e-6 if precision == "single" else 1e-12) * np.abs(K).max(), "rtol": 0}
    rng = np.random.default_rng(0)
    idx, jdx = rng.permutation(300)[:70], rng.permutation(300)[:41]
    np.testing.assert_allclose(matrix.diag(), np.diagonal(K), **close)
    np.testing.assert_allclose(matrix.block(idx, jdx), K[np.ix_(idx, jdx)], **close)
    np.testing.assert_allclose(matrix.rows(idx[:5]), K[idx[:5]], **close)
    v = np.where(rng.random(300) < 0.5, 0.0, rng.normal(size=300))
    scale = np.abs(v).sum()
    for _ in range(2):  # the second time from the cache
        np.testing.assert_allclose(matrix.matvec(v) / scale, K @ v / scale, **close)
        out = np.ones(300)
        matrix.add_product(idx, v[idx], out)
        np.testing.assert_allclose(out / scale, (1.0 + K[:, idx] @ v[idx]) / scale, **close)
    part = matrix.subset(idx)
    np.testing.assert_allclose(part.block(np.arange(70), np.arange(70)), K[np.ix_(idx, idx)], **close)
    np.testing.assert_allclose(part.matvec(v[idx]) / scale, K[np.ix_(idx, idx)] @ v[idx] / scale, **close)
    exact = matrix.exact()
    assert exact.dtype == np.float64
    np.testing.assert_allclose(exact.matvec(v), K @ v, atol=1e-10 * np.abs(K).max() * scale)


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
@pytest.mark.parametrize("kind", ["narrow", "wide", "sparse"])
def test_float32_data_in_double_precision(kernel, kind):
    """The diagonal must be as exact as the blocks: solvers divide by differences of the two."""
    X = data(kind, dtype=np.float32)
    if not sp.issparse(X):
        X = X + np.float32(1000.0)
    matrix = gram(kernel, X, precision="double")
    everything = np.arange(300)
    block = matrix.block(everything, everything)
    assert block.dtype == np.float64
    np.testing.assert_allclose(matrix.diag(), np.diagonal(block), rtol=1e-13)
    np.testing.assert_allclose(block, definition(kernel, X), rtol=1e-11)
    single = gram(kernel, X, precision="single").exact()
    np.testing.assert_allclose(single.block(everything, everything), block, rtol=1e-13)
    np.testing.assert_allclose(single.diag(), matrix.diag(), rtol=1e-13)


def test_a_subset_of_a_precomputed_matrix_copies_nothing():
    K = np.random.default_rng(0).normal(size=(50, 50))
    K = K @ K.T
    whole = gram(Precomputed(), K)
    assert isinstance(whole, MatrixGram)
    idx = np.arange(3, 40, 2)
    part = whole.subset(idx).subset(np.array([4, 1, 7]))
    assert part.K is K
    where = idx[[4, 1, 7]]
    np.testing.assert_array_equal(part.block(np.arange(3), np.arange(3)), K[np.ix_(where, where)])
    np.testing.assert_array_equal(part.diag(), np.diagonal(K)[where])
    np.testing.assert_allclose(part.matvec(np.ones(3)), K[np.ix_(where, where)].sum(axis=1))


def test_reflected_points():
    X = data("narrow")
    sign = np.where(X[:, 0] > 0, 1.0, -1.0)
    K = sign[:, None] * definition(RBF(gamma=0.3), X) * sign[None, :]
    for precision in ("single", "double"):
        matrix = SignedGram(gram(RBF(gamma=0.3), X, precision=precision), sign)
        idx, v = np.arange(5, 60), np.linspace(-1, 1, 300)
        np.testing.assert_allclose(matrix.block(idx, idx + 3), K[np.ix_(idx, idx + 3)], atol=1e-6)
        np.testing.assert_allclose(matrix.matvec(v), K @ v, atol=1e-4)
        np.testing.assert_allclose(matrix.exact().matvec(v), K @ v, atol=1e-10)
        out = np.zeros(300)
        matrix.add_product(idx, v[idx], out)
        np.testing.assert_allclose(out, K[:, idx] @ v[idx], atol=1e-5)
        np.testing.assert_allclose(matrix.subset(idx).matvec(v[idx]), K[np.ix_(idx, idx)] @ v[idx], atol=1e-5)


# -- memory ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [0, 700, 5_000, 60_000, 10**7])
def test_the_row_cache_has_a_hard_bound(budget):
    n = 100
    cache = RowCache(n, np.float64, budget)
    assert cache.capacity == min(n, budget // (8 * n))
    assert cache.nbytes == 0  # nothing is taken ahead
    truth = np.arange(n * n, dtype=np.float64).reshape(n, n)
    rng = np.random.default_rng(0)
    for _ in range(200 if cache.capacity else 0):
        wanted = np.unique(rng.integers(0, n, rng.integers(1, min(7, cache.capacity) + 1)))
        missing = wanted[cache.slot[wanted] < 0]
        slots = cache.take_slots(missing, wanted)
        for row, slot in zip(missing, slots, strict=True):
            cache.row(int(slot))[...] = truth[row]
        cache.touch(wanted)
        kept = np.flatnonzero(cache.slot >= 0)
        assert kept.size <= cache.capacity
        assert cache.nbytes <= budget
        assert set(wanted) <= set(kept)
        for row in kept:
            np.testing.assert_array_equal(cache.row(int(cache.slot[row])), truth[row])


def test_the_row_cache_forgets_the_oldest():
    cache = RowCache(10, np.float64, 3 * 80)
    for row in (0, 1, 2):
        cache.take_slots(np.array([row]), np.array([row]))
    cache.touch(np.array([0]))
    cache.take_slots(np.array([7]), np.array([7]))
    assert set(np.flatnonzero(cache.slot >= 0)) == {0, 2, 7}
    cache.drop(np.array([2]))
    cache.take_slots(np.array([2]), np.array([2]))  # into the slot that was just left
    assert set(np.flatnonzero(cache.slot >= 0)) == {0, 2, 7}
    cache.clear()
    assert cache.nbytes == 0


def test_slots_are_64_bit():
    from mercer import _jit

    assert RowCache(5, np.float32, 100).slot.dtype == np.int64
    # Row 2^31 + 5 of a store that would take 17 TB, were it not one row seen through a stride of zero.
    store = np.broadcast_to(np.arange(1000, dtype=np.float64), (2**31 + 10, 1000))
    out = np.zeros(1000)
    _jit.row_products.fold_rows(store, np.array([2**31 + 5]), np.array([2.0]), 0, 1000, out)
    np.testing.assert_array_equal(out, 2.0 * np.arange(1000))


def test_both_precisions_share_one_budget():
    X = data("narrow")
    matrix = GenericGram(Laplacian(gamma=0.2), X, np.float32, Workers(1), cache_bytes=40_000)
    exact = matrix.exact()
    assert exact is matrix.exact()
    idx, coef = np.arange(100), np.ones(100)
    K = definition(Laplacian(gamma=0.2), X)
    for view in (matrix, exact, matrix):
        out = np.zeros(300)
        view.add_product(idx, coef, out)
        np.testing.assert_allclose(out, K[:, idx].sum(axis=1), atol=1e-4)
        assert 0 < matrix.cache.nbytes + exact.cache.nbytes <= 40_000


def test_a_kernel_that_fails_leaves_no_half_row_behind():
    X, calls = data("narrow"), []

    def kernel(A, B):
        calls.append(1)
        if len(calls) == 3:
            raise RuntimeError("out of luck")
        return A @ B.T

    matrix = GenericGram(FromFunction(kernel), X, np.float64, Workers(1), cache_bytes=10**7)
    with pytest.raises(RuntimeError, match="out of luck"):
        matrix.add_product(np.arange(200), np.ones(200), np.zeros(300))
    out = np.zeros(300)
    matrix.add_product(np.arange(200), np.ones(200), out)
    np.testing.assert_allclose(out, X @ X[:200].sum(axis=0))


def test_pairs_of_classes_share_rows():
    X, y = blobs(200, 4, 4, seed=0)
    model = SVC(kernel="laplacian", gamma=0.2, trace=True).fit(X, y)
    last = max(h["kernel_evaluations"] for history in model.history_ for h in history)
    assert last <= 200 * 200  # each row once, although it is in three pairs
    alone = SVC(kernel="laplacian", gamma=0.2, trace=True).fit(X, y == 0)
    assert last <= 1.5 * alone.history_[0][-1]["kernel_evaluations"]


# -- threads -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [RBF(gamma=0.3), Laplacian(gamma=0.3)], ids=["fused", "generic"])
def test_one_gram_used_from_many_threads(kernel):
    X = data("narrow")
    K = definition(kernel, X)
    matrix = gram(kernel, X, precision="double", workers=Workers(2), cache_bytes=100_000)
    errors = []

    def use(seed):
        rng = np.random.default_rng(seed)
        for _ in range(15):
            idx = np.unique(rng.integers(0, 300, 40))
            out = np.zeros(300)
            matrix.add_product(idx, np.ones(idx.size), out)
            errors.append(np.abs(out - K[:, idx].sum(axis=1)).max())
            errors.append(np.abs(matrix.block(idx, idx) - K[np.ix_(idx, idx)]).max())
            errors.append(np.abs(matrix.matvec(np.ones(300)) - K.sum(axis=1)).max())

    threads = [threading.Thread(target=use, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) == 4 * 45
    assert max(errors) < 1e-10


def blas_threads():
    return [lib["num_threads"] for lib in threadpoolctl.threadpool_info() if lib["user_api"] == "blas"]


def test_blas_is_limited_only_while_threads_run():
    before = blas_threads()
    workers, inside = Workers(2), []
    workers.each(4, lambda k: inside.append(blas_threads()))
    assert all(set(seen) == {1} for seen in inside)
    assert blas_threads() == before
    with pytest.raises(ZeroDivisionError):
        workers.ranges(100, lambda start, stop: 1 / 0)
    assert blas_threads() == before


def test_overlapping_scopes_restore_blas():
    """The scope that opened first closes first: what it found must not be lost, nor put back too early."""
    before = blas_threads()
    workers = Workers(2)
    first, second = workers.one_blas_thread(), workers.one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(blas_threads()) == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == before


def test_errors_end_the_other_calls_before_they_are_raised():
    workers, state = Workers(2), {"running": 0, "stop": False}

    def work(k):
        if k == 0:
            raise ValueError("first")
        state["running"] += 1
        while not state["stop"]:
            pass
        state["running"] -= 1

    with pytest.raises(ValueError, match="first"):
        workers.each(8, work, stop=lambda: state.update(stop=True))
    assert state["running"] == 0


def test_ranges_cover_everything_once():
    for n in (0, 1, 5, 512, 1000):
        for threads in (1, 2, 5):
            seen = np.zeros(n, dtype=int)

            def mark(start, stop, seen=seen):
                seen[start:stop] += 1

            Workers(threads).ranges(n, mark, align=128)
            assert (seen == 1).all()


def test_number_of_threads(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert 1 <= resolve_threads(None) <= cores
    assert resolve_threads(3) == 3
    assert resolve_threads(-1) == resolve_threads(None)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert resolve_threads(None) == 1
    assert resolve_threads(2) == 2
    with pytest.raises(ValueError, match="n_jobs=0"):
        resolve_threads(0)


def _fit_in_a_fork(queue, X, y, matrix):
    out = matrix.matvec(np.ones(matrix.n))
    queue.put((out, SVC(n_jobs=2).fit(X, y).decision_function(X)))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="the platform has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_after_fork():
    """Threads do not survive a fork; pools made before it must be made anew."""
    X, y = blobs(600, 4, 3, seed=0)
    here = SVC(n_jobs=2).fit(X, y).decision_function(X)
    matrix = gram(RBF(gamma=0.2), X, workers=Workers(2))
    expected = matrix.matvec(np.ones(600))  # the pool exists now
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_fit_in_a_fork, args=(queue, X, y, matrix))
    child.start()
    product, there = queue.get(timeout=60)
    child.join(timeout=60)
    assert child.exitcode == 0
    np.testing.assert_allclose(product, expected)
    np.testing.assert_allclose(there, here, atol=1e-12)


# -- the spectrum ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [5, 250, 600, 1100])
def test_spectrum(n):
    rng = np.random.default_rng(n)
    values = np.concatenate([[-3.0, 20.0], rng.uniform(0, 10, n - 2)])
    Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    K = (Q * values) @ Q.T
    ends = spectrum(MatrixGram(K))
    if n <= 1000:
        assert ends.smallest == pytest.approx(-3.0, rel=1e-6)
        assert ends.largest == pytest.approx(20.0, rel=1e-6)
    else:  # a sample: its eigenvalues lie between those of the whole
        assert -3.0 - 1e-9 <= ends.smallest <= ends.largest <= 20.0 + 1e-9
    assert ends.asymmetry == 0.0


def test_indefinite_and_asymmetric_matrices_are_reported():
    from mercer.estimators.verdict import IndefiniteKernelWarning

    X, y = blobs(40, 3, 2, seed=0)
    K = RBF(gamma=0.5)(X) - 0.5 * np.eye(40)
    with pytest.warns(IndefiniteKernelWarning, match="smallest eigenvalue is about -0.") as caught:
        model = SVC(kernel="precomputed").fit(K, y)
    assert len(caught) == 1
    assert model.certificate_.status == "stationary"
    assert np.isnan(model.certificate_.gap)
    assert model.smallest_eigenvalue_ == pytest.approx(np.linalg.eigvalsh(K)[0])
    with pytest.warns(IndefiniteKernelWarning, match="not symmetric"):
        SVC(kernel="precomputed").fit(RBF(gamma=0.5)(X) + np.triu(np.ones((40, 40))), y)
