r"""Decision values of training points that were held out, from the solution on all points.

For each fold H the problem without the points of H,

    minimise q(b)   subject to the box and the sums,   b_i = 0 for i in H,

is started at the solution of the whole problem with b_H set to zero, and solved to a loose tolerance:
sequential minimal optimisation needs about as many steps for five folds as for one fit from zero.

Where the solver had the whole kernel matrix in memory, the folds work on it and need no further kernel value.
Beyond, only the points that may change move: the free ones and those as near to the margin as decisions
move when a fold is left out. The others, far beyond the margin or deep inside it, keep their variables. The
kernel values needed are then one square block of the moving points, shared by all folds, and thin blocks
between moving points, support vectors and the points whose values are wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.gram.remembering import RememberingGram
from mercer.problems import Dual
from mercer.solvers.base import Float64, Limits, Solution
from mercer.solvers.decomposition import Decomposition
from mercer.solvers.dense import DenseBlock

TOLERANCE = (
    0.2  # KKT violation of a fold, in units of the decisions' spread, or of the margin if that is less
)
NEAR = 0.3  # distance from the margin of points that move in the first fold
MOVING_PER_FREE, MOVING_AT_LEAST = 2.0, 128  # bound on them
DISPLACED, FEW = 0.95, 20  # quantile of a fold's displacements, and the least sample of them
WIDER = 1.1  # growth of the moving points that makes the first fold worth repeating
RESIDENT = 5000  # moving points up to which they are one block
ENOUGH, ENOUGH_OF_CLASS = 2500, 250  # held-out values after which further folds would teach little
SLICE_WORK = 2e8  # block entries touched between two looks at the clock
TILE = 1024  # rows of a block in memory at a time

Index = NDArray[np.intp]


@dataclass(frozen=True)
class HeldOut:
    """Decision values of held-out points.

    Attributes
    ----------
    rows : (m,) intp
        The points.
    values : (m,) float64
        Their decision values under machines that did not see them.
    n_iter : int
        Steps of all folds together.
    """

    rows: Index
    values: Float64
    n_iter: int


def held_out(
    gram: Gram,
    whole: Dual,
    solution: Solution,
    fold: Index,
    sign: Float64,
    without: Callable[[NDArray[np.bool_]], Dual],
    solver: Decomposition,
) -> HeldOut:
    """Return decision values of points under machines trained without their fold.

    Parameters
    ----------
    gram : Gram
        Kernel matrix of the problem's points.
    whole : Dual
        The problem of all points, one variable each.
    solution : Solution
        Its solution.
    fold : (n,) intp
        The fold of each point; -1 for points that are never held out.
    sign : (n,) float64
        Labels +1 and -1. Folds end early when there are held-out values enough of both.
    without : callable
        Given the mask of held-out points, returns the same problem (same variables) with those held at zero.
    solver : Decomposition
        Memory, limits, and the method where a block would be too large; its tolerance is not used.
    """
    folds = _Folds(gram, whole, solution, fold, _enough(fold, sign), without, solver)
    if isinstance(gram, RememberingGram) and gram.whole is not None:
        values = folds.on_all(gram.whole)
    else:
        values = folds.on_some()
    return HeldOut(np.concatenate(folds.held), np.concatenate(values), folds.n_iter)


def _enough(fold: Index, sign: Float64) -> list[int]:
    """Return the first folds that hold points enough of both classes, or all."""
    used: list[int] = []
    seen = {True: 0, False: 0}
    for k in np.unique(fold[fold >= 0]):
        used.append(int(k))
        for positive in seen:
            seen[positive] += int(((fold == k) & ((sign > 0) == positive)).sum())
        if sum(seen.values()) >= ENOUGH and min(seen.values()) >= ENOUGH_OF_CLASS:
            break
    return used


class _Folds:
    """The problem of all points, its solution, and what the folds share."""

    def __init__(
        self,
        gram: Gram,
        whole: Dual,
        solution: Solution,
        fold: Index,
        used: list[int],
        without: Callable[[NDArray[np.bool_]], Dual],
        solver: Decomposition,
    ) -> None:
        self.gram, self.whole, self.solver = gram, whole, solver
        self.b, self.f = solution.b, solution.f
        self.held = [np.flatnonzero(fold == k) for k in used]
        self.problems = [without(fold == k) for k in used]
        self.starts = np.stack([np.where(fold == k, 0.0, self.b) for k in used])
        machine = whole.machine(self.b, self.f)
        self.values = machine.values
        self.scale = _scale_of(machine.coef, self.b) or 1.0
        self.tol = TOLERANCE * min(1.0, float(np.std(machine.values)) or 1.0) / self.scale
        # An ill-conditioned problem may need many steps even for this: no more than the fit itself took.
        self.most_steps = max(solution.n_iter // len(used), whole.n)
        self.n_iter = 0

    def read(self, k: int, b: Float64, f: Float64) -> Float64:
        """Return the decision values of fold k, given K beta there and at the free points."""
        machine = self.problems[k].machine(b, f)
        values: Float64 = _scale_of(machine.coef, b) * f[self.held[k]] + machine.intercept
        return values

    # -- small problems: all points move ---------------------------------------------------------------------

    def on_all(self, K: Any) -> list[Float64]:
        """Return the folds' values, all of the kernel matrix being in memory."""
        f = self.f - _dense_products(K, self.b - self.starts)
        diag = self.gram.diag()
        b = np.stack([self.descend(K, diag, p, self.starts[k], f[k]) for k, p in enumerate(self.problems)])
        f += _dense_products(K, b - self.starts)
        return [self.read(k, b[k], f[k]) for k in range(len(self.problems))]

    def descend(self, K: Any, diag: Float64, problem: Dual, start: Float64, f: Float64) -> Float64:
        """Return the variables that are reached from ``start``, where K beta (of all points) is f."""
        b = problem.nearest(start)
        mended = np.flatnonzero(b != start)
        f = f + (b - start)[mended] @ K[mended]
        block = DenseBlock(K, diag, problem, b, problem.gradient(b, f))
        limits = self.solver.limits or Limits()
        done = 0
        while True:
            slice_steps = max(200, SLICE_WORK // (6 * block.size))
            ask = int(min(slice_steps, self.most_steps - done, limits.steps_left(done)))
            taken = block.run(self.tol, ask)
            done += taken
            if block.violation <= self.tol or taken < ask or limits.out_of_time():
                break
            if min(self.most_steps - done, limits.steps_left(done)) <= 0:
                break
        self.n_iter += done
        block.write(b)
        return b

    # -- large problems: the points near the margin move -----------------------------------------------------

    def on_some(self) -> list[Float64]:
        """Return the folds' values; only the points that may change move."""
        whole = self.whole
        g = whole.gradient(self.b, self.f)
        free = (self.b > whole.lo) & (self.b < whole.hi)
        distance = self.scale * np.abs(whole.costs(g, whole.multipliers(self.b, g)))
        distance[free] = 0.0
        distance[whole.fixed] = np.inf
        order = np.argsort(distance, kind="stable")
        most = int(MOVING_PER_FREE * free.sum()) + MOVING_AT_LEAST
        A = self.moving(order, min(int((distance <= NEAR).sum()), most))
        values = self.run([0], A)
        wide = self.moving(order, int((distance <= self.displacement(values[0])).sum()))
        everything = list(range(len(self.held)))
        if wide.size > WIDER * A.size:
            return self.run(everything, wide)
        return values + self.run(everything[1:], A)

    def moving(self, order: Index, size: int) -> Index:
        """Return the first points of an order, enough for every fold's sums to be mended among them."""
        while size < order.size:
            A = order[:size]
            if all(_feasible(p, A, start) for p, start in zip(self.problems, self.starts, strict=True)):
                return A
            size = max(2 * size, MOVING_AT_LEAST)
        return order

    def displacement(self, values: Float64) -> float:
        """Return how far decisions move when a fold is left out: seen at its points that bore no weight."""
        rows = self.held[0]
        moved = np.abs(values - self.values[rows])
        idle = self.b[rows] == 0
        return float(np.quantile(moved[idle] if idle.sum() >= FEW else moved, DISPLACED))

    def run(self, which: list[int], A: Index) -> list[Float64]:
        """Return the decision values of some folds when the points A move."""
        if not which:
            return []
        starts, held = self.starts[which], [self.held[k] for k in which]
        dense = A.size <= RESIDENT and A.size**2 * self.gram.dtype.itemsize <= self.solver.block_bytes
        K: Any = self.gram.block(A, A) if dense else self.gram.subset(A)
        diag = self.gram.diag()[A]
        # What the held-out points leave of f, at the moving points and at themselves.
        left = self.f - _products(self.gram, self.b - starts, held, A)
        changes = np.zeros(left.shape)
        reached = []
        for k, start in enumerate(starts):
            problem = self.problems[which[k]]
            part = problem.take(A)
            rest = start.copy()
            rest[A] = 0.0
            part.sums = problem.sums - _group_sums(problem, rest)
            if dense:
                changes[k, A] = self.descend(K, diag, part, start[A], left[k, A]) - start[A]
                reached.append(left[k, A] + _dense_products(K, changes[k, A]))
            else:
                b, f = self.decompose(K, part, start[A], left[k, A])
                changes[k, A] = b - start[A]
                reached.append(f)
        left += _products(self.gram, changes, held, None)
        left[:, A] = reached
        return [self.read(k, starts[t] + changes[t], left[t]) for t, k in enumerate(which)]

    def decompose(self, K: Gram, part: Dual, start: Float64, f: Float64) -> tuple[Float64, Float64]:
        """Return the variables and K beta (of all points) that are reached from ``start``, where K beta is
        f."""
        offset = f - K.matvec(start)
        part.p = part.p + offset
        reached = replace(self.solver, tol=self.tol, criterion="kkt").solve(K, part, start)
        if reached.status == "interrupted":
            raise KeyboardInterrupt
        self.n_iter += reached.n_iter
        return reached.b, reached.f + offset


def _scale_of(coef: Float64, b: Float64) -> float:
    """Return the factor between the dual variables and the machine's coefficients."""
    size = float(np.abs(b).sum())
    return float(np.abs(coef).sum()) / size if size > 0 else 1.0


def _group_sums(problem: Dual, b: Float64) -> Float64:
    if problem.group is None:
        return np.zeros(0)
    sums: Float64 = np.bincount(problem.group, weights=b, minlength=problem.sums.size).astype(np.float64)
    return sums


def _feasible(problem: Dual, A: Index, b: Float64) -> bool:
    """Return whether the sums can be reached by moving the points A alone, with room to spare."""
    if problem.group is None:
        return A.size > 0
    rest = b.copy()
    rest[A] = 0.0
    missing = problem.sums - _group_sums(problem, rest)
    lo, hi = np.zeros(b.size), np.zeros(b.size)
    lo[A], hi[A] = problem.lo[A], problem.hi[A]
    low, high = _group_sums(problem, lo), _group_sums(problem, hi)
    return bool(((missing > low) & (missing < high)).all())


def _dense_products(K: Any, V: Float64) -> Float64:
    """Return V K for a symmetric matrix in memory."""
    products: Float64 = (V.astype(K.dtype) @ K).astype(np.float64)
    return products


def _products(gram: Gram, V: Float64, held: list[Index], also: Index | None) -> Float64:
    """Return V K, row k at the points of fold k and at the points ``also``; elsewhere zero."""
    out = np.zeros(V.shape)
    if also is not None:
        used = np.flatnonzero(V.any(axis=0))
        out[:, also] = _product(gram, also, used, V[:, used].T).T
    for k, rows in enumerate(held):
        used = np.flatnonzero(V[k])
        out[k, rows] = _product(gram, rows, used, V[k, used])
    return out


def _product(gram: Gram, rows: Index, columns: Index, coef: Float64) -> Float64:
    out = np.zeros((rows.size, *coef.shape[1:]))
    if columns.size:
        weights = coef.astype(gram.dtype)
        for s in range(0, rows.size, TILE):
            out[s : s + TILE] = gram.block(rows[s : s + TILE], columns) @ weights
    return out
