"""Losses in units of a robust scale, the perceptron's loss, and tails of losses."""

import numpy as np
import pytest
from scipy.stats import median_abs_deviation

from mercer import KernelClassifier, KernelRegressor, losses
from mercer.problems.robust_scale import median_absolute_deviation, weighted_median

pytestmark = pytest.mark.core


def data(n=150, wild=15, size=1.0):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(n, 1))
    y = np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=n)
    y[:wild] += 20.0
    return X, size * y


def test_the_scale_is_scipys():
    values = np.random.default_rng(1).normal(size=101)
    theirs = median_abs_deviation(values, center=lambda v, axis: 0.0, scale="normal")
    assert median_absolute_deviation(values, np.ones(101)) == pytest.approx(theirs, rel=1e-9)
    weight = np.random.default_rng(2).integers(1, 4, size=30).astype(float)
    some = values[:30]
    assert weighted_median(some, weight) == pytest.approx(np.median(np.repeat(some, weight.astype(int))))


@pytest.mark.parametrize("loss", [losses.Huber(), losses.EpsilonInsensitive(0.5)], ids=repr)
def test_the_scale_is_that_of_the_residuals_it_leads_to(loss):
    X, y = data()
    model = KernelRegressor(loss=loss, scale="mad", C=1.0, gamma=1.0).fit(X, y)
    left = median_abs_deviation(y - model.predict(X), center=lambda v, axis: 0.0, scale="normal")
    assert model.scale_ == pytest.approx(left, rel=2e-3)
    assert 0.15 < model.scale_ < 0.35  # the noise and a little more, however wild a tenth of the rows is
    ((name, value),) = loss.get_params().items()
    assert getattr(model.loss_, name) == pytest.approx(value * model.scale_)
    same = KernelRegressor(loss=type(loss)(value * model.scale_), C=1.0, gamma=1.0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), same.predict(X), atol=1e-4)
    given = KernelRegressor(loss=loss, scale=model.scale_, C=1.0, gamma=1.0).fit(X, y)
    np.testing.assert_allclose(given.predict(X), model.predict(X), atol=1e-4)
    assert model.certify(X, y).relative_gap < 1e-5


def test_the_unit_of_y_does_not_matter():
    """Huber's loss in units of the scale: with y in other units the same function in those units."""
    X, y = data()
    small = KernelRegressor(loss="huber", scale="mad", gamma=1.0).fit(X, y)
    large = KernelRegressor(loss="huber", scale="mad", gamma=1.0).fit(X, 1000.0 * y)
    np.testing.assert_allclose(large.predict(X), 1000.0 * small.predict(X), rtol=1e-3, atol=1.0)
    plain = KernelRegressor(loss="huber", gamma=1.0).fit(X, 1000.0 * y)  # all residuals beyond 1.345
    assert np.abs(plain.predict(X) / 1000.0 - small.predict(X)).max() > 0.3


def test_losses_without_a_unit_refuse_a_scale():
    X, y = data()
    with pytest.raises(ValueError, match="no parameter in the units of y"):
        KernelRegressor(loss="squared_error", scale="mad").fit(X, y)
    with pytest.raises(ValueError, match="'scale' parameter"):
        KernelRegressor(scale=-1.0).fit(X, y)
    with pytest.raises(ValueError, match="most residuals vanish"):
        KernelRegressor(scale="mad").fit(X, np.where(np.arange(len(y)) < 20, y, 3.0))


def test_the_perceptrons_loss():
    loss = losses.PerceptronLoss()
    u = np.linspace(-2, 2, 9)
    np.testing.assert_array_equal(loss.value(np.ones(9), u), np.maximum(0.0, -u))
    np.testing.assert_array_equal(loss.value(-np.ones(9), u), np.maximum(0.0, u))
    np.testing.assert_array_equal(loss.derivative(np.ones(9), u), np.where(u < 0, -1.0, 0.0))
    f = np.linspace(-30, 30, 6001)
    for s in (-1.0, -0.4, 0.0):  # the conjugate by its definition
        best = (s * f - loss.value(np.ones(f.size), f)).max()
        assert loss.conjugate(np.ones(1), np.array([s]))[0] == pytest.approx(best, abs=1e-9)
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = KernelClassifier(loss=loss).fit(X, X[:, 0] > 0)
    assert model.certificate_.primal == pytest.approx(0.0, abs=1e-9)  # f = 0 costs nothing


def test_the_tails_of_figure_12_4():
    """Scaled to slope -1, the deviance and the Huberised squared hinge have the asymptote of the hinge."""
    assert losses.Hinge().tail_slope == -1.0
    assert losses.PerceptronLoss().tail_slope == -1.0
    assert losses.BinomialDeviance().tail_slope == pytest.approx(-1.0)
    assert losses.HuberizedSquaredHinge().tail_slope == -4.0
    assert losses.SquaredHinge().tail_slope == -np.inf
    one, far = np.ones(1), np.array([-1e4])
    hinge = losses.Hinge().value(one, far)
    for loss in (losses.BinomialDeviance(), losses.HuberizedSquaredHinge()):
        assert loss.value(one, far) / -loss.tail_slope == pytest.approx(hinge, abs=1.0 + 1e-9)
