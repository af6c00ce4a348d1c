"""The accuracy of a machine on held-out points for every C at once: a step function."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.arrays import Float64
from mercer.problems.parametric_family import ParametricFamily
from mercer.solvers.path.follow import Path


@dataclass(frozen=True)
class Steps:
    """A function of lambda = 1 / C that is constant between steps.

    Attributes
    ----------
    start : float
        Its value at the largest lambda.
    at : (m,) float64
        Where it changes, falling.
    by : (m,) float64
        By how much.
    """

    start: float
    at: Float64
    by: Float64

    def __call__(self, t: Float64) -> Float64:
        """Return the values at some lambdas, none of them a step."""
        order = np.argsort(-self.at, kind="stable")
        passed = np.searchsorted(-self.at[order], -t)
        return np.asarray(self.start + np.concatenate([[0.0], np.cumsum(self.by[order])])[passed])


def machine_at(path: Path, family: ParametricFamily, C: float) -> tuple[Float64, float]:
    """Return coefficients and intercept of the machine for one C."""
    a, products = path.locate(1.0 / C)
    return C * a, _intercept(family, C, a, products)


def _intercept(family: ParametricFamily, C: float, a: Float64, products: Float64) -> float:
    dual = family.dual(C)
    return float(dual.machine(dual.recover(C * a), C * products).intercept)


def accuracy_steps(
    path: Path,
    family: ParametricFamily,
    K: Any,
    positive: NDArray[np.bool_],
    share: Float64,
    ends: tuple[float, float],
) -> Steps:
    """Return the share of held-out points that are classified correctly, as a function of lambda.

    Between two knots of the path lambda f(x) is a straight line in lambda, so a point changes sides at most
    once, and where is known exactly.

    Parameters
    ----------
    path, family
        The path of a two-class machine.
    K : (m, n) ndarray
        Kernel values between the held-out points and the training points.
    positive : (m,) bool
        Which of the held-out points belong to the second class.
    share : (m,) float64
        What each of them counts; sums to 1.
    ends : (float, float)
        The range of lambda, larger first.
    """
    t, bias = _with_kinks(path, family, ends)
    G = K @ np.array([path.locate(s)[0] for s in t]).T + bias
    right = (G >= 0) == positive[:, None]
    point, piece = np.nonzero(right[:, 1:] != right[:, :-1])
    before, after = G[point, piece], G[point, piece + 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(before != after, before / (before - after), 0.5)
    at = t[piece] + np.clip(part, 0.0, 1.0) * (t[piece + 1] - t[piece])
    by = np.where(right[point, piece + 1], 1.0, -1.0) * share[point]
    return Steps(float(share @ right[:, 0]), at, by)


def _with_kinks(path: Path, family: ParametricFamily, ends: tuple[float, float]) -> tuple[Float64, Float64]:
    """Return the knots of a path, with the kinks of its bias between them, and lambda times the bias there.

    Where no coefficient is free the bias is the middle of an interval, whose ends are the largest and the
    smallest of several straight lines.
    """
    high, low = ends

    def bias(s: float) -> float:
        return s * _intercept(family, 1.0 / s, *path.locate(s))

    def kinks(s: float, at_s: float, t: float, at_t: float) -> list[tuple[float, float]]:
        middle = 0.5 * (s + t)
        at_middle = bias(middle)
        straight = abs(at_middle - 0.5 * (at_s + at_t)) <= 1e-9 * max(abs(at_s), abs(at_t), abs(s))
        if straight or abs(s - t) <= 1e-9 * s:
            return []
        half = kinks(s, at_s, middle, at_middle)
        return [*half, (middle, at_middle), *kinks(middle, at_middle, t, at_t)]

    t = [high, *path.t[(path.t < high) & (path.t > low)].tolist(), low]
    knots = [(s, bias(s)) for s in t]
    out = knots[:1]
    for before, after in pairwise(knots):
        out += [*kinks(*before, *after), after]
    at, values = np.array(out).T
    return at, values


def pieces(steps: list[Steps], ends: tuple[float, float]) -> tuple[Float64, Float64]:
    """Return the Cs in the middle of the pieces on which all functions are constant, and their values.

    Neighbours with the same values are one piece.

    Parameters
    ----------
    steps : list of Steps
        One function per fold.
    ends : (float, float)
        The range of lambda, larger first.

    Returns
    -------
    (m,) float64, (m, folds) float64
        C, growing, and the values.
    """
    edges = np.unique(np.concatenate([np.array(ends), *(s.at for s in steps)]))[::-1]
    middle = np.sqrt(edges[1:] * edges[:-1])
    values = np.stack([s(middle) for s in steps], axis=1)
    new = np.concatenate([[True], np.abs(np.diff(values, axis=0)).max(axis=1) > 1e-12])
    first = np.flatnonzero(new)
    last = np.concatenate([first[1:], [middle.size]])
    return 1.0 / np.sqrt(edges[first] * edges[last]), values[first]
