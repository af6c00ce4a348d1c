"""What must not change, or must change in a known way, when the data are changed in a known way."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor

from mercer import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM, SphereAndSlab
from mercer.kernels import RBF, Linear, Polynomial

pytestmark = pytest.mark.core

TIGHT = {"tol": 1e-9, "precision": "double"}
MACHINES = [
    SVC(C=2.0),
    SVC(C=2.0, loss="squared_hinge"),
    NuSVC(nu=0.4),
    SVR(C=2.0),
    SVR(C=2.0, loss="squared_epsilon_insensitive"),
    NuSVR(nu=0.4, C=2.0),
    SVDD(nu=0.3),
    SVDD(nu=0.0),
    OneClassSVM(nu=0.3),
    SphereAndSlab(nu=0.3),
]
KERNELS = [RBF(0.4), Polynomial(degree=2, gamma=0.5, coef0=1.0), Linear()]
each_machine = pytest.mark.parametrize("machine", MACHINES, ids=str)
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=str)


def data(seed=0, n=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) + 1.0
    label = np.where(X[:, 0] - X[:, 1] + rng.normal(size=n) > 0, "up", "down")
    target = np.sin(X[:, 0]) + 0.2 * rng.normal(size=n)
    return X, label, target


def targets(machine, label, target):
    return label if is_classifier(machine) else target if is_regressor(machine) else None


def values(model, X):
    return model.predict(X) if is_regressor(model) else model.decision_function(X)


def fitted(machine, X, label, target, weight=None, **params):
    model = clone(machine).set_params(**TIGHT, **params)
    return model.fit(X, targets(model, label, target), sample_weight=weight)


@each_kernel
@each_machine
def test_the_order_of_rows_does_not_matter(machine, kernel):
    X, label, target = data()
    order = np.random.default_rng(1).permutation(len(X))
    one = fitted(machine, X, label, target, kernel=kernel)
    two = fitted(machine, X[order], label[order], target[order], kernel=kernel)
    np.testing.assert_allclose(values(one, X), values(two, X), atol=1e-6)
    assert one.certificate_.dual == pytest.approx(two.certificate_.dual, rel=1e-8)


@each_machine
def test_a_weight_is_a_number_of_repetitions(machine):
    X, label, target = data()
    weight = np.random.default_rng(2).integers(0, 4, len(X))
    rows = np.repeat(np.arange(len(X)), weight)
    one = fitted(machine, X, label, target, weight)  # gamma="scale" counts weights too
    two = fitted(machine, X[rows], label[rows], target[rows])
    np.testing.assert_allclose(values(one, X), values(two, X), atol=1e-6)
    assert one.certificate_.dual == pytest.approx(two.certificate_.dual, rel=1e-8)
    for name in ("rho_", "epsilon_", "radius_", "slack_sum_", "width_", "margin_"):
        if hasattr(one, name):
            assert getattr(one, name) == pytest.approx(getattr(two, name), rel=1e-5, abs=1e-7), name
    for name in ("margin_error_fraction_", "outside_fraction_"):
        if hasattr(one, name):
            assert getattr(one, name) == pytest.approx(getattr(two, name), abs=1e-9), name


@pytest.mark.parametrize(
    "machine", [SVC(C=2.0), SVC(C=np.inf), SVC(loss="squared_hinge"), NuSVC(nu=0.4)], ids=str
)
def test_swapping_the_labels_swaps_the_sign(machine):
    X, label, _ = data()
    other = np.where(label == "up", "down", "up")
    one, two = fitted(machine, X, label, None), fitted(machine, X, other, None)
    np.testing.assert_allclose(one.decision_function(X), -two.decision_function(X), atol=1e-6)
    assert one.margin_ == pytest.approx(two.margin_, rel=1e-6)


# The bias takes up what a constant adds. Balls see differences only. A plane that is held against the origin
# does not.
@each_kernel
@pytest.mark.parametrize("machine", [m for m in MACHINES if not isinstance(m, OneClassSVM)], ids=str)
def test_a_constant_added_to_the_kernel_changes_nothing(machine, kernel):
    X, label, target = data()
    one = fitted(machine, X, label, target, kernel=kernel)
    two = fitted(machine, X, label, target, kernel=kernel + 3.0)
    np.testing.assert_allclose(values(one, X), values(two, X), atol=1e-6)


@pytest.mark.parametrize("scale", [0.01, 100.0])
@pytest.mark.parametrize(
    "machine",
    [
        SVC(C=2.0),
        SVC(C=2.0, loss="squared_hinge"),
        SVR(C=2.0),
        SVR(C=2.0, loss="squared_epsilon_insensitive"),
        NuSVR(C=2.0),
    ],
    ids=str,
)
def test_a_scaled_kernel_with_c_divided_gives_the_same_function(machine, scale):
    X, label, target = data()
    one = fitted(machine, X, label, target, kernel=RBF(0.4))
    two = fitted(machine, X, label, target, kernel=scale * RBF(0.4), C=machine.C / scale)
    np.testing.assert_allclose(values(one, X), values(two, X), atol=1e-6)
    if isinstance(machine, NuSVR):
        assert one.epsilon_ == pytest.approx(two.epsilon_, abs=1e-7)


@pytest.mark.parametrize("scale", [0.01, 100.0])
@pytest.mark.parametrize("params", [{"nu": 0.3}, {"C": 0.1}, {"nu": 0.0}], ids=str)
def test_a_ball_keeps_c_and_its_squared_radius_scales(params, scale):
    X, _, _ = data()
    one = SVDD(**params, kernel=RBF(0.4), **TIGHT).fit(X)
    two = SVDD(**params, kernel=scale * RBF(0.4), **TIGHT).fit(X)
    assert two.radius_**2 == pytest.approx(scale * one.radius_**2, rel=1e-6)
    np.testing.assert_allclose(two.distance(X) ** 2, scale * one.distance(X) ** 2, rtol=1e-6)


@pytest.mark.parametrize("scale", [0.01, 100.0])
def test_nu_needs_no_price_so_it_does_not_see_the_scale(scale):
    X, label, _ = data()
    one = NuSVC(nu=0.4, kernel=RBF(0.4), **TIGHT).fit(X, label)
    two = NuSVC(nu=0.4, kernel=scale * RBF(0.4), **TIGHT).fit(X, label)
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), atol=1e-6)
    assert two.rho_ == pytest.approx(scale * one.rho_, rel=1e-6)


def test_nusvc_is_svc_with_c_one_over_rho():
    X, label, _ = data()
    nu = NuSVC(nu=0.4, **TIGHT).fit(X, label)
    price = SVC(C=1 / nu.rho_, **TIGHT).fit(X, label)
    np.testing.assert_allclose(nu.decision_function(X), price.decision_function(X), atol=1e-6)
    assert nu.margin_ == pytest.approx(price.margin_, rel=1e-6)


def test_nusvr_is_svr_with_the_tube_it_found():
    X, _, target = data()
    nu = NuSVR(nu=0.4, C=2.0, **TIGHT).fit(X, target)
    tube = SVR(C=2.0, epsilon=nu.epsilon_, **TIGHT).fit(X, target)
    np.testing.assert_allclose(nu.predict(X), tube.predict(X), atol=1e-6)


@pytest.mark.parametrize(
    "kernel", [RBF(0.4), Polynomial(degree=2, gamma=0.5, coef0=1.0).normalized()], ids=str
)
@pytest.mark.parametrize("nu", [0.05, 0.3, 0.77, 1.0])
def test_ball_and_plane_agree_for_normalised_kernels(kernel, nu):
    """With k(x, x) = 1:  r^2 - distance^2 = 2 / (nu n) times the plane's decision value."""
    X, _, _ = data(n=60)
    new = np.random.default_rng(3).normal(size=(50, 3))
    ball = SVDD(nu=nu, kernel=kernel, **TIGHT).fit(X)
    plane = OneClassSVM(nu=nu, kernel=kernel, **TIGHT).fit(X)
    np.testing.assert_allclose(
        ball.radius_**2 - ball.distance(new) ** 2, 2 / (nu * len(X)) * plane.decision_function(new), atol=1e-6
    )
    # The plane's normal is the ball's centre.
    np.testing.assert_allclose(ball.dual_coef_, plane.dual_coef_ / (nu * len(X)), atol=1e-6)
