"""The support vector machine of all classes together."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from mercer.estimators.machine import ClassMachine
from mercer.estimators.svm.joint_classes import JointClassesMixin
from mercer.estimators.svm.svc import BaseSVC
from mercer.gram import Gram
from mercer.problems.joint_margin import JointMargin, joint_slacks
from mercer.values import keep_parameters


def costs_of(delta: Any, classes: np.ndarray) -> np.ndarray:
    """Return what it costs to take a class (row) for another one (column).

    Parameters
    ----------
    delta : array, callable or None
        The parameter: a matrix in the order of ``classes``, a function of two labels (the true one first), or
        one for every error.
    classes : (k,) array
        Labels, in order.
    """
    k = classes.size
    if delta is None:
        return 1.0 - np.eye(k)
    if callable(delta):
        costs = np.array([[float(delta(true, other)) for other in classes] for true in classes])
    else:
        costs = np.array(delta, dtype=np.float64)
    if costs.shape != (k, k):
        raise ValueError(
            f"delta has shape {costs.shape}, and y has {k} classes: give a {k} by {k} matrix, the true class "
            "in rows"
        )
    if not np.isfinite(costs).all() or (costs < 0).any():
        raise ValueError("delta must have finite costs of at least 0")
    if np.diagonal(costs).any():
        at = int(np.flatnonzero(np.diagonal(costs))[0])
        raise ValueError(
            f"delta({classes[at]!r}, {classes[at]!r}) = {costs[at, at]:g}: the right class must cost 0"
        )
    if not costs.any():
        raise ValueError("delta is zero for all pairs of classes: no error costs anything")
    return costs


class CrammerSingerSVC(JointClassesMixin, BaseSVC):
    r"""Support vector machine of all classes in one problem, whatever an error costs.

    .. math::
        \min_{w_1, \dots, w_k} \tfrac12 \sum_k \|w_k\|^2 + C \sum_i w_i \max\bigl(0, \max_{k \ne y_i}
        \Delta(y_i, k) + \langle w_k - w_{y_i}, \phi(x_i) \rangle \bigr)

    A row is classified by the largest of the k functions; its loss is that of its strongest rival alone.
    ``delta`` says what it costs to take one class for another. With ``rescaling="margin"``, as above, that is
    the margin that is asked for; with ``"slack"`` it multiplies the loss of a margin of one,
    :math:`\Delta(y_i, k) (1 + \langle w_k - w_{y_i}, \phi(x_i) \rangle)`. There is no bias, or one that is
    regularised like a weight, since free biases would couple the rows of the dual, which is solved by exact
    steps in one row's simplex of multipliers after the other.

    Parameters
    ----------
    C : float, default=1.0
        Price of a unit of loss.
    delta : array of shape (n_classes, n_classes) or callable, optional
        Cost of each error: a matrix whose rows are the true classes, in sorted order, or a function of two
        labels, the true one first. One for every error by default.
    rescaling : {"margin", "slack"}, default="margin"
        Whether a cost is the margin to keep from a class, or a factor of the slack.
    tol : float, default=1e-3
        Largest KKT violation (``criterion="kkt"``) or relative gap (``"gap"``) at which to stop.
    class_weight : dict or "balanced", optional
        Factors of C per class. "balanced" counts each row as often as its sample weight says.
    max_iter : int, default=-1
        Most steps of the solver, one row each; -1 for no limit.
    fit_intercept : bool, default=False
        Whether each function has a bias, which is regularised: the kernel is k + ``intercept_scaling`` ** 2.
    intercept_scaling : float, default=1.0
        The larger, the less the bias is regularised, and the slower the fit.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_classes, n_SV)
        The coefficients of each function; those of a support vector sum to zero.
    intercept_ : ndarray of shape (n_classes,)
        The biases, zero without ``fit_intercept``.
    costs_ : ndarray of shape (n_classes, n_classes)
        ``delta`` as a matrix.
    certificate_ : Certificate
        Primal, dual, gap, KKT violation.
    support_, support_vectors_, n_support_, coef_, classes_, n_iter_, fit_status_, class_weight_, shape_fit_,
    kernel_, history_
        As in :class:`SVC`; ``coef_`` has a row for each class.

    See Also
    --------
    SVC : Pairs of classes, or each class against the rest; ``multiclass="joint"`` is this machine.

    References
    ----------
    K. Crammer and Y. Singer (2001), On the algorithmic implementation of multiclass kernel-based vector
    machines, Journal of Machine Learning Research 2. I. Tsochantaridis, T. Joachims, T. Hofmann and Y. Altun
    (2005), Large margin methods for structured and interdependent output variables, Journal of Machine
    Learning Research 6.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import CrammerSingerSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CrammerSingerSVC(C=10).fit(X, y)
    >>> model.certificate_.status
    'optimal'
    >>> model.decision_function(X).shape
    (150, 3)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ClassMachine._parameter_constraints,
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "delta": ["array-like", callable, None],
        "rescaling": [StrOptions({"margin", "slack"})],
        "intercept_scaling": [Interval(Real, 0.0, None, closed="neither")],
    }
    _parameter_constraints.pop("shrinking")

    multiclass = "joint"

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        delta: Any = None,
        rescaling: str = "margin",
        fit_intercept: bool = False,
        intercept_scaling: float = 1.0,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: Any = False,
        max_iter: int = -1,
        solver: Any = "auto",
        criterion: str = "kkt",
        time_limit: float | None = None,
        n_jobs: int | None = None,
        precision: str = "auto",
        warm_start: bool = False,
        on_interrupt: str = "raise",
        trace: bool = False,
    ) -> None:
        keep_parameters(self, locals())

    def _check_parameters(self) -> None:
        pass  # there are no pairs whose parameters could contradict each other

    def _check_feasible(self, split: Any) -> None:
        costs_of(self.delta, split.labels.classes)

    def _begin(self, split: Any) -> None:
        super()._begin(split)
        self.costs_ = costs_of(self.delta, split.labels.classes)

    def _problem(self, numbers: np.ndarray, weight: np.ndarray, matrix: Gram) -> JointMargin:
        return JointMargin(
            numbers.astype(np.int64),
            self.C * weight,
            self.costs_,
            slack_rescaling=self.rescaling == "slack",
            bias_scale=self.intercept_scaling if self.fit_intercept else 0.0,
        )

    def _joint_slacks(self, F: np.ndarray, labels: np.ndarray) -> np.ndarray:
        return joint_slacks(F, labels, self.costs_, slack_rescaling=self.rescaling == "slack")
