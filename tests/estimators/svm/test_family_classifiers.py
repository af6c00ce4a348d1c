"""The classifiers: hard margins in both formulations, margins and slacks, shares of nu, several classes."""

import warnings

import numpy as np
import pytest
from oracle import solve_qp
from sklearn.base import clone
from sklearn.datasets import load_iris

from mercer import SVC, NuSVC
from mercer.estimators.degenerate import DegenerateFitWarning
from mercer.kernels import FromFunction
from mercer.problems import InfeasibleError

TIGHT = {"tol": 1e-8, "precision": "double"}


def separable(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(6, 60)), int(rng.integers(1, 6))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1, -1
    direction = rng.normal(size=d)
    direction /= np.linalg.norm(direction)
    X = rng.normal(size=(n, d))
    X += (y * rng.uniform(0.1, 1.0) - X @ direction + y * rng.exponential(size=n))[:, None] * direction
    return X * 10.0 ** rng.uniform(-2, 2), y


def noisy(n=100, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, 1, 0)


# -- hard margins ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(25))
def test_the_two_hard_margin_algorithms_and_ours_agree(seed):
    """The norm-one form (Algorithm 7.21: nearest points of the hulls) and the margin-one form (7.26).

    The first has duals that sum to one and its margin is their norm; the duals of the second sum to the
    inverse square of the margin.
    """
    pytest.importorskip("clarabel")
    X, y = separable(seed)
    n = y.size
    K = X @ X.T
    Q = np.outer(y, y) * K
    zero, free = np.zeros(n), np.full(n, np.inf)
    first = solve_qp(2 * Q, zero, zero, np.ones(n), [(y, 0.0), (np.ones(n), 1.0)])
    margin = np.sqrt(first.value)
    # In units where the answer is of order one, because a generic solver needs that.
    second = solve_qp(margin**-2 * Q, -np.ones(n), zero, free, [(y, 0.0)])
    alpha = second.x / margin**2
    ours = SVC(C=np.inf, kernel="linear", **TIGHT).fit(X, y)
    assert alpha.sum() ** -0.5 == pytest.approx(margin, rel=1e-5)
    assert ours.margin_ == pytest.approx(margin, rel=1e-5)
    assert ours.margin_ == pytest.approx(np.abs(ours.dual_coef_).sum() ** -0.5, rel=1e-6)
    assert ours.certificate_.dual == pytest.approx(0.5 / margin**2, rel=1e-5)
    w_first = (y * first.x) @ X / margin**2
    w_second = (y * alpha) @ X
    np.testing.assert_allclose(ours.coef_[0], w_first, rtol=1e-4, atol=1e-4 / margin)
    np.testing.assert_allclose(ours.coef_[0], w_second, rtol=1e-4, atol=1e-4 / margin)
    # Every point has a functional margin of at least one, and some have exactly one.
    assert ours.margins(X, y).min() == pytest.approx(1.0, abs=1e-6)
    assert ours.slacks(X, y).max() <= 1e-6


@pytest.mark.core
@pytest.mark.parametrize("seed", range(10))
def test_a_huge_price_is_a_hard_margin(seed):
    X, y = separable(seed)
    hard = SVC(C=np.inf, kernel="linear", **TIGHT).fit(X, y)
    soft = SVC(C=2 * np.abs(hard.dual_coef_).max(), kernel="linear", **TIGHT).fit(X, y)
    np.testing.assert_allclose(hard.decision_function(X), soft.decision_function(X), atol=1e-5)
    assert hard.margin_ == pytest.approx(soft.margin_, rel=1e-6)


@pytest.mark.core
def test_classes_that_cannot_be_separated_have_no_hard_margin():
    X, y = noisy()
    with pytest.raises(ValueError, match="cannot be separated"):
        SVC(C=np.inf, kernel="linear").fit(X, y)


# -- margins and slacks ----------------------------------------------------------------------------------


@pytest.mark.core
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_primal_is_made_of_norm_and_slacks(loss):
    X, y = noisy()
    model = SVC(C=3.0, loss=loss, **TIGHT).fit(X, y)
    slacks = model.slacks(X, y)
    power = 1 if loss == "hinge" else 2
    primal = 0.5 / model.margin_**2 + 3.0 * (slacks**power).sum()
    assert primal == pytest.approx(model.certificate_.primal, rel=1e-9)
    margins = model.margins(X, y)
    np.testing.assert_allclose(margins, np.where(y == 1, 1, -1) * model.decision_function(X))
    np.testing.assert_allclose(slacks, np.maximum(0, 1 - margins))
    assert isinstance(model.margin_, float)


@pytest.mark.core
@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
@pytest.mark.parametrize("machine", [SVC(C=5.0), NuSVC(nu=0.1)], ids=str)
def test_margins_of_several_classes(machine, multiclass):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = clone(machine).set_params(multiclass=multiclass).fit(X, names)
    F = model.set_params(decision_function_shape="ovo" if multiclass == "ovo" else "ovr").decision_function(X)
    margins, slacks = model.margins(X, names), model.slacks(X, names)
    assert model.margin_.shape == (3,)
    if multiclass == "ovr":
        expected = [F[i, c] - max(F[i, o] for o in range(3) if o != c) for i, c in enumerate(y)]
        np.testing.assert_array_equal(margins > 0, model.predict(X) == names)
        hinge = [[max(0, 1 - (1 if c == o else -1) * F[i, o]) for o in range(3)] for i, c in enumerate(y)]
    else:
        signed = {0: [(0, 1), (1, 1)], 1: [(0, -1), (2, 1)], 2: [(1, -1), (2, -1)]}  # pairs 01, 02, 12
        expected = [min(s * F[i, k] for k, s in signed[c]) for i, c in enumerate(y)]
        assert (model.predict(X) == names)[margins > 0].all()
        hinge = np.zeros((len(y), 3))
        for i, c in enumerate(y):
            for k, s in signed[c]:
                hinge[i, k] = max(0, 1 - s * F[i, k])
    np.testing.assert_allclose(margins, expected, atol=1e-12)
    np.testing.assert_allclose(slacks, hinge, atol=1e-12)


@pytest.mark.core
def test_labels_that_were_never_seen_have_no_margin():
    X, y = noisy()
    model = SVC().fit(X, y)
    for call in (model.margins, model.slacks):
        with pytest.raises(ValueError, match="has not seen"):
            call(X, y + 1)


@pytest.mark.core
@pytest.mark.parametrize("machine", [SVC(C=2.0), NuSVC(nu=0.2)], ids=str)
def test_one_versus_rest_is_one_machine_per_class(machine):
    X, y = load_iris(return_X_y=True)
    machine = clone(machine).set_params(gamma=0.3, **TIGHT)
    model = clone(machine).set_params(multiclass="ovr").fit(X, y)
    for c in range(3):
        alone = clone(machine).fit(X, y == c)
        np.testing.assert_allclose(model.decision_function(X)[:, c], alone.decision_function(X), atol=1e-6)
        assert model.margin_[c] == pytest.approx(alone.margin_, rel=1e-6)
    assert (model.predict(X) == y).mean() > 0.94


# -- nu --------------------------------------------------------------------------------------------------


@pytest.mark.core
def test_shares_of_nu_hold_between_meeting_hulls_and_the_largest():
    X, y = noisy(120)
    sign = np.where(y == 1, 1, -1)
    largest = 2 * min((y == 1).sum(), (y == 0).sum()) / len(y)
    collapsed = 0
    grid = np.linspace(0.02, largest, 25)
    for nu in grid:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateFitWarning)
            model = NuSVC(nu=nu, kernel="linear", tol=1e-6).fit(X, y)
        if model.rho_ == 0:
            collapsed += 1
            continue
        margins = sign * model.decision_function(X)
        assert model.rho_ > 0
        assert (margins < 1 - 1e-4).mean() <= nu + 1e-12
        assert (margins < 1 + 1e-4).mean() >= nu - 1e-12
        assert model.margin_error_fraction_ <= nu + 1e-12 <= model.support_fraction_ + 2e-12
        assert model.margin_error_fraction_ == pytest.approx((margins < 1 - 1e-4).mean())
        assert model.support_fraction_ == len(model.support_) / len(X)
    assert 3 < collapsed < 15  # the noise is such that a linear rule errs on about a quarter
    # Hulls that do not meet at some nu do not meet at a larger one.
    with pytest.warns(DegenerateFitWarning, match="hulls of the classes meet"):
        assert NuSVC(nu=grid[collapsed - 1], kernel="linear", tol=1e-6).fit(X, y).rho_ == 0


@pytest.mark.core
def test_meeting_hulls_are_reported_in_words_and_not_divided_by():
    X, y = noisy()
    with pytest.warns(DegenerateFitWarning, match=r"nu=0.05 is so small .* w = 0"):
        model = NuSVC(nu=0.05, kernel="linear").fit(X, y)
    assert model.rho_ == 0
    assert model.margin_ == np.inf
    assert np.isfinite(model.dual_coef_).all()
    assert np.abs(model.decision_function(X)).max() < 1e-3
    assert abs(model.certificate_.primal) + abs(model.certificate_.dual) < 1e-3


@pytest.mark.core
def test_infeasible_nu_is_refused_before_any_kernel_value():
    def never(X, Z):
        raise AssertionError("a kernel value was computed")

    X = np.random.default_rng(0).normal(size=(1000, 2))
    y = np.r_[np.zeros(30), np.ones(970)]
    machine = NuSVC(nu=0.9, kernel=FromFunction(never))
    message = r"nu=0\.9 is infeasible for class sizes 30 and 970: at most 0\.06$"
    with pytest.raises(InfeasibleError, match=message):
        machine.fit(X, y)
    with pytest.raises(InfeasibleError, match=message):
        machine.fit(X, 1 - y)
    with pytest.raises(InfeasibleError, match=r"class weights 60 and 970: at most 0\.116505"):
        machine.fit(X, y, sample_weight=np.where(y == 0, 2.0, 1.0))
    three = np.r_[np.zeros(30), np.ones(470), np.full(500, 2)]
    with pytest.raises(InfeasibleError, match=r"30 and 470 \(class 0.0 against class 1.0\): at most 0.12"):
        machine.fit(X, three)
    with pytest.raises(InfeasibleError, match="against all others"):
        machine.set_params(multiclass="ovr").fit(X, three)
    X = X + 2.0 * y[:, None]
    NuSVC(nu=0.06).fit(X, y)
    NuSVC(nu=0.9, class_weight="balanced").fit(X, y)


@pytest.mark.core
def test_class_weights_that_leave_no_room_for_nu_lower_it():
    X, y = noisy()
    with pytest.warns(UserWarning, match=r"class_weight leaves too little weight for nu=0.5.*nu=0.01"):
        model = NuSVC(nu=0.5, class_weight={0: 100.0, 1: 1.0}).fit(X, y)
    assert model.nu_ < 0.03
    assert (model.predict(X) == 0).sum() >= len(X) - 1  # the boundary is on the outermost point
    assert model.certify(X, y).relative_gap < 0.01
    assert NuSVC(nu=0.5).fit(X, y).nu_ == 0.5


@pytest.mark.core
def test_the_largest_nu_has_a_margin_too():
    """All of the smaller class is at its bound; LIBSVM divides by infinity here."""
    X, y = noisy()
    largest = 2 * min((y == 1).sum(), (y == 0).sum()) / len(y)
    model = NuSVC(nu=largest, tol=1e-6).fit(X, y)
    assert 0 < model.rho_ < np.inf
    assert (model.predict(X) == y).mean() > 0.6
    assert model.certificate_.relative_gap < 1e-5
