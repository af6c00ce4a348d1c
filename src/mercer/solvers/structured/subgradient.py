"""Stochastic subgradient descent for structured machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mercer.arrays import Float64
from mercer.gram.joint import JointFeatures
from mercer.problems.structured import StructuredRisk
from mercer.solvers.base import Reached, Solver
from mercer.solvers.structured.passes import STRUCTURES, Passes, shuffled


@dataclass(kw_only=True, repr=False)
class StochasticSubgradient(Solver):
    r"""Follow the subgradient of a few rows at a time, with steps of size 1/t.

    With these steps the weights are the mean of all subgradients so far. After whole passes every row has had
    the same part in it, so that the mean is a point of the dual, and its gap is known. It is here to be
    compared with: the gap falls like the inverse of the number of passes.

    Parameters
    ----------
    rows : int
        Rows of a step.
    seed : int
        Of the order of the rows.

    References
    ----------
    .. [1] S. Shalev-Shwartz, Y. Singer, N. Srebro and A. Cotter (2011). Pegasos: primal estimated
       sub-gradient solver for SVM. *Mathematical Programming* 127, 3-30.
    .. [2] N. D. Ratliff, J. A. Bagnell and M. A. Zinkevich (2007). (Online) subgradient methods for
       structured prediction. *AISTATS*.
    """

    rows: int = 16
    seed: int = 0

    name: ClassVar[str] = "stochastic_subgradient"
    needs = (STRUCTURES,)
    accuracy: ClassVar[float] = 1e-3

    def run(self, gram: JointFeatures, problem: StructuredRisk, start: Float64 | None) -> Reached:  # type: ignore[override]
        """Take passes."""
        return _Descent(self, problem, start).run()


class _Descent(Passes):
    """The mean of the subgradients so far, ``seen`` passes of them."""

    def __init__(
        self, options: StochasticSubgradient, problem: StructuredRisk, start: Float64 | None
    ) -> None:
        super().__init__(options, problem, start)
        self.random = np.random.default_rng(options.seed)
        self.size = max(1, min(int(options.rows), problem.n))
        self.seen = 1.0 if self.alpha.any() else 0.0
        self.settled = self.alpha.copy()  # multipliers at the end of the last whole pass

    def advance(self) -> None:
        n, order = self.p.n, shuffled(self.p.n, self.random)
        total = self.seen * self.padded()
        for first in range(0, n, self.size):
            rows = order[first : first + self.size]
            numbers = self.worst(rows)
            there = numbers >= 0
            more = np.zeros(self.pool.size)
            more[: total.size] = total
            total = more
            total[numbers[there]] += self.p.C[rows[there]]
            # Rows count n / (rows so far) of a pass: the mean is over those that were seen.
            chosen = numbers[there]
            step = self.pool.table[chosen].T @ self.p.C[rows[there]] if chosen.size else 0.0
            done = self.seen * n + first
            self.w = (done * self.w + n * step) / (done + rows.size)
        self.seen += 1.0
        self.alpha = self.settled = total / self.seen
        self.w = self.pool.weights(self.padded())
        self.dual = self.measured_dual()
        self.whole_pass()

    def close(self) -> None:
        """Go back to the multipliers of the last whole pass."""
        self.alpha = self.settled
