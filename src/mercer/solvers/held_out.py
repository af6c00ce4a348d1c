r"""Decision values of training points that were held out, from the solution on all points.

For each fold H the problem without the points of H,

    minimise q(b)   subject to the box and the sums,   b_i = 0 for i in H,

is started at the solution of the whole problem with b_H set to zero. Only the points that may change move:
the free ones and those nearest to the margin, at most about twice as many as were free. The others, far
beyond the margin or deep inside it, keep their variables. So the kernel values needed are one square block
of the moving points, shared by all folds, and thin blocks between moving points, support vectors and the
points whose values are wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.gram.resident import ResidentGram
from mercer.problems import Dual
from mercer.solvers.base import Float64, Solution

TOLERANCE = 0.1  # KKT violation of a fold, in units of the margin: far below what links can see
NEAR = 0.3  # distance from the margin up to which a point may change sides when a fold is left out
MOVING_PER_FREE, MOVING_AT_LEAST = 2.0, 128  # bound on the moving points
RESIDENT = (
    3072  # moving points up to which their block is kept; a larger one is faster recomputed than gathered
)
ENOUGH, ENOUGH_OF_CLASS = 5000, 500  # held-out values after which further folds would teach nothing
TILE = 1024  # rows of a block in memory at a time

Index = NDArray[np.intp]
Solve = Callable[[Gram, Dual, Float64, float], Solution]


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
    solve: Solve,
    block_bytes: int,
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
    solve : callable
        Given a Gram, a problem, a start and a tolerance, returns a solution.
    block_bytes : int
        Memory for the block of the moving points.

    Notes
    -----
    The bias and the scale of a fold's machine come from its free variables, all of which move.
    """
    b, f = solution.b, solution.f
    used = np.unique(fold[fold >= 0])
    scale = _scale(whole, b, f)
    problems = {int(k): without(fold == k) for k in used}
    A = _moving(whole, b, f, scale, fold, problems)
    inside = np.zeros(whole.n, dtype=bool)
    inside[A] = True
    K: Gram
    if A.size <= RESIDENT and A.size**2 * gram.dtype.itemsize <= block_bytes:
        K = ResidentGram(gram.block(A, A), gram.is_psd)
    else:
        K = gram.subset(A)
    rows: list[Index] = []
    values: list[Float64] = []
    n_iter = 0
    for k, problem in problems.items():
        H = np.flatnonzero(fold == k)
        lost = H[b[H] != 0]
        # What stays of f at the moving and at the held-out points.
        base = f - _product(gram, np.union1d(A, H), lost, b[lost], f.size)
        start = np.where(fold == k, 0.0, b)
        part = problem.take(A)
        rest = np.where(inside, 0.0, start)
        part.sums = problem.sums - _group_sums(problem, rest)
        offset = base[A] - K.matvec(start[A])
        part.p = part.p + offset
        reached = solve(K, part, start[A], TOLERANCE / scale)
        if reached.status == "interrupted":
            raise KeyboardInterrupt
        n_iter += reached.n_iter
        moved = np.flatnonzero(reached.b != start[A])
        b_fold = start
        change = reached.b[moved] - start[A[moved]]
        b_fold[A] = reached.b
        f_fold = base + _product(gram, H, A[moved], change, f.size)
        f_fold[A] = np.where(fold[A] == k, f_fold[A], reached.f + offset)
        machine = problem.machine(b_fold, f_fold)
        rows.append(H)
        values.append(_scale_of(machine.coef, b_fold) * f_fold[H] + machine.intercept)
        if _enough(sign, rows):
            break
    return HeldOut(np.concatenate(rows), np.concatenate(values), n_iter)


def _scale_of(coef: Float64, b: Float64) -> float:
    """Return the factor between the dual variables and the machine's coefficients."""
    size = float(np.abs(b).sum())
    return float(np.abs(coef).sum()) / size if size > 0 else 1.0


def _scale(problem: Dual, b: Float64, f: Float64) -> float:
    scale = _scale_of(problem.machine(b, f).coef, b)
    return scale if scale > 0 else 1.0


def _group_sums(problem: Dual, b: Float64) -> Float64:
    if problem.group is None:
        return np.zeros(0)
    sums: Float64 = np.bincount(problem.group, weights=b, minlength=problem.sums.size).astype(np.float64)
    return sums


def _moving(
    problem: Dual, b: Float64, f: Float64, scale: float, fold: Index, problems: dict[int, Dual]
) -> Index:
    """Return the points that move in the folds, nearest to the margin first.

    They are enough for every fold's sums to be mended among them; where a start lacks something, the first
    give it.
    """
    g = problem.gradient(b, f)
    free = (b > problem.lo) & (b < problem.hi)
    distance = scale * np.abs(problem.costs(g, problem.multipliers(b, g)))
    distance[free] = 0.0
    distance[problem.fixed] = np.inf
    order = np.argsort(distance, kind="stable")
    most = int(MOVING_PER_FREE * free.sum()) + MOVING_AT_LEAST
    size = min(int((distance <= NEAR).sum()), most)
    while size < b.size:
        A = order[:size]
        if all(_feasible(p, A, np.where(fold == k, 0.0, b)) for k, p in problems.items()):
            return A
        size = max(2 * size, MOVING_AT_LEAST)
    return order


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


def _product(gram: Gram, rows: Index, columns: Index, coef: Float64, n: int) -> Float64:
    """Return K[rows, columns] @ coef at the given rows of a vector of length n, zero elsewhere."""
    out = np.zeros(n)
    if columns.size:
        weights = coef.astype(gram.dtype)
        for s in range(0, rows.size, TILE):
            part = rows[s : s + TILE]
            out[part] = gram.block(part, columns) @ weights
    return out


def _enough(sign: Float64, rows: list[Index]) -> bool:
    seen = np.concatenate(rows)
    positive = int((sign[seen] > 0).sum())
    return seen.size >= ENOUGH and min(positive, seen.size - positive) >= ENOUGH_OF_CLASS
