"""Solvers on features reach the optimum that a judge finds, and refuse in words what they cannot do."""

import numpy as np
import pytest
import scipy.sparse as sp
from linear_problems import LOSSES, PRICE, SCALES, SIGN, X, judged, naive_sweep, problem, target

from mercer import _jit, losses
from mercer.gram import Features, Workers, gram
from mercer.kernels import Linear
from mercer.problems import soft_margin
from mercer.problems.linear_plane import LinearPlane
from mercer.problems.linear_risk import LinearRisk
from mercer.solvers import CoordinateDescent, Limits, LinearNewton, UnsuitableSolverError, suited
from mercer.solvers.linear import newton_system


def solved(solver, p, start=None):
    return solver.solve(p.features, p, start)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_both_solvers_reach_the_judged_optimum(loss, scale):
    best = judged(loss, scale)
    solvers = [LinearNewton(tol=1e-9, criterion="gap")]
    if np.isfinite(scale) and not isinstance(loss, losses.BinomialDeviance):
        solvers.append(CoordinateDescent(tol=1e-9, criterion="gap"))
    for solver in solvers:
        found = solved(solver, problem(loss, scale))
        assert found.status == "optimal"
        assert found.values.dual <= best + 1e-6 * abs(best)
        np.testing.assert_allclose(found.values.primal, best, rtol=1e-6)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_conjugate_gradients_find_what_a_factorisation_finds(loss, monkeypatch):
    direct = solved(LinearNewton(tol=1e-9, criterion="gap"), problem(loss, 0.5))
    monkeypatch.setattr(newton_system.NewtonSystem, "factored", lambda self, curved: False)
    for widest in (3000, 0):  # with the matrix of some rows as a preconditioner, and with the diagonal
        monkeypatch.setattr(newton_system, "WIDEST", widest)
        monkeypatch.setattr(newton_system, "SAMPLED", 3)
        found = solved(LinearNewton(tol=1e-9, criterion="gap"), problem(loss, 0.5))
        assert found.status == "optimal"
        np.testing.assert_allclose(found.values.primal, direct.values.primal, rtol=1e-8)


@pytest.mark.parametrize("Z", [X, sp.csr_array(X)], ids=["dense", "sparse"])
@pytest.mark.parametrize("loss", [x for x in LOSSES if x.name != "binomial_deviance"], ids=lambda x: x.name)
def test_a_sweep_of_coordinate_descent_is_that_of_its_naive_twin(loss, Z):
    box = loss.box_conjugate(target(loss))
    there = np.flatnonzero(PRICE)
    C = np.where(PRICE > 0, PRICE, 1.0)
    beta, w, bias, order = np.zeros(60), np.zeros(4), np.zeros(1), there.copy()
    rest = (
        (X**2).sum(axis=1), box.p, box.e, box.r / C, box.lo * C, box.hi * C, beta, w, bias, 0.25, order,
        there.size, np.inf, np.array([7], dtype=np.uint64),
    )  # fmt: skip
    loops = _jit.coordinate_descent
    if sp.issparse(Z):
        active, *_ = loops.sweep_sparse(Z.indptr, Z.indices, Z.data, *rest)
    else:
        active, *_ = loops.sweep_dense(Z, *rest)
    assert active == there.size
    assert sorted(order) == there.tolist() != order.tolist()
    np.testing.assert_allclose(beta, naive_sweep(loss, 0.5, order), atol=1e-6)
    np.testing.assert_allclose(w, X.T @ beta, atol=1e-12)
    np.testing.assert_allclose(bias, 0.25 * beta.sum(), atol=1e-12)


def layouts():
    wide = sp.csr_array(X.astype(np.float32))
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    return [X.astype(np.float32), sp.csr_matrix(X.astype(np.float32)), wide]


@pytest.mark.parametrize("solver", [LinearNewton, CoordinateDescent])
def test_layouts_do_not_matter(solver):
    single = X.astype(np.float32).astype(np.float64)
    for loss in (losses.Hinge(), losses.SquaredHinge()):
        known = solved(solver(tol=1e-9, criterion="gap"), problem(loss, 1.0, single)).values
        for Z in layouts():
            p = LinearRisk(Features(Z, Workers(2)), loss, SIGN, PRICE, bias_scale=1.0)
            np.testing.assert_allclose(
                solved(solver(tol=1e-9, criterion="gap"), p).values.primal, known.primal
            )


@pytest.mark.parametrize("solver", [LinearNewton, CoordinateDescent])
@pytest.mark.parametrize("loss", [losses.Hinge(), losses.SquaredHinge()], ids=str)
def test_a_solution_is_a_good_start(solver, loss):
    p = problem(loss, 1.0)
    first = solved(solver(tol=1e-6, criterion="gap"), p)
    again = solved(solver(tol=1e-6, criterion="gap"), p, first.b)
    assert again.n_iter < first.n_iter
    assert again.status == "optimal"


class Kinked(losses.Loss):
    """max(0, 1 - u) + u^2 / 10: a kink, and curved besides."""

    targets = "signs"
    smooth = False

    def value(self, y, f):
        return np.maximum(0.0, 1.0 - y * f) + 0.1 * f * f

    def derivative(self, y, f):
        return np.where(y * f < 1.0, -y, 0.0) + 0.2 * f


class Exponential(losses.Loss):
    targets = "signs"

    def value(self, y, f):
        return np.exp(-y * f)

    def derivative(self, y, f):
        return -y * np.exp(-y * f)


@pytest.mark.parametrize("scale", SCALES)
def test_losses_of_ones_own(scale):
    for loss in (Kinked(), Exponential()):
        found = solved(LinearNewton(tol=1e-6, criterion="gap"), problem(loss, scale))
        assert found.status == "optimal"
        w, b, _ = found.problem.parts(found.b)

        def primal(w, b, loss=loss):
            ridge = 0.5 * w @ w + (0.5 * (b / scale) ** 2 if 0 < scale < np.inf else 0.0)
            return ridge + PRICE @ loss.value(SIGN, X @ w + b)

        rng = np.random.default_rng(0)
        for _ in range(200):
            step = 0.01 * rng.normal(size=5)
            assert primal(w + step[:4], b + (step[4] if scale > 0 else 0.0)) >= primal(w, b) * (1 - 1e-6)


class Doubled(losses.SquaredHinge):
    """A loss that changed its value after a class that said more of it."""

    def value(self, y, f):
        return 2.0 * super().value(y, f)

    def derivative(self, y, f):
        return 2.0 * super().derivative(y, f)

    def curvature(self, y, f):
        return 2.0 * super().curvature(y, f)

    def conjugate(self, y, s):
        return 2.0 * super().conjugate(y, s / 2.0)

    def excess(self, y, f, s):
        return 2.0 * super().excess(y, f, s / 2.0)


def test_a_changed_loss_does_not_inherit_the_form_of_its_conjugate():
    twice = LinearRisk(Features(X), losses.SquaredHinge(), SIGN, 2.0 * PRICE, bias_scale=1.0)
    known = solved(LinearNewton(tol=1e-10), twice).values.primal
    np.testing.assert_allclose(solved(LinearNewton(tol=1e-10), problem(Doubled(), 1.0)).values.primal, known)
    with pytest.raises(UnsuitableSolverError, match="quadratic on an interval"):
        solved(CoordinateDescent(), problem(Doubled(), 1.0))


def test_what_a_solver_cannot_do_it_says():
    with pytest.raises(UnsuitableSolverError, match="unpenalised bias"):
        solved(CoordinateDescent(), problem(losses.Hinge(), np.inf))
    with pytest.raises(UnsuitableSolverError, match="quadratic on an interval"):
        solved(CoordinateDescent(), problem(losses.BinomialDeviance(), 1.0))
    with pytest.raises(UnsuitableSolverError, match="explicit features"):
        LinearNewton().solve(gram(Linear(), X), soft_margin(SIGN, C=np.ones(60)))


def test_the_choice_goes_by_shape():
    few = problem(losses.Hinge(), 1.0)
    assert isinstance(suited(few.features, few), LinearNewton)
    many = problem(losses.Hinge(), 1.0, sp.csr_array((60, 5000)))
    assert isinstance(suited(many.features, many), CoordinateDescent)
    smooth = problem(losses.SquaredHinge(), 1.0, sp.csr_array((60, 5000)))
    assert isinstance(suited(smooth.features, smooth), LinearNewton)
    free = problem(losses.Hinge(), np.inf, sp.csr_array((60, 5000)))
    assert isinstance(suited(free.features, free), LinearNewton)


@pytest.mark.parametrize("solver", [LinearNewton, CoordinateDescent])
def test_limits_end_a_solve_with_a_point_that_is_worth_what_is_said(solver):
    p = problem(losses.Hinge(), 1.0)
    for limits, status in ((Limits(max_iter=2), "iteration_limit"), (Limits(time_limit=0.0), "time_limit")):
        found = solved(solver(tol=1e-9, criterion="gap", limits=limits), p)
        assert found.status == status
        assert found.values.gap > 0
        assert found.values.dual <= judged(losses.Hinge(), 1.0) + 1e-6


@pytest.mark.parametrize("nu", [0.1, 0.5, 1.0])
def test_the_plane_of_one_class_is_that_of_the_kernel_machine(nu):
    from mercer import OneClassSVM

    points = X + 2.0
    p = LinearPlane(Features(points), np.ones(60), nu)
    found = solved(LinearNewton(tol=1e-9), p)
    theirs = OneClassSVM(kernel="linear", nu=nu, tol=1e-9).fit(points)
    np.testing.assert_allclose(found.values.primal, theirs.certificate_.primal, rtol=1e-7)
    np.testing.assert_allclose(p.machine(found.b, found.f).coef, theirs.coef_[0], rtol=1e-5)
