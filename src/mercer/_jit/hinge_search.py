"""The best pair of hinges to add to a model of multivariate adaptive regression splines."""

from __future__ import annotations

import math

import numpy as np

from mercer._jit.compiler import CONTRACT, compiled

DEPENDENT = 1e-8  # share of a column's squared length that must be new for it to count


@compiled(fastmath=CONTRACT)
def best_pair(
    Z: np.ndarray,
    order: np.ndarray,
    B: np.ndarray,
    allowed: np.ndarray,
    Q: np.ndarray,
    R: np.ndarray,
    minspan: int,
    endspan: int,
    found: np.ndarray,
) -> float:
    """Search all parents, variables and knots; return the largest decrease of the squared error.

    Adding b (z - t)+ and b (t - z)+ to a model that holds b is adding b z and b (z - t)+. For each parent b
    and variable z the first is added for good; of the second, with the knot t falling through the sorted
    values, only sums over the points above t are kept: each knot costs as many operations as there are
    columns of Q and R.

    Z : (p, n) variables, scaled; order : (p, n) their rows in falling order; B : (m, n) parents;
    allowed : (m, p) which variables each may be multiplied by; Q : (n, k) an orthonormal basis of the model;
    R : (n, o) residuals. Knots are every ``minspan``-th of the points where the parent is not zero, at least
    ``endspan`` from both ends (negative: by the parent's number of points). found receives parent, variable
    and row of the knot.
    """
    p, n = Z.shape
    m, k, o = B.shape[0], Q.shape[1], R.shape[1]
    best = 0.0
    found[0], found[1], found[2] = -1, -1, -1
    line, rest = np.empty(n), np.empty((n, o))
    q0, q1 = np.empty(k + 1), np.empty(k + 1)
    r0, r1 = np.empty(o), np.empty(o)
    for i in range(m):
        b = B[i]
        active = 0
        for r in range(n):
            if b[r] != 0.0:
                active += 1
        between, ends = _spans(active, p, minspan, endspan)
        if active <= 2 * ends:
            continue
        for v in range(p):
            if not allowed[i, v]:
                continue
            z = Z[v]
            base = _take_line(b, z, Q, R, line, rest)
            q0[:], q1[:], r0[:], r1[:] = 0.0, 0.0, 0.0, 0.0
            s0, s1, s2 = 0.0, 0.0, 0.0
            seen, next_knot = 0, ends
            for j in range(n):
                row = order[v, j]
                if b[row] == 0.0:
                    continue
                t = z[row]
                if seen == next_knot and active - 1 - seen >= ends:
                    next_knot += between
                    length = s2 - 2.0 * t * s1 + t * t * s0
                    inside = 0.0
                    for c in range(k + 1):
                        along = q1[c] - t * q0[c]
                        inside += along * along
                    new = length - inside
                    gain = base
                    if new > DEPENDENT * length:
                        for c in range(o):
                            along = r1[c] - t * r0[c]
                            gain += along * along / new
                    if gain > best:
                        best = gain
                        found[0], found[1], found[2] = i, v, row
                elif seen == next_knot:
                    next_knot += between
                seen += 1
                w = b[row]
                wz = w * t
                s0 += w * w
                s1 += w * wz
                s2 += wz * wz
                for c in range(k):
                    q0[c] += Q[row, c] * w
                    q1[c] += Q[row, c] * wz
                q0[k] += line[row] * w
                q1[k] += line[row] * wz
                for c in range(o):
                    r0[c] += rest[row, c] * w
                    r1[c] += rest[row, c] * wz
    return best


@compiled(inner=True)
def _spans(active: int, p: int, minspan: int, endspan: int) -> tuple[int, int]:
    """Return the distances of knots from each other and from the ends; Friedman's for negative ones."""
    between, ends = minspan, endspan
    if between < 0:
        between = math.ceil(-math.log2(-math.log(0.95) / (p * max(active, 1))) / 2.5)
    if ends < 0:
        ends = math.ceil(3.0 - math.log2(0.05 / p))
    return max(1, between), ends


@compiled(inner=True, fastmath=CONTRACT)
def _take_line(
    b: np.ndarray, z: np.ndarray, Q: np.ndarray, R: np.ndarray, line: np.ndarray, rest: np.ndarray
) -> float:
    """Make ``line`` the part of b z outside of Q, of length 1 or 0, and ``rest`` what it leaves of R.

    Return by how much it decreases the squared error.
    """
    n, k, o = Q.shape[0], Q.shape[1], R.shape[1]
    whole = 0.0
    for r in range(n):
        line[r] = b[r] * z[r]
        whole += line[r] * line[r]
    for _ in range(2):  # once more, for what rounding has left
        for c in range(k):
            along = 0.0
            for r in range(n):
                along += Q[r, c] * line[r]
            for r in range(n):
                line[r] -= along * Q[r, c]
    new = 0.0
    for r in range(n):
        new += line[r] * line[r]
    if new <= DEPENDENT * whole:
        line[:] = 0.0
        rest[:] = R
        return 0.0
    scale = 1.0 / math.sqrt(new)
    for r in range(n):
        line[r] *= scale
    gain = 0.0
    for c in range(o):
        along = 0.0
        for r in range(n):
            along += line[r] * R[r, c]
        for r in range(n):
            rest[r, c] = R[r, c] - along * line[r]
        gain += along * along
    return gain
