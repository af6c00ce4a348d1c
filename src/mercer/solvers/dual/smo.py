"""Sequential minimal optimisation as it was first published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mercer import _jit
from mercer.arrays import Float64
from mercer.gram import Gram
from mercer.problems import Dual
from mercer.solvers.base import Reached, Solver
from mercer.solvers.dual.kept_rows import KeptRows
from mercer.solvers.dual.round_loop import Rounds
from mercer.solvers.needs import A_DUAL, A_FIXED_SUM, GROUP_SUMS

FLOOR = 1e-12  # least curvature of a pair, relative to the largest diagonal entry
TIGHTER = (
    0.2  # by how much the tolerance of sweeps shrinks when they find nothing and the criterion asks for more
)
INNER = 0.4  # share of the violation between all points that sweeps look for: more would polish too early
LEAST = 1e-16  # of that tolerance, on the scale of K beta


@dataclass(kw_only=True, repr=False)
class SMO(Solver):
    r"""Sequential minimal optimisation with Platt's two heuristics.

    Two multipliers of one group change at a time, to the best values on their line:

    .. math::
        \alpha_2 \leftarrow \mathrm{clip}\Bigl(\alpha_2 + \frac{y_2 (E_1 - E_2)}{\kappa}\Bigr), \qquad
        \kappa = K_{11} + K_{22} - 2 K_{12}

    The first point is one that violates the optimality conditions, found by sweeps over the points inside
    their box and, when these are nearly optimal among themselves, over all. The second is the one with the
    most different error. Rows of the kernel matrix are kept as far as memory goes, the least recently used
    given up first. In regression, where the multipliers of a point have two signs, the best of the (at
    most four) quadrants that contain the present pair is taken. The bias of the sweeps is that of the last
    pair; a full sweep starts from the middle of the interval that the optimality conditions leave.

    Parameters
    ----------
    seed : int, default=0
        Of the places where the loops over all second points start.

    References
    ----------
    Platt (1999), Fast training of support vector machines using sequential minimal optimization, in: Advances
    in Kernel Methods. Cristianini and Shawe-Taylor (2000), section 7.5. Keerthi, Shevade, Bhattacharyya and
    Murthy (2001), Improvements to Platt's SMO algorithm, Neural Computation 13.
    """

    seed: int = 0

    name: ClassVar[str] = "smo"
    needs = (A_DUAL, GROUP_SUMS, A_FIXED_SUM)

    def run(self, gram: Gram, problem: Dual, start: Float64 | None) -> Reached:
        """Run the rounds."""
        return _Sweeps(self, gram, problem, start).run()


class _Sweeps(Rounds):
    """One solve: a round is a sweep."""

    def __init__(self, options: SMO, gram: Gram, problem: Dual, start: Float64 | None) -> None:
        super().__init__(options, gram, problem, start)
        self.state = options.seed % 2147483648
        self.everything = True
        self.factor, self.spread = 1.0, 0.0
        self.bias = np.zeros(problem.sums.size)
        self.exclusive = problem.copies == 2 and problem.sums.size == 1
        self.floor = FLOOR * max(float(self.gram.diag().max(initial=0.0)), 1e-300)
        self.rows = KeptRows(self.gram, options.block_bytes)

    def advance(self) -> bool:
        everything = self.everything
        if everything:
            self._centre_bias()
        # Points inside their box need not be more optimal among themselves than all points were.
        tol = max(self._tolerance(), INNER * self.spread)
        done = self._sweep(everything, tol)
        self.cycle_ended = everything
        self.everything = not everything and done == 0
        if done == 0 and everything:
            self.everything = True
            if tol > self._tolerance():
                return False  # rounding forbids what the violation promises
            if tol <= LEAST * max(1.0, float(np.abs(self.f).max(initial=0.0))):
                return False
            self.factor *= TIGHTER
            self.refresh()
        return True

    def _sweep(self, everything: bool, tol: float) -> int:
        """Sweep once, fetching rows as they are asked for; return the steps."""
        p, kept, place, total = self.problem, self.rows, 0, 0
        while True:
            done, self.state, place, missing = _jit.platt_sweeps.sweep_rows(
                kept.rows, kept.slot, kept.diag, kept.clock, kept.stamp, self.b, self.f, p.p, p.r, p.lo,
                p.hi, p.group, self.bias, self.exclusive, everything, tol, self.floor,
                self.limits.steps_left(self.n_iter), self.state, place,
            )  # fmt: skip
            self.n_iter += int(done)
            total += int(done)
            if missing < 0 or self.limits.out_of_time():
                return total
            kept.fetch(missing, place)

    def _tolerance(self) -> float:
        """Return the violation, measured from the bias, that sweeps look for: half of that between two."""
        criterion, tol = self.options.criterion, self.options.tol
        first = tol if criterion == "kkt" else min(0.1, 100.0 * tol)
        return 0.45 * self.factor * self.problem.tolerance(first, self.problem.objective(self.b, self.f))

    def _centre_bias(self) -> None:
        tops, bottoms = self.problem.extremes(self.b, self.gradient())
        tops = np.where(np.isfinite(tops), tops, bottoms)
        bottoms = np.where(np.isfinite(bottoms), bottoms, tops)
        self.bias = np.where(np.isfinite(tops), 0.5 * (tops + bottoms), 0.0)
        self.spread = float(np.nan_to_num(tops - bottoms).max(initial=0.0))
