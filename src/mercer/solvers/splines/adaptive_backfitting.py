"""Additive models whose terms are left out, straight or smooth as cross-validation says."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer import _jit
from mercer.arrays import Float64, Index
from mercer.problems.splines.cross_validation import generalised_cross_validation

# Penalties that are tried, for points in [0, 1] and weights of sum 1.
LOW, HIGH, STEPS = math.log(1e-12), math.log(1e3), 21
STRAIGHT = 1e-3  # degrees of freedom beyond a line's 1 that are no bend


@dataclass(frozen=True)
class Axis:
    """The sorted distinct values of one variable, on [0, 1], and what they stand for."""

    points: Float64  # distinct values as they came
    scale: float  # their range
    places: Index  # of each row among the points
    weight: Any  # sums over the rows
    gaps: Float64 = field(repr=False)

    @staticmethod
    def of(x: Float64, w: Float64) -> Axis:
        """Return the axis of a column."""
        points, places = np.unique(x, return_inverse=True)
        scale = float(points[-1] - points[0])
        weight = np.bincount(places, weights=w, minlength=points.size)
        return Axis(points, scale, places, weight, np.diff(points) / (scale or 1.0))

    @property
    def bends(self) -> bool:
        """Whether there are enough points for anything but a line."""
        return self.points.size > 2

    def means(self, R: Float64, w: Float64) -> Float64:
        """Return the weighted means of the rows at each point."""
        columns = [np.bincount(self.places, weights=w * r, minlength=self.points.size) for r in R.T]
        return np.ascontiguousarray(np.column_stack(columns) / self.weight[:, None])


@dataclass(frozen=True)
class Term:
    """A function of one variable at its distinct values, of weighted mean 0.

    ``kind`` is "excluded", "linear" or "smooth"; ``log_penalty`` is that of points on [0, 1].
    """

    kind: str
    df: float
    values: Float64
    curvatures: Float64
    log_penalty: float = math.inf


@dataclass(frozen=True)
class AdditiveFit:
    """An additive model: a level for each output, and a term for each variable."""

    level: Float64
    terms: list[Term]
    squared_error: float
    gcv: float
    selection: list[float]  # cross-validation, step by step
    rounds: int  # of back-fitting
    settled: bool  # whether these ended by themselves


class AdaptiveBackfitting:
    r"""Choose and fit the terms of an additive model of smoothing splines.

    In each step the best form of every term is found, given all others: left out, a line, or the smoothing
    spline of least

    .. math::
        \frac{\mathrm{RSS}}{n (1 - (1 + c \sum_j \mathrm{df}_j) / n)^2}

    and the one that lowers this most is changed. When no change is worth it, the forms stay and the terms are
    fitted to what the others leave until nothing moves.

    Parameters
    ----------
    X : (n, p) float64
        Variables.
    Y : (n, o) float64
        Targets; all share the forms of the terms.
    w : (n,) float64
        Weights; all positive. A weight of 2 equals the row twice.
    cost : float
        c, the charge for a degree of freedom.
    most : float
        Most degrees of freedom of a term.
    tol : float
        Relative gain of a step that is worth it.
    max_steps, max_rounds : int
        Limits of both phases.

    References
    ----------
    Hastie and Tibshirani (1990), Generalized Additive Models, section 9.4.3.
    """

    def __init__(
        self, X: Float64, Y: Float64, w: Float64, *, cost: float, most: float, tol: float, max_steps: int,
        max_rounds: int,
    ) -> None:  # fmt: skip
        self.w, self.n = w, float(w.sum())
        self.cost, self.most, self.tol = cost, most, tol
        self.max_steps, self.max_rounds = max_steps, max_rounds
        self.axes = [Axis.of(x, w) for x in X.T]
        self.level = w @ Y / self.n
        self.Y = Y - self.level
        self.terms = [self._excluded(axis) for axis in self.axes]
        self.fits = [np.zeros(Y.shape) for _ in self.axes]

    def fit(self, *, start_linear: bool) -> AdditiveFit:
        """Run both phases."""
        if start_linear:
            for _ in range(len(self.axes)):
                for j, axis in enumerate(self.axes):
                    if axis.points.size > 1:
                        self._set(j, self._linear(axis, self._partial(j)))
        selection = self._select()
        rounds, settled = self._backfit()
        error = self._error(self.Y - sum(self.fits, np.zeros(self.Y.shape)))
        return AdditiveFit(self.level, self.terms, error, self._criterion(error), selection, rounds, settled)

    def penalties(self) -> Float64:
        """Return lambda_j for sums of squares of the rows and variables as they came."""
        known = {"excluded": math.nan, "linear": math.inf}
        return np.array(
            [
                known[t.kind] if t.kind in known else math.exp(t.log_penalty) * self.n * axis.scale**3
                for t, axis in zip(self.terms, self.axes, strict=True)
            ]
        )

    def pieces(self) -> list[tuple[Float64, Float64, Float64]]:
        """Return knots, values and second derivatives of each term; a line needs two knots, no term none."""
        out = []
        for term, axis in zip(self.terms, self.axes, strict=True):
            kept = {
                "excluded": np.zeros(0, dtype=np.intp),
                "linear": np.array([0, -1]),
                "smooth": np.arange(axis.points.size),
            }[term.kind]
            out.append((axis.points[kept], term.values[kept], term.curvatures[kept]))
        return out

    # -- terms -----------------------------------------------------------------------------------------------

    def _excluded(self, axis: Axis) -> Term:
        nothing = np.zeros((axis.points.size, self.Y.shape[1]))
        return Term("excluded", 0.0, nothing, nothing)

    def _linear(self, axis: Axis, R: Float64) -> Term:
        x = axis.points / (axis.scale or 1.0)  # in units of the column, whose squares need not exist
        x = x - axis.weight @ x / self.n
        means = axis.means(R, self.w)
        slope = (axis.weight * x) @ means / float(axis.weight @ x**2)
        values = np.outer(x, slope)
        return Term("linear", 1.0, values, np.zeros(values.shape))

    def _smooth(self, axis: Axis, R: Float64, log_penalty: float) -> Term:
        means = axis.means(R, self.w)
        G, C = np.empty(means.shape), np.empty(means.shape)
        share = axis.weight / self.n
        trace = _jit.smoothing_spline.smooth(axis.gaps, share, means, math.exp(log_penalty), G, C)
        G -= share @ G
        return Term("smooth", float(trace) - 1.0, G, C / axis.scale**2, log_penalty)

    def _set(self, j: int, term: Term) -> None:
        self.terms[j] = term
        self.fits[j] = term.values[self.axes[j].places]

    def _partial(self, j: int) -> Float64:
        """Return what all terms but one leave."""
        others = sum((f for i, f in enumerate(self.fits) if i != j), np.zeros(self.Y.shape))
        return np.asarray(self.Y - others)

    def _error(self, R: Float64) -> float:
        return float(self.w @ (R**2).sum(axis=1)) / int(self.Y.shape[1])

    def _charge(self, without: int = -1) -> float:
        return 1.0 + self.cost * sum(t.df for i, t in enumerate(self.terms) if i != without)

    def _criterion(self, error: float, charge: float | None = None) -> float:
        return generalised_cross_validation(error, self.n, self._charge() if charge is None else charge)

    # -- selection -------------------------------------------------------------------------------------------

    def _select(self) -> list[float]:
        now = self._criterion(self._error(self.Y - sum(self.fits, np.zeros(self.Y.shape))))
        history = [now]
        for _ in range(self.max_steps):
            best, which, change = now, -1, None
            for j in range(len(self.axes)):
                value, term = self._best_form(j)
                if value < best:
                    best, which, change = value, j, term
            if change is None or best >= now * (1.0 - self.tol):
                break
            self._set(which, change)
            now = best
            history.append(now)
        return history

    def _best_form(self, j: int) -> tuple[float, Term]:
        axis, R, charge = self.axes[j], self._partial(j), self._charge(j)
        best = self._excluded(axis)
        value = self._criterion(self._error(R), charge)
        if axis.points.size > 1:
            line = self._linear(axis, R)
            with_line = self._criterion(self._error(R - line.values[axis.places]), charge + self.cost)
            if with_line < value:
                value, best = with_line, line
        if axis.bends:
            means = axis.means(R, self.w)
            within = self._error(R - means[axis.places])
            root = math.sqrt(self.Y.shape[1])  # the criterion is a mean over the outputs
            share = axis.weight / self.n
            at, found = _jit.smoothing_spline.best_penalty(
                axis.gaps, share, means / root, within / self.n, self.n, charge, self.cost, self.most,
                LOW, HIGH, STEPS,
            )  # fmt: skip
            found *= self.n  # errors were measured with weights of sum 1
            if found < value:
                bent = self._smooth(axis, R, float(at))
                if bent.df > 1.0 + STRAIGHT:
                    value, best = found, bent
        return value, best

    # -- back-fitting ----------------------------------------------------------------------------------------

    def _backfit(self) -> tuple[int, bool]:
        """Fit the terms in turn, their forms fixed, until nothing moves."""
        there = [j for j, term in enumerate(self.terms) if term.kind != "excluded"]
        size = math.sqrt(float((self.Y**2).sum())) or 1.0
        for done in range(1, self.max_rounds + 1):
            moved = 0.0
            for j in there:
                before, term, axis = self.fits[j], self.terms[j], self.axes[j]
                R = self._partial(j)
                straight = term.kind == "linear"
                self._set(j, self._linear(axis, R) if straight else self._smooth(axis, R, term.log_penalty))
                moved = max(moved, float(np.linalg.norm(self.fits[j] - before)))
            if moved <= 1e-9 * size:
                return done, True
        return self.max_rounds, not there
