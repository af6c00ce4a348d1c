"""One-slack cutting planes for structured machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import LinAlgError

from mercer.arrays import Float64, Ints
from mercer.gram.base import MatrixGram
from mercer.gram.joint import JointFeatures
from mercer.problems import Dual
from mercer.problems.structured import StructuredRisk
from mercer.solvers.base import Reached, Solver
from mercer.solvers.dual.decomposition import Decomposition
from mercer.solvers.dual.quadratic import solve_quadratic
from mercer.solvers.structured.passes import STRUCTURES, Passes

IDLE = 30  # passes after which a plane without a multiplier is dropped
SMALL = 400  # planes up to which the interior-point method is quick


@dataclass(kw_only=True, repr=False)
class CuttingPlanes(Solver):
    r"""Bound the risk from below by planes, one for each pass over the rows, and minimise the bound.

    A plane takes one output of each row: :math:`\sum_i C_i s_i(y_i')`, linear in w. Their best combination
    is a quadratic problem with one variable for each plane, solved by interior point and active set. It has
    few variables, whatever the rows; each pass adds one plane.

    References
    ----------
    .. [1] T. Joachims, T. Finley and C.-N. J. Yu (2009). Cutting-plane training of structural SVMs. *Machine
       Learning* 77, 27-59.
    """

    name: ClassVar[str] = "cutting_planes"
    needs = (STRUCTURES,)

    def run(self, gram: JointFeatures, problem: StructuredRisk, start: Float64 | None) -> Reached:  # type: ignore[override]
        """Add planes."""
        return _Planes(self, problem, start).run()


class _Planes(Passes):
    """The planes, and their best combination so far."""

    def __init__(self, options: CuttingPlanes, problem: StructuredRisk, start: Float64 | None) -> None:
        super().__init__(options, problem, start)
        # The true outputs are a plane, too: zero.
        self.normals, self.offsets = np.zeros((1, problem.width)), np.zeros(1)
        self.members: list[Ints] = [np.full(problem.n, -1, dtype=np.int64)]
        self.shares, self.unused = np.ones(1), np.zeros(1, dtype=np.int64)
        self.products = np.zeros((1, 1))
        self.before = self.alpha.copy()  # of an earlier fit: a plane of its own
        if self.before.any():
            self._add(problem.pool.weights(self.before), float(self.before @ self.pool.losses), None)
            self.shares = np.array([0.0, 1.0])

    def advance(self) -> None:
        numbers = self.whole_pass()
        there = numbers >= 0
        alpha = np.zeros(self.pool.size)
        alpha[numbers[there]] = self.p.C[there]
        self._add(self.pool.weights(alpha), float(alpha @ self.pool.losses), numbers)
        self._combine()
        self.w = self.shares @ self.normals
        self.dual = float(self.shares @ self.offsets) - 0.5 * float(self.w @ self.w)

    def _add(self, normal: Float64, offset: float, numbers: Ints | None) -> None:
        along = self.normals @ normal
        m = len(self.offsets)
        products = np.empty((m + 1, m + 1))
        products[:m, :m], products[m, :m], products[:m, m] = self.products, along, along
        products[m, m] = float(normal @ normal)
        self.products = products
        self.normals = np.vstack([self.normals, normal])
        self.offsets = np.append(self.offsets, offset)
        self.members.append(np.zeros(0, dtype=np.int64) if numbers is None else numbers)
        self.shares, self.unused = np.append(self.shares, 0.0), np.append(self.unused, 0)

    def _combine(self) -> None:
        """Find the best combination of the planes; drop those that have long had no part in it."""
        kept = self.unused <= IDLE
        kept[0] = kept[-1] = True
        if not kept.all():
            self.normals, self.offsets = self.normals[kept], self.offsets[kept]
            self.products = self.products[np.ix_(kept, kept)]
            self.shares, self.unused = self.shares[kept], self.unused[kept]
            self.members = [plane for plane, stays in zip(self.members, kept, strict=True) if stays]
        m = self.offsets.size
        zero, one, sums = np.zeros(m), np.ones(m), np.ones((1, m))
        shares = self._solved(zero, one, sums) if m <= SMALL else None
        if shares is None:  # many planes, or products that rounding has made indefinite
            shares = self._by_decomposition(zero, one)
        shares = np.clip(shares, 0.0, 1.0)
        self.shares = shares / shares.sum()
        self.unused = np.where(self.shares > 0, 0, self.unused + 1)

    def _solved(self, zero: Float64, one: Float64, sums: Float64) -> Float64 | None:
        try:
            found, _ = solve_quadratic(self.products, -self.offsets, zero, one, sums, np.ones(1))
        except LinAlgError:
            return None
        return found if np.isfinite(found).all() and found.sum() > 0.5 else None

    def _by_decomposition(self, zero: Float64, one: Float64) -> Float64:
        dual = Dual(-self.offsets, zero, one, group=np.zeros(zero.size, dtype=np.int64), sums=np.ones(1))
        solver = Decomposition(tol=0.1 * self.options.tol, criterion="gap", limits=self.limits.part())
        return solver.solve(MatrixGram(self.products, True), dual, self.shares).b

    def close(self) -> None:
        """Share the planes' multipliers out among their outputs."""
        alpha = np.zeros(self.pool.size)
        for share, plane in zip(self.shares, self.members, strict=True):
            if share == 0.0:
                continue
            if plane.size == 0:
                alpha[: self.before.size] += share * self.before
                continue
            there = plane >= 0
            np.add.at(alpha, plane[there], share * self.p.C[there])
        self.alpha = alpha

    def tell(self) -> None:
        """Tell the listener, with the multipliers as they are now."""
        if self.options.listener is not None:
            self.close()
        super().tell()
