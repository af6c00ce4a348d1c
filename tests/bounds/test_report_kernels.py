"""The report believes of a kernel only what is so: how far out items lie, and what was read off the rows."""

import numpy as np
import pytest
import sklearn.svm

from mercer import SVC, SVDD, SVR, GaussianProcessRegressor, KernelPerceptron, OneClassSVM
from mercer.bounds import report
from mercer.kernels import RBF, Constant, FromFunction, Laplacian, Linear, Polynomial, Spline
from mercer.kernels.vector import ElementwiseKernel


class Tall(ElementwiseKernel):
    """k(x, z) = 20 / (1 + 3 ||x - z||^2), so that k(x, x) = 20."""

    statistic = "sqdist"

    def elementwise(self, S):
        S *= 3.0
        S += 1.0
        return np.divide(20.0, S, out=S)


class Known(Tall):
    """The same with its bound written down."""

    diagonal_bound = 20.0


class Assumed(Tall):
    """The same with a bound that is not so."""

    diagonal_bound = 1.0


def separable(n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    return rng.uniform(-0.3, 0.3, size=(n, 2)) + y[:, None], y


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_a_kernel_of_diagonal_20_is_promised_what_its_radius_allows(C):
    X, y = separable()
    found = report(SVC(kernel=Tall(), C=C).fit(X, y), X, y)
    known = report(SVC(kernel=Known(), C=C).fit(X, y), X, y)
    given = report(SVC(kernel=Tall(), C=C).fit(X, y), X, y, radius=np.sqrt(20.0))
    assert any(f"R = {np.sqrt(20.0):.4g} " in a.text and a.status == "met" for a in found.assumptions)
    names = [line.name for line in found]
    assert names == [line.name for line in known] == [line.name for line in given]
    for name in names:
        for other in (known, given):
            assert found[name].value == pytest.approx(other[name].value, rel=1e-9), name
    assumed = report(SVC(kernel=Assumed(), C=C).fit(X, y), X, y)
    assert any(line.value < 0.95 * found[line.name].value for line in assumed)  # a false guarantee shows
    unscaled = report(SVC(kernel=(1 / 20) * Tall(), C=20 * C).fit(X, y), X, y)  # the same functions
    for line in unscaled:
        if line.kind != "rate":
            assert found[line.name].value == pytest.approx(line.value, rel=1e-2), line.name


@pytest.mark.parametrize("machine", [OneClassSVM, SVDD])
def test_a_detector_of_diagonal_20(machine):
    X, _ = separable(2000)
    found, known = (report(machine(kernel=k, nu=0.1).fit(X), X, rate=0.8) for k in (Tall(), Known()))
    for line in known:
        assert found[line.name].value == pytest.approx(line.value, rel=1e-9)
        assert found[line.name].trivial == pytest.approx(line.trivial, rel=1e-9)
    assumed = report(machine(kernel=Assumed(), nu=0.1).fit(X), X, rate=0.8)
    assert assumed["radius for a rate of 0.8"].value < 0.95 * found["radius for a rate of 0.8"].value
    ball = SVDD(kernel=Tall(), nu=0.1).fit(X)
    assert ball.radius_for(0.9) == pytest.approx(ball.radius_for(0.9, support_radius=np.sqrt(20.0)))


@pytest.mark.parametrize(
    "kernel", [RBF(1.0), RBF(1.0) + Laplacian(0.5), 2 * RBF(1.0) + 1, Linear().normalized()]
)
def test_no_item_lies_beyond_where_the_report_says_none_does(kernel):
    """Kernels that are never negative leave less room, those of unknown sign the whole ball."""
    X, _ = separable(2000)
    model = SVDD(kernel=kernel, nu=0.1).fit(X)
    farthest = report(model, X, rate=0.8)["radius for a rate of 0.8"].trivial
    R, centre = kernel.diagonal_bound, model.center_squared_norm_
    room = 0.0 if kernel.is_nonnegative else 2.0 * np.sqrt(R * centre)
    assert farthest == pytest.approx(np.sqrt(R + centre + room))
    anywhere = np.random.default_rng(1).standard_normal((500, 2)) * np.geomspace(0.1, 1e3, 500)[:, None]
    assert model.distance(anywhere).max() <= farthest * (1 + 1e-6)


def broken_of(found):
    return [a.text for a in found.assumptions if a.status == "broken"]


def test_every_kernel_that_was_read_off_the_rows_breaks_the_theorems():
    X, y = separable(80)
    for kernel, word in (
        (Spline("min"), 'anchor="min"'),
        (RBF(1.0) + Spline("min").on([0]), 'anchor="min"'),
        (RBF(), 'gamma="scale"'),
        (RBF(1.0) * Linear().centered(), "centre"),
    ):
        model = SVC(kernel=kernel, parametric=None).fit(X, y)
        assert any(word in text for text in broken_of(report(model, X, y))), kernel
    for kernel in (Spline(), RBF("auto"), Polynomial(2, "auto"), RBF(1.0) + Constant(2.0)):
        model = SVC(kernel=kernel, parametric=None).fit(X, y)
        assert not any("kernel" in text for text in broken_of(report(model, X, y)))
    found = report(SVC(kernel=Spline()).fit(X, y), X, y)  # lines cost nothing beside this kernel
    assert "parametric" in found["margins and norms"].why


def test_a_kernel_that_the_fit_has_changed_is_no_kernel_fixed_beforehand():
    X, y = separable(60)
    y = y + 0.2 * np.random.default_rng(1).standard_normal(60)
    bounds = {"gamma": (1e-12, 1e6)}
    model = GaussianProcessRegressor(kernel=RBF(1.0), noise=0.01, bounds=bounds).fit(X, y)
    assert model.kernel_ != RBF(1.0)
    assert any("was found from these rows" in text for text in broken_of(report(model, X, y)))


def test_an_unproved_kernel_is_for_the_user_to_vouch_for():
    X, y = separable(60)
    found = report(SVC(kernel=FromFunction(lambda A, B: A @ B.T)).fit(X, y), X, y)
    assert any("inner product" in a.text and a.status == "yours" for a in found.assumptions)
    assert not any("inner product" in a.text for a in report(SVC(gamma=1.0).fit(X, y), X, y).assumptions)


def test_another_librarys_machine_has_its_kernel_resolved():
    X, y = separable(60)
    for gamma in ("scale", "auto", 0.7):
        ours, theirs = (report(cls(gamma=gamma, tol=1e-8).fit(X, y), X, y) for cls in (SVR, sklearn.svm.SVR))
        assert broken_of(ours) == broken_of(theirs)
        for line in ours:
            assert (line.value is None) == (theirs[line.name].value is None)
            if line.value is not None:
                assert theirs[line.name].value == pytest.approx(line.value, rel=1e-5)


def test_a_bias_that_moves_by_the_sample_radius_costs_a_point_unless_the_kernel_fixes_it():
    """All training points as far out as each other do not make the kernel so."""
    X, y = separable(100)
    circle = X / np.linalg.norm(X, axis=1, keepdims=True)
    read_off = report(KernelPerceptron(kernel="linear").fit(circle, y), circle, y)["number of updates"]
    assert any("farthest training point" in a.text for a in read_off.assumptions)
    fixed = report(KernelPerceptron(kernel=RBF(1.0)).fit(X, y), X, y)["number of updates"]
    assert not any("farthest training point" in a.text for a in fixed.assumptions)
