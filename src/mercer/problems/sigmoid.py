"""Probabilities as LIBSVM's model files hold them: sigmoids of pairs, a Laplace scale, marks of a density.

:mod:`mercer.problems.calibration` and :mod:`mercer.problems.coupling` are what the estimators use. What is
here gives the same numbers as LIBSVM does, for files that it shall read and for files that it wrote.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from mercer.arrays import Float64

MARKS = 10  # of the density of a detector's decisions
FAR = 5.0  # residuals beyond this many standard deviations do not count


def fit_sigmoid(f: Float64, positive: NDArray[np.bool_]) -> tuple[float, float]:
    r"""Return A and B of P(y = +1 | f) = 1 / (1 + exp(A f + B)).

    .. math::
        \min_{A, B} \sum_i \log(1 + e^{z_i}) - (1 - t_i) z_i, \qquad z_i = A f_i + B,

    with the targets t = (n+ + 1) / (n+ + 2) for positive points and 1 / (n- + 2) for the others.

    Parameters
    ----------
    f : (n,) float64
        Decision values of points that the machine was not trained on.
    positive : (n,) bool
        Whether the point is of the class that positive decisions mean.

    Returns
    -------
    A, B : float
        The sigmoid; A is negative where decisions say anything.

    References
    ----------
    Platt (2000), Probabilities for SV machines, in Advances in Large Margin Classifiers. Lin, Lin and Weng
    (2007), A note on Platt's probabilistic outputs for support vector machines, Machine Learning 68.
    """
    n_plus, n_minus = int(positive.sum()), int((~positive).sum())
    target = np.where(positive, (n_plus + 1.0) / (n_plus + 2.0), 1.0 / (n_minus + 2.0))
    size = (
        float(np.abs(f).max(initial=0.0)) or 1.0
    )  # A is found for f / size, so that both unknowns are alike
    columns = np.column_stack([f / size, np.ones(f.size)])

    def value(x: Float64) -> float:
        z = columns @ x
        return float((np.logaddexp(0.0, z) - (1.0 - target) * z).sum())

    def slope(x: Float64) -> Float64:
        return columns.T @ (expit(columns @ x) - (1.0 - target))

    def curvature(x: Float64) -> Float64:
        p = expit(columns @ x)
        return (columns.T * (p * (1.0 - p))) @ columns

    start = np.array([0.0, np.log((n_minus + 1.0) / (n_plus + 1.0))])
    found = minimize(value, start, jac=slope, hess=curvature, method="trust-exact", options={"gtol": 1e-8})
    return float(found.x[0]) / size, float(found.x[1])


def laplace_scale(residuals: Float64) -> float:
    """Return the scale of the Laplace distribution of cross-validated residuals, far ones left out.

    Parameters
    ----------
    residuals : (n,) float64
        Targets minus predictions.

    References
    ----------
    Lin and Weng (2004), Simple probabilistic predictions for support vector regression, technical report,
    National Taiwan University.
    """
    size = np.abs(residuals)
    deviation = np.sqrt(2.0) * float(size.mean())
    return float(size[size <= FAR * deviation].mean())


def density_marks(f: Float64) -> Float64 | None:
    """Return the marks between which a detector's decisions are equally frequent on each side of 0.

    None where a side has too few of them.

    Parameters
    ----------
    f : (n,) float64
        Decisions of the training points.

    References
    ----------
    Que and Lin (2022), One-class SVM probabilistic outputs, technical report, National Taiwan University.
    """
    half = MARKS // 2
    ordered = np.sort(f)
    negative = int(np.searchsorted(ordered, 0.0, side="left"))
    positive = ordered.size - negative
    if negative < half or positive < half:
        return None
    steps = np.arange(half)
    below = ordered[steps * negative // half]
    above = ordered[negative - 1 + (steps + 1) * positive // half]
    ends = np.concatenate([below, [0.0], above])
    marks: Float64 = (ends[:-1] + ends[1:]) / 2.0
    return marks


def density_probability(f: Float64, marks: Float64) -> Float64:
    """Return the probability that points are normal, from the marks of the training points.

    Parameters
    ----------
    f : (n,) float64
        Decisions.
    marks : (MARKS,) float64
        What :func:`density_marks` returned.
    """
    place = np.minimum(np.searchsorted(marks, f, side="right"), marks.size - 1)
    p: Float64 = np.where(f < marks[0], 0.001, np.where(f > marks[-1], 0.999, place / marks.size))
    return p
