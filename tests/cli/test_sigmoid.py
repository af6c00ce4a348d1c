"""Probabilities as LIBSVM's files hold them, each against its definition."""

import numpy as np
import pytest
from scipy.optimize import minimize

from mercer.problems.libsvm_probabilities import density_marks, density_probability, laplace_scale
from mercer.solvers.calibration.sigmoid import fit_sigmoid

pytestmark = pytest.mark.core

TIGHT = {"xatol": 1e-9, "fatol": 1e-12}


def loss(x, f, positive):
    """Platt's objective, written down as it is defined."""
    n_plus, n_minus = positive.sum(), (~positive).sum()
    target = np.where(positive, (n_plus + 1) / (n_plus + 2), 1 / (n_minus + 2))
    p = 1 / (1 + np.exp(x[0] * f + x[1]))
    return -(target * np.log(p) + (1 - target) * np.log(1 - p)).sum()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("unit", [1.0, 1e-3, 1e3])
def test_the_sigmoid_is_the_best_one(seed, unit):
    rng = np.random.default_rng(seed)
    f = rng.normal(size=80)
    positive = rng.random(80) < 1 / (1 + np.exp(-2 * f + 0.5))
    A, B = fit_sigmoid(unit * f, positive)
    found = minimize(loss, [0.0, 0.0], (f, positive), method="Nelder-Mead", options=TIGHT)
    np.testing.assert_allclose([A * unit, B], found.x, atol=1e-4)
    assert A < 0


def test_separable_and_one_sided_decisions_have_finite_sigmoids():
    f = np.concatenate([-np.ones(20), np.ones(20)])
    A, B = fit_sigmoid(f, f > 0)
    assert np.isfinite([A, B]).all()
    # Platt's targets 21/22 and 1/22 are met exactly.
    assert 1 / (1 + np.exp(A + B)) == pytest.approx(21 / 22, abs=1e-6)
    assert np.isfinite(fit_sigmoid(np.zeros(10), np.arange(10) < 4)).all()


def test_the_laplace_scale_leaves_far_residuals_out():
    near = np.concatenate([-np.ones(50), np.ones(50)])
    assert laplace_scale(near) == 1.0
    assert laplace_scale(np.append(near, 1000.0)) == 1.0


def test_marks_are_rising_and_split_at_zero():
    f = np.random.default_rng(0).normal(size=500) + 0.5
    marks = density_marks(f)
    assert marks.shape == (10,)
    assert (np.diff(marks) > 0).all()
    assert marks[4] < 0 < marks[5]
    assert density_marks(np.abs(f)) is None
    p = density_probability(np.sort(f), marks)
    assert (np.diff(p) >= 0).all()
    assert p[0] == 0.001
    assert p[-1] == 0.999
    assert set(np.round(p, 3)) == {0.001, *np.arange(1, 10) / 10, 0.999}
