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
from mercer.gram.resident import RememberingGram, ResidentGram
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
    used = _enough(fold, sign)
    held = [np.flatnonzero(fold == k) for k in used]
    starts = [np.where(fold == k, 0.0, b) for k in used]
    problems = [without(fold == k) for k in used]
    scale = _scale(whole, b, f)
    A = _moving(whole, b, f, scale, problems, starts)
    inside = np.zeros(whole.n, dtype=bool)
    inside[A] = True
    K: Gram
    if A.size <= RESIDENT and A.size**2 * gram.dtype.itemsize <= block_bytes:
        K = ResidentGram(gram.block(A, A), gram.is_psd)
    else:
        K = gram.subset(A)
    # What the held-out points leave of f, at the moving points and at themselves.
    left = f[:, None] - _products(gram, np.stack([b - start for start in starts], axis=1), held, A)
    first = np.stack([start[A] for start in starts], axis=1)
    offsets = left[A] - _all_products(K, first)
    changes = np.zeros((whole.n, len(held)))
    machines = []
    n_iter = 0
    for k, (problem, start) in enumerate(zip(problems, starts, strict=True)):
        part = problem.take(A)
        part.sums = problem.sums - _group_sums(problem, np.where(inside, 0.0, start))
        part.p = part.p + offsets[:, k]
        reached = solve(K, part, first[:, k].copy(), TOLERANCE / scale)
        if reached.status == "interrupted":
            raise KeyboardInterrupt
        n_iter += reached.n_iter
        changes[A, k] = reached.b - first[:, k]
        b_fold, f_fold = start + changes[:, k], f.copy()
        f_fold[A] = reached.f + offsets[:, k]
        machine = problem.machine(b_fold, f_fold)
        machines.append((_scale_of(machine.coef, b_fold), machine.intercept))
    left += _products(gram, changes, held, None)
    values = [
        factor * left[rows, k] + bias
        for k, (rows, (factor, bias)) in enumerate(zip(held, machines, strict=True))
    ]
    return HeldOut(np.concatenate(held), np.concatenate(values), n_iter)


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
    problem: Dual, b: Float64, f: Float64, scale: float, problems: list[Dual], starts: list[Float64]
) -> Index:
    """Return the points that move in the folds, nearest to the margin first.

    They are enough for every fold's sums to be mended among them; the first give what a start lacks.
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
        if all(_feasible(p, A, start) for p, start in zip(problems, starts, strict=True)):
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


def _products(gram: Gram, V: Float64, held: list[Index], also: Index | None) -> Float64:
    """Return K V, column k at the points of fold k and at the points ``also``; elsewhere anything."""
    if isinstance(gram, RememberingGram) and gram.whole is not None:
        return _all_products(gram.whole, V)
    out = np.zeros(V.shape)
    if also is not None:
        used = np.flatnonzero(V.any(axis=1))
        out[also] = _product(gram, also, used, V[used])
    for k, rows in enumerate(held):
        used = np.flatnonzero(V[:, k])
        out[rows, k] = _product(gram, rows, used, V[used, k])
    return out


def _all_products(gram: Gram, V: Float64) -> Float64:
    if isinstance(gram, ResidentGram):
        products: Float64 = (V.T.astype(gram.dtype) @ gram.K).T.astype(np.float64)
        return products
    return np.stack([gram.matvec(v) for v in V.T], axis=1)


def _product(gram: Gram, rows: Index, columns: Index, coef: Float64) -> Float64:
    out = np.zeros((rows.size, *coef.shape[1:]))
    if columns.size:
        weights = coef.astype(gram.dtype)
        for s in range(0, rows.size, TILE):
            out[s : s + TILE] = gram.block(rows[s : s + TILE], columns) @ weights
    return out
