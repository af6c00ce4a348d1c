"""Probabilities of several classes from those of two-class machines, with the predicted class on top."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from mercer.arrays import Float64, Index

TIE = 1e-12  # by which the predicted class leads where the numbers alone would tie
LEAST = 1e-12  # smallest probability given to a class
LEAST_PAIR = 1e-7  # smallest probability of a pair that is believed


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
    return lead(np.where(pooled, level[:, None], q), choice)


def lead(p: Float64, choice: Index) -> Float64:
    """Make the probabilities positive, the chosen class the strictly largest, the sums one."""
    rows = np.arange(p.shape[0])
    np.maximum(p, LEAST, out=p)
    mine = p[rows, choice]
    p[rows, choice] = 0.0
    p[rows, choice] = np.maximum(mine, p.max(axis=1) * (1.0 + TIE))
    p /= p.sum(axis=1, keepdims=True)
    return p


def pair_forms(logits: Float64, n_classes: int) -> Float64:
    """Return the matrices Q (n, k, k) of the quadratic forms p'Qp that coupling pairs minimises.

    Parameters
    ----------
    logits : (n, k (k - 1) / 2) float64
        Logits of the first class of each pair, in the order (0, 1), (0, 2), ..., (1, 2), ...
    n_classes : int
        k.
    """
    k = n_classes
    first, second = np.triu_indices(k, 1)
    r = np.clip(expit(logits), LEAST_PAIR, 1.0 - LEAST_PAIR)
    R = np.zeros((r.shape[0], k, k))
    R[:, first, second] = r
    R[:, second, first] = 1.0 - r
    Q = -R * R.transpose(0, 2, 1)
    diagonal = np.arange(k)
    Q[:, diagonal, diagonal] = (R * R).sum(axis=1)
    return Q


def leads(Q: Float64, choice: Index) -> tuple[Float64, Float64, Index]:
    """State the problem in the differences d_c = p_choice - p_c >= 0 by which the chosen class leads.

    p = 1/k + sum_c d_c (1/k - e_c) turns p'Qp into d'Hd - 2 g'd + constant.

    Returns
    -------
    H, g : (n, k - 1, k - 1) and (n, k - 1) float64
        The problem.
    others : (n, k - 1) intp
        The classes that are not chosen.
    """
    n, k, _ = Q.shape
    sums = Q.sum(axis=2)
    total = sums.sum(axis=1)
    others = np.argsort(np.arange(k)[None, :] == choice[:, None], axis=1, kind="stable")[:, : k - 1]
    s = np.take_along_axis(sums, others, axis=1) / k
    H = Q[np.arange(n)[:, None, None], others[:, :, None], others[:, None, :]]
    H = H - s[:, :, None] - s[:, None, :] + (total / k**2)[:, None, None]
    return H, s - (total / k**2)[:, None], others


def from_leads(d: Float64, choice: Index, others: Index) -> Float64:
    """Return the probabilities (n, k) with these leads of the chosen class."""
    n, k = d.shape[0], d.shape[1] + 1
    p = np.empty((n, k))
    top = (1.0 + d.sum(axis=1)) / k
    p[np.arange(n), choice] = top
    np.put_along_axis(p, others, top[:, None] - d, axis=1)
    return p
