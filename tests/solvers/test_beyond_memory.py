"""Solvers whose kernel matrix does not fit into memory, against the same problem in memory."""

import numpy as np
import pytest

from mercer import SVC, SVR, NuSVC
from mercer.kernels import RBF, Spline
from mercer.solvers import Decomposition
from mercer.solvers.dual.kept_rows import KeptRows
from mercer.solvers.dual.low_rank import LowRankQuadratic

N = 240


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2))
    return X, np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.3 * rng.normal(size=N)


@pytest.mark.parametrize("cache_size", [0.02, 0.1])  # 5 rows, 26 rows
def test_smo_takes_the_same_steps_with_few_rows_in_memory(data, cache_size):
    X, f = data
    for make in (
        lambda **more: SVC(solver="smo", tol=1e-6, **more).fit(X, f > 0),
        lambda **more: SVR(solver="smo", tol=1e-6, epsilon=0.2, **more).fit(X, f),
        lambda **more: NuSVC(solver="smo", tol=1e-6, nu=0.3, **more).fit(X, f > 0),
    ):
        whole, few = make(), make(cache_size=cache_size)
        assert few.certificate_.status == "optimal"
        assert few.certificate_.primal == pytest.approx(whole.certificate_.primal, rel=1e-6)
        assert few.certificate_.gap <= 1e-5 * abs(few.certificate_.primal)


def test_kept_rows_are_the_matrix_and_no_more_than_allowed(data):
    from mercer.gram import gram

    X, _ = data
    K = RBF(0.5)(X)
    kept = KeptRows(gram(RBF(0.5), X), 8 * N * 6)
    assert kept.rows.shape == (6, N)
    for point in (3, 7, 3, 100, 101, 102, 103, 104, 3):
        if kept.slot[point] < 0:
            kept.fetch(point, 7)
        np.testing.assert_allclose(kept.rows[kept.slot[point]], K[point], atol=1e-14)
        assert (kept.slot >= 0).sum() <= 6
        assert kept.slot[7] >= 0 or point == 3  # spared since it came


def test_the_interior_point_on_a_factor_solves_the_exact_problem(data):
    X, f = data
    kernel = RBF(0.1)  # memory holds 52 (of two copies: 26) columns of the factor; the matrix has more
    for make in (
        lambda **more: SVC(kernel=kernel, C=2.0, tol=1e-3, **more).fit(X, f > 0),
        lambda **more: SVC(kernel=kernel, C=2.0, loss="squared_hinge", tol=1e-3, **more).fit(X, f > 0),
        lambda **more: SVR(kernel=kernel, epsilon=0.2, tol=1e-3, **more).fit(X, f),
        lambda **more: SVC(kernel=kernel, C=2.0, fit_intercept=False, tol=1e-3, **more).fit(X, f > 0),
    ):
        whole, factored = make(), make(solver="interior_point", cache_size=0.6)
        assert factored.certificate_.status == "optimal"
        assert factored.certificate_.primal == pytest.approx(whole.certificate_.primal, rel=1e-3)
        assert factored.certificate_.dual <= whole.certificate_.primal * (1 + 1e-9)


def test_a_factor_that_leaves_much_out_is_a_start(data, monkeypatch):
    """A narrow kernel has no low rank: steps on the factor would take hundreds of iterations each."""
    X, f = data
    started = []
    run = Decomposition.run
    monkeypatch.setattr(
        Decomposition, "run", lambda self, gram, p, b: (started.append(b), run(self, gram, p, b))[1]
    )
    for make in (
        lambda **more: SVC(kernel=RBF(20.0), C=5.0, tol=1e-5, **more).fit(X, f > 0),
        lambda **more: SVR(kernel=RBF(20.0), C=5.0, epsilon=0.05, tol=1e-5, **more).fit(X, f),
    ):
        whole = make(solver="interior_point")
        assert not started
        factored = make(solver="interior_point", cache_size=0.2)
        assert len(started) == 1
        assert np.abs(started.pop()).sum() > 0
        assert factored.certificate_.status == "optimal"
        assert factored.certificate_.primal == pytest.approx(whole.certificate_.primal, rel=1e-5)
        assert factored.certificate_.dual <= whole.certificate_.primal * (1 + 1e-9)


def test_columns_that_cost_nothing_need_not_fit_either(data):
    X, f = data
    whole = SVC(kernel=Spline(), tol=1e-4).fit(X, f > 0)
    factored = SVC(kernel=Spline(), tol=1e-4, cache_size=0.6).fit(X, f > 0)
    assert factored.certificate_.status == "optimal"
    assert factored.certificate_.primal == pytest.approx(whole.certificate_.primal, rel=1e-4)
    assert factored.certify(X, f > 0).status == "optimal"


def test_woodburys_formula():
    rng = np.random.default_rng(1)
    Z, R, D = rng.normal(size=(30, 4)), rng.uniform(1e-6, 1.0, 30), rng.uniform(1e-6, 1e3, 30)
    Q = LowRankQuadratic(Z, R)
    dense = Z @ Z.T + np.diag(R)
    B = rng.normal(size=(30, 2))
    np.testing.assert_allclose(Q @ B, dense @ B)
    np.testing.assert_allclose(Q.diagonal(), np.diagonal(dense))
    np.testing.assert_allclose(Q.solver(D)(B), np.linalg.solve(dense + np.diag(D), B), rtol=1e-8)
    np.testing.assert_allclose(Q.times(3.0) @ B[:, 0], 3.0 * dense @ B[:, 0])


def test_too_little_memory_for_any_factor_is_refused_in_words(data):
    X, f = data
    with pytest.raises(ValueError, match=r"do not even hold a factor of rank 8"):
        SVC(solver="interior_point", cache_size=0.01).fit(X, f > 0)
