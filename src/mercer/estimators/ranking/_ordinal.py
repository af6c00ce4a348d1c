"""The support vector machine of ordered classes."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, column_or_1d

from mercer.estimators.expansion import FunctionsMixin
from mercer.estimators.machine import ClassMachine
from mercer.estimators.ranking._thresholds import OrderedClasses
from mercer.estimators.splits import Labels, check_labels, weighed_labels
from mercer.gram import Gram, Segment
from mercer.problems.ordinal import ThresholdMachine, Thresholds
from mercer.values import keep_parameters


class OrdinalSVC(FunctionsMixin, ClassMachine):
    r"""Support vector machine of classes that have an order: one function, and thresholds between classes.

    .. math::
        \min_{w, \theta} \tfrac12 \|w\|^2
        + C \sum_i w_i \sum_j L(s_{ij} (\langle w, \phi(x_i) \rangle - \theta_j))
        \quad \text{subject to} \quad \theta_1 \le \dots \le \theta_{k-1}

    with :math:`s_{ij} = 1` where the class of row i lies above threshold j, else -1, and L(u) = max(0, 1 - u)
    or its square. A row's prediction is the number of thresholds below the function. With implicit
    constraints the sum has all thresholds, so that an error costs more the more classes it skips, and the
    best thresholds ascend by themselves; with explicit ones it has the two next to the row's class.

    Parameters
    ----------
    C : float, default=1.0
        Price of a unit of loss.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The loss.
    constraints : {"implicit", "explicit"}, default="implicit"
        Which thresholds a row is compared with: all, or the two next to its class.
    order : sequence, optional
        The classes from lowest to highest; sorted by default, which suits numbers.
    tol : float, default=1e-3
        Largest KKT violation (``criterion="kkt"``) or relative gap (``"gap"``) at which to stop.
    class_weight : dict or "balanced", optional
        Factors of C per class. "balanced" counts each row as often as its sample weight says.
    solver : str or mercer.solvers.Solver, default="auto"
        How the problem is solved. Implicit constraints make a dual for all solvers that take groups of
        variables ("decomposition", "smo", "interior_point", ...). Explicit ones are for "ordered_thresholds",
        which uses one of these inside: ``mercer.solvers.OrderedThresholds(inner="interior_point")``.

    Attributes
    ----------
    thresholds_ : ndarray of shape (n_classes - 1,)
        Ascending.
    intercept_ : ndarray of shape (n_classes - 1,)
        Minus the thresholds.
    dual_coef_ : ndarray of shape (n_classes - 1, n_SV)
        The multipliers of each threshold; the function's coefficients are the sums of the columns.
    classes_ : ndarray of shape (n_classes,)
        Labels, from lowest to highest.
    certificate_ : Certificate
        Primal, dual, gap, KKT violation.
    support_, support_vectors_, n_support_, coef_, n_iter_, fit_status_, class_weight_, shape_fit_, kernel_,
    history_, margin_
        As in :class:`SVC`; one function has one ``coef_`` and one ``margin_``.

    See Also
    --------
    SVC : Classes without an order.

    References
    ----------
    W. Chu and S. S. Keerthi (2007), Support vector ordinal regression, Neural Computation 19.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import OrdinalSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = np.digitize(X @ [1.0, 2.0], [-2.0, 0.0, 2.0])
    >>> model = OrdinalSVC(kernel="linear", C=10).fit(X, y)
    >>> bool((np.diff(model.thresholds_) >= 0).all())
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ClassMachine._parameter_constraints,
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "constraints": [StrOptions({"implicit", "explicit"})],
        "order": ["array-like", None],
    }
    _parameter_constraints.pop("fit_intercept")

    multiclass = "joint"

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        loss: str = "hinge",
        constraints: str = "implicit",
        order: Any = None,
        shrinking: bool = True,
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

    # -- fit ---------------------------------------------------------------------------------------------

    def _split(self, X: Any, y: Any, sample_weight: Any) -> OrderedClasses:
        classes, numbers = check_labels(y, type(self).__name__)
        if self.order is not None:
            order = column_or_1d(self.order)
            if order.size != classes.size or not np.array_equal(np.sort(order), classes):
                raise ValueError(
                    f"order={self.order!r} must name each class of y once; y has {classes.tolist()}"
                )
            numbers, classes = np.argsort(order)[numbers], order
        self._check_lengths(X, numbers)
        base = self._check_weight(sample_weight, X, numbers.size)
        return OrderedClasses(weighed_labels(classes, numbers, self.class_weight, base), base)

    def _tasks_of(self, labels: Labels, base: np.ndarray) -> OrderedClasses:
        return OrderedClasses(labels, base)

    def _known_labels(self, y: ArrayLike) -> np.ndarray:
        # The base class takes the labels for sorted.
        y = column_or_1d(y)
        sorted_ones = np.argsort(self.classes_, kind="stable")
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.size:
            raise ValueError(f"y holds the label {unknown.tolist()[0]!r}, which the model has not seen")
        return np.asarray(sorted_ones[np.searchsorted(self.classes_[sorted_ones], y)])

    def _problem(self, numbers: np.ndarray, weight: np.ndarray, matrix: Gram) -> Thresholds:
        k = int(self.classes_.size)
        implicit, squared = self.constraints == "implicit", self.loss == "squared_hinge"
        return Thresholds(numbers, k, self.C * weight, implicit=implicit, squared=squared)

    def _shipped(self, number: int, coef: np.ndarray, products: np.ndarray) -> ThresholdMachine:
        table = np.ascontiguousarray(coef.T)
        return ThresholdMachine(table.sum(axis=0), self.intercept_, products, table)

    def _keep(self, machines: list[Any], split: Any) -> None:
        super()._keep(machines, split)
        self.intercept_ = np.atleast_1d(self.intercept_)  # of two classes, some solvers give a number
        self.thresholds_ = -self.intercept_

    # -- use ---------------------------------------------------------------------------------------------

    def _segments(self) -> tuple[list[Segment], int]:
        coef = self._coefficients.sum(axis=0)[:, None]
        return [Segment(0, coef.shape[0], np.ascontiguousarray(coef), np.arange(1))], 1

    def _feature_weights(self) -> Any:
        coef = self._coefficients.sum(axis=0, keepdims=True)
        return np.asarray(coef @ self.support_vectors_)

    def latent(self, X: Any) -> np.ndarray:
        """Return the function that the thresholds cut: how far up the order each point lies.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,)
            Values, in the units of ``thresholds_``.
        """
        check_is_fitted(self)
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        return np.asarray(self._products(X)[:, 0])

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values of new points.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            Two classes: the function above the threshold. More: for each class the sum of the function above
            the thresholds below it, which is largest for the class that ``predict`` returns.
        """
        F = self._values(X)
        if F.shape[1] == 1:
            return np.asarray(F[:, 0])
        return np.concatenate([np.zeros((F.shape[0], 1)), np.cumsum(F, axis=1)], axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """Return the classes of new points: the function's place among the thresholds.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        check_is_fitted(self)
        labels: np.ndarray = self.classes_[(self._values(X) > 0).sum(axis=1)]
        return labels

    def margins(self, X: Any, y: ArrayLike) -> np.ndarray:
        """Return how far each point lies from the nearest threshold of its class, on the right side.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        y : array of shape (n,)
            Their classes.

        Returns
        -------
        ndarray of shape (n,)
            Positive means classified correctly.
        """
        check_is_fitted(self)
        numbers, F = self._known_labels(y), self._values(X)
        above = numbers[:, None] > np.arange(F.shape[1])
        return np.asarray(np.where(above, F, -F).min(axis=1))

    def slacks(self, X: Any, y: ArrayLike) -> np.ndarray:
        """Return the slack variables of points, max(0, 1 - s (f(x) - theta)).

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        y : array of shape (n,)
            Their classes.

        Returns
        -------
        ndarray of shape (n, n_classes - 1)
            A column for each threshold; 0 where a point is not compared with it.
        """
        check_is_fitted(self)
        numbers, F = self._known_labels(y), self._values(X)
        j = np.arange(F.shape[1])
        slack = np.maximum(0.0, 1.0 - np.where(numbers[:, None] > j, F, -F))
        if self.constraints == "implicit":
            return slack
        return np.asarray(np.where((numbers[:, None] == j) | (numbers[:, None] == j + 1), slack, 0.0))
