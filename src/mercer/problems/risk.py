"""Penalised risk: a convex loss, a norm in feature space and an unpenalised bias.

    minimise    1/2 ||w||^2 + sum_i C_i L(y_i, f(x_i)),   f(x) = <w, phi(x)> + b

At the optimum w = sum_i beta_i phi(x_i) with beta_i = -C_i L'(y_i, f(x_i)), which sum to zero. Any such beta
is a point of the dual

    maximise    -1/2 beta'K beta - sum_i C_i L*(y_i, -beta_i / C_i),   sum_i beta_i = 0

and the gap between the two is the sum of C_i (L(f_i) + L*(s_i) - s_i f_i), s_i = -beta_i / C_i, none of which
is negative.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lstsq

from mercer.arrays import Float64, Index
from mercer.problems.losses import Loss, MultinomialDeviance
from mercer.problems.losses.base import best_shift
from mercer.problems.piecewise_linear import PiecewiseLinear, piecewise_linear
from mercer.problems.problem import FEASIBLE, Machine, Problem, Values, total

BIAS_STEPS = 100
ROUNDING = 4e-16  # of a sum, relative to the sum of its terms' sizes
EPS = 8 * float(np.finfo(np.float64).eps)  # of a value that is a short sum of numbers of its size


class Root(NamedTuple):
    """A square root of the curvature, G with G G' = sum_i C_i L''(y_i, f_i), of the points that have any.

    Unknown t of a Newton system belongs to point ``point[t]``, on which it acts by ``T[t]``, one entry for
    each output: G u is, for output m, the sum of T[t, m] u_t over the unknowns of each point.
    """

    T: Float64  # (N, outputs)
    point: NDArray[np.intp]  # (N,)

    def times(self, u: Float64, n: int) -> Float64:
        """Return G u, (n, outputs)."""
        out = np.empty((n, self.T.shape[1]))
        for m in range(out.shape[1]):
            out[:, m] = np.bincount(self.point, self.T[:, m] * u, minlength=n)
        return out

    def transposed_times(self, V: Float64) -> Float64:
        """Return G' V for V of (n, outputs)."""
        return np.asarray(np.einsum("tm,tm->t", self.T, V[self.point]))


class Risk(Problem):
    r"""Penalised risk of a convex loss with continuous derivative.

    Coefficients and values are (n, outputs) arrays: one output for a loss of one function, as many as classes
    for the multinomial deviance.

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
    offset : (n, outputs) float64, optional
        A fixed part of f.

    References
    ----------
    .. [1] T. Hastie, R. Tibshirani and J. Friedman (2009). *The Elements of Statistical Learning*, 12.3.3.
       Springer.
    .. [2] G. S. Kimeldorf and G. Wahba (1971). Some results on Tchebycheffian spline functions. *Journal of
       Mathematical Analysis and Applications* 33, 82-95.
    """

    def __init__(
        self,
        loss: Loss,
        y: Float64,
        C: Float64,
        *,
        fit_intercept: bool = True,
        outputs: int = 1,
        offset: Float64 | None = None,
    ) -> None:
        self.loss, self.y, self.C = loss, y, C
        self.n, self.outputs = y.size, outputs
        self.fit_intercept = fit_intercept
        self.offset = offset
        self.joint = loss.targets == "classes"

    def with_offset(self, offset: Float64) -> Risk:
        """Return the same risk of a function with a fixed part."""
        twin = copy.copy(self)
        twin.offset = offset
        return twin

    def with_loss(self, loss: Loss) -> Risk:
        """Return the risk of another loss on the same points."""
        twin = copy.copy(self)
        twin.loss = loss
        return twin

    def at(self, points: Index) -> Risk:
        """Return the risk on some of the points; the others must have no weight."""
        twin = copy.copy(self)
        twin.y, twin.C, twin.n = self.y[points], self.C[points], points.size
        twin.offset = None if self.offset is None else self.offset[points]
        return twin

    def with_parametric(
        self, columns: Float64, *, constant: bool, names: Sequence[str] | None = None
    ) -> Problem:
        """Return this problem with columns beside the kernel that cost nothing."""
        from mercer.problems.parametric_risk import ParametricRisk

        return ParametricRisk.of(self, columns, constant=constant, names=names)

    # -- values ----------------------------------------------------------------------------------------------

    def _flat(self, F: Float64) -> Float64:
        """Return values as the loss wants them."""
        return F if self.joint else F[:, 0]

    def _whole(self, values: Float64) -> Float64:
        return values if self.joint else values[:, None]

    # -- what costs nothing ----------------------------------------------------------------------------------

    @property
    def has_free_part(self) -> bool:
        """Whether the function has a part that costs nothing: a bias, or more."""
        return self.fit_intercept

    def free_part(self, bias: Float64) -> Float64:
        """Return what a bias adds to the values of f."""
        return bias

    def free_sums(self, beta: Float64) -> Float64:
        """Return the sums of coefficients that the bias demands to be zero."""
        return np.asarray(beta.sum(axis=0))

    def border(self, root: Root) -> Float64:
        """Return the effect of a Newton system's unknowns on these sums."""
        return root.T

    # -- values ----------------------------------------------------------------------------------------------

    def fitted(self, g: Float64, bias: Float64) -> Float64:
        """Return f from K beta and the bias."""
        f = g + self.free_part(bias)
        return f if self.offset is None else f + self.offset

    def loss_sum(self, f: Float64) -> float:
        """Return sum_i C_i L(y_i, f_i)."""
        return float(self.C @ self.loss.value(self.y, self._flat(f)))

    def slopes(self, f: Float64) -> Float64:
        """Return C_i L'(y_i, f_i)."""
        return self.C[:, None] * self._whole(self.loss.derivative(self.y, self._flat(f)))

    def coefficients(self, f: Float64) -> Float64:
        """Return the beta that belongs to f: -C_i L'(y_i, f_i), its sums mended where f has the best bias."""
        beta = -self.slopes(f)
        if self.fit_intercept and not self.joint:
            curvature = self.C * self.loss.curvature(self.y, self._flat(f))
            total = float(curvature.sum())
            missing = float(beta.sum())
            if total > 0 and abs(missing) <= 1e-6 * float(np.abs(beta).sum()):
                beta[:, 0] -= missing * (curvature / total)
        return beta

    def root(self, f: Float64) -> Root:
        """Return the square root of the curvature at f, without the points that have none."""
        if self.joint:
            G = np.sqrt(self.C)[:, None, None] * self._joint_root(f)
            kept = np.flatnonzero(self.C > 0)
            # The unknowns of a point are the columns of its G.
            T = np.ascontiguousarray(np.swapaxes(G[kept], 1, 2)).reshape(-1, self.outputs)
            return Root(T, np.repeat(kept, self.outputs))
        d = np.sqrt(self.C * self.loss.curvature(self.y, self._flat(f)))
        kept = np.flatnonzero(d > 1e-9 * float(d.max(initial=0.0)))
        return Root(d[kept][:, None], kept)

    def _joint_root(self, f: Float64) -> Float64:
        """Return a square root of the Hessian of each point."""
        if isinstance(self.loss, MultinomialDeviance):
            return self.loss.root(self.y, f)
        values, vectors = np.linalg.eigh(self.loss.curvature(self.y, f))
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :])

    # -- the bias --------------------------------------------------------------------------------------------

    def best_bias(self, g: Float64, start: Float64 | None = None) -> Float64:
        """Return the bias that minimises the loss, given K beta."""
        if not self.fit_intercept:
            return np.zeros(self.outputs)
        f = g if self.offset is None else g + self.offset
        if not self.joint:
            near = 0.0 if start is None else float(start[0])
            return np.array([self._bias_of_one(self._flat(f), near)])
        return self._joint_bias(f, np.zeros(self.outputs) if start is None else start)

    def _bias_of_one(self, f: Float64, start: float) -> float:
        """Return the bias of one function, by Newton's steps while each makes the slope much smaller."""
        loss, y, C, b = self.loss, self.y, self.C, start
        kept = C > 0
        if not kept.all():
            y, f, C = y[kept], f[kept], C[kept]
        derivative = loss.derivative(y, f + b)
        slope = float(C @ derivative)
        for _ in range(BIAS_STEPS):
            curvature = float(C @ loss.curvature(y, f + b))
            if not curvature > 0.0:
                break
            if abs(slope) <= ROUNDING * float(C @ np.abs(derivative)):
                return b
            new = b - slope / curvature
            derivative = loss.derivative(y, f + new)
            new_slope = float(C @ derivative)
            if not abs(new_slope) < abs(slope):  # the last digit, or a step too far
                if abs(slope) <= 1e3 * ROUNDING * float(C @ np.abs(derivative)):
                    return b
                break
            b, slope = new, new_slope
        return best_shift(loss, y, f, C, start)

    def _joint_bias(self, f: Float64, bias: Float64) -> Float64:
        """Return the bias of all outputs by a damped Newton method; their mean, which is free, is zero."""
        value = self.loss_sum(f + bias)
        for _ in range(BIAS_STEPS):
            slope = self.slopes(f + bias)
            gradient = slope.sum(axis=0)
            size = float(np.abs(slope).sum())
            if np.abs(gradient).max() <= 1e-15 * size:
                break
            H = np.einsum("i,ikl->kl", self.C, self.loss.curvature(self.y, f + bias))
            # The Hessian has the constants in its null space; adding them makes it definite.
            H += np.trace(H) / self.outputs + 1e-300
            step = np.asarray(lstsq(H, -gradient)[0])
            scale, better = 1.0, False
            while scale > 1e-8:
                new = self.loss_sum(f + bias + scale * step)
                if new < value or (new == value and self._steeper(f, bias, scale * step, gradient)):
                    bias, value, better = bias + scale * step, new, True
                    break
                scale *= 0.5
            if not better:
                break
        return np.asarray(bias - bias.mean())

    def _steeper(self, f: Float64, bias: Float64, step: Float64, gradient: Float64) -> bool:
        """Return whether a step that the value cannot tell from none makes the gradient smaller."""
        new = self.slopes(f + bias + step).sum(axis=0)
        return bool(np.abs(new).max() < 0.9 * np.abs(gradient).max())

    # -- the verdict -----------------------------------------------------------------------------------------

    def evaluate(
        self, b: Float64, f: Float64, multipliers: Float64 | None = None, noise: Float64 | float = 0.0
    ) -> Values:
        """Return primal, dual, gap and violation of coefficients b with f = K b and a bias, or its best."""
        bias = self.best_bias(f) if multipliers is None else multipliers
        values = self.fitted(f, bias)
        there = self.C > 0
        s = np.zeros_like(b)
        s[there] = -b[there] / self.C[there, None]
        primal = 0.5 * float(np.einsum("im,im->", b, f)) + self.loss_sum(values)
        off = self.free_sums(b) if self.has_free_part else np.zeros(1)
        stray = float(np.abs(b[~there]).sum())
        size = float(np.abs(b).sum())
        excess = self.loss.excess(self.y[there], self._flat(values[there]), self._flat(s[there]))
        gap = float(self.C[there] @ excess)
        mismatch = self._whole(self.loss.derivative(self.y, self._flat(values))) - s
        violation = float(np.abs(mismatch[there]).max(initial=0.0))
        missed = stray + float(np.abs(off).sum())
        if not math.isfinite(gap) or not missed <= FEASIBLE * max(size, 1e-300):
            return Values(primal, -math.inf, math.inf, violation, bias)
        # The excess moves with f by the mismatch of the slopes, near zero at the optimum; the norm by b.
        reach = self.C[:, None] * np.abs(mismatch) + 0.5 * np.abs(b)
        rounding = total(reach.sum(axis=1), noise) + EPS * (
            abs(primal) + size * float(np.abs(values).max(initial=0.0))
        )
        rounding += missed * float(np.abs(values).max(initial=0.0))
        terms = 0.5 * float(np.abs(b * f).sum()) + float(
            self.C @ np.abs(self.loss.value(self.y, self._flat(values)))
        )
        return Values(primal, primal - gap, gap, violation, bias, rounding, terms)

    def met(self, values: Values, criterion: str, tol: float) -> bool:
        """Return whether values meet a tolerance. At a kink every slope is right: there the gap decides."""
        return super().met(values, criterion if self.loss.smooth else "gap", tol)

    # -- what the other problems have, too -------------------------------------------------------------------

    def start(self) -> Float64:
        """Return zero."""
        return np.zeros((self.n, self.outputs))

    def nearest(self, b: Float64) -> Float64:
        """Return the coefficients themselves: Newton's method makes them feasible."""
        return b.reshape(self.n, self.outputs)

    def beta(self, b: Float64) -> Float64:
        """Return the coefficients."""
        return b

    def recover(self, coef: Float64) -> Float64:
        """Return the point of the dual with given coefficients."""
        return coef.reshape(self.n, -1).copy()

    def machine(self, b: Float64, f: Float64) -> Machine:
        """Return the function, or the functions of all classes."""
        bias = self.best_bias(f)
        if self.joint:
            return Machine(b, bias, f)
        return Machine(b[:, 0], float(bias[0]), f[:, 0])

    def certify(self, machine: Machine, f: Float64, noise: Float64 | float = 0.0) -> Values:
        """Return what a shipped machine is worth, given f = K coef."""
        bias = np.atleast_1d(np.asarray(machine.intercept, dtype=np.float64))
        return self.evaluate(self.recover(machine.coef), f.reshape(self.n, -1), bias, noise)


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
    if not loss.smooth and loss.pieces(y) is not None:
        return piecewise_linear(loss, y, C, fit_intercept=fit_intercept)
    return Risk(loss, y, C, fit_intercept=fit_intercept, outputs=outputs)
