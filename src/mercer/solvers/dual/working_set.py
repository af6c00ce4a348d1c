"""Choosing the points that a round of decomposition works on."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.arrays import Float64, Index
from mercer.problems import Dual


def choose(problem: Dual, b: Float64, g: Float64, per_side: int, most: int) -> Index:
    """Return all free points and the worst violators of each side, at most ``most``.

    Parameters
    ----------
    problem : Dual
        The problem.
    b, g : (copies n,) float64
        The point and the gradient there.
    per_side : int
        Violators per side of each group: variables that want to grow, and variables that want to shrink.
    most : int
        Largest size; when free points do not fit, those with the largest reduced costs come first.
    """
    p = problem
    v = -g
    grow, shrink = b < p.hi, b > p.lo
    chosen = np.zeros(p.n, dtype=bool)
    sides: list[tuple[Any, float, float]] = [(None, 0.0, 0.0)]
    if p.group is not None:
        tops, bottoms = p.extremes(b, g)
        several = p.sums.size > 1
        sides = [
            (p.group == k if several else None, float(bottoms[k]), float(tops[k])) for k in range(p.sums.size)
        ]
    for member, bottom, top in sides:
        for sign, allowed, limit in ((1.0, grow, bottom), (-1.0, shrink, top)):
            wants = allowed & (sign * v > sign * limit)
            if member is not None:
                wants &= member
            candidates = np.flatnonzero(wants)
            if candidates.size > per_side:
                worst = np.argpartition(-sign * v[candidates], per_side - 1)[:per_side]
                candidates = candidates[worst]
            chosen[candidates % p.n] = True
    free = (grow & shrink).reshape(p.copies, p.n).any(axis=0) & ~chosen
    free_points = np.flatnonzero(free)
    room = max(0, most - int(chosen.sum()))
    if free_points.size > room:
        costs = np.abs(p.costs(g, p.multipliers(b, g))).reshape(p.copies, p.n).max(axis=0)[free_points]
        free_points = free_points[np.argpartition(-costs, room - 1)[:room]] if room > 0 else free_points[:0]
    chosen[free_points] = True
    return np.flatnonzero(chosen)


def variables_of(points: Index, problem: Dual) -> Index:
    """Return the numbers of all variables that belong to some points."""
    return np.asarray((points[None, :] + problem.n * np.arange(problem.copies)[:, None]).ravel())
