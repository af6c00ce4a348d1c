"""Kernel classification with any convex loss."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.approximation._mixin import APPROXIMATION, ApproximationMixin
from mercer.estimators.convex._base import LossMachine
from mercer.estimators.parametric import PARAMETRIC, ParametricMixin
from mercer.estimators.splits import AllClasses, Classes, Labels, TwoClassTasks
from mercer.estimators.svm.joint_classes import JointClassesMixin
from mercer.estimators.svm.svc import BaseSVC
from mercer.problems.losses import CLASSIFICATION, Loss, MultinomialDeviance, as_loss
from mercer.problems.probabilities import class_logits, softmax_with_choice
from mercer.solvers.calibration.coupling import couple
from mercer.values import keep_parameters


def _has_probabilities(estimator: Any) -> bool:
    loss = as_loss(estimator.loss, CLASSIFICATION)
    if not isinstance(loss, MultinomialDeviance) and loss.probability(np.zeros(1)) is None:
        raise AttributeError(
            f"predict_proba is not available with loss={estimator.loss!r}, whose minimiser does not "
            "determine the probabilities: use a deviance or a squared loss, or CalibratedClassifierCV"
        )
    return True


class KernelClassifier(JointClassesMixin, ParametricMixin, LossMachine, BaseSVC, ApproximationMixin):
    r"""Classification with any convex loss and any kernel.

    .. math::
        \min_{w, b} \tfrac12 \|w\|^2 + C \sum_i w_i \, L(y_i, \langle w, \phi(x_i) \rangle + b)

    The solution is :math:`f(x) = \sum_i \beta_i k(x_i, x) + b` with
    :math:`\beta_i = -C w_i L'(y_i, f(x_i))`; the conjugate of the loss proves how near it is
    (``certificate_``). Piecewise-linear losses are solved through their box-constrained dual, all others by a
    semismooth Newton method. With the multinomial deviance one problem has all classes, and the penalty is
    the sum of the squared norms of their functions.

    Parameters
    ----------
    loss : str or Loss, default="squared_hinge"
        "hinge", "squared_hinge", "huberized_squared_hinge", "binomial_deviance", "multinomial_deviance",
        "squared_error", or an object of :mod:`mercer.losses`, perhaps your own.
    class_weight : dict or "balanced", optional
        Factors of C for the classes.
    multiclass : {"ovo", "ovr"}, default="ovo"
        One machine per pair of classes, or one per class against the rest.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Whether ``decision_function`` has a column per class or per pair.
    break_ties : bool, default=False
        Break ties of the votes by the confidences.

    Attributes
    ----------
    certificate_ : Certificate
        Primal, dual, gap, violation; one part per two-class problem.
    loss_ : Loss
        The loss.
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, class_weight_
        As in :class:`mercer.SVC`. With the multinomial deviance ``dual_coef_`` has a row for each class.
    parametric_ : Trend or None
        The functions beside the kernel that cost nothing.
    parametric_coef_ : ndarray of shape (n_machines, n_columns)
        Their coefficients, where there are any; that of the constant is in ``intercept_``.
    kernel_ : Kernel
        The kernel with its data-dependent parameters fixed.
    margin_ : float or ndarray
        Geometric margin of each two-class machine.
    fit_status_, shape_fit_, history_
        As in :class:`mercer.SVC`.
    feature_map_, feature_weights_, n_components_, distance_from_exact_
        With ``approximation``: the fitted map, the weights of its features (a row for each function), their
        number, and a :class:`~mercer.problems.DistanceFromExact`. There are no support vectors then;
        ``dual_coef_`` has the multipliers of all rows, sparse, where the weights do not determine them.

    See Also
    --------
    KernelLogisticRegression : The deviances, with import vectors as an option.
    SVC : The hinge losses.

    References
    ----------
    .. [1] T. Hastie, R. Tibshirani and J. Friedman (2009). *The Elements of Statistical Learning*, 12.3.2 and
       12.3.3. Springer.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelClassifier(loss="huberized_squared_hinge", C=10).fit(X, y)
    >>> bool(model.certificate_.relative_gap < 1e-6)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LossMachine._parameter_constraints,
        "class_weight": BaseSVC._parameter_constraints["class_weight"],
        "loss": [StrOptions(set(CLASSIFICATION)), Loss],
        "multiclass": [StrOptions({"ovo", "ovr"})],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        **PARAMETRIC,
        **APPROXIMATION,
    }

    def __init__(
        self,
        *,
        loss: Any = "squared_hinge",
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        C: float = 1.0,
        class_weight: Any = None,
        multiclass: str = "ovo",
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        fit_intercept: bool = True,
        solver: Any = "auto",
        tol: float = 1e-6,
        criterion: str = "gap",
        max_iter: int = -1,
        time_limit: float | None = None,
        cache_size: float = 200,
        n_jobs: int | None = None,
        precision: str = "auto",
        warm_start: bool = False,
        on_interrupt: str = "raise",
        trace: bool = False,
        verbose: Any = False,
        parametric: Any = "auto",
        approximation: Any = None,
        n_components: Any = "auto",
    ) -> None:
        keep_parameters(self, locals())

    @property
    def _joint(self) -> bool:
        """Whether one problem has all classes, a function for each."""
        return bool(self.loss_.targets == "classes")

    @property
    def _functions(self) -> int:
        return int(self.classes_.size) if self._joint else 1

    # -- fit ---------------------------------------------------------------------------------------------

    def _tasks_of(self, labels: Labels, base: np.ndarray) -> Classes:
        loss = as_loss(self.loss, CLASSIFICATION)
        pairs = self.multiclass == "ovo"
        split: Classes = TwoClassTasks(labels, base, pairs)
        if loss.targets == "classes":
            split = AllClasses(labels, base)
        split.loss = loss
        return split

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes that the loss aims at; the largest is that of ``predict``.

        The population minimiser of the loss is a function of P(Y = +1): the log-odds for the deviances,
        2 P - 1 for the squared losses. This undoes it. Pairs of classes are coupled.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        check_is_fitted(self)
        F = self._raw_decision(X)
        choice = self._choose(F)
        if self._joint:
            return softmax_with_choice(F, choice)
        logits = class_logits(self.loss_, F)
        return couple(logits, self.classes_.size, choice, pairs=self.multiclass == "ovo")

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Logarithms of ``predict_proba``.
        """
        logarithms: np.ndarray = np.log(self.predict_proba(X))
        return logarithms
