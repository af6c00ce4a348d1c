"""The support vector classifier."""

from __future__ import annotations

import sys
from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Hidden, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.approximation._mixin import APPROXIMATION, ApproximationMixin
from mercer.estimators.approximation._values import feature_products, has_features
from mercer.estimators.machine import ClassMachine
from mercer.estimators.parametric import PARAMETRIC, ParametricMixin, has_parametric
from mercer.estimators.probability import UNSET, ProbabilityMixin, wants_probabilities
from mercer.estimators.row_batches import in_pieces
from mercer.estimators.sklearn_models import PlattNamesMixin, TwinMixin
from mercer.estimators.splits import AllClasses, Classes, Labels, TwoClassTasks
from mercer.estimators.svm.joint_classes import JointClassesMixin
from mercer.estimators.updating.classes import ClassUpdateMixin
from mercer.estimators.updating.mixin import UPDATES
from mercer.gram import Gram, Segment, cross_products
from mercer.problems import Dual, HardMargin, HardMarginThroughOrigin, soft_margin, squared_hinge
from mercer.problems.decisions import decisions_with_sure_signs
from mercer.problems.joint_margin import JointMargin, joint_slacks
from mercer.problems.linear_risk import LinearRisk
from mercer.problems.losses import Hinge, SquaredHinge
from mercer.problems.multiclass import pair_number, votes, votes_with_ties_broken
from mercer.values import keep_parameters

__all__ = ["SVC", "BaseSVC"]

DECISIONS = 1 << 22  # of pairs of classes, in memory at a time: 32 MB
FEWEST_ROWS = 64  # looked at together, however many the pairs


class BaseSVC(ProbabilityMixin, ClassMachine):
    """What classifiers over pairs of classes share.

    Parameters
    ----------
    probability : bool, default="deprecated"
        Whether ``predict_proba`` will be available. The default is scikit-learn's since 1.9 and means False.
        ``True`` stays here when it is removed there; a ``False`` that is written out gives scikit-learn's
        FutureWarning. Its largest probability is that of the class that
        ``predict`` returns (at ``threshold=0``); for two classes it costs less than a second fit as a rule.
        Probabilities are those of the rows as ``sample_weight`` counts them: ``class_weight`` moves the
        decision only.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Shape of ``decision_function`` for more than two classes.
    break_ties : bool, default=False
        Break ties between classes by confidence instead of class order.
    random_state : int, RandomState or None
        Used for the folds of ``probability=True`` only.
    multiclass : {"ovo", "ovr"}, default="ovo"
        One machine per pair of classes, or one per class.
    threshold : float, default=0.0
        Of two classes, ``predict`` returns the second from this decision on: above 0 it is said more rarely
        and more surely, below 0 the other way round. The fit, decisions and probabilities know nothing of it.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ClassMachine._parameter_constraints,
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "multiclass": [StrOptions({"ovo", "ovr"})],
        "random_state": ["random_state"],
    }

    def _check_parameters(self) -> None:
        if self.multiclass == "ovr" and self.decision_function_shape == "ovo":
            raise ValueError("decision_function_shape='ovo' needs multiclass='ovo': 'ovr' has no pairs")

    def _begin(self, split: Any) -> None:
        given = getattr(self, "probability", UNSET)
        if given != UNSET and not given:
            self._announce_removal()
        super()._begin(split)
        for name in ("link_knots_", "link_slopes_"):
            self.__dict__.pop(name, None)  # of an earlier fit

    @property
    def _joint(self) -> bool:
        """Whether one problem has all classes, a function for each."""
        return bool(self.multiclass == "joint")

    def _tasks_of(self, labels: Labels, base: np.ndarray) -> Classes:
        return (
            AllClasses(labels, base) if self._joint else TwoClassTasks(labels, base, self.multiclass == "ovo")
        )

    def _keep(self, machines: list[Any], split: Any) -> None:
        if self._joint:
            self.__dict__.pop("margin_", None)
        else:
            super()._keep(machines, split)

    # -- prediction --------------------------------------------------------------------------------------

    def _segments(self) -> tuple[list[Segment], int]:
        k = self.classes_.size
        coef = self._coefficients
        if int(self._n_support.sum()) != coef.shape[1]:
            raise ValueError(f"The internal representation of {type(self).__name__} was altered")
        if k == 2 or self.multiclass == "ovr":
            return [Segment(0, coef.shape[1], coef.T, np.arange(coef.shape[0]))], coef.shape[0]
        ends = np.concatenate([[0], np.cumsum(self._n_support)])
        segments = []
        for c in range(k):
            others = [o for o in range(k) if o != c]
            outputs_of_c = np.array([pair_number(min(c, o), max(c, o), k) for o in others])
            part = slice(ends[c], ends[c + 1])
            segments.append(Segment(int(ends[c]), int(ends[c + 1]), coef[:, part].T, outputs_of_c))
        return segments, k * (k - 1) // 2

    def _raw_decision(self, X: Any) -> np.ndarray:
        """Return the decisions of all two-class machines, one column each."""
        return self._decided(X, lambda F: F, rows=sys.maxsize)

    def _decided(
        self,
        X: Any,
        finish: Callable[[np.ndarray], np.ndarray],
        *,
        signs: bool = False,
        rows: int | None = None,
    ) -> np.ndarray:
        """Return what ``finish`` makes of the decisions, or (``signs``) of anything with their signs.

        Where the machines are many, their decisions are made for a few rows at a time.
        """
        if has_features(self):
            X = self._check_X(X, kernel=self.kernel_, reset=False)
            return finish(feature_products(self, X, self._workers()) + self.intercept_)
        reference = self._reference()
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        segments, outputs = self._segments()
        # Signs of sums with columns that cost nothing are not among those that rough products settle.
        rough = signs and self.precision != "double" and not has_parametric(self)

        def work(part: Any) -> np.ndarray:
            data = (self.kernel_, part, reference, segments)
            if rough:
                return finish(decisions_with_sure_signs(*data, self.intercept_, self._workers()))
            F = cross_products(*data, outputs, self._workers()) + self.intercept_
            return finish(F + self._trend_values(part))

        return in_pieces(self.kernel_, X, rows or max(FEWEST_ROWS, DECISIONS // outputs), work)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values of new points.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,), (n, n_classes) or (n, n_pairs)
            Two classes: positive means ``classes_[1]``. More: votes with confidences
            (``decision_function_shape="ovr"``) or the pairs' values (``"ovo"``).
        """
        check_is_fitted(self)
        if self.classes_.size == 2:
            return self._raw_decision(X).ravel()
        if self.multiclass == "ovr" or self.decision_function_shape == "ovo":
            return self._raw_decision(X)
        return self._decided(X, lambda F: votes_with_ties_broken(F, self.classes_.size))

    def predict(self, X: Any) -> np.ndarray:
        """Return the classes of new points.

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
        self._check_parameters()
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        threshold = getattr(self, "threshold", 0.0)
        if threshold:  # only two classes have one
            return np.asarray(self.classes_[(self.decision_function(X) >= threshold).astype(np.intp)])
        signs = self.classes_.size == 2 or (self.multiclass == "ovo" and not self.break_ties)
        labels: np.ndarray = self.classes_[self._decided(X, self._choose, signs=signs)]
        return labels

    def _choose(self, F: np.ndarray) -> np.ndarray:
        """Return the number of the predicted class from the decisions of all two-class machines."""
        k = self.classes_.size
        if k == 2:
            return (F.ravel() >= 0).astype(np.intp)  # LIBSVM gives the boundary itself to the second class
        scores: np.ndarray = F
        if self.multiclass == "ovo":
            scores = votes_with_ties_broken(F, k) if self.break_ties else votes(F, k)
        choice: np.ndarray = scores.argmax(axis=1)
        return choice


class SVC(
    JointClassesMixin,
    ClassUpdateMixin,
    ApproximationMixin,
    PlattNamesMixin,
    ParametricMixin,
    TwinMixin,
    BaseSVC,
):
    r"""C-support vector classification.

    .. math::
        \min_{w, b} \tfrac12 \|w\|^2 + C \sum_i w_i \, L(y_i (\langle w, \phi(x_i) \rangle + b))

    with L(u) = max(0, 1 - u) (``loss="hinge"``) or its square (``"squared_hinge"``), solved through its dual
    with a proof of the distance to the optimum (``certificate_``). ``C=np.inf`` is the hard margin.

    Parameters
    ----------
    C : float, default=1.0
        Price of a unit of loss; ``np.inf`` for the hard margin.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The loss.
    tol : float, default=1e-3
        Largest KKT violation (``criterion="kkt"``) or relative gap (``"gap"``) at which to stop.
    class_weight : dict or "balanced", optional
        Factors of C per class. "balanced" counts each row as often as its sample weight says.
    multiclass : {"ovo", "ovr", "joint"}, default="ovo"
        One machine per pair of classes, one per class, or one problem with a function for each class: that of
        :class:`CrammerSingerSVC`, whose bias is regularised. It is for ``loss="hinge"``, a finite C, and
        neither probabilities, ``parametric`` nor ``approximation``.
    max_iter : int, default=-1
        Most steps of the solver for each two-class problem; -1 for no limit.
    n_jobs : int, optional
        Threads; None for all cores (one inside joblib workers). Small pairs of classes are solved side by
        side.
    parametric : "auto", None, "constant", "linear", "quadratic", sequence of int or callable, default="auto"
        Functions beside the kernel whose coefficients cost nothing: products of features up to a degree, some
        columns, or those that a function of the data returns (n values, or n by m). "auto" takes the kernel's
        own (1 and x for :class:`~mercer.kernels.Spline`, polynomials for
        :class:`~mercer.kernels.ThinPlate`), None none. Such problems are solved by the interior point.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C during ``fit`` does: raise, or keep the machine so far (a second Ctrl-C raises).

    Attributes
    ----------
    certificate_ : Certificate
        Primal, dual, gap, KKT violation.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, classes_, n_iter_, fit_status_,
    class_weight_, shape_fit_
        As in scikit-learn. Support vectors keep the type of the data (float32 stays float32); sparse data
        give sparse ``dual_coef_`` and ``coef_``.
    margin_ : float or array of shape (n_machines,)
        The geometric margin 1 / ||w||; of a hard margin the one that the points have, which an unfinished fit
        has not brought up to 1 / ||w||, and which is negative while the classes are not separated. A number
        for two classes, one per two-class machine, in the order of ``intercept_``, for more.
    parametric_ : Trend or None
        The functions beside the kernel that cost nothing.
    parametric_coef_ : ndarray of shape (n_machines, n_columns)
        Their coefficients, where there are any; that of the constant is in ``intercept_``.
    kernel_ : Kernel
        The kernel with its data-dependent parameters fixed.
    kernel_weights_ : ndarray of shape (n_kernels,)
        With :class:`~mercer.kernels.MultipleKernel`: the weights of its kernels.
    link_knots_, link_slopes_ : arrays of shape (n_machines, 2, n_pieces)
        With ``probability=True``: how decisions below 0 (first) and above become logits, a straight line of
        slope ``link_slopes_`` from each of ``link_knots_`` on.
    smallest_eigenvalue_ : float
        An estimate of the least eigenvalue of the kernel matrix, for kernels not known to be positive
        semi-definite.
    history_ : list of list of dict
        With ``trace=True``, for each two-class problem a line per round of the solver: ``n_iter``,
        ``seconds``, ``dual``, ``primal``, ``gap``, ``kkt_violation``, ``margin``, ``n_support`` and
        ``kernel_evaluations``.
    feature_map_, feature_weights_, n_components_, distance_from_exact_
        With ``approximation``: the fitted map, the weights of its features (a row for each function), their
        number, and a :class:`~mercer.problems.DistanceFromExact`. There are no support vectors then;
        ``dual_coef_`` has the multipliers of all rows, sparse, where the weights do not determine them.
    X_fit_, y_fit_, sample_weight_fit_
        With ``updatable=True``: the training rows in order of arrival, their labels and weights.

    References
    ----------
    Cortes and Vapnik (1995), Support-vector networks, Machine Learning 20. Cristianini and Shawe-Taylor
    (2000), An Introduction to Support Vector Machines.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(C=10).fit(X, y)
    >>> model.certificate_.status
    'optimal'
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSVC._parameter_constraints,
        "C": [Interval(Real, 0.0, None, closed="right")],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "probability": ["boolean", Hidden(StrOptions({UNSET}))],
        "threshold": [Interval(Real, None, None, closed="neither")],
        "multiclass": [StrOptions({"ovo", "ovr", "joint"})],
        **PARAMETRIC,
        **APPROXIMATION,
        **UPDATES,
    }
    _learns_kernel_weights = True

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        loss: str = "hinge",
        shrinking: bool = True,
        probability: Any = UNSET,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: Any = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        solver: Any = "auto",
        criterion: str = "kkt",
        time_limit: float | None = None,
        n_jobs: int | None = None,
        precision: str = "auto",
        multiclass: str = "ovo",
        fit_intercept: bool = True,
        warm_start: bool = False,
        on_interrupt: str = "raise",
        threshold: float = 0.0,
        trace: bool = False,
        parametric: Any = "auto",
        approximation: Any = None,
        n_components: Any = "auto",
        updatable: bool = False,
        window: int | None = None,
    ) -> None:
        keep_parameters(self, locals())

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not self._joint:
            return
        given = {
            "decision_function_shape": (self.decision_function_shape, "ovr"),
            "loss": (self.loss, "hinge"),
            "probability": (wants_probabilities(self), False),
            "approximation": (self.approximation, None),
            "parametric": (
                None if isinstance(self.parametric, str) and self.parametric == "auto" else self.parametric,
                None,
            ),
        }
        for name, (value, allowed) in given.items():
            if value is not allowed and value != allowed:
                raise ValueError(
                    f"multiclass='joint' does not support {name}={value!r}: use {name}={allowed!r}, or "
                    "multiclass='ovo'"
                )
        if np.isinf(self.C):
            raise ValueError("multiclass='joint' does not support C=inf: use a large finite C")

    def _precision(self) -> Any:
        # The distance of two hulls that nearly touch drowns in the rounding of single precision.
        return "double" if self.precision == "auto" and np.isinf(self.C) else self.precision

    def _on_features(self, target: Any, weight: Any, features: Any) -> LinearRisk:
        loss = Hinge() if self.loss == "hinge" else SquaredHinge()
        return self._feature_risk(loss, target, self.C * weight, features)

    def _joint_slacks(self, F: np.ndarray, labels: np.ndarray) -> np.ndarray:
        return joint_slacks(F, labels, 1.0 - np.eye(self.classes_.size))

    def _problem(self, sign: np.ndarray, weight: np.ndarray, matrix: Gram) -> Dual | JointMargin:
        if self._joint:
            costs, biased = 1.0 - np.eye(self.classes_.size), float(self.fit_intercept)
            return JointMargin(sign.astype(np.int64), self.C * weight, costs, bias_scale=biased)
        if np.isinf(self.C):
            hard = HardMargin if self.fit_intercept else HardMarginThroughOrigin
            return hard(sign, weight, float(matrix.diag().max(initial=0.0)))
        make = soft_margin if self.loss == "hinge" else squared_hinge
        return make(sign, self.C * weight, fit_intercept=self.fit_intercept)
