"""Many small quadratic problems over the non-negative orthant at once."""

from __future__ import annotations

import numpy as np

from mercer.arrays import Float64

EXCHANGES = 3  # of whole sets without progress, before indices are exchanged one by one
ROUNDING = 1e-13
ROUNDS_PER_CLASS = 20  # what is left then differs from the optimum by rounding only


def nonnegative_minimum(H: Float64, g: Float64) -> Float64:
    """Minimise d'Hd / 2 - g'd over d >= 0 for a batch of positive definite H, by block principal pivoting.

    Whole sets of wrong indices are exchanged between "free" and "zero" while their number falls, single
    ones when it does not: the latter rule alone ends after finitely many exchanges.

    References
    ----------
    Portugal, Judice and Vicente (1994), A comparison of block pivoting and interior-point algorithms for
    linear least squares problems with nonnegative variables, Mathematics of Computation 63.
    """
    n, m = g.shape
    free = np.ones((n, m), dtype=bool)
    d = np.zeros((n, m))
    fewest = np.full(n, m + 1)
    chances = np.full(n, EXCHANGES)
    todo = np.arange(n)
    scale = np.abs(H).max(axis=(1, 2))
    diagonal = np.arange(m)
    for _ in range(ROUNDS_PER_CLASS * (m + 1)):
        if todo.size == 0:
            break
        F = free[todo]
        system = np.where(F[:, :, None] & F[:, None, :], H[todo], 0.0)
        system[:, diagonal, diagonal] = np.where(F, H[todo][:, diagonal, diagonal], 1.0)
        x = np.linalg.solve(system, np.where(F, g[todo], 0.0)[:, :, None])[:, :, 0]
        slope = np.einsum("nij,nj->ni", H[todo], x) - g[todo]
        wrong = np.where(F, x < -ROUNDING, slope < -ROUNDING * scale[todo, None])
        count = wrong.sum(axis=1)
        d[todo] = np.maximum(x, 0.0)
        better = count < fewest[todo]
        chances[todo] = np.where(better, EXCHANGES, chances[todo] - 1)
        fewest[todo] = np.minimum(fewest[todo], count)
        single = chances[todo] < 0
        if single.any():
            last = m - 1 - np.argmax(wrong[:, ::-1], axis=1)
            only = np.zeros_like(wrong)
            only[np.arange(todo.size), last] = True
            wrong = np.where(single[:, None], wrong & only, wrong)
        free[todo] = F ^ wrong
        todo = todo[count > 0]
    return d
