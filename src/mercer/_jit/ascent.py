"""Coordinate ascent on the dual: one variable at a time, in a given order."""

from __future__ import annotations

import numpy as np

from mercer._jit.bits import prefer_wide_vectors
from mercer._jit.compiler import CONTRACT, compiled


@compiled(fastmath=CONTRACT, inner=True)
def _add_row(f: np.ndarray, row: np.ndarray, step: float) -> None:
    prefer_wide_vectors()
    for j in range(f.size):
        f[j] += step * row[j]


@compiled
def sweep(
    rows: np.ndarray,
    slots: np.ndarray,
    variables: np.ndarray,
    b: np.ndarray,
    f: np.ndarray,
    p: np.ndarray,
    r: np.ndarray,
    lo: np.ndarray,
    hi: np.ndarray,
    rate: np.ndarray,
    max_steps: int,
) -> int:
    """Move each of ``variables`` by its rate times the gradient, clipped to its box; return the steps taken.

    Parameters
    ----------
    rows : (m, n) float64
        Rows of the kernel matrix.
    slots : (k,) intp
        Which row belongs to the point of each of ``variables``.
    variables : (k,) intp
        The order; variable t belongs to point t modulo n.
    b, f : (copies n,), (n,) float64
        Variables and K beta, both updated in place.
    p, r, lo, hi, rate : (copies n,) float64
        Linear term, shift, box, learning rates; an infinite rate goes straight to the bound.
    max_steps : int
        Most steps: changes of a variable.
    """
    n = f.size
    steps = 0
    for q in range(variables.size):
        if steps >= max_steps:
            break
        t = variables[q]
        slope = f[t % n] + p[t] + r[t] * b[t]
        if slope == 0.0:
            continue
        if rate[t] == np.inf:
            new = hi[t] if slope < 0.0 else lo[t]
        else:
            new = min(max(b[t] - rate[t] * slope, lo[t]), hi[t])
        step = new - b[t]
        if step != 0.0:
            b[t] = new
            _add_row(f, rows[slots[q]], step)
            steps += 1
    return steps


@compiled
def sweep_in_slab(
    rows: np.ndarray,
    slots: np.ndarray,
    variables: np.ndarray,
    b: np.ndarray,
    f: np.ndarray,
    p: np.ndarray,
    r: np.ndarray,
    lo: np.ndarray,
    hi: np.ndarray,
    rate: np.ndarray,
    max_steps: int,
    bias: float,
    width: float,
    total: float,
) -> tuple[int, float]:
    """Sweep as `sweep` does with the sum of all variables kept between -width and width.

    Parameters
    ----------
    rows, slots, variables, b, f, p, r, lo, hi, rate, max_steps
        As for `sweep`.
    bias : float
        Added to every slope: the multiplier of the sum.
    width, total : float
        The largest size of the sum, and what it is.

    Returns
    -------
    steps, total : int, float
        Steps taken, and the sum afterwards.
    """
    n = f.size
    steps = 0
    for q in range(variables.size):
        if steps >= max_steps:
            break
        t = variables[q]
        slope = f[t % n] + p[t] + r[t] * b[t] + bias
        end = hi[t] if slope < 0.0 else lo[t]
        new = end if rate[t] == np.inf else b[t] - rate[t] * slope
        # First the slab, which may demand a step against the slope, then the box.
        new = min(max(new, b[t] - total - width), b[t] - total + width)
        new = min(max(new, lo[t]), hi[t])
        step = new - b[t]
        if step != 0.0:
            b[t] = new
            total += step
            _add_row(f, rows[slots[q]], step)
            steps += 1
    return steps, total
