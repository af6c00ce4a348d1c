r"""What a single fit tells of leave-one-out.

Leave-one-out error is the share of points that a machine fitted without them gets wrong. Bounds, which it
cannot exceed, and an estimate, which it often equals:

- the **support-vector fraction**: a point that is not a support vector may leave without a trace;
- **xi-alpha** (Joachims): only points with :math:`2 \alpha_i R^2 + \xi_i \ge 1`, where kernel values differ
  by at most :math:`R^2`, can be wrong, provided that every left-out fit has a free support vector;
- the **span bound** (Vapnik and Chapelle): of the free support vectors only those with
  :math:`\alpha_i S_i \max(D, 1/\sqrt C) \ge 1` can be wrong, D the largest distance between two points,
  provided that the free vectors of every left-out fit leave room for a step of min(C, 1/D^2);
- the **span rule**: f without point i is :math:`f(x_i) - y_i \alpha_i S_i^2`, exactly, provided that the sets
  of free and of bounded support vectors stay as they are. They rarely all do, so it is an estimate.

References
----------
Vapnik and Chapelle (2000), Bounds on error expectation for support vector machines, Neural Computation 12.
Joachims (2000), Estimating the generalization performance of an SVM efficiently, ICML. Chapelle, Vapnik,
Bousquet and Mukherjee (2002), Choosing multiple parameters for support vector machines, Machine Learning 46.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.arrays import Float64
from mercer.selection.matrix_fits import Fitted, Part
from mercer.selection.spans import constrained_span, spans

Mask = NDArray[np.bool_]

HUGE = 1e100  # stands for infinity where values are added
TIE = 1e-9  # how near to the end of the bias's interval a point holds that end


def matrix_of(part: Part) -> Any:
    """Return the kernel matrix of a part's rows."""
    every = np.arange(part.rows.size)
    return part.gram.block(every, every)


def support(part: Part) -> Mask:
    """Return which points can be missed: support vectors, and those that hold an undetermined bias.

    Without free support vectors the bias is the middle of an interval whose ends are held by points, support
    vectors or not.
    """
    dual, b = part.dual, part.dual.settled(part.solution.b)
    used = dual.beta(b) != 0
    free = (b > dual.lo) & (b < dual.hi)
    if dual.group is None or free.any():
        return np.asarray(used)
    v = -dual.gradient(part.solution.b, part.solution.f)
    tops, bottoms = dual.extremes(b, -v)
    near = TIE * max(1.0, float(np.abs(v).max()))
    holds = ((b < dual.hi) & (v >= tops[0] - near)) | ((b > dual.lo) & (v <= bottoms[0] + near))
    return np.asarray(used | holds)


def xi_alpha(part: Part) -> Mask:
    """Return which points of a two-class soft margin xi-alpha cannot clear of being leave-one-out errors."""
    assert part.sign is not None
    alpha = np.abs(part.machine.coef)
    xi = np.maximum(0.0, 1.0 - part.sign * part.machine.values)
    K = matrix_of(part)
    if part.dual.group is None:  # no bias: no other variable has to make way
        return np.asarray(alpha * np.diagonal(K) + xi >= 1.0)
    return np.asarray(2.0 * alpha * float(K.max() - K.min()) + xi >= 1.0) | _undetermined(part)


def span_bound(part: Part) -> Mask:
    """Return which points of a two-class soft margin the span bound cannot clear."""
    b = part.dual.settled(part.solution.b)
    free = np.flatnonzero((b > part.dual.lo) & (b < part.dual.hi))
    wrong = support(part)
    if free.size == 0:
        return wrong
    K = matrix_of(part)
    diagonal = part.gram.diag()
    D = np.sqrt(max(0.0, float((diagonal[:, None] + diagonal[None, :] - 2.0 * K).max())))
    inner = np.asarray(K[np.ix_(free, free)], dtype=np.float64)
    lo, hi = part.dual.lo[free], part.dual.hi[free]
    for p, t in enumerate(free):
        price = max(abs(lo[p]), abs(hi[p]))
        reach = max(D, 1.0 / np.sqrt(price))
        if abs(b[t]) * D * reach < 1.0:  # no span exceeds the largest distance: no need to look closer
            wrong[t] = False
            continue
        S = np.sqrt(constrained_span(inner, b[free], lo, hi, p))
        wrong[t] = abs(b[t]) * S * reach >= 1.0
    return wrong


def span_rule(part: Part) -> Float64:
    """Return the span rule's estimate of each point's value under the machine fitted without it.

    Nothing is known of the only free support vector: it counts as wrong in classification, and as far from
    the origin in regression.
    """
    dual, n = part.dual, part.dual.n
    b = dual.settled(part.solution.b)
    beta = dual.beta(b)
    f = np.asarray(part.machine.values, dtype=np.float64).copy()
    inside = ((b > dual.lo) & (b < dual.hi)).reshape(dual.copies, n).any(axis=0) & (beta != 0)
    r = dual.r.reshape(dual.copies, n)[0]
    free, bounded = np.flatnonzero(inside), np.flatnonzero((beta != 0) & ~inside)
    of_free, of_bounded = spans(matrix_of(part), r, free, bounded, dual.group is not None)
    if part.sign is None:
        of_free, of_bounded = (
            np.where(np.isinf(found), part.gram.diag()[at], found)
            for found, at in ((of_free, free), (of_bounded, bounded))
        )
    f[free] += beta[free] * (r[free] - of_free)
    f[bounded] += beta[bounded] * (r[bounded] - of_bounded)
    return np.clip(f, -HUGE, HUGE)


def _undetermined(part: Part) -> Mask:
    b = part.dual.settled(part.solution.b)
    if ((b > part.dual.lo) & (b < part.dual.hi)).any():
        return np.zeros(b.size, dtype=bool)
    return support(part)


def left_out_values(fitted: Fitted, n: int) -> Float64:
    """Return the span rule's values of all rows under all two-class machines (or the regressor).

    A row that takes no part in a pair keeps that machine's value.

    Parameters
    ----------
    fitted : Fitted
        The machine, fitted on all n rows.
    n : int
        Number of rows.
    """
    F = fitted.values(fitted.whole)
    for k, part in enumerate(fitted.parts):
        F[part.rows, k] = span_rule(part)
    return F


def masks(fitted: Fitted, which: str, n: int) -> Mask:
    """Return which rows a leave-one-out bound cannot clear."""
    if which == "sv_fraction":
        out = np.zeros(n, dtype=bool)
        for part in fitted.parts:
            out[part.rows] |= support(part)
        return out
    (part,) = fitted.parts
    out = np.zeros(n, dtype=bool)
    out[part.rows] = xi_alpha(part) if which == "xi_alpha" else span_bound(part)
    return out
