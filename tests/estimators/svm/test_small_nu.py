"""A nu so small that the box never binds: the nearest points of two hulls, whatever their distance."""

import warnings

import numpy as np
import pytest

from mercer import SVC, NuSVC
from mercer.estimators.degenerate import DegenerateFitWarning
from mercer.gram.base import MatrixGram
from mercer.kernels import RBF
from mercer.problems.nu import NuMargin
from mercer.problems.regression import NuTube
from mercer.solvers import Decomposition
from mercer.solvers.dual import decomposition, low_rank, whole_rescue
from mercer.solvers.dual.box_qp import solve_box_qp
from mercer.solvers.dual.dense_block import DenseBlock
from mercer.solvers.dual.low_rank import complete_factor
from mercer.solvers.dual.whole_rescue import WholeRescue

pytestmark = pytest.mark.core


def overlapping(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1, -1)


@pytest.mark.parametrize("nu", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("criterion", ["kkt", "gap"])
def test_hulls_that_lie_apart_are_found_to_the_tolerance(nu, criterion):
    """The distance of the hulls is 0.006; below it, decomposition by pairs of variables makes no headway."""
    X, y = overlapping(500, 5)
    model = NuSVC(nu=nu, criterion=criterion, n_jobs=1).fit(X, y)
    found = model.certificate_
    assert found.status == "optimal"
    assert model.rho_ > 0
    if criterion == "gap":
        assert found.relative_gap <= 1e-3
    else:  # in units of rho, as the parameter says; the objective is rho nu W / 2 at least
        assert found.kkt_violation <= 1e-3 * -found.dual / (0.5 * nu * 500)
    again = model.certify(X, y)
    rounding = 100 * np.finfo(float).eps * nu * 500  # of sums with coefficients that add up to nu n
    assert again.gap == pytest.approx(found.gap, rel=1e-3, abs=rounding)
    if nu == 1e-6:  # no box binds any more: this is the hard margin
        hard = SVC(C=np.inf, tol=1e-6, n_jobs=1).fit(X, y)
        assert model.margin_ == pytest.approx(hard.margin_, rel=1e-2)
        margins = y * model.decision_function(X)
        assert margins.min() == pytest.approx(1.0, abs=1e-2)


@pytest.mark.parametrize("n", [200, 500])
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("nu", [1e-2, 1e-4])
def test_hulls_that_meet_are_called_so(n, d, nu):
    X, y = overlapping(n, d)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = NuSVC(nu=nu, gamma=0.5, n_jobs=1).fit(X, y)
    kinds = {w.category for w in caught}
    if model.rho_ == 0:
        assert kinds == {DegenerateFitWarning}
    else:  # apart after all, by very little
        assert kinds == set()
        assert model.rho_ > 0
    assert model.certificate_.status == "optimal"
    assert 0 <= model.certificate_.gap <= model.certificate_.kkt_violation * n
    if model.rho_ == 0:  # the two nearest points found are one point, on the scale of the data
        assert -2 * model.certificate_.dual <= 1e-12 * (0.5 * nu * n) ** 2


def test_an_interior_point_start_works_at_every_scale():
    X, y = overlapping(120, 4, seed=1)
    K = RBF(0.2)(X)
    signs = y.astype(float)
    values = []
    for nu in (1e-2, 1e-5, 1e-8):
        p = NuMargin(signs, np.ones(120), nu, 1.0)
        b = p.start()
        block = DenseBlock(K, np.diagonal(K).copy(), p, b, p.gradient(b, K @ b))
        assert block.restart_from_interior(lambda: False)
        b, f = block.point()
        np.testing.assert_allclose([b[y > 0].sum(), b[y < 0].sum()], p.sums, rtol=1e-9)
        values.append(p.objective(b, f) / p.half**2)
    np.testing.assert_allclose(values, values[-1], rtol=1e-4)


def test_newton_steps_keep_the_sums_and_never_go_uphill():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 2))
    K = RBF(0.4)(X)
    p = NuTube(np.sin(X[:, 0]), 3000.0, np.ones(60), 0.4)
    b = p.start()
    block = DenseBlock(K, np.diagonal(K).copy(), p, b, p.gradient(b, K @ p.beta(b)))
    taken = 0
    for _ in range(20):
        block.run(1e-12, 200)
        before = p.objective(*block.point())
        taken += block.newton(500)
        point, f = block.point()
        assert p.objective(point, f) <= before + 1e-9 * abs(before)
        np.testing.assert_allclose([point[:60].sum(), point[60:].sum()], p.sums, rtol=1e-12)
        np.testing.assert_allclose(-block.v, p.gradient(point, K @ p.beta(point)), atol=1e-7)
    assert taken > 0


def test_a_block_is_not_given_up_before_steps_were_tried():
    """A target that falls with the objective is followed, however often."""
    X, y = overlapping(300, 5, seed=2)
    K = RBF(0.2)(X)
    p = NuMargin(y.astype(float), np.ones(300), 1e-3, 1.0)
    gram = MatrixGram(K, True)
    for tol in (1e-1, 1e-3, 1e-6):
        found = Decomposition(tol=tol).solve(gram, p)
        assert found.status == "optimal"
        assert found.values.violation <= p.tolerance(tol, p.objective(found.b, found.f))


@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_the_interior_point_method_stops_where_rounding_hides_headway(scale):
    Q = np.diag([1.0, 1e-3]) * scale
    b, n_iter = solve_box_qp(
        Q, np.zeros(2), np.zeros(2), np.full(2, np.inf), np.ones((1, 2)), np.ones(1), tol=1e-30
    )
    assert n_iter < 100
    np.testing.assert_allclose(b, [1e-3 / 1.001, 1.0 / 1.001], rtol=1e-6)


@pytest.mark.parametrize("d", [2, 5])
def test_a_problem_larger_than_a_block_goes_to_the_interior_as_a_whole(monkeypatch, d):
    """At d = 2 the kernel matrix has a low rank and is factored first; at d = 5 it has not."""
    X, y = overlapping(300, d)
    few = {"DENSE": 200, "NEWTON_STEPS": 0, "HARD_STEPS": 20, "HARD_STEPS_PER_VARIABLE": 0, "HARD_WORK": 0}
    for name, value in few.items():
        monkeypatch.setattr(decomposition, name, value)
    visited = []
    run = WholeRescue.run
    monkeypatch.setattr(WholeRescue, "run", lambda *args: (visited.append(True), run(*args)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateFitWarning)
        model = NuSVC(nu=0.02, gamma=0.5 / d, n_jobs=1, precision="double").fit(X, y)
        judge = NuSVC(nu=0.02, gamma=0.5 / d, n_jobs=1, solver="interior_point").fit(X, y)
    assert visited
    assert model.certificate_.status == judge.certificate_.status == "optimal"
    assert (model.rho_ == 0) == (judge.rho_ == 0)
    assert model.certificate_.dual == pytest.approx(judge.certificate_.dual, rel=1e-2, abs=1e-10)


def test_a_low_rank_is_found_before_any_step_of_a_hard_block(monkeypatch):
    """Two features: some 40 of 400 columns are the matrix, and one solution on them is enough."""
    X, y = overlapping(400, 2)
    for name, value in {"DENSE": 200, "HARD_STEPS": 20, "HARD_STEPS_PER_VARIABLE": 0, "HARD_WORK": 0}.items():
        monkeypatch.setattr(decomposition, name, value)
    monkeypatch.setattr(whole_rescue, "LEAST_POINTS", 0)
    ranks, steps = [], []
    step = low_rank.Model.step
    monkeypatch.setattr(
        low_rank.Model, "step", lambda self, *args: (ranks.append(self.L.shape[1]), step(self, *args))[1]
    )
    newton = DenseBlock.newton
    monkeypatch.setattr(DenseBlock, "newton", lambda *args: (steps.append(not ranks), newton(*args))[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateFitWarning)
        for nu in (0.02, 0.5):
            ranks.clear()
            model = NuSVC(nu=nu, gamma=0.02, n_jobs=1, precision="double").fit(X, y)
            judge = NuSVC(nu=nu, gamma=0.02, n_jobs=1, solver="interior_point").fit(X, y)
            assert ranks
            assert max(ranks) < 0.15 * 400
            assert model.certificate_.status == judge.certificate_.status == "optimal"
            assert (model.rho_ == 0) == (judge.rho_ == 0)
            assert model.certificate_.dual == pytest.approx(judge.certificate_.dual, rel=1e-3, abs=1e-10)
    assert not any(steps)  # none came before the factor


def test_a_factor_that_leaves_nothing_out_or_none():
    X, _ = overlapping(100, 1)
    K = RBF(0.1)(X)
    L = complete_factor(K, np.diagonal(K).copy(), 0.25)
    assert L is not None
    np.testing.assert_allclose(L @ L.T, K, atol=1e-10)
    full = RBF(0.5)(overlapping(100, 8)[0])
    assert complete_factor(full, np.diagonal(full).copy(), 0.25) is None
