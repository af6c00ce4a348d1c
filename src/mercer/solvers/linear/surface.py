"""The sum of losses that a Newton method sees: the loss itself, or an envelope without kinks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mercer.arrays import Float64
from mercer.problems.linear_risk import LinearRisk
from mercer.problems.losses.base import BoxConjugate, box_conjugate_of
from mercer.problems.losses.envelope import Envelope
from mercer.threads import Workers

PIECE = 1 << 14  # rows at a time: their numbers stay in the cache
ROUNDING = 4e-16  # of a sum, relative to the sum of its terms' sizes
BALANCED = (
    1e-9  # of a sum whose rest `LinearRisk.mended` makes up for, where no multiplier has a bound to hit
)


class Surface:
    r"""The function :math:`\sum_i C_i E(y_i, f_i)` of all values f, evaluated by threads in pieces.

    E is the loss if that is smooth. Otherwise it is its envelope

    .. math:: E(f) = \min_z L(z) + s (f - z) + \tfrac{1}{2 \mu} (f - z)^2

    at slopes s = -a, of which every derivative is a slope of L: see
    :class:`~mercer.problems.losses.envelope.Envelope`.

    Parameters
    ----------
    problem : LinearRisk
        Loss, targets, prices.
    workers : Workers
        Threads.
    """

    def __init__(self, problem: LinearRisk, workers: Workers) -> None:
        self.problem, self.workers = problem, workers
        self.form = box_conjugate_of(problem.loss, problem.y)
        self.mu = 0.0  # width of the envelope
        self.a: Float64 | None = None  # minus the slopes at which it is taken

    def smoothen(self, a: Float64, mu: float) -> None:
        """Take the envelope of this width at these slopes, minus a."""
        self.a, self.mu = a, mu

    def at(self, f: Float64) -> tuple[float, Float64, Float64]:
        """Return the value, beta = minus the derivative, and the curvature."""
        beta, curvature = np.empty(f.size), np.empty(f.size)

        def piece(rows: slice) -> tuple[float, ...]:
            value, a, curved = self._piece(rows, f[rows])
            C = self.problem.C[rows]
            np.multiply(C, a, out=beta[rows])
            np.multiply(C, curved, out=curvature[rows])
            return (float(C @ value),)

        (value,) = self._sums(piece, 1)
        return value, beta, curvature

    def losses(self, f: Float64, beta: Float64 | None) -> tuple[float, float]:
        """Return the sum of the losses themselves, and their share of the gap (0 without multipliers)."""
        p = self.problem

        def piece(rows: slice) -> tuple[float, ...]:
            C, y, values = p.C[rows], p.y[rows], f[rows]
            total = float(C @ p.loss.value(y, values))
            if beta is None:
                return total, 0.0
            with np.errstate(divide="ignore", invalid="ignore"):
                s = np.where(C > 0, -beta[rows] / C, 0.0)
            excess = p.loss.excess(y, values, s)
            return total, float(C @ np.where(C > 0, excess, 0.0))

        total, excess = self._sums(piece, 2)
        return float(total), float(excess)

    def along(self, f: Float64, change: Float64, t: float) -> tuple[float, float]:
        """Return the value at f + t change, and its slope in t."""

        def piece(rows: slice) -> tuple[float, ...]:
            step = change[rows]
            value, a, _ = self._piece(rows, f[rows] + t * step)
            C = self.problem.C[rows]
            return float(C @ value), -float(C @ (a * step))

        value, slope = self._sums(piece, 2)
        return value, slope

    def best_bias(self, g: Float64, bias: float) -> float:
        """Return the b that minimises the value at g + b, plus the pull times b, by Newton's steps."""
        low, high = -np.inf, np.inf

        def piece(rows: slice) -> tuple[float, ...]:
            _, a, curved = self._piece(rows, g[rows] + bias)
            C = self.problem.C[rows]
            return float(C @ a), float(C @ curved), float(C @ np.abs(a))

        stride = 1.0
        enough = BALANCED if self.form is None and self.a is None else ROUNDING
        for _ in range(200):
            total, curvature, size = self._sums(piece, 3)
            slope = self.problem.pull - total
            if abs(slope) <= enough * max(size, abs(self.problem.pull)):
                break
            low, high = (low, bias) if slope > 0 else (bias, high)
            new = bias - slope / curvature if curvature > 0 else np.nan
            if not low < new < high:
                if np.isinf(low) or np.isinf(high):
                    new, stride = bias - np.sign(slope) * stride, 2.0 * stride
                else:
                    new = 0.5 * (low + high)
            if new == bias or not low < new < high:
                break
            bias = float(new)
        return bias

    def _piece(self, rows: slice, f: Float64) -> tuple[Float64, Float64, Float64]:
        """Return values, minus the derivatives and curvatures of some rows."""
        p = self.problem
        a = None if self.a is None else self.a[rows]
        if self.form is not None:
            return box_envelope(self.form.of_rows(rows), f, a, self.mu)
        loss = p.loss if a is None else Envelope(p.loss, -a, 1.0 / self.mu)
        value, slope, curved = loss.jet(p.y[rows], f)
        return value, -slope, curved

    def _sums(self, piece: Callable[[slice], tuple[float, ...]], columns: int) -> Float64:
        """Return the sums over all pieces, always in the same order."""
        n = self.problem.n
        parts = np.zeros((-(-n // PIECE), columns))

        def work(first: int, last: int) -> None:
            for k in range(first, last):
                parts[k] = piece(slice(k * PIECE, min((k + 1) * PIECE, n)))

        self.workers.ranges(parts.shape[0], work)
        return np.asarray(parts.sum(axis=0))


def box_envelope(
    form: BoxConjugate, f: Float64, a0: Float64 | None, mu: float
) -> tuple[Float64, Float64, Float64]:
    """Return the envelope of width ``mu`` at slopes -a0: values up to a constant, a, curvatures.

    It is the largest value, over the multipliers a that the loss allows, of

        a (p - f) - e |a| - r a^2 / 2 - mu (a - a0)^2 / 2

    so that a is a clipped, shrunken number and the curvature, where nothing holds a, is 1 / (r + mu).
    """
    ahead = form.p - f
    q = ahead if a0 is None else ahead + mu * a0
    if form.e > 0:
        q = np.sign(q) * np.maximum(np.abs(q) - form.e, 0.0)
    flat = form.r + mu
    q = q / flat
    a = np.minimum(np.maximum(q, form.lo), form.hi)
    value = a * (ahead - (0.5 * form.r) * a)
    if form.e > 0:
        value -= form.e * np.abs(a)
    if a0 is not None:
        value -= (0.5 * mu) * (a - a0) ** 2
    loose = a == q if form.e == 0 else (a == q) & (q != 0.0)
    # A squared hinge has its bound at 0, where q = 0 counts as held.
    loose &= (a != form.lo) & (a != form.hi)
    return value, a, np.where(loose, 1.0 / flat, 0.0)
