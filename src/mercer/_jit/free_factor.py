"""The Cholesky factor of a growing and shrinking principal submatrix, and systems with one fixed sum.

``R`` is upper triangular with R'R = G over the present members, stored by rows in a larger square buffer, so
that every inner loop runs along a row. Appending or deleting a member costs as much as a solve.
"""

from __future__ import annotations

import numpy as np

from mercer._jit.bits import prefer_wide_vectors
from mercer._jit.compiler import CONTRACT, REASSOCIATE, compiled


@compiled(fastmath=CONTRACT)
def forward(R: np.ndarray, m: int, x: np.ndarray) -> None:
    """Overwrite x[:m] by the solution of R'y = x."""
    prefer_wide_vectors()
    for i in range(m):
        x[i] /= R[i, i]
        value = x[i]
        if value != 0.0:
            row = R[i]
            for j in range(i + 1, m):
                x[j] -= value * row[j]


@compiled(fastmath=REASSOCIATE)
def backward(R: np.ndarray, m: int, x: np.ndarray) -> None:
    """Overwrite x[:m] by the solution of R z = x."""
    prefer_wide_vectors()
    for i in range(m - 1, -1, -1):
        row = R[i]
        total = 0.0
        for j in range(i + 1, m):
            total += row[j] * x[j]
        x[i] = (x[i] - total) / row[i]


@compiled(fastmath=REASSOCIATE)
def schur(R: np.ndarray, m: int, x: np.ndarray, corner: float) -> float:
    """Solve R'y = x in place (x: a new member's column) and return what is left of its diagonal entry."""
    forward(R, m, x)
    total = 0.0
    for j in range(m):
        total += x[j] * x[j]
    return corner - total


@compiled
def append(R: np.ndarray, m: int, x: np.ndarray, left: float) -> None:
    """Add the member whose column and remaining diagonal ``schur`` has found."""
    for j in range(m):
        R[j, m] = x[j]
        R[m, j] = 0.0
    R[m, m] = np.sqrt(left)


@compiled(fastmath=CONTRACT)
def delete(R: np.ndarray, m: int, k: int) -> None:
    """Remove member k of m: its column goes, and rotations of neighbouring rows restore the triangle."""
    prefer_wide_vectors()
    for i in range(m):
        row = R[i]
        for j in range(max(k, i - 1), m - 1):
            row[j] = row[j + 1]
    for i in range(k, m - 1):
        upper, lower = R[i], R[i + 1]
        size = np.hypot(upper[i], lower[i])
        if size == 0.0:
            continue
        c, s = upper[i] / size, lower[i] / size
        for j in range(i, m - 1):
            first, second = upper[j], lower[j]
            upper[j] = c * first + s * second
            lower[j] = c * second - s * first
        lower[i] = 0.0


@compiled(fastmath=REASSOCIATE)
def solve_with_sum(
    R: np.ndarray, m: int, bias: bool, kappa: float, total: float, x: np.ndarray, u: np.ndarray
) -> float:
    """Solve K z + mu = x, sum z = total, where R'R = K + kappa; z overwrites x, mu is returned.

    On vectors of given sum K + kappa acts as K up to a constant, and it is positive definite where the
    bordered system is regular. Without a bias there is neither mu nor a sum, and kappa is 0.
    """
    shift = x[0] if bias and m > 0 else 0.0
    for j in range(m):  # mu takes what is common to all: equal entries leave exactly nothing to move
        x[j] -= shift
    forward(R, m, x)
    mu = 0.0
    if bias and m > 0:
        for j in range(m):
            u[j] = 1.0
        forward(R, m, u)
        above, below = 0.0, 0.0
        for j in range(m):
            above += u[j] * x[j]
            below += u[j] * u[j]
        mu = (above - total) / below
        for j in range(m):
            x[j] -= mu * u[j]
        mu += kappa * total + shift
    backward(R, m, x)
    return mu
