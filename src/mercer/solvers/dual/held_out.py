r"""Decision values of training points that were held out, from the solution on all points.

For each fold H the problem without the points of H,

    minimise q(b)   subject to the box and the sums,   b_i = 0 for i in H,

is started at the solution of the whole problem with b_H set to zero, and solved to a loose tolerance:
sequential minimal optimisation needs about as many steps for five folds as for one fit from zero.

Where the solver had the whole kernel matrix in memory, the folds work on it and need no further kernel value.
Beyond, they are solved by decomposition; K beta is updated, never computed anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.arrays import Float64, Index
from mercer.gram import Gram
from mercer.gram.base import MatrixGram
from mercer.gram.projected import ProjectedGram
from mercer.problems import Dual
from mercer.solvers.base import Limits, Solution, Solver
from mercer.solvers.dual.dense_block import DenseBlock
from mercer.solvers.dual.working_set import choose

TOLERANCE = 0.2  # KKT violation of a fold, in units of the decisions' spread (or of the margin, if less)
PER_SIDE = 256  # violators per side and round, where the matrix is not in memory
ROUNDS = (False, True)  # of decomposition; whether it is the last
TILE = 1024  # rows of a block in memory at a time
ENOUGH, ENOUGH_OF_CLASS, ENOUGH_ERRORS = 2000, 200, 150  # held-out values that make further folds needless
SLICE_WORK = 2e8  # block entries touched between two looks at the clock


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
    solver: Solver,
) -> HeldOut:
    """Return decision values of points under machines trained without their fold.

    Parameters
    ----------
    gram : Gram
        Kernel matrix, as the problem views it.
    whole : Dual
        The problem of all points, one variable each.
    solution : Solution
        Its solution.
    fold : (n,) intp
        The fold of each point; -1 for points that are never held out.
    sign : (n,) float64
        Labels +1 and -1. In large problems folds end early when there are held-out values enough of both.
    without : callable
        Given the mask of held-out points, returns the same problem (same variables) with those held at zero.
    solver : Solver
        The limits, the memory for a block, and the least tolerance.
    """
    if not (fold >= 0).any():
        return HeldOut(np.zeros(0, dtype=np.intp), np.zeros(0), 0)
    if whole.equalities is not None:
        return _solved_anew(gram, fold, without, solver)
    folds = _Folds(gram, whole, solution, fold, without, solver)
    if isinstance(gram, MatrixGram) and gram.idx is None and gram.K is not None:
        values = folds.on_all(gram.K)
    else:
        values = folds.on_parts(sign)
    rows = np.concatenate(folds.held[: len(values)])
    return HeldOut(rows, np.concatenate(values), folds.n_iter)


def _solved_anew(
    gram: Gram, fold: Index, without: Callable[[NDArray[np.bool_]], Dual], solver: Solver
) -> HeldOut:
    """Return held-out values of a problem whose variables no exchange of pairs moves: folds from nothing."""
    rows, values, steps = [], [], 0
    for k in np.unique(fold[fold >= 0]):
        problem = without(fold == k)
        reached = replace(solver, listener=None).solve(problem.view(base_of(gram)), problem)
        held = np.flatnonzero(fold == k)
        rows.append(held)
        values.append(problem.machine(reached.b, reached.f).values[held])
        steps += reached.n_iter
    return HeldOut(np.concatenate(rows), np.concatenate(values), steps)


def base_of(gram: Gram) -> Gram:
    """Return the kernel matrix that a problem with columns beside the kernel saw a projection of."""
    assert isinstance(gram, ProjectedGram)
    return gram.gram


class _Folds:
    """The problem of all points, its solution, and what the folds share."""

    def __init__(
        self,
        gram: Gram,
        whole: Dual,
        solution: Solution,
        fold: Index,
        without: Callable[[NDArray[np.bool_]], Dual],
        solver: Solver,
    ) -> None:
        used = np.unique(fold[fold >= 0])
        self.gram = gram
        self.b, self.f = solution.b, solution.f
        self.diag = gram.diag()
        self.limits = solver.limits or Limits()
        self.held = [np.flatnonzero(fold == k) for k in used]
        self.problems = [without(fold == k) for k in used]
        machine = whole.machine(self.b, self.f)
        spread = float(np.std(machine.values))
        size = float(np.abs(self.b).sum())
        scale = (float(np.abs(machine.coef).sum()) / size if size > 0 else 0.0) or 1.0
        self.tol = max(TOLERANCE * min(1.0, spread), solver.tol) / scale
        # An ill-conditioned problem may need many steps even for this: no more than the fit itself took.
        self.most_steps = max(solution.n_iter // used.size, whole.n)
        self.most_points = max(2 * PER_SIDE, int(np.sqrt(solver.block_bytes / gram.dtype.itemsize)))
        self.n_iter = 0
        g = whole.gradient(self.b, self.f)
        distance = np.abs(whole.costs(g, whole.multipliers(self.b, g)))
        distance[(self.b > whole.lo) & (self.b < whole.hi)] = 0.0
        order = np.argsort(distance, kind="stable")
        self.starts = np.stack([self._start(problem, order) for problem in self.problems])

    def _start(self, problem: Dual, order: Index) -> Float64:
        """Return the solution of the whole, put into a fold's box by the points nearest to the margin."""
        b = np.empty(self.b.size)
        b[order] = problem.take(order).nearest(self.b[order])
        return b

    def read(self, k: int, b: Float64, f: Float64) -> Float64:
        """Return the decision values of fold k, given K beta there and at the free points."""
        return self.problems[k].machine(b, f).values[self.held[k]]

    def on_all(self, K: Any) -> list[Float64]:
        """Return the folds' values, all of the kernel matrix being in memory."""
        f = self.f + _dense_products(K, self.starts - self.b)
        b = np.stack(
            [self.descend(K, self.diag, p, self.starts[k], f[k]) for k, p in enumerate(self.problems)]
        )
        f += _dense_products(K, b - self.starts)
        return [self.read(k, b[k], f[k]) for k in range(len(self.problems))]

    def on_parts(self, sign: Float64) -> list[Float64]:
        """Return the folds' values by decomposition: free points and the worst violators move together."""
        values = []
        for k, problem in enumerate(self.problems):
            b, f = self.starts[k], self.f.copy()
            change = b - self.b
            moved = np.flatnonzero(change)
            self.gram.add_product(moved, change[moved], f)
            for last in ROUNDS:
                g = problem.gradient(b, f)
                if problem.violation(b, g) <= self.tol or self.limits.out_of_time():
                    break
                W = choose(problem, b, g, PER_SIDE, self.most_points)
                K = self.gram.block(W, W)
                new = self.descend(K, self.diag[W], problem.take(W), b[W], f[W])
                change = new - b[W]
                moved = np.flatnonzero(change)
                b[W] = new
                if last:  # what is read are the free points, all in W, and the held-out ones
                    there = f[W] + _dense_products(K, change)
                    f[self.held[k]] += _product(self.gram, self.held[k], W[moved], change[moved])
                    f[W] = there
                else:
                    self.gram.add_product(W[moved], change[moved], f)
            values.append(self.read(k, b, f))
            seen = sign[np.concatenate(self.held[: k + 1])]
            if _enough(seen > 0, np.concatenate(values) > 0):
                break
        return values

    def descend(self, K: Any, diag: Float64, problem: Dual, start: Float64, f: Float64) -> Float64:
        """Return the variables that are reached from ``start``, where K beta (of all points) is f."""
        b = start.copy()
        block = DenseBlock(K, diag, problem, b, problem.gradient(b, f))
        slice_steps = int(max(200, SLICE_WORK // (6 * block.size)))
        most = int(min(self.most_steps, self.limits.steps_left(0)))
        done = 0
        while done < most and not self.limits.out_of_time():
            ask = min(slice_steps, most - done)
            taken = block.run(self.tol, ask)
            done += taken
            if block.violation <= self.tol or taken < ask:
                break
        self.n_iter += done
        block.write(b)
        return b


def _enough(positive: NDArray[np.bool_], called_positive: NDArray[np.bool_]) -> bool:
    """Return whether further folds would teach little: errors tell the most about probabilities."""
    one = int(positive.sum())
    errors = int((positive != called_positive).sum())
    return (
        positive.size >= ENOUGH
        and min(one, positive.size - one) >= ENOUGH_OF_CLASS
        and errors >= ENOUGH_ERRORS
    )


def _dense_products(K: Any, V: Float64) -> Float64:
    """Return V K for a symmetric matrix in memory."""
    products: Float64 = (V.astype(K.dtype) @ K).astype(np.float64)
    return products


def _product(gram: Gram, rows: Index, columns: Index, coef: Float64) -> Float64:
    """Return K[rows, columns] @ coef."""
    out = np.zeros(rows.size)
    if columns.size:
        weights = coef.astype(gram.dtype)
        for s in range(0, rows.size, TILE):
            out[s : s + TILE] = gram.block(rows[s : s + TILE], columns) @ weights
    return out
