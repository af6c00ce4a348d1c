"""Probabilities of several classes from those of two-class machines, with the predicted class on top."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from mercer.arrays import Float64, Index

TIE = 1e-12  # by which the predicted class leads where the numbers alone would tie
LEAST = 1e-12  # smallest probability given to a class
LEAST_PAIR = 1e-7  # smallest probability of a pair that is believed
CHUNK_VALUES = 1 << 20  # numbers in the matrices of one batch of rows
EXCHANGES = 3  # of whole sets without progress, before indices are exchanged one by one
ROUNDING = 1e-13
ROUNDS_PER_CLASS = 20  # what is left then differs from the optimum by rounding only


def two_classes(logit: Float64, choice: Index) -> Float64:
    """Return the probabilities (n, 2) of two classes from the logit of the second.

    Parameters
    ----------
    logit : (n,) float64
        Logits.
    choice : (n,) intp
        The predicted class, which agrees with the sign of the logit except perhaps at 0.
    """
    p = np.stack([expit(-logit), expit(logit)], axis=1)
    rows = np.arange(logit.size)
    p[rows, choice] = np.maximum(p[rows, choice], 0.5 + TIE)
    p[rows, 1 - choice] = np.minimum(p[rows, 1 - choice], 0.5 - TIE)
    return p


def couple(logits: Float64, n_classes: int, choice: Index, *, pairs: bool) -> Float64:
    """Return class probabilities from the logits of all machines, one per pair of classes or per class.

    Parameters
    ----------
    logits : (n, machines) float64
        Logits; a single machine tells the second of two classes from the first.
    n_classes : int
        Number of classes.
    choice : (n,) intp
        The predicted class, which leads.
    pairs : bool
        Whether the machines are those of pairs.
    """
    if n_classes == 2:
        return two_classes(logits[:, 0], choice)
    return couple_pairs(logits, n_classes, choice) if pairs else couple_rest(logits, choice)


def couple_pairs(logits: Float64, n_classes: int, choice: Index) -> Float64:
    r"""Return class probabilities from those of all pairs of classes.

    With r_ij the probability of class i given that the class is i or j, each row minimises

    .. math::
        \sum_{i < j} (r_{ji} p_i - r_{ij} p_j)^2, \qquad \sum_c p_c = 1, \quad p_y \ge p_c \text{ for all } c,

    y the predicted class. (Without the last condition this is the second method of the reference. p >= 0
    need not be asked for: the matrix of the quadratic form has no positive entry off its diagonal, and
    keeps that property when the classes tied with y are merged, so that taking absolute values would only
    lower the objective.) In the differences d_c = p_y - p_c >= 0 it is a non-negative least squares
    problem.

    Parameters
    ----------
    logits : (n, n_classes (n_classes - 1) / 2) float64
        Logits of the first class of each pair, in the order (0, 1), (0, 2), ..., (1, 2), ...
    n_classes : int
        Number of classes.
    choice : (n,) intp
        Predicted class of each row.

    Returns
    -------
    (n, n_classes) float64
        Positive, each row summing to one, largest at ``choice`` only.

    References
    ----------
    Wu, Lin and Weng (2004), Probability estimates for multi-class classification by pairwise coupling,
    Journal of Machine Learning Research 5.
    """
    n, k = logits.shape[0], n_classes
    out = np.empty((n, k))
    first, second = np.triu_indices(k, 1)
    step = max(1, CHUNK_VALUES // (k * k))
    for s in range(0, n, step):
        rows = slice(s, min(s + step, n))
        r = np.clip(expit(logits[rows]), LEAST_PAIR, 1.0 - LEAST_PAIR)
        R = np.zeros((r.shape[0], k, k))
        R[:, first, second] = r
        R[:, second, first] = 1.0 - r
        Q = -R * R.transpose(0, 2, 1)
        diagonal = np.arange(k)
        Q[:, diagonal, diagonal] = (R * R).sum(axis=1)
        out[rows] = _least_squares(Q, choice[rows])
    return _lead(out, choice)


def couple_rest(logits: Float64, choice: Index) -> Float64:
    r"""Return class probabilities from those of each class against all others.

    The normalised probabilities q are moved to the p that minimises -sum_c q_c log p_c subject to p_y >=
    p_c for the predicted class y: the mean over y and the classes above it, largest first, until none is
    above.

    Parameters
    ----------
    logits : (n, n_classes) float64
        Logits of each class against the rest.
    choice : (n,) intp
        Predicted class of each row.

    Returns
    -------
    (n, n_classes) float64
        Positive, each row summing to one, largest at ``choice`` only.

    References
    ----------
    Barlow, Bartholomew, Bremner and Brunk (1972), Statistical Inference under Order Restrictions, chapter 1.
    """
    n, k = logits.shape
    q = expit(logits)
    q /= q.sum(axis=1, keepdims=True)
    rows = np.arange(n)
    chosen = q[rows, choice]
    others = q.copy()
    others[rows, choice] = -np.inf
    ranked = -np.sort(-others, axis=1)[:, : k - 1]
    means = (chosen[:, None] + np.cumsum(ranked, axis=1)) / np.arange(2, k + 1)
    # The pool is right as soon as the next class is not above its mean; the mean falls from there on.
    level = np.maximum(chosen, means.max(axis=1, initial=0.0))
    pooled = others >= level[:, None]
    pooled[rows, choice] = True
    return _lead(np.where(pooled, level[:, None], q), choice)


def _lead(p: Float64, choice: Index) -> Float64:
    """Make the probabilities positive, the chosen class the strictly largest, the sums one."""
    rows = np.arange(p.shape[0])
    np.maximum(p, LEAST, out=p)
    mine = p[rows, choice]
    p[rows, choice] = 0.0
    p[rows, choice] = np.maximum(mine, p.max(axis=1) * (1.0 + TIE))
    p /= p.sum(axis=1, keepdims=True)
    return p


def _least_squares(Q: Float64, choice: Index) -> Float64:
    """Minimise p'Qp over sum p = 1, p_choice >= p_c, for a batch of matrices."""
    n, k, _ = Q.shape
    # p = 1/k + sum_c d_c (1/k - e_c) turns p'Qp into d'Hd - 2 g'd + constant.
    sums = Q.sum(axis=2)
    total = sums.sum(axis=1)
    others = np.argsort(np.arange(k)[None, :] == choice[:, None], axis=1, kind="stable")[:, : k - 1]
    s = np.take_along_axis(sums, others, axis=1) / k
    H = Q[np.arange(n)[:, None, None], others[:, :, None], others[:, None, :]]
    H = H - s[:, :, None] - s[:, None, :] + (total / k**2)[:, None, None]
    g = s - (total / k**2)[:, None]
    d = _nonnegative(H, g)
    p = np.empty((n, k))
    top = (1.0 + d.sum(axis=1)) / k
    p[np.arange(n), choice] = top
    np.put_along_axis(p, others, top[:, None] - d, axis=1)
    return p


def _nonnegative(H: Float64, g: Float64) -> Float64:
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
