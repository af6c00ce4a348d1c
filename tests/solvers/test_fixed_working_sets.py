"""Decomposition with a working set of fixed size and any solver inside, against the interior point on all."""

import numpy as np
import pytest

from mercer import SVC, SVDD, SVR, NuSVC
from mercer.kernels import RBF
from mercer.solvers import SMO, Ascent, Decomposition

N = 120


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2))
    return X, np.sin(2.0 * X[:, 0]) + 0.4 * rng.normal(size=N)


MACHINES = {
    "svc": lambda **more: SVC(kernel=RBF(0.5), C=3.0, tol=1e-5, **more),
    "squared": lambda **more: SVC(kernel=RBF(0.5), C=3.0, loss="squared_hinge", tol=1e-5, **more),
    "svr": lambda **more: SVR(kernel=RBF(0.5), C=3.0, epsilon=0.1, tol=1e-5, **more),
    "nu": lambda **more: NuSVC(kernel=RBF(0.5), nu=0.4, tol=1e-5, **more),
}

SETS = [(6, None), (12, "interior_point"), (40, "smo"), (30, "decomposition")]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("size", "inner"), SETS)
def test_ends_at_the_optimum_whatever_solves_the_working_set(data, machine, size, inner):
    X, f = data
    y = f if machine == "svr" else f > 0
    model = MACHINES[machine](solver=Decomposition(size=size, inner=inner)).fit(X, y)
    judge = MACHINES[machine](solver="interior_point").fit(X, y)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.primal == pytest.approx(judge.certificate_.primal, rel=1e-4, abs=1e-9)
    best = judge.certificate_.primal
    assert model.certificate_.dual <= best + 1e-9 * abs(best)


def test_without_a_bias_single_variables_may_move(data):
    X, f = data
    solver = Decomposition(size=10, inner=Ascent(order="cyclic"))
    model = SVC(kernel=RBF(0.5), fit_intercept=False, tol=1e-5, solver=solver).fit(X, f > 0)
    judge = SVC(kernel=RBF(0.5), fit_intercept=False, solver="interior_point").fit(X, f > 0)
    assert model.certificate_.primal == pytest.approx(judge.certificate_.primal, rel=1e-5)


def test_detectors_have_working_sets_too(data):
    X, _ = data
    model = SVDD(kernel=RBF(0.5), nu=0.2, tol=1e-6, solver=Decomposition(size=20, inner=SMO(seed=3))).fit(X)
    judge = SVDD(kernel=RBF(0.5), nu=0.2, solver="interior_point").fit(X)
    assert model.radius_ == pytest.approx(judge.radius_, rel=1e-4)


def test_a_larger_set_needs_fewer_rounds(data):
    X, f = data
    machine = SVC(kernel=RBF(0.5), C=3.0)
    solvers = [Decomposition(size=q) for q in (2, 10, 60)]
    rounds = [machine.set_params(solver=solver).fit(X, f > 0).n_iter_[0] for solver in solvers]
    assert rounds[0] > rounds[1] > rounds[2]


def test_what_makes_no_sense_is_refused(data):
    X, f = data
    with pytest.raises(ValueError, match="give size, too"):
        Decomposition(inner="smo")
    with pytest.raises(ValueError, match="size=1 must be an integer of at least 2"):
        Decomposition(size=1)
    with pytest.raises(ValueError, match="inner='nothing' must be one of"):
        SVC(solver=Decomposition(size=10, inner="nothing")).fit(X, f > 0)
    with pytest.raises(ValueError, match="solver='ascent' changes one variable at a time"):
        SVC(solver=Decomposition(size=10, inner="ascent")).fit(X, f > 0)
