"""Which form of problem a loss has: a box-constrained dual, or a smooth risk."""

from __future__ import annotations

from mercer.problems.dual import Float64
from mercer.problems.losses import Loss
from mercer.problems.piecewise_linear import PiecewiseLinear, piecewise_linear
from mercer.problems.risk import Risk


def penalised(
    loss: Loss, y: Float64, C: Float64, *, fit_intercept: bool = True, outputs: int = 1
) -> PiecewiseLinear | Risk:
    r"""Return the problem  min 1/2 ||w||^2 + sum_i C_i L(y_i, f(x_i)).

    A piecewise-linear loss has a box-constrained quadratic dual; a loss with a continuous derivative is a
    problem for Newton's method.

    Parameters
    ----------
    loss : Loss
        The loss.
    y : (n,) float64
        Targets.
    C : (n,) float64
        Price of each point.
    fit_intercept : bool
        Whether f has an unpenalised bias.
    outputs : int
        Functions at once: the number of classes for a loss of classes.
    """
    if loss.pieces(y) is not None:
        return piecewise_linear(loss, y, C, fit_intercept=fit_intercept)
    return Risk(loss, y, C, fit_intercept=fit_intercept, outputs=outputs)
