"""Support vector machines with the linear kernel, by Newton's method in the weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mercer.arrays import Float64
from mercer.gram import Gram
from mercer.gram.features import Features
from mercer.problems import Dual
from mercer.problems.linear_risk import LinearRisk
from mercer.problems.losses.of_box import BoxLoss
from mercer.solvers.base import Limits, Need, Reached, Solver, Status
from mercer.solvers.linear.weights_newton import LinearNewton, LinearNewtonRun
from mercer.solvers.needs import A_DUAL, FEATURES, GROUP_SUMS, ONE_BIAS
from mercer.solvers.progress import progress, wants_to_know
from mercer.threads import Workers

EXACT = 1e-9  # share of the gap that weights which are not yet those of the multipliers may have in it


def _plain(problem: Dual) -> bool:
    curved = problem.has_shift and bool((problem.r > 0).all())
    return problem.copies == 1 and (curved or (problem.bounded and not problem.has_shift))


PLAIN_BOX = Need(
    lambda solver, gram, problem: _plain(problem),
    lambda solver, gram, problem: (
        "is for classifiers with a finite C (SVC, the hinge losses); this problem is another one: use "
        'solver="decomposition"'
    ),
)


@dataclass(kw_only=True, repr=False)
class DualNewton(Solver):
    r"""Solve the dual of a linear machine through its weights, and give the multipliers back.

    The dual with the kernel :math:`K = Z Z^T` is that of a
    :class:`~mercer.problems.linear_risk.LinearRisk` with an unpenalised bias (or none).
    :class:`~mercer.solvers.LinearNewton` approaches the kinks of its loss by envelopes; after each, the
    multipliers are a point of the dual, which ends the solve once it meets the tolerance.
    """

    name: ClassVar[str] = "dual_newton"
    needs = (A_DUAL, GROUP_SUMS, ONE_BIAS, FEATURES, PLAIN_BOX)
    side_by_side: ClassVar[range] = range(0)

    def run(self, gram: Gram, problem: Dual, start: Float64 | None) -> Reached:
        """Take Newton steps from ``start`` (a neighbouring problem's multipliers, or nothing)."""
        features = Features(gram.features(), getattr(gram, "workers", Workers(1)))
        risk = as_risk(problem, features)
        options = LinearNewton(tol=1e-12, criterion="gap", limits=self.limits or Limits())
        inner = _DualRun(options, features, risk, self, problem)
        point = None
        if start is not None:
            beta = problem.nearest(start)
            point = risk.point(features.transposed_times(beta), 0.0, beta)
        reached = inner.run(point)
        status: Status = reached.stopped
        if inner.met is not None:
            b, f, status = *inner.met, "optimal"
        else:
            b = problem.nearest(risk.parts(reached.b)[2])
            f = features.times(features.transposed_times(b))
        return Reached(b, f, reached.n_iter, status)


def as_risk(problem: Dual, features: Features) -> LinearRisk:
    """Return the risk of which a box-constrained dual is the dual; the prices are the widths of the box."""
    price = 0.5 / problem.r if problem.has_shift else problem.hi - problem.lo
    unit = np.where(price > 0, price, 1.0)
    loss = BoxLoss(-problem.p, 0.5 if problem.has_shift else 0.0, problem.lo / unit, problem.hi / unit)
    scale = 0.0 if problem.group is None else np.inf
    return LinearRisk(features, loss, np.arange(problem.n, dtype=np.float64), price, bias_scale=scale)


class _DualRun(LinearNewtonRun):
    """A Newton method in the weights that ends when the multipliers meet what was asked of the dual."""

    def __init__(
        self, options: LinearNewton, features: Features, risk: LinearRisk, asked: DualNewton, dual: Dual
    ) -> None:
        super().__init__(options, features, risk)
        self.asked, self.dual = asked, dual
        self.met: tuple[Float64, Float64] | None = None

    close = EXACT

    def _finished(self) -> bool:
        """Return whether the multipliers of the last step are as good as was asked."""
        if self.latest is None or not self.settled:
            return False
        b = self.dual.nearest(self.latest)
        f = self.Z.times(self.Z.transposed_times(b))
        if self.dual.met(self.dual.evaluate(b, f), self.asked.criterion, self.asked.tol):
            self.met = (b, f)
        return self.met is not None

    def _tell(self, gap: float, primal: float, beta: Float64, away: Float64) -> None:
        if not wants_to_know(self.asked.listener):
            return
        assert self.asked.listener is not None
        b = self.dual.nearest(beta)
        f = self.Z.times(self.Z.transposed_times(b))
        self.asked.listener(progress(self.dual, b, f, self.n_iter, self.limits, 0))
