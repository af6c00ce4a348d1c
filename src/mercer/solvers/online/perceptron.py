"""The primal perceptron: one example after the other, in slices between which limits are looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer import _jit
from mercer.arrays import Float64, Ints
from mercer.kernels.data import is_sparse
from mercer.problems.online import Tally
from mercer.solvers.base import Limits

SLICE = 4e7  # multiplications in one slice of compiled work


@dataclass
class Weights:
    """A linear function of the features for each output."""

    coef: Float64  # (outputs, d)
    bias: Float64  # (outputs,)
    updates: Ints  # (outputs,)

    @classmethod
    def zero(cls, outputs: int, d: int) -> Weights:
        """Return the function zero."""
        return cls(np.zeros((outputs, d)), np.zeros(outputs), np.zeros(outputs, dtype=np.int64))


@dataclass
class PrimalPerceptron:
    """Rosenblatt's rule at work.

    Parameters
    ----------
    bias_step : float
        What a mistake adds to the bias, times the sign; 0 for no bias.
    limits : Limits
        ``max_iter`` counts passes.
    start : Weights, optional
        Where ``passes`` begin, if it has as many outputs and features; zero otherwise.
    """

    bias_step: float
    limits: Limits
    start: Weights | None = None

    def stream(
        self, known: Weights | None, tally: Tally, X: Any, target: Float64, truth: Ints, *, seen: int = 0
    ) -> tuple[Weights, Tally]:
        """Show each example once, in order; time that is up leaves the rest unseen."""
        known = known or Weights.zero(target.shape[1], X.shape[1])
        weights = Weights(known.coef.copy(), known.bias.copy(), known.updates.copy())
        tally, _ = self._sweep(weights, tally, _parts(X), target, truth, np.arange(X.shape[0]))
        return weights, tally

    def passes(
        self,
        X: Any,
        target: Float64,
        truth: Ints,
        *,
        tol: float = 0.0,
        order: Callable[[int], Ints],
        report: Callable[[int, int, float], None] | None = None,
    ) -> tuple[Weights, Tally, int, str]:
        """Show all examples again and again, from given weights or zero, until a pass makes no mistake.

        Returns the weights, the tally, the number of passes and why they ended.
        """
        weights, tally = Weights.zero(target.shape[1], X.shape[1]), Tally.empty()
        if self.start is not None and self.start.coef.shape == weights.coef.shape:
            weights = Weights(self.start.coef.copy(), self.start.bias.copy(), weights.updates)
        parts, done = _parts(X), 0
        while True:
            before = tally
            tally, finished = self._sweep(weights, tally, parts, target, truth, order(X.shape[0]))
            done += 1
            if not finished:
                return weights, tally, done, "time_limit"
            lost = tally.loss - before.loss
            if report is not None:
                report(done, tally.mistakes - before.mistakes, float(lost > 0))
            if lost <= tol:
                return weights, tally, done, "converged"
            if self.limits.steps_left(done) == 0:
                return weights, tally, done, "iteration_limit"

    def _sweep(
        self, w: Weights, tally: Tally, parts: tuple[Any, ...], target: Float64, truth: Ints, order: Ints
    ) -> tuple[Tally, bool]:
        n, at = order.size, 0
        step = max(16, int(SLICE / (w.coef.size + 16)))
        loss, mistake = np.zeros(n), np.zeros(n)
        while at < n:
            if self.limits.out_of_time():
                return tally, False
            to = min(n, at + step)
            _jit.perceptron.run(
                at, to, order, *parts, target, truth, w.coef, w.bias, self.bias_step, loss, mistake, w.updates
            )
            tally = tally.grown(loss[at:to], mistake[at:to])
            at = to
        return tally, True


def _parts(X: Any) -> tuple[Any, ...]:
    """Return dense rows and CSR arrays, one of which is empty, in float64."""
    # Contiguous and writable: one type of each, compiled once.
    none = np.empty(0, dtype=np.int64)
    if is_sparse(X):
        return (
            np.empty((X.shape[0], 0)),
            np.require(X.indptr, np.int64, ["C", "W"]),
            np.require(X.indices, np.int64, ["C", "W"]),
            np.require(X.data, np.float64, ["C", "W"]),
        )
    return np.require(X, np.float64, ["C", "W"]), none, none, np.empty(0)
