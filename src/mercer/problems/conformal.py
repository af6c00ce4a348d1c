r"""Conformal prediction: quantiles of scores, and the coverage that they guarantee.

A score says how badly a target fits a prediction. If the scores of n rows and of a new row are exchangeable,
the new one is among the smallest :math:`k = \lceil (n + 1)(1 - a) \rceil` with probability at least 1 - a.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mercer.arrays import Float64

METHODS = ("split", "cv+", "jackknife+")


@dataclass(frozen=True)
class CoverageGuarantee:
    r"""The coverage of new rows that a method guarantees, for exchangeable rows and any distribution.

    With coverage 1 - a asked for: 1 - a for "split" [1]_; 1 - 2a for "jackknife+" and
    :math:`1 - 2a - \min\{\frac{2 (1 - 1/K)}{n/K + 1}, \frac{1 - K/n}{K + 1}\} \ge 1 - 2a - \sqrt{2/n}` for
    "cv+" with K folds of equal size [2]_.

    Attributes
    ----------
    method : {"split", "cv+", "jackknife+"}
        How scores of unseen rows are made.
    asked : float
        The coverage asked for.
    rows : int
        Number of rows with a score.
    folds : int
        Number of folds; 0 for "split".
    by_class : bool
        Whether the coverage is guaranteed for the rows of each class.

    References
    ----------
    .. [1] V. Vovk, A. Gammerman and G. Shafer (2005). *Algorithmic Learning in a Random World*. Springer.
    .. [2] R. F. Barber, E. J. Candès, A. Ramdas and R. J. Tibshirani (2021). Predictive inference with the
       jackknife+. *Annals of Statistics* 49, 486-507. Theorems 1 and 4.
    """

    method: str
    asked: float
    rows: int
    folds: int = 0
    by_class: bool = False

    @property
    def guaranteed(self) -> float:
        """The coverage that holds, at least 0."""
        miss = 1.0 - self.asked
        if self.method == "split":
            return self.asked
        n, K = self.rows, self.folds
        extra = 0.0 if n == K else min(2.0 * (1.0 - 1.0 / K) / (n / K + 1.0), (1.0 - K / n) / (K + 1.0))
        return max(0.0, 1.0 - 2.0 * miss - extra)

    def __float__(self) -> float:
        return self.guaranteed

    def __str__(self) -> str:
        of = "each class" if self.by_class else "new rows"
        folds = f", {self.folds} folds" if self.method == "cv+" else ""
        kind = "calibration rows" if self.method == "split" else "rows"
        return (
            f"coverage of {of} at least {self.guaranteed:.3g} guaranteed, {self.asked:.3g} asked for "
            f"({self.method}, {self.rows} {kind}{folds})"
        )


def rank(n: int, coverage: float) -> int:
    """Return which of n ordered scores is the quantile: above n, there is none.

    The coverage is taken as the decimal number that it is written as: 0.55 of 100 is 55.
    """
    return math.ceil(Fraction(repr(float(coverage))) * (n + 1))


def quantile(scores: Float64, coverage: float) -> float:
    """Return the score that a new one exceeds with probability at most 1 - coverage; infinite for few rows.

    Parameters
    ----------
    scores : (n,) float64
        Scores of unseen rows.
    coverage : float
        Between 0 and 1.
    """
    k = rank(scores.size, coverage)
    return math.inf if k > scores.size else float(np.partition(scores, k - 1)[k - 1])


def upper_ends(values: Float64, coverage: float) -> Float64:
    """Return the quantile of each row of values; infinite where there are too few.

    Parameters
    ----------
    values : (m, n) float64
        For each of m points, predictions by n machines plus the scores that these gave the rows left out.
    coverage : float
        Between 0 and 1.
    """
    m, n = values.shape
    k = rank(n, coverage)
    return np.full(m, np.inf) if k > n else np.asarray(np.partition(values, k - 1, axis=1)[:, k - 1])


def lower_ends(values: Float64, coverage: float) -> Float64:
    """Return the lower quantile of each row of values, the mirror image of `upper_ends`."""
    return -upper_ends(-values, coverage)


def is_member(beaten: NDArray[np.intp], n: int, coverage: float) -> NDArray[np.bool_]:
    """Return whether a candidate belongs to the prediction set of CV+ or the jackknife+.

    Parameters
    ----------
    beaten : array of int
        For each candidate, how many of n rows have a score below that of the candidate under the machine
        that left the row out.
    n : int
        Number of rows.
    coverage : float
        Between 0 and 1.
    """
    return np.asarray(beaten < rank(n, coverage))


def equal_folds(n: int, folds: int, random: np.random.RandomState) -> NDArray[np.intp]:
    """Return the fold of each row, drawn at random; -1 for the rows beyond folds of equal size.

    The theorem on CV+ is about folds of equal size. Rows beyond them are learned from in every fold and have
    no score: the theorem holds for the others, given these.
    """
    found = np.full(n, -1)
    size = n // folds
    found[random.permutation(n)[: size * folds]] = np.repeat(np.arange(folds), size)
    return found


def class_scores(values: Float64, kind: str) -> Float64:
    r"""Return how badly each class fits each point.

    Parameters
    ----------
    values : (m, k) float64
        A column for each class: probabilities, or decisions.
    kind : {"probability", "cumulative", "decision"}
        1 - p of the class [1]_; the probability of all classes that are at least as probable [2]_; or the
        largest decision of another class minus that of the class.

    Returns
    -------
    (m, k) float64

    References
    ----------
    .. [1] M. Sadinle, J. Lei and L. Wasserman (2019). Least ambiguous set-valued classifiers with bounded
       error levels. *Journal of the American Statistical Association* 114, 223-234.
    .. [2] Y. Romano, M. Sesia and E. J. Candès (2020). Classification with valid and adaptive coverage.
       *Advances in Neural Information Processing Systems* 33.
    """
    if kind == "probability":
        return 1.0 - values
    if kind == "cumulative":
        order = np.argsort(-values, axis=1, kind="stable")
        ordered = np.take_along_axis(values, order, axis=1)
        sums = np.cumsum(ordered, axis=1)
        for j in range(values.shape[1] - 2, -1, -1):  # of equal probabilities, each counts all
            sums[:, j] = np.where(ordered[:, j] == ordered[:, j + 1], sums[:, j + 1], sums[:, j])
        out = np.empty_like(values)
        np.put_along_axis(out, order, sums, axis=1)
        return out
    top = np.partition(values, values.shape[1] - 2, axis=1)[:, -2:]
    largest, second = top[:, 1:], top[:, :1]
    first = np.zeros(values.shape, dtype=bool)
    np.put_along_axis(first, np.argmax(values, axis=1)[:, None], True, axis=1)
    return np.asarray(np.where(first, second, largest) - values)
