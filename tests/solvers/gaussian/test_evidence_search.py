"""The search for the parameters of a Gaussian process: steps from a curvature, nothing computed twice."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from mercer import GaussianProcessRegressor
from mercer.kernels.statistics import distances_kept, squared_distances
from mercer.problems.evidence import Evidence
from mercer.solvers.base import Limits
from mercer.solvers.gaussian.hyperparameters import climb, curvature, remembering

H = np.array([[5.0, 2.0], [2.0, 3.0]])
TOP = np.array([0.3, -0.4])
WIDE = np.array([[-5.0, 5.0], [-5.0, 5.0]])


def hill(theta):
    d = np.asarray(theta) - TOP
    value = -0.5 * d @ H @ d - 0.05 * (d**4).sum()
    return Evidence(value, 0.0, 0.0, 0.0, -H @ d - 0.2 * d**3)


def test_curvature_is_that_of_the_function():
    np.testing.assert_allclose(curvature(hill, TOP), H, atol=1e-3)


@pytest.mark.parametrize("factor", [1.0, 1.5])
def test_a_few_steps_from_a_rough_curvature_reach_the_top(factor):
    calls = []
    theta, settled = climb(
        lambda t: calls.append(1) or hill(t), np.array([1.0, 0.0]), factor * H, WIDE, Limits()
    )
    assert settled
    assert len(calls) <= 9
    np.testing.assert_allclose(theta, TOP, atol=1e-3)


def test_bounds_hold_and_a_wrong_curvature_ends_the_climb():
    narrow = np.array([[-5.0, 0.0], [-5.0, 5.0]])
    theta, settled = climb(hill, np.array([-1.0, 0.0]), H, narrow, Limits())
    assert settled
    assert theta[0] == 0.0
    assert abs(hill(theta).gradient[1]) < 1e-3
    start = np.array([1.0, 0.0])
    assert climb(hill, start, -H, WIDE, Limits()) == (pytest.approx(start), False)
    assert not climb(hill, start, 1e-3 * H, WIDE, Limits())[1]  # steps far beyond the top
    assert not climb(hill, start, H, WIDE, Limits(time_limit=0.0))[1]


def test_nothing_is_computed_twice():
    calls = []
    known = remembering(lambda t: calls.append(1) or hill(t))
    assert known(TOP) is known(TOP.copy())
    assert len(calls) == 1


def test_kept_distances_are_those_of_their_data_and_can_be_overwritten():
    rng = np.random.default_rng(0)
    X, other = rng.normal(size=(30, 3)), rng.normal(size=(30, 3))
    plain = squared_distances(X)
    with distances_kept(X):
        squared_distances(X)[:] = 0.0
        np.testing.assert_array_equal(squared_distances(X), plain)
        np.testing.assert_array_equal(squared_distances(other), squared_distances(other.copy()))
        assert squared_distances(X, other).shape == (30, 30)
    assert squared_distances(X) is not squared_distances(X)


def test_many_rows_end_where_few_do_not_differ():
    # From 1000 rows on the search begins on a quarter of them; the maximum is that of all.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 2))
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=1000)
    model = GaussianProcessRegressor(ConstantKernel() * RBF(), alpha=0.1).fit(X, y)
    value, slope = model.log_marginal_likelihood(model.kernel_.theta, eval_gradient=True)
    assert np.abs(slope).max() < 1e-2
    assert model.log_marginal_likelihood_value_ == pytest.approx(value, rel=1e-9)
    for shift in ([0.05, 0.0], [0.0, 0.05], [-0.05, 0.0], [0.0, -0.05]):
        assert model.log_marginal_likelihood(model.kernel_.theta + shift) < value
