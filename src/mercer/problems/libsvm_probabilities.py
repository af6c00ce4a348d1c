"""Probabilities as LIBSVM's model files hold them: a Laplace scale, marks of a density.

:mod:`mercer.problems.calibration` and :mod:`mercer.problems.coupling` are what the estimators use. What is
here, and Platt's sigmoid in :mod:`mercer.problems.platt_sigmoid`, gives the same numbers as LIBSVM does, for
files that it shall read and for files that it wrote.
"""

from __future__ import annotations

import numpy as np

from mercer.arrays import Float64

MARKS = 10  # of the density of a detector's decisions
FAR = 5.0  # residuals beyond this many standard deviations do not count


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
