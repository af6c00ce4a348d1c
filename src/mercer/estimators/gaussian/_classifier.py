"""Gaussian process classification."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Float64
from mercer.estimators.gaussian._base import BaseGaussianProcess
from mercer.estimators.gaussian._classification import (
    BaseClassification,
    BinaryProcess,
    ProcessClasses,
    SeveralProcesses,
)
from mercer.estimators.splits import check_labels
from mercer.problems import Certificate
from mercer.problems.logistic_normal import logistic_normal_mean
from mercer.problems.multiclass import votes_with_ties_broken
from mercer.solvers.calibration.coupling import couple
from mercer.values import keep_parameters

BELOW, ABOVE = float(np.nextafter(0.5, 0.0)), float(np.nextafter(0.5, 1.0))
LEAST = 1e-300  # a probability whose logarithm is still a number


class GaussianProcessClassifier(ClassifierMixin, BaseClassification):
    r"""Classification with a prior over functions: :math:`P(y_i = 1) = \sigma(f(x_i))`, f a Gaussian process.

    The posterior of f at the data is replaced by the normal density with its mode and curvature (Laplace's
    approximation). The mode minimises

    .. math::
        \sum_i \log(1 + e^{-y_i f_i}) + \tfrac12 f^T K^{-1} f, \qquad y_i = \pm 1,

    the objective of kernel logistic regression, for which there is a certificate. With W the curvature of the
    first term there, the evidence

    .. math::
        \log p(y) \approx -\sum_i \log(1 + e^{-y_i f_i}) - \tfrac12 f^T K^{-1} f
        - \tfrac12 \log \det(I + W^{1/2} K W^{1/2})

    is maximised over the parameters of the kernel. Probabilities are the means of :math:`\sigma(f(x))`,
    computed to nearly all digits.

    Parameters
    ----------
    kernel : str, Kernel, scikit-learn's kernel or callable, optional
        The covariance function; its parameters are where the search starts. None is scikit-learn's default,
        an RBF kernel of width 1 that is not tuned.
    optimizer : "fmin_l_bfgs_b", "lbfgs" (the same), callable or None, default="fmin_l_bfgs_b"
        How the evidence is maximised; None keeps all parameters. A callable is called as in scikit-learn,
        with (function, start, bounds).
    n_restarts_optimizer : int, default=0
        Further starts, drawn log-uniformly between the bounds.
    max_iter_predict : int, default=100
        Most steps of Newton's method to a mode.
    warm_start : bool, default=False
        Whether a further ``fit`` starts at the modes of the last.
    copy_X_train : bool, default=True
        Whether to keep a copy of the data, or the data themselves, which must then not change.
    random_state : int, RandomState instance or None, default=None
        Draws further starts.
    multi_class : {"one_vs_rest", "one_vs_one"}, default="one_vs_rest"
        What is done with more than two classes: a process for each class, or for each pair of classes. Each
        has parameters of its own.
    bounds : dict, optional
        Bounds (low, high), or "fixed", by the parameter's name in ``kernel.get_params()``. Others have
        (1e-5, 1e5), and ``gamma`` (1e-10, 1e10). scikit-learn's kernels have their own.
    tol : float, default=1e-6
        Relative gap of the mode that counts as optimal.
    max_iter : int, default=-1
        Most iterations of the optimizer from each start; -1 for its own limit.
    time_limit : float, optional
        Seconds after which the fit ends with the best found.
    cache_size : float, default=2000
        Memory for kernel values, in MB; two matrices must fit.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does: "keep" ends the search with the best parameters found.
    verbose : bool, default=False
        Print each evaluation of the evidence.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_classes_ : int
        How many.
    kernel_ : Kernel, or scikit-learn's
        The kernel, as it was given, with the parameters found. Of several processes, scikit-learn's
        ``CompoundKernel``, or a tuple of kernels of ours.
    theta_ : ndarray
        The logarithms of the parameters that were free, of all processes one after the other.
    hyperparameters_ : list of str
        Their names, of one process.
    log_marginal_likelihood_value_ : float
        The logarithm of the evidence, for several processes the mean.
    base_estimator_ : object
        The latent function (``pi_``, ``W_sr_``, ``L_``, ``y_train_``, ``kernel_``), or all of them in
        ``estimators_``.
    certificate_ : Certificate
        Of the modes, as the logistic regressions that they are, one part for each. The evidence may have many
        maxima: nothing is claimed.
    n_iter_ : int
        Evaluations of the evidence.
    X_fit_ : array, CSR or sequence
        The training data.
    n_features_in_ : int
        The number of features, for data that have any.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if ``X`` has names that are all strings.

    See Also
    --------
    KernelLogisticRegression : The mode alone, with a bias, a penalty of your choice and any number of rows.
    GaussianProcessRegressor : For numbers.

    References
    ----------
    .. [1] C. E. Rasmussen and C. K. I. Williams (2006). *Gaussian Processes for Machine Learning*, chapter 3.
       MIT Press.
    .. [2] C. K. I. Williams and D. Barber (1998). Bayesian classification with Gaussian processes. *IEEE
       Transactions on Pattern Analysis and Machine Intelligence* 20(12), 1342-1351.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import GaussianProcessClassifier
    >>> from mercer.kernels import RBF
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GaussianProcessClassifier(kernel=1.0 * RBF(0.5)).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseGaussianProcess._parameter_constraints,
        "max_iter_predict": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "multi_class": [StrOptions({"one_vs_rest", "one_vs_one"})],
    }

    def __init__(
        self,
        kernel: Any = None,
        *,
        optimizer: Any = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        max_iter_predict: int = 100,
        warm_start: bool = False,
        copy_X_train: bool = True,
        random_state: Any = None,
        multi_class: str = "one_vs_rest",
        n_jobs: int | None = None,
        bounds: Any = None,
        tol: float = 1e-6,
        max_iter: int = -1,
        time_limit: float | None = None,
        cache_size: float = 2000,
        on_interrupt: str = "raise",
        verbose: bool | int = False,
    ) -> None:
        keep_parameters(self, locals())

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Find the parameters of largest evidence, and the latent functions with them.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features) or a sequence
            Training data: whatever the kernel takes.
        y : array of shape (n_samples,)
            Labels.

        Returns
        -------
        self
        """
        self._fit(X, y, None)
        return self

    def _split(self, X: Any, y: Any, sample_weight: Any) -> ProcessClasses:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        classes, numbers = check_labels(y, type(self).__name__)
        self._check_lengths(X, numbers)
        return self._classes(classes, numbers)

    @property
    def base_estimator_(self) -> BinaryProcess | SeveralProcesses:
        """The latent functions."""
        return self._processes[0] if len(self._processes) == 1 else SeveralProcesses(self._processes)

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._check_X(X, kernel=self._processes[0].smooth, reset=False)

    def _chances(self, X: Any) -> Float64:
        """Return the probability of the second class of each problem at checked points."""
        columns = []
        for process in self._processes:
            mean, variance = self._latent(process, X)
            chance = logistic_normal_mean(mean, variance)
            # A mean that is rounding alone must not tell one class, and its probability the other.
            columns.append(np.where(mean > 0, np.maximum(chance, ABOVE), np.minimum(chance, BELOW)))
        return np.stack(columns, axis=1)

    def predict(self, X: Any) -> Any:
        """Return the classes of new points.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,)
            Two classes: by the sign of the latent mean. More: the class of largest probability against the
            rest, or of most votes, ties broken by probabilities.
        """
        X = self._checked(X)
        if self.n_classes_ == 2:
            mean, _ = self._latent(self._processes[0], X, variance=False)
            return self.classes_[(mean > 0).astype(np.intp)]
        return self.classes_[self._choice(self._chances(X))]

    def _choice(self, chances: Float64) -> Any:
        if self.multi_class == "one_vs_rest":
            return chances.argmax(axis=1)
        return votes_with_ties_broken(0.5 - chances, self.n_classes_).argmax(axis=1)

    def predict_proba(self, X: Any) -> Float64:
        r"""Return the probabilities of all classes: the posterior means of :math:`\sigma(f(x))`.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n, n_classes)
            More than two classes: those against the rest, divided by their sum, or coupled from those of the
            pairs.
        """
        X = self._checked(X)
        chances = self._chances(X)
        if self.n_classes_ == 2:
            return np.column_stack([1.0 - chances[:, 0], chances[:, 0]])
        if self.multi_class == "one_vs_one":
            logits = -logit(np.clip(chances, LEAST, 1.0 - np.finfo(np.float64).eps))
            return couple(logits, self.n_classes_, self._choice(chances), pairs=True)
        return np.asarray(chances / chances.sum(axis=1, keepdims=True))

    def latent_mean_and_variance(self, X: Any) -> tuple[Float64, Float64]:
        """Return mean and variance of the latent function of two classes.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        mean, variance : ndarray of shape (n,)
        """
        X = self._checked(X)
        if self.n_classes_ > 2:
            raise ValueError(
                "Returning the mean and variance of the latent function f is only supported for binary "
                f"classification, received {self.n_classes_} classes."
            )
        return self._latent(self._processes[0], X)

    def log_marginal_likelihood(
        self, theta: ArrayLike | None = None, eval_gradient: bool = False, clone_kernel: bool = True
    ) -> Any:
        """Return the logarithm of the evidence of the training data at given parameters.

        Parameters
        ----------
        theta : array of shape (n_hyperparameters,) or (n_processes * n_hyperparameters,), optional
            The logarithms of the parameters, the same for all processes or one after the other; ``theta_`` by
            default.
        eval_gradient : bool
            Whether to return the gradient by theta too.
        clone_kernel : bool
            If False, ``kernel_`` gets these parameters, as in scikit-learn.

        Returns
        -------
        value : float
            For several processes the mean.
        gradient : ndarray of the shape of theta
            If asked for.
        """
        check_is_fitted(self)
        if theta is None and not eval_gradient:
            return np.float64(self.log_marginal_likelihood_value_)
        vector: Float64 = self.theta_ if theta is None else np.asarray(theta, dtype=np.float64)
        one, several = self._processes[0].theta_.size, len(self._processes)
        if vector.shape not in ((one,), (one * several,)):
            raise ValueError(
                f"Shape of theta must be either {one} or {one * several}. Obtained theta with shape "
                f"{vector.shape}."
            )
        shared = vector.shape == (one,)
        parts = [vector] * several if shared else list(vector.reshape(several, one))
        found = [
            self._evidence_at(process, part, eval_gradient)
            for process, part in zip(self._processes, parts, strict=True)
        ]
        if not clone_kernel:
            self._processes = [
                process.at(self._kernel_at(process, part))
                for process, part in zip(self._processes, parts, strict=True)
            ]
        value = np.float64(np.mean([e.value for e in found]))
        if not eval_gradient:
            return value
        slopes = np.stack([e.gradient for e in found]) / several
        return value, slopes.sum(axis=0) if shared else slopes.ravel()

    def certify(self, X: Any, y: ArrayLike) -> Certificate:  # type: ignore[override]
        """Recompute the certificate of the modes from the model and the training data, in float64.

        Parameters
        ----------
        X, y
            The data given to ``fit``.

        Returns
        -------
        Certificate
        """
        check_is_fitted(self)
        return self._certify(X, y, None)
