"""Linear classification with any convex loss."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if

from mercer.estimators.linear._base import WeightMachine
from mercer.estimators.linear._weights import LinearClasses
from mercer.estimators.splits import Labels, check_labels, weighed_labels
from mercer.problems.losses import CLASSIFICATION, Loss, as_loss
from mercer.problems.probabilities import class_logits
from mercer.solvers.calibration.coupling import couple
from mercer.values import keep_parameters


class WeightClassifier(ClassifierMixin, WeightMachine):
    """Base of the linear classifiers: one function for two classes, else one for each class."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **WeightMachine._parameter_constraints,
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    classes_: np.ndarray
    class_weight_: np.ndarray

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the machine.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features)
            Training data, in single or double precision.
        y : array of shape (n_samples,)
            Class labels.
        sample_weight : array of shape (n_samples,), optional
            Non-negative factors of C; a weight of 2 equals the row twice.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight)
        return self

    def _split(self, X: Any, y: Any, sample_weight: Any) -> LinearClasses:
        classes, numbers = check_labels(y, type(self).__name__)
        self._check_lengths(X, numbers)
        base = self._check_weight(sample_weight, X, numbers.size)
        split = LinearClasses(weighed_labels(classes, numbers, self.class_weight, base), base)
        split.loss = self._loss(classes.size)
        return split

    def _split_again(self, X: Any, y: Any, sample_weight: Any) -> LinearClasses:
        _, numbers = np.unique(np.concatenate([self.classes_, np.asarray(y)]), return_inverse=True)
        numbers = numbers[self.classes_.size :]
        if numbers.max(initial=0) >= self.classes_.size:
            raise ValueError(f"y holds classes that this model was not fitted on: it knows {self.classes_}")
        self._check_lengths(X, numbers)
        base = self._check_weight(sample_weight, X, numbers.size)
        return LinearClasses(Labels(self.classes_, numbers, self.class_weight_), base)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values of new points.

        Parameters
        ----------
        X : {array, CSR} of shape (n, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            Two classes: positive means ``classes_[1]``. More: a column for each class.
        """
        F = self._values(X)
        return F[:, 0] if F.shape[1] == 1 else F

    def predict(self, X: Any) -> np.ndarray:
        """Return the classes of new points.

        Parameters
        ----------
        X : {array, CSR} of shape (n, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        choice = self._choice(self._values(X))
        labels: np.ndarray = self.classes_[choice]
        return labels

    @staticmethod
    def _choice(F: np.ndarray) -> np.ndarray:
        return (F[:, 0] > 0).astype(np.intp) if F.shape[1] == 1 else F.argmax(axis=1)


def _has_probabilities(estimator: Any) -> bool:
    if as_loss(estimator.loss, CLASSIFICATION).probability(np.zeros(1)) is None:
        raise AttributeError(
            f"predict_proba is not available with loss={estimator.loss!r}, whose minimiser does not "
            "determine the probabilities: use a deviance or a squared loss, or CalibratedClassifierCV"
        )
    return True


class LinearClassifier(WeightClassifier):
    r"""Linear classification with any convex loss.

    .. math::
        \min_{w, b} \tfrac12 \|w\|^2 + C \sum_i w_i \, L(y_i, \langle w, x_i \rangle + b)

    in time and memory linear in the rows. It is :class:`KernelClassifier` with the linear kernel, one machine
    per class, without the kernel matrix: support vector machines, logistic regression and least squares are
    losses. The conjugate of the loss proves how near the optimum the weights are (``certificate_``).

    Parameters
    ----------
    loss : str or Loss, default="squared_hinge"
        "hinge", "squared_hinge", "huberized_squared_hinge", "binomial_deviance" (logistic regression),
        "squared_error", or an object of :mod:`mercer.losses`, perhaps your own.
    class_weight : dict or "balanced", optional
        Factors of C for the classes.
    fit_intercept : bool or "unpenalised", default="unpenalised"
        Whether there is a bias. ``True`` penalises it as the weight of a feature that is
        ``intercept_scaling`` everywhere, as :class:`LinearSVC` does.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Biases.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    certificate_ : Certificate
        Primal, dual, gap, violation; one part per function.
    loss_ : Loss
        The loss.
    dual_coef_ : sparse array of shape (n_functions, n_samples)
        The multipliers that prove the gap, where the weights do not determine them: for a loss with kinks,
        and after coordinate descent.
    n_iter_ : int
        Most steps of any function's solver.
    fit_status_, shape_fit_, class_weight_, history_
        As in :class:`mercer.KernelClassifier`.

    See Also
    --------
    LinearSVC : The hinge losses, with the parameters of scikit-learn's class.
    KernelClassifier : The same with any kernel.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mercer import LinearClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LinearClassifier(loss="binomial_deviance").fit(StandardScaler().fit_transform(X), y)
    >>> bool(model.certificate_.relative_gap < 1e-4)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{k: v for k, v in WeightClassifier._parameter_constraints.items() if k != "random_state"},
        "loss": [StrOptions(set(CLASSIFICATION)), Loss],
    }

    def __init__(
        self,
        *,
        loss: Any = "squared_hinge",
        C: float = 1.0,
        class_weight: Any = None,
        fit_intercept: bool | str = "unpenalised",
        intercept_scaling: float = 1.0,
        solver: Any = "auto",
        tol: float = 1e-4,
        max_iter: int = -1,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        on_interrupt: str = "raise",
        trace: bool = False,
        verbose: Any = False,
    ) -> None:
        keep_parameters(self, locals())

    def _loss(self, n_classes: int) -> Loss:
        loss = as_loss(self.loss, CLASSIFICATION)
        if loss.targets == "classes":
            raise ValueError(
                f"loss={self.loss!r} has a function for each class in one problem; on features each class "
                "has its own: use 'binomial_deviance', or KernelClassifier(kernel='linear')"
            )
        return loss

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes that the loss aims at; the largest is that of ``predict``.

        Parameters
        ----------
        X : {array, CSR} of shape (n, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        F = self._values(X)
        return couple(class_logits(self.loss_, F), self.classes_.size, self._choice(F), pairs=False)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : {array, CSR} of shape (n, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Logarithms of ``predict_proba``.
        """
        logarithms: np.ndarray = np.log(self.predict_proba(X))
        return logarithms
