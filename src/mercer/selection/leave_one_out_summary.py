"""Leave-one-out of a fitted machine: bounds and estimates from one fit, or exactly."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted, column_or_1d

from mercer.estimators import SVC, SVDD, SVR, OneClassSVM
from mercer.estimators.approximation._values import has_features
from mercer.estimators.parametric import has_parametric
from mercer.gram.base import MatrixGram
from mercer.gram.shared_statistic import SharedStatistic
from mercer.kernels import Precomputed
from mercer.selection.exact_left_out import error_of, left_out_decisions
from mercer.selection.leave_one_out_bounds import left_out_values, masks
from mercer.selection.matrix_fits import Rows
from mercer.solvers import Limits


@dataclass(frozen=True)
class LeaveOneOut:
    """Leave-one-out bounds and estimates from one fit; see :func:`leave_one_out`.

    Attributes
    ----------
    sv_fraction : float
        Bound: the share of support vectors.
    xi_alpha : float or None
        Bound, if every left-out fit has a free support vector; None for other than two classes.
    span_bound : float or None
        Bound, if the free vectors of every left-out fit leave room; None for other than two classes.
    span_rule : float or None
        Estimate: the share of points that the span rule gets wrong; None for other machines than SVC.
    exact : float or None
        With ``method="exact"``, the leave-one-out error: the share of rows predicted wrongly, of regressors
        the mean squared error, of detectors the share of rows called novel.
    values : ndarray of shape (n, n_machines) or None
        With ``method="exact"``, the decision or prediction of each row by the machines without it.
    """

    sv_fraction: float
    xi_alpha: float | None
    span_bound: float | None
    span_rule: float | None
    exact: float | None = None
    values: np.ndarray | None = field(default=None, repr=False, compare=False)

    @property
    def estimates(self) -> dict[str, float]:
        """The numbers under readable names, for the ``estimates`` of :func:`mercer.bounds.report`."""
        named = {
            "leave-one-out, exact": self.exact,
            "leave-one-out, span rule": self.span_rule,
            "leave-one-out, span bound": self.span_bound,
            "leave-one-out, xi-alpha": self.xi_alpha,
            "leave-one-out, support vectors": self.sv_fraction,
        }
        return {name: value for name, value in named.items() if value is not None}


def leave_one_out(
    model: Any,
    X: Any,
    y: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    method: str = "bounds",
) -> LeaveOneOut:
    r"""Bound and estimate the leave-one-out error of a fitted SVC from the fit itself, or compute it.

    .. math::
        \text{err} = \frac1n \sum_i [\, f^{(-i)} \text{ is wrong at } x_i \,]

    where :math:`f^{(-i)}` is fitted without point i. A point that is not a support vector leaves no trace, so
    the share of support vectors bounds it. Joachims' xi-alpha clears all points but those with
    :math:`2 \alpha_i R^2 + \xi_i \ge 1` (R^2 the range of the kernel values), provided that every left-out
    fit has a free support vector. Vapnik and Chapelle's span bound clears all free support vectors but those
    with :math:`\alpha_i S_i \max(D, 1/\sqrt C) \ge 1` (S_i the span, D the largest distance), provided that
    the free vectors of left-out fits leave room for a step of min(C, 1/D^2). The span rule puts
    :math:`f^{(-i)}(x_i) = f(x_i) - y_i \alpha_i S_i^2`, which is exact where the sets of free and of bounded
    support vectors stay as they are, and an estimate elsewhere.

    ``method="exact"`` computes the error itself, for SVR, OneClassSVM and SVDD as well: from the optimum of
    all rows a walk leads to each optimum without one, breakpoint by breakpoint. Rows with multiplier zero
    cost nothing, except for the nu machines, whose dual depends on the number of rows. Kernel parameters and
    class weights that were computed from the data stay those of all rows.

    Parameters
    ----------
    model : SVC; for ``method="exact"`` also SVR, OneClassSVM or SVDD
        Fitted, with a finite C. The bounds hold as exactly as it is solved: a small ``tol`` makes them sharp.
    X, y, sample_weight
        The training data.
    method : {"bounds", "exact"}
        Whether to compute the leave-one-out error beside its bounds and estimates.

    Returns
    -------
    LeaveOneOut
        The numbers; ``estimates`` can be handed to :func:`mercer.bounds.report`.

    References
    ----------
    Vapnik and Chapelle (2000), Bounds on error expectation for support vector machines, Neural Computation
    12. Joachims (2000), Estimating the generalization performance of an SVM efficiently, ICML. Cauwenberghs
    and Poggio (2001), Incremental and decremental support vector machine learning, NIPS 13.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.bounds import report
    >>> from mercer.selection import leave_one_out
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(60, centers=2, cluster_std=3.0, random_state=0)
    >>> model = SVC(gamma=0.1).fit(X, y)
    >>> found = leave_one_out(model, X, y)
    >>> found.span_rule <= found.sv_fraction
    True
    >>> leave_one_out(model, X, y, method="exact").exact <= found.sv_fraction
    True
    >>> report(model, X, y, estimates=found.estimates)["leave-one-out, span rule"].verdict
    'an estimate'
    """
    if method not in ("bounds", "exact"):
        raise ValueError(f"method={method!r} must be 'bounds' or 'exact'")
    allowed = SVC if method == "bounds" else (SVC, SVR, OneClassSVM, SVDD)
    if not isinstance(model, allowed):
        whom = "SVC" if method == "bounds" else "SVC, SVR, OneClassSVM and SVDD"
        more = "; method='exact' also takes SVR, OneClassSVM and SVDD" if method == "bounds" else ""
        raise TypeError(f"leave_one_out is about {whom}, not {type(model).__name__}{more}")
    check_is_fitted(model)
    if isinstance(model, SVC | SVR) and not np.isfinite(model.C):
        raise ValueError("leave_one_out needs a finite C: a hard margin may have no left-out fit")
    if has_features(model):
        raise ValueError(
            "leave_one_out: these bounds are about support vectors, and this machine has features in the "
            "place of its kernel (approximation); use cross-validation"
        )
    if has_parametric(model):
        raise ValueError(
            "leave_one_out: these bounds know nothing of columns beside the kernel that cost nothing "
            "(parametric); use cross-validation"
        )
    X = model._check_X(X, kernel=model.kernel_, reset=False)
    n = model._fitted_length(X)
    split = model._split_again(X, y, sample_weight)
    if isinstance(model.kernel_, Precomputed):
        K: Any = np.ascontiguousarray(X, dtype=np.float64)
    else:
        K = SharedStatistic(X).matrix(model.kernel_, np.float64)
    values, exact = None, None
    if method == "exact":
        if np.isnan(model.certificate_.gap):
            raise ValueError("method='exact' needs a positive semi-definite kernel; use cross-validation")
        values = left_out_decisions(model, X, K, split)
        exact = error_of(model, values, split)
    if not isinstance(model, SVC):
        used = np.zeros(n)
        used[model.support_] = 1.0
        return LeaveOneOut(float(np.average(used, weights=split.base)), None, None, None, exact, values)
    labels = np.asarray(column_or_1d(y))
    weight = None if sample_weight is None else model._check_weight(sample_weight, X, n)
    rows = Rows(labels, weight)
    rows.use(MatrixGram(K, model.kernel_.is_psd))
    fitted = rows.fit(model, [], Limits())
    two = len(fitted.parts) == 1 and model.loss == "hinge"

    def share(wrong: Any) -> float:
        return float(np.average(wrong, weights=weight))

    estimated = fitted.held_out(left_out_values(fitted, n))
    return LeaveOneOut(
        share(masks(fitted, "sv_fraction", n)),
        share(masks(fitted, "xi_alpha", n)) if two else None,
        share(masks(fitted, "span_bound", n)) if two and fitted.parts[0].dual.has_bias else None,
        share(estimated.predict(X) != labels),
        exact,
        values,
    )
