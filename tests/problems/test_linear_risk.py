"""The gap of weights and multipliers is primal minus dual, for any of them."""

import numpy as np
import pytest

from mercer import losses
from mercer.gram import Features
from mercer.problems.linear_plane import LinearPlane
from mercer.problems.linear_risk import LinearMachine, LinearRisk

RNG = np.random.default_rng(5)
X = RNG.normal(size=(40, 3))
Y = np.where(RNG.random(40) < 0.5, 1.0, -1.0)
C = RNG.uniform(0.5, 2.0, size=40)


def dual_value(loss, beta, scale, pull=0.0):
    """Return the dual of the docstring, term by term."""
    v = X.T @ beta
    bias = 0.0 if np.isinf(scale) else 0.5 * scale**2 * (beta.sum() - pull) ** 2
    return -0.5 * v @ v - bias - C @ loss.conjugate(Y, -beta / C)


@pytest.mark.parametrize("scale", [0.0, 0.7, np.inf])
@pytest.mark.parametrize("loss", [losses.Hinge(), losses.SquaredHinge(), losses.BinomialDeviance()], ids=str)
def test_the_gap_is_primal_minus_dual(loss, scale):
    p = LinearRisk(Features(X), loss, Y, C, bias_scale=scale)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        w, bias = rng.normal(size=3), rng.normal() if scale > 0 else 0.0
        beta = C * Y * rng.uniform(0.1, 0.9, size=40)
        if np.isinf(scale):  # the sum must vanish: scale one class down
            up, down = beta[Y > 0].sum(), -beta[Y < 0].sum()
            beta[Y > 0] *= min(1.0, down / up)
            beta[Y < 0] *= min(1.0, up / down)
        f = X @ w + bias
        values = p.evaluate(p.point(w, bias, beta), f)
        ridge = 0.5 * w @ w + (0.5 * (bias / scale) ** 2 if 0 < scale < np.inf else 0.0)
        np.testing.assert_allclose(values.primal, ridge + C @ loss.value(Y, f), rtol=1e-12)
        np.testing.assert_allclose(values.dual, dual_value(loss, beta, scale), rtol=1e-10)
        assert values.gap > 0


def test_multipliers_that_prove_nothing_are_found_out():
    w, f = np.zeros(3), np.zeros(40)
    outside = 2.0 * C * Y
    p = LinearRisk(Features(X), losses.Hinge(), Y, C, bias_scale=1.0)
    assert p.evaluate(p.point(w, 0.0, outside), f).dual == -np.inf
    free = LinearRisk(Features(X), losses.Hinge(), Y, C)
    unbalanced = np.where(Y > 0, C, 0.0)
    assert not free.evaluate(free.point(w, 0.0, unbalanced), f).feasible
    costless = LinearRisk(Features(X), losses.Hinge(), Y, np.where(np.arange(40) < 3, 0.0, C), bias_scale=1.0)
    assert not costless.evaluate(costless.point(w, 0.0, 0.5 * C * Y), f).feasible


def test_smooth_losses_need_no_multipliers_to_be_certified():
    p = LinearRisk(Features(X), losses.SquaredHinge(), Y, C, bias_scale=1.0)
    w = RNG.normal(size=3)
    machine = LinearMachine(w, 0.3, X @ w)
    values = p.certify(machine, machine.products)
    beta = -C * losses.SquaredHinge().derivative(Y, X @ w + 0.3)
    np.testing.assert_allclose(values.dual, dual_value(losses.SquaredHinge(), beta, 1.0), rtol=1e-10)


def test_a_pull_shifts_the_sum_of_the_multipliers():
    p = LinearPlane(Features(X + 3.0), np.ones(40), 0.3)
    beta = np.full(40, 0.3)
    w, bias = (X + 3.0).T @ beta, -5.0
    values = p.evaluate(p.point(w, bias, beta), (X + 3.0) @ w + bias)
    rho = 1.0 - bias
    primal = 0.5 * w @ w - 12.0 * rho + np.maximum(0.0, rho - (X + 3.0) @ w).sum()
    np.testing.assert_allclose(values.primal, primal, rtol=1e-12)
    np.testing.assert_allclose(values.dual, -0.5 * w @ w, rtol=1e-10)
