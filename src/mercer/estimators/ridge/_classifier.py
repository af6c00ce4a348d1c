"""Kernel ridge regression on class labels."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import column_or_1d

from mercer.arrays import Float64, Index
from mercer.estimators.ridge._base import BaseKernelRidge, RidgeOutputs
from mercer.estimators.splits import check_labels
from mercer.solvers.ridge.direct import best_penalties
from mercer.values import keep_parameters


class RidgeClasses(RidgeOutputs):
    """Labels as numbers: -1 and 1 for two classes, a column for each of more."""

    def __init__(self, classes: np.ndarray, numbers: Index, weight: Float64) -> None:
        columns = [1] if classes.size == 2 else range(classes.size)
        signs = np.stack([np.where(numbers == k, 1.0, -1.0) for k in columns], axis=1)
        super().__init__(signs, weight, classes.size == 2)
        self.classes = classes

    def keep(self, model: Any) -> None:
        """Store the classes."""
        model.classes_ = self.classes


class KernelRidgeClassifier(ClassifierMixin, BaseKernelRidge):
    r"""Classification by kernel ridge regression on labels -1 and 1.

    .. math::
        \min_{f, b} \; \sum_i w_i (y_i - f(x_i) - b)^2 + \alpha \|f\|^2, \qquad y_i = \pm 1

    With more than two classes there is one regression for each class against the rest, all from one
    factorisation, and the class of largest value wins. It is also known as the least squares support vector
    machine [1]_, whose price of errors is 1 / alpha.

    Parameters
    ----------
    alpha : float or "loo", default=1.0
        The penalty. "loo" takes from ``alphas`` the value with the smallest squared leave-one-out error.
    alphas : array-like, optional
        The values to choose from; by default 50, spread over the range of the eigenvalues of K.
    gamma : float, "scale" or "auto", default="scale"
        Width of the kernels given by name, as in :class:`mercer.SVC`.
    degree : float, default=3
        Of the kernel "poly".
    coef0 : float, default=0.0
        Of the kernels "poly" and "sigmoid".
    fit_intercept : bool, default=True
        Whether to fit a bias, which is not penalised.
    class_weight : dict or "balanced", optional
        Factors of the sample weights by class.
    solver, tol, max_iter, time_limit, cache_size, preconditioner_rank, precision, n_jobs, random_state
        As in :class:`mercer.KernelRidge`.
    on_interrupt, trace, verbose
        As in :class:`mercer.KernelRidge`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        The coefficients; one column for two classes.
    intercept_ : float or ndarray of shape (n_classes,)
        The biases.
    alpha_ : float
        The penalty that was used.
    alphas_, loo_errors_ : ndarray of shape (n_alphas,)
        With ``alpha="loo"``: the values tried and their mean squared leave-one-out errors, summed over the
        classes.
    certificate_ : Certificate
        Primal and dual value and their gap, with one part for each regression.
    condition_, solver_, n_iter_, kernel_, X_fit_, n_features_in_, feature_names_in_, history_
        As in :class:`mercer.KernelRidge`.

    References
    ----------
    .. [1] J. A. K. Suykens and J. Vandewalle (1999). Least squares support vector machine classifiers.
       *Neural Processing Letters* 9, 293-300.
    .. [2] R. Rifkin, G. Yeo and T. Poggio (2003). Regularized least-squares classification. *Advances in
       Learning Theory*, 131-154.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelRidgeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> KernelRidgeClassifier(alpha="loo").fit(X, y).score(X, y) > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseKernelRidge._parameter_constraints,
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }
    _several_penalties: ClassVar[bool] = False

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        alphas: ArrayLike | None = None,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        fit_intercept: bool = True,
        class_weight: Any = None,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = -1,
        time_limit: float | None = None,
        cache_size: float = 2000,
        preconditioner_rank: int | None = None,
        precision: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        on_interrupt: str = "raise",
        trace: bool = False,
        verbose: bool | int = False,
    ) -> None:
        keep_parameters(self, locals())

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the regressions.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features), (n_samples, n_samples) or a sequence
            Training data: whatever the kernel takes; the kernel matrix for ``kernel="precomputed"``.
        y : array of shape (n_samples,)
            Labels.
        sample_weight : array of shape (n_samples,), optional
            Non-negative weights of the squared errors; a weight of 2 equals the row twice.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight)
        if isinstance(self.alpha, str):
            self.loo_errors_ = self.loo_errors_.sum(axis=1)
        return self

    def _split(self, X: Any, y: Any, sample_weight: Any) -> RidgeClasses:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        classes, numbers = check_labels(y, type(self).__name__)
        self._check_lengths(X, numbers)
        base = self._check_weight(sample_weight, X, numbers.size)
        factors = compute_class_weight(self.class_weight, classes=classes, y=classes[numbers])
        return RidgeClasses(classes, numbers, base * factors[numbers])

    def _split_again(self, X: Any, y: Any, sample_weight: Any) -> RidgeClasses:
        labels = column_or_1d(y, warn=True)
        unknown = np.setdiff1d(labels, self.classes_)
        if unknown.size:
            raise ValueError(f"y holds {unknown[0]!r}, which is none of the classes of this model")
        self._check_lengths(X, labels)
        factors = compute_class_weight(self.class_weight, classes=self.classes_, y=labels)
        numbers = np.searchsorted(self.classes_, labels)
        base = self._check_weight(sample_weight, X, numbers.size)
        return RidgeClasses(self.classes_, numbers, base * factors[numbers])

    def _best(self, errors: Float64) -> Any:
        # Values of the classes are compared: they share their penalty.
        return best_penalties(errors.sum(axis=1, keepdims=True), self.alphas_)[0]

    def decision_function(self, X: Any) -> Float64:
        """Return the regressions' values.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,) for two classes, else (n, n_classes)
        """
        values = self._values(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> Any:
        """Return the class of each point.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,)
        """
        values = self._values(X)
        if values.shape[1] == 1:
            return self.classes_[(values[:, 0] > 0).astype(np.intp)]
        return self.classes_[values.argmax(axis=1)]
