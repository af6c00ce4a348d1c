"""C = inf: the flattest function whose tube holds all points."""

import numpy as np
import pytest
from scipy.optimize import minimize

from mercer import SVR
from mercer.kernels import RBF

pytestmark = pytest.mark.core

x = np.linspace(0, 6, 25)[:, None]
y = np.sin(x[:, 0])


def test_no_point_leaves_the_tube_and_a_large_price_gives_the_same_function():
    model = SVR(C=np.inf, epsilon=0.05, tol=1e-8).fit(x, y)
    assert np.abs(y - model.predict(x)).max() <= 0.05 + 1e-7
    priced = SVR(C=10 * np.abs(model.dual_coef_).max(), epsilon=0.05, tol=1e-8).fit(x, y)
    np.testing.assert_allclose(model.predict(x), priced.predict(x), atol=1e-6)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.relative_gap < 1e-6
    assert model.certify(x, y).relative_gap < 1e-6


def test_value_is_that_of_the_primal_problem():
    model = SVR(C=np.inf, epsilon=0.2, tol=1e-8, gamma=0.5).fit(x, y)
    values, vectors = np.linalg.eigh(RBF(gamma=0.5)(x))
    Z = vectors[:, -10:] * np.sqrt(values[-10:])  # the rest of the spectrum is below 1e-6 of the first
    tube = {"type": "ineq", "fun": lambda w: 0.2 - np.abs(y - Z @ w[:-1] - w[-1])}
    start = np.append(np.linalg.lstsq(Z, y, rcond=None)[0], 0.0)
    found = minimize(lambda w: 0.5 * w[:-1] @ w[:-1], start, constraints=[tube], options={"maxiter": 500})
    assert found.success
    assert model.certificate_.primal == pytest.approx(found.fun, rel=1e-4)


def test_weights_only_leave_points_out():
    weight = np.where(np.arange(25) == 7, 0.0, 3.0)
    far = np.where(weight == 0, 5.0, y)
    model = SVR(C=np.inf, gamma=1.0, tol=1e-8).fit(x, far, weight)
    plain = SVR(C=np.inf, gamma=1.0, tol=1e-8).fit(x[weight > 0], y[weight > 0])
    np.testing.assert_allclose(model.predict(x), plain.predict(x), atol=1e-6)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_what_no_function_can_keep_is_refused(loss):
    with pytest.raises(ValueError, match=r"C=inf: no function .* within epsilon of all targets"):
        SVR(C=np.inf, kernel="linear", loss=loss).fit(x, y)
    with pytest.raises(ValueError, match=r"C=inf: no function"):
        SVR(C=np.inf, loss=loss).fit(np.vstack([x, x]), np.concatenate([y, y + 1]))
