r"""Penalised risk of a function that is linear in explicit features.

    minimise    1/2 ||w||^2 + (b / s)^2 / 2 + sum_i C_i L(y_i, f_i) + t b,     f_i = <w, z_i> + b

over the weights w and the bias b. With s = infinity the bias is free; with s = 0 there is none. The pull t is
zero except for the one-class machine. The dual, over beta,

    maximise    -1/2 ||Z'beta||^2 - s^2 / 2 (sum_i beta_i - t)^2 - sum_i C_i L*(y_i, -beta_i / C_i)

(sum_i beta_i = t where the bias is free) bounds it for *any* beta, so that weights and multipliers need not
belong to each other exactly. Their gap is

    1/2 ||w - Z'beta||^2 + 1/2 (b / s + s (t - sum_i beta_i))^2 + sum_i C_i [L(f_i) + L*(s_i) - s_i f_i],

s_i = -beta_i / C_i, no term of which is negative.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Float64, Index
from mercer.gram.features import Features
from mercer.problems.losses import Loss
from mercer.problems.problem import FEASIBLE, Machine, Problem, Values, total

EPS = 8 * float(np.finfo(np.float64).eps)
PIECE = 1 << 14  # rows at a time: their numbers stay in the cache
PROVED = 1e-12  # relative gap that is as good as none
SAME = 1e-9  # difference of slopes whose square is rounding
MENDED = 1e-6  # share of all multipliers by which their sum may miss before it is mended


@dataclass(frozen=True)
class LinearMachine(Machine):
    """A function <w, z> + b of features z: ``coef`` is w, ``products`` is Z w.

    ``multipliers`` are those that prove how good it is, where the weights do not determine them (at the kinks
    of a loss every slope is right) or a solver knew better ones.
    """

    multipliers: Float64 | None = None

    @property
    def margin(self) -> float:
        """1 / ||w||, infinite for w = 0."""
        size = float(np.linalg.norm(self.coef))
        return 1.0 / size if size > 0 else math.inf


class LinearRisk(Problem):
    r"""Penalised risk of a linear function of explicit features.

    A point is (w, b, beta), one after the other: weights, bias and multipliers. Products are f = Z w + b.

    Parameters
    ----------
    features : Features
        Z.
    loss : Loss
        The loss, of one function.
    y : (n,) float64
        Targets.
    C : (n,) float64
        Price of each point.
    bias_scale : float
        s: 0 for no bias, infinity for one that is not penalised.
    pull : float
        t.
    constant : float
        Added to the objective.
    """

    has_margin = True

    def __init__(
        self,
        features: Features,
        loss: Loss,
        y: Float64,
        C: Float64,
        *,
        bias_scale: float = math.inf,
        pull: float = 0.0,
        constant: float = 0.0,
    ) -> None:
        self.features, self.loss, self.y, self.C = features, loss, y, C
        self.bias_scale, self.pull, self.constant = float(bias_scale), float(pull), constant
        self.n, self.width = y.size, features.width

    def on_rows(self, features: Features, rows: Index) -> LinearRisk:
        """Return the problem of some rows that stand for all, each at a higher price."""
        C = self.C[rows]
        C = C * (float(self.C.sum()) / max(float(C.sum()), np.finfo(np.float64).tiny))
        options = {"bias_scale": self.bias_scale, "pull": self.pull, "constant": self.constant}
        return LinearRisk(features, self.loss, self.y[rows], C, **options)

    @property
    def free_bias(self) -> bool:
        """Whether there is a bias that is not penalised."""
        return math.isinf(self.bias_scale)

    # -- points ----------------------------------------------------------------------------------------------

    def point(self, w: Float64, bias: float, beta: Float64) -> Float64:
        """Return weights, bias and multipliers as one point."""
        return np.concatenate([w, [bias], beta])

    def parts(self, b: Float64) -> tuple[Float64, float, Float64]:
        """Return the weights, the bias and the multipliers of a point."""
        return b[: self.width], float(b[self.width]), b[self.width + 1 :]

    def start(self) -> Float64:
        """Return zero."""
        return np.zeros(self.width + 1 + self.n)

    def nearest(self, b: Float64) -> Float64:
        """Return the point itself: solvers make it feasible."""
        return b

    def beta(self, b: Float64) -> Float64:
        """Return the weights: what the features are multiplied with."""
        return b[: self.width]

    def noise(self, matrix: Any, b: Float64) -> Float64:
        """Return a bound on the rounding error of Z w."""
        return np.asarray(matrix.weight_noise(self.beta(b)))

    def recover(self, coef: Float64) -> Float64:
        """Return the point of weights and bias, with their own multipliers where none are given."""
        if coef.size > self.width + 1:
            return coef
        w, bias = coef[: self.width], float(coef[self.width])
        return self.point(w, bias, self.coefficients(self.features.times(w) + bias))

    def coefficients(self, f: Float64) -> Float64:
        """Return the beta that belongs to f: -C_i L'(y_i, f_i), its sum mended where b is the best bias."""
        beta = np.asarray(-self.C * self.loss.derivative(self.y, f))
        return self.mended(beta, self.C * self.loss.curvature(self.y, f)) if self.free_bias else beta

    def mended(self, beta: Float64, curvature: Float64) -> Float64:
        """Return multipliers whose sum is the pull up to rounding, given what is so nearly, for a free bias.

        What is missing is rounding of the bias; a change of it would move the multipliers by their curvature.
        """
        missing, curved = self.pull - float(beta.sum()), float(curvature.sum())
        if curved > 0 and 0.0 < abs(missing) <= MENDED * float(np.abs(beta).sum()):
            beta = beta + missing * (curvature / curved)
        return beta

    # -- the verdict -----------------------------------------------------------------------------------------

    def mismatch(self, bias: float, beta: Float64) -> float:
        """Return b / s + s (t - sum of beta): 0 at the optimum, infinite where a fixed sum is missed."""
        missing = self.pull - float(beta.sum())
        if self.free_bias:
            return 0.0 if abs(missing) <= FEASIBLE * max(float(np.abs(beta).sum()), 1e-300) else math.inf
        return bias / self.bias_scale + self.bias_scale * missing if self.bias_scale > 0 else 0.0

    def loss_gap(self, f: Float64, beta: Float64) -> float:
        """Return the losses' share of the gap; infinite where beta is no price times a slope."""
        there = self.C > 0
        if not there.all() and beta[~there].any():
            return math.inf

        def piece(rows: slice) -> float:
            C = self.C[rows]
            slope = np.where(C > 0, -beta[rows] / np.where(C > 0, C, 1.0), 0.0)
            excess = self.loss.excess(self.y[rows], f[rows], slope)
            return float(C @ np.where(C > 0, excess, 0.0))

        return self._summed(piece)

    def losses(self, f: Float64) -> float:
        """Return the sum of the losses."""
        return self._summed(lambda rows: float(self.C[rows] @ self.loss.value(self.y[rows], f[rows])))

    def _summed(self, piece: Callable[[slice], float]) -> float:
        """Return the sum over pieces of the rows, always in the same order, made by several threads."""
        parts = np.zeros(-(-self.n // PIECE))

        def work(first: int, last: int) -> None:
            for k in range(first, last):
                parts[k] = piece(slice(k * PIECE, min((k + 1) * PIECE, self.n)))

        self.features.workers.ranges(parts.size, work)
        return float(parts.sum())

    def ridge(self, w: Float64, bias: float) -> float:
        """Return the primal objective without the losses."""
        ridge = 0.5 * float(w @ w) + self.pull * bias + self.constant
        if 0.0 < self.bias_scale < math.inf:
            ridge += 0.5 * (bias / self.bias_scale) ** 2
        return ridge

    def evaluate(
        self, b: Float64, f: Float64, multipliers: Float64 | None = None, noise: Float64 | float = 0.0
    ) -> Values:
        """Return primal, dual, gap and violation of a point with f = Z w + b."""
        w, bias, beta = self.parts(b)
        primal = self.ridge(w, bias) + self.losses(f)
        away = w - self.features.transposed_times(beta)
        off = self.mismatch(bias, beta)
        gap = self.loss_gap(f, beta) + 0.5 * float(away @ away) + 0.5 * off * off
        violation = max(float(np.abs(away).max(initial=0.0)), abs(off))
        if self.loss.smooth:
            there = self.C > 0
            stray = self.loss.derivative(self.y, f)[there] + beta[there] / self.C[there]
            violation = max(violation, float(np.abs(stray).max(initial=0.0)))
        shown = np.array([bias])
        if not math.isfinite(gap):
            return Values(primal, -math.inf, math.inf, violation, shown)
        # Losses move with f by the multipliers, or by the slopes beside a kink; w - Z'beta by the rounding of
        # a sum of n terms.
        largest = float(np.abs(f).max(initial=0.0))
        blur = self.features.sum_noise(beta)
        moved = max(total(np.abs(beta), noise), self._moved(f, noise))
        rounding = moved + EPS * (abs(primal) + float(np.abs(beta).sum()) * largest)
        rounding += blur * (float(np.linalg.norm(away)) + blur)
        if self.free_bias:
            rounding += abs(self.pull - float(beta.sum())) * largest
        terms = 0.5 * float(w @ w) + float(self.C @ np.abs(self.loss.value(self.y, f)))
        return Values(primal, primal - gap, gap, violation, shown, rounding, terms)

    def _moved(self, f: Float64, noise: Float64 | float) -> float:
        """Return by how much losses with kinks may rise where f is off by ``noise``."""
        if self.loss.smooth or not np.any(noise):
            return 0.0
        beside = np.maximum(self.loss.value(self.y, f + noise), self.loss.value(self.y, f - noise))
        return float(self.C @ (beside - self.loss.value(self.y, f)))

    def met(self, values: Values, criterion: str, tol: float) -> bool:
        """Return whether the relative gap meets a tolerance: at a kink every slope is right."""
        return super().met(values, "gap", tol)

    def machine(self, b: Float64, f: Float64) -> LinearMachine:
        """Return the function that a point stands for."""
        w, bias, beta = self.parts(b)
        return LinearMachine(w, bias, f - bias, None if self._determined(w, bias, beta, f) else beta)

    def _determined(self, w: Float64, bias: float, beta: Float64, f: Float64) -> bool:
        """Return whether the weights alone prove as much as the multipliers that a solver found."""
        if not self.loss.smooth:
            return False
        found = self.coefficients(f)
        if (np.abs(found - beta) <= SAME * self.C).all():
            return True
        primal = self.ridge(w, bias) + self.losses(f)
        own = self._gap(w, bias, found, f)
        return own <= max(2.0 * self._gap(w, bias, beta, f), PROVED * abs(primal))

    def _gap(self, w: Float64, bias: float, beta: Float64, f: Float64) -> float:
        away, off = w - self.features.transposed_times(beta), self.mismatch(bias, beta)
        return self.loss_gap(f, beta) + 0.5 * float(away @ away) + 0.5 * off * off

    def certify(self, machine: Machine, f: Float64, noise: Float64 | float = 0.0) -> Values:
        """Return what a shipped machine is worth, given f = Z w."""
        values = f + machine.intercept
        known = machine.multipliers if isinstance(machine, LinearMachine) else None
        beta = self.coefficients(values) if known is None else known
        return self.evaluate(self.point(machine.coef, float(machine.intercept), beta), values, None, noise)
