"""Kernel ridge regression."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import MultiOutputMixin, RegressorMixin, _fit_context, clone
from sklearn.utils.validation import check_array, check_is_fitted

from mercer.arrays import Float64
from mercer.estimators.approximation._mixin import APPROXIMATION, ApproximationMixin
from mercer.estimators.parametric import PARAMETRIC, ParametricMixin
from mercer.estimators.ridge._base import BaseKernelRidge, RidgeOutputs
from mercer.estimators.updating.mixin import UPDATES
from mercer.estimators.updating.ridge import RidgeUpdateMixin
from mercer.estimators.verdict import check_squares
from mercer.kernels.data import naming
from mercer.problems.linear_risk import LinearRisk
from mercer.problems.losses import SquaredError
from mercer.solvers.ridge.direct import RidgePath
from mercer.values import keep_parameters


class KernelRidge(
    RidgeUpdateMixin, ApproximationMixin, ParametricMixin, MultiOutputMixin, RegressorMixin, BaseKernelRidge
):
    r"""Least squares in feature space with a penalty on the norm.

    .. math::
        \min_{f, b} \; \sum_i w_i (y_i - f(x_i) - b)^2 + \alpha \|f\|^2

    The solution is :math:`f = \sum_i a_i k(x_i, \cdot)` with :math:`(K + \alpha W^{-1}) a = y - b 1`; without
    ``fit_intercept`` b is 0. It is the mean of a Gaussian process with noise of variance alpha
    (:class:`mercer.GaussianProcessRegressor`).

    Parameters
    ----------
    alpha : float, array of shape (n_targets,) or "loo", default=1
        The penalty, for each output its own if it is an array. "loo" takes from ``alphas``, for each output,
        the value with the smallest leave-one-out error, which is exact and costs no refits: one
        orthogonal decomposition of K serves all values.
    kernel : str, Kernel or callable, default="linear"
        A name, a :class:`mercer.kernels.Kernel`, a kernel of ``sklearn.gaussian_process.kernels``, a function
        of two data sets that returns the kernel matrix, one of two rows that returns a number, or
        "precomputed".
    gamma : float, "scale" or "auto", optional
        Width of the kernels given by name. None is scikit-learn's rule for this estimator, 1 / n_features
        ("auto"), or 1 for "chi2"; "scale" is that of the support vector machines.
    degree : float, default=3
        Of the kernel "poly".
    coef0 : float, default=1
        Of the kernels "poly" and "sigmoid".
    kernel_params : dict, optional
        Keyword arguments of a function; other kernels do not look at them.
    alphas : array-like, optional
        The values to choose from; by default 50, spread over the range of the eigenvalues of K.
    fit_intercept : bool, default=False
        Whether to fit a bias, which is not penalised.
    solver : {"auto", "cholesky", "eigen", "cg"}, default="auto"
        "cholesky" and "eigen" form K. "cg" are conjugate gradients with a Nyström preconditioner, which need
        products with K only: its tiles are kept as far as ``cache_size`` goes and computed anew beyond.
        "auto" is "cholesky" while K fits into ``cache_size``.
    tol : float, default=1e-6
        Relative duality gap at which conjugate gradients stop.
    max_iter : int, default=-1
        Most steps of conjugate gradients; -1 for no limit.
    time_limit : float, optional
        Most seconds of conjugate gradients; a factorisation is not interrupted.
    cache_size : float, default=2000
        Memory for kernel values and the preconditioner, in MB. A matrix of 15800 rows takes 2000.
    preconditioner_rank : int, optional
        Landmarks of the preconditioner; by default a tenth of the rows, from 200 to 1000.
    precision : {"auto", "single", "double"}, default="auto"
        Precision of kernel values. A matrix that is formed is double; conjugate gradients take single where
        ``tol`` allows it. Sums and certificates are double in any case.
    random_state : int, RandomState instance or None, default=None
        Draws the landmarks.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does to conjugate gradients: "keep" ends with the model reached so far.
    trace : bool, default=False
        Keep ``history_``, one entry for each step of conjugate gradients.
    verbose : bool, default=False
        Print them.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        The coefficients a.
    intercept_ : float or ndarray of shape (n_targets,)
        The bias b.
    alpha_ : float or ndarray of shape (n_targets,)
        The penalty that was used.
    alphas_ : ndarray of shape (n_alphas,)
        With ``alpha="loo"``: the values tried.
    loo_errors_ : ndarray of shape (n_alphas,) or (n_alphas, n_targets)
        With ``alpha="loo"``: the mean squared leave-one-out error of each (weighted by sample weights).
    certificate_ : Certificate
        Primal and dual value and their gap, with one part for each output.
    condition_ : float
        An estimate of the condition number of :math:`K + \alpha I`; nan for "cg".
    solver_ : str
        What solved it: "cholesky", "eigen" or "cg".
    n_iter_ : int
        Steps of conjugate gradients, 1 for the others.
    parametric_ : Trend or None
        The functions beside the kernel that cost nothing.
    parametric_coef_ : ndarray of shape (n_targets, n_columns)
        Their coefficients, where there are any; that of the constant is in ``intercept_``.
    kernel_ : Kernel
        The kernel with its data-dependent parameters fixed.
    kernel_weights_ : ndarray of shape (n_kernels,)
        With :class:`~mercer.kernels.MultipleKernel`: the weights of its kernels.
    y_fit_, sample_weight_fit_ : ndarray
        With ``updatable=True``: the targets and weights of the training rows, in order of arrival.
    X_fit_ : array, CSR or sequence
        The training data.
    n_features_in_ : int
        The number of features, for data that have any.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if ``X`` has names that are all strings.
    history_ : list of dict
        The trace, if asked for.
    feature_map_, feature_weights_, n_components_, distance_from_exact_
        With ``approximation``: the fitted map, the weights of its features (a row for each function), their
        number, and a :class:`~mercer.problems.DistanceFromExact`. There are no support vectors then;
        ``dual_coef_`` has the multipliers of all rows, sparse, where the weights do not determine them.

    See Also
    --------
    GaussianProcessRegressor : The same function with error bars, and kernels chosen by their evidence.
    KernelRidgeClassifier : Ridge regression on the labels.

    Notes
    -----
    Leaving one out leaves out a row, whatever its weight, while of two equal rows it leaves out one.

    Where the system is singular in floating-point arithmetic (duplicate rows and a tiny alpha), directions
    without curvature are left out and an `IllConditionedWarning` names the condition.

    References
    ----------
    .. [1] C. Saunders, A. Gammerman and V. Vovk (1998). Ridge regression learning algorithm in dual
       variables. *International Conference on Machine Learning*, 515-521.
    .. [2] R. Rifkin and R. Lippert (2007). Notes on regularized least squares. Technical report, MIT.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> x = np.linspace(0.0, 6.0, 40)[:, None]
    >>> model = KernelRidge(kernel="rbf", gamma=0.5, alpha="loo").fit(x, np.sin(x[:, 0]))
    >>> model.predict([[1.0]]).round(3)
    array([0.841])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseKernelRidge._parameter_constraints,
        **PARAMETRIC,
        **APPROXIMATION,
        **UPDATES,
    }
    _learns_kernel_weights = True

    def __init__(
        self,
        alpha: Any = 1,
        *,
        kernel: Any = "linear",
        gamma: Any = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        alphas: ArrayLike | None = None,
        fit_intercept: bool = False,
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
        parametric: Any = "auto",
        approximation: Any = None,
        n_components: Any = "auto",
        updatable: bool = False,
        window: int | None = None,
    ) -> None:
        keep_parameters(self, locals())

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the regression.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features), (n_samples, n_samples) or a sequence
            Training data: whatever the kernel takes; the kernel matrix for ``kernel="precomputed"``.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Outputs.
        sample_weight : array of shape (n_samples,), optional
            Non-negative weights of the squared errors; a weight of 2 equals the row twice.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight)
        if self.approximation is None and isinstance(self.alpha, str) and np.ndim(self.dual_coef_) == 1:
            self.loo_errors_ = self.loo_errors_[:, 0]
        return self

    def _split(self, X: Any, y: Any, sample_weight: Any) -> RidgeOutputs:
        Y = targets(self, X, y)
        check_squares(Y)
        weight = self._check_weight(sample_weight, X, self._length(X))
        return RidgeOutputs(Y, weight, np.asarray(y).ndim == 1)

    def _check_approximation(self) -> None:
        alpha = None if isinstance(self.alpha, str) else np.unique(np.asarray(self.alpha, dtype=np.float64))
        if alpha is None or alpha.size != 1 or not alpha[0] > 0:
            raise ValueError(
                f"alpha={self.alpha!r} is not available with approximation=...: it must be one number > 0"
            )

    def _penalty(self) -> float:
        return float(np.ravel(self.alpha)[0])

    def _on_features(self, target: Any, weight: Any, features: Any) -> LinearRisk:
        return self._feature_risk(SquaredError(), target, weight / (2.0 * self._penalty()), features)

    def _objective_scale(self) -> float:
        return 2.0 * self._penalty()

    def _price_of_loss(self) -> float:
        return 1.0 / self._objective_scale()

    def _keep_biases(self, biases: Float64, split: Any) -> None:
        self._flat, self.alpha_ = split.flat, self._penalty()
        self.intercept_ = float(biases[0]) if split.flat else biases

    def predict(self, X: Any) -> Float64:
        """Return f at new points.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,) or (n, n_targets)
        """
        values = self._values(X)
        return values[:, 0] if self._flat else values

    def path(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, alphas: ArrayLike | None = None
    ) -> RidgePath:
        """Return coefficients and exact leave-one-out residuals for many penalties at the price of one fit.

        Parameters
        ----------
        X, y, sample_weight
            Data, as for ``fit``; the estimator itself is not changed.
        alphas : array-like, optional
            The penalties; by default ``self.alphas``, else 50 of them.

        Returns
        -------
        RidgePath
            ``alphas``, ``dual_coef``, ``intercept``, ``parametric`` (None without such columns), ``left_out``
            and ``errors``, with the penalties along the first axis.
        """
        copy: KernelRidge = clone(self)
        copy._validate_params()
        kernel = copy._kernel()
        X = copy._check_X(X, kernel=kernel, reset=True)
        weight = copy._check_weight(sample_weight, X, copy._length(X))
        kernel.validate()
        copy.kernel_ = kernel.resolve_on(X, None if sample_weight is None else weight)
        return copy._path(X, targets(copy, X, y), weight, self.alphas if alphas is None else alphas)

    def loo_predict(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Float64:
        """Return what the fit would predict at each training point had it not seen that point.

        Exact, in closed form: nothing is fitted again.

        Parameters
        ----------
        X, y, sample_weight
            The data given to ``fit``.

        Returns
        -------
        ndarray of the shape of y
            Where a weight is 0, the prediction itself.
        """
        check_is_fitted(self)
        given = X
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        Y = targets(self, X, y)
        weight = self._check_weight(sample_weight, X, self._length(X))
        alpha = np.broadcast_to(np.asarray(self.alpha_, dtype=np.float64), (Y.shape[1],))
        found = self._path(X, Y, weight, np.unique(alpha))
        place = np.searchsorted(found.alphas, alpha)
        left = np.stack([found.left_out[place[t], :, t] for t in range(Y.shape[1])], axis=1)
        out = np.where(np.isnan(left), self._values(given), Y - left)
        return out[:, 0] if np.ndim(self.dual_coef_) == 1 else out


def targets(estimator: Any, X: Any, y: Any) -> Float64:
    """Return y as a table of numbers with a row for each item of X."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    with naming("y"):
        Y: Float64 = check_array(
            y, ensure_2d=False, dtype=np.float64, input_name="y", estimator=estimator, allow_nd=False
        )
    if Y.ndim not in (1, 2):
        raise ValueError(f"y has {Y.ndim} dimensions; it must have one, or two for several outputs")
    estimator._check_lengths(X, Y)
    return Y.reshape(Y.shape[0], -1)
