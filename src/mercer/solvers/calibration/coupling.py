"""Coupling the probabilities of two-class machines: one per pair of classes, or one per class."""

from __future__ import annotations

import numpy as np

from mercer.arrays import Float64, Index
from mercer.problems.coupling import couple_rest, from_leads, lead, leads, pair_forms, two_classes
from mercer.solvers.calibration.block_pivoting import nonnegative_minimum

CHUNK_VALUES = 1 << 20  # numbers in the matrices of one batch of rows


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
    out = np.empty((logits.shape[0], n_classes))
    step = max(1, CHUNK_VALUES // n_classes**2)
    for s in range(0, out.shape[0], step):
        rows = slice(s, s + step)
        H, g, others = leads(pair_forms(logits[rows], n_classes), choice[rows])
        out[rows] = from_leads(nonnegative_minimum(H, g), choice[rows], others)
    return lead(out, choice)
