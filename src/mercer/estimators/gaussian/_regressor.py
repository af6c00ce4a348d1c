"""Gaussian process regression."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import MultiOutputMixin, RegressorMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted

from mercer.estimators.gaussian._base import BaseGaussianProcess, Float64, check_bounds_type
from mercer.estimators.ridge._kernel_ridge import targets
from mercer.gram.kernel_family import KernelFamily
from mercer.kernels import KERNEL_NAMES, Kernel, Precomputed
from mercer.problems import Certificate
from mercer.solvers.base import Limits


class GaussianProcessRegressor(MultiOutputMixin, RegressorMixin, BaseGaussianProcess):
    r"""Regression with a prior over functions: :math:`y_i = f(x_i) + \varepsilon_i`, f a Gaussian process.

    With :math:`f \sim GP(0, k)`, :math:`\varepsilon_i \sim N(0, \sigma^2)` and :math:`S = K + \sigma^2 I`,

    .. math::
        E[f(x)] = k_x^T S^{-1} y, \qquad \operatorname{var} f(x) = k(x, x) - k_x^T S^{-1} k_x,

    .. math::
        \log p(y) = -\tfrac12 y^T S^{-1} y - \tfrac12 \log\det S - \tfrac n2 \log 2\pi.

    The last, the evidence, is maximised over the parameters of the kernel and the noise. The mean is kernel
    ridge regression with alpha = :math:`\sigma^2`.

    Parameters
    ----------
    kernel : str, Kernel or callable, optional
        The covariance function; its parameters are where the search starts. None is ``1.0 * RBF()``. Vectors
        of widths (``RBF(gamma=[...])``, ``Matern(length_scale=[...])``) give each feature its own.
    noise : float or array of shape (n_samples,), default=0.01
        The variance :math:`\sigma^2` of the noise, with ``optimizer`` the start of its search; one for each
        training point is kept as given. The standard deviations of `predict` are those of f: they exclude it.
    optimizer : "lbfgs", callable or None, default="lbfgs"
        How the evidence is maximised; None keeps all parameters. A callable is called as in scikit-learn,
        with (function, start, bounds).
    bounds : dict, optional
        Bounds (low, high), or "fixed", by the parameter's name in ``kernel.get_params()``, or "noise". Others
        have (1e-5, 1e5), ``gamma`` (1e-10, 1e10) and the noise (1e-10, 1e5).
    n_restarts_optimizer : int, default=0
        Further starts, drawn log-uniformly between the bounds.
    normalize_y : bool, default=False
        Whether the process sees outputs of mean 0 and variance 1; ``noise`` is then in their units.
        Predictions are in those of y.
    solver : {"auto", "cholesky", "cg"}, default="auto"
        "cholesky" forms K. "cg" needs products with K only: conjugate gradients with a Nyström preconditioner
        and, for the evidence, Lanczos' quadrature on random probes, whose error bar is
        ``log_marginal_likelihood_error_``. "auto" is "cholesky" while K fits into ``cache_size``.
    tol : float, default=1e-6
        For "cg": relative distance between the upper and the lower bound on :math:`y^T S^{-1} y`, and on
        variances, at which to stop.
    n_probes : int, default=16
        For "cg": random vectors for the determinant.
    preconditioner_rank : int, optional
        For "cg": landmarks of the preconditioner; by default a tenth of the rows, from 200 to 1000.
    max_iter : int, default=-1
        Most iterations of the optimizer from each start; -1 for its own limit.
    time_limit : float, optional
        Seconds after which the search for parameters ends with the best found.
    cache_size : float, default=2000
        Memory for kernel values and the preconditioner, in MB.
    precision : {"auto", "single", "double"}, default="auto"
        Of kernel values in the "cg" solution for the mean; all else is double.
    n_jobs : int, optional
        Threads; None for all cores (one inside joblib workers).
    random_state : int, RandomState instance or None, default=None
        Draws further starts, probes and landmarks.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does: "keep" ends the search with the best parameters found.
    verbose : bool, default=False
        Print each evaluation of the evidence.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with the parameters found.
    noise_ : float or ndarray of shape (n_samples,)
        The variance of the noise.
    theta_ : ndarray
        The logarithms of the parameters that were free; `hyperparameters_` are their names.
    hyperparameters_ : list of str
        In the order of ``theta_``.
    log_marginal_likelihood_value_ : float
        The logarithm of the evidence.
    log_marginal_likelihood_error_ : float
        Its standard error: 0 unless it was estimated.
    quadratic_bounds_ : tuple of float
        Bounds between which :math:`y^T S^{-1} y`, summed over the outputs, lies for certain.
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        :math:`S^{-1} y`.
    certificate_ : Certificate
        Of the mean, as the ridge regression that it is. The evidence has many maxima: nothing is claimed.
    condition_ : float
        An estimate of the condition number of S; nan for "cg".
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
    KernelRidge : The mean alone.

    References
    ----------
    .. [1] C. E. Rasmussen and C. K. I. Williams (2006). *Gaussian Processes for Machine Learning*. MIT Press.
    .. [2] M. Gibbs and D. J. C. MacKay (1997). Efficient implementation of Gaussian processes. Technical
       report, Cavendish Laboratory, Cambridge.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import GaussianProcessRegressor
    >>> x = np.linspace(0.0, 6.0, 30)[:, None]
    >>> y = np.sin(x[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=30)
    >>> model = GaussianProcessRegressor().fit(x, y)
    >>> mean, std = model.predict([[1.0], [20.0]], return_std=True)
    >>> bool(std[0] < 0.1 < std[1])
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions(set(KERNEL_NAMES)), Kernel, callable, None],
        "noise": [Interval(Real, 0.0, None, closed="neither"), "array-like"],
        "optimizer": [StrOptions({"lbfgs"}), callable, None],
        "bounds": [dict, None],
        "n_restarts_optimizer": [Interval(Integral, 0, None, closed="left")],
        "normalize_y": ["boolean"],
        "solver": [StrOptions({"auto", "cholesky", "cg"})],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "n_probes": [Interval(Integral, 2, None, closed="left")],
        "preconditioner_rank": [Interval(Integral, 0, None, closed="left"), None],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
        "precision": [StrOptions({"auto", "single", "double"})],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "on_interrupt": [StrOptions({"raise", "keep"})],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        kernel: Any = None,
        noise: Any = 0.01,
        optimizer: Any = "lbfgs",
        bounds: Any = None,
        n_restarts_optimizer: int = 0,
        normalize_y: bool = False,
        solver: str = "auto",
        tol: float = 1e-6,
        n_probes: int = 16,
        preconditioner_rank: int | None = None,
        max_iter: int = -1,
        time_limit: float | None = None,
        cache_size: float = 2000,
        precision: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        on_interrupt: str = "raise",
        verbose: bool | int = False,
    ) -> None:
        self.kernel = kernel
        self.noise = noise
        self.optimizer = optimizer
        self.bounds = bounds
        self.n_restarts_optimizer = n_restarts_optimizer
        self.normalize_y = normalize_y
        self.solver = solver
        self.tol = tol
        self.n_probes = n_probes
        self.preconditioner_rank = preconditioner_rank
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.cache_size = cache_size
        self.precision = precision
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.on_interrupt = on_interrupt
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Find the parameters of largest evidence, and the posterior with them.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features), (n_samples, n_samples) or a sequence
            Training data: whatever the kernel takes; the kernel matrix for ``kernel="precomputed"``.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Outputs; several are independent processes that share kernel and noise.

        Returns
        -------
        self
        """
        check_bounds_type(self.bounds)
        X = self._check_X(X, kernel=self._kernel(), reset=True)
        Y = targets(self, X, y)
        self._flat = np.asarray(y).ndim == 1
        self.shape_fit_ = tuple(X.shape) if hasattr(X, "shape") else (self._length(X),)
        self.X_fit_ = X
        self._y_mean, self._y_std = np.zeros(Y.shape[1]), np.ones(Y.shape[1])
        if self.normalize_y:
            spread = Y.std(axis=0)
            self._y_mean, self._y_std = Y.mean(axis=0), np.where(spread > 0, spread, 1.0)
        self._fit_process(X, (Y - self._y_mean) / self._y_std)
        return self

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """Return the mean of f at new points, and how uncertain it is.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        return_std : bool
            Whether to return standard deviations of f too; they exclude the noise.
        return_cov : bool
            Whether to return the covariance matrix of f at the points instead.

        Returns
        -------
        mean : ndarray of shape (n,) or (n, n_targets)
        std : ndarray of shape (n,) or (n, n_targets)
            If asked for. The mean alone costs no more than that of a ridge regression.
        cov : ndarray of shape (n, n) or (n, n, n_targets)
            If asked for.
        """
        if return_std and return_cov:
            raise RuntimeError("return_std and return_cov are both True: ask for at most one of them")
        check_is_fitted(self)
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        mean = self._y_mean + self._y_std * self._means(X)
        shaped = mean[:, 0] if self._flat else mean
        if not (return_std or return_cov):
            return shaped
        if isinstance(self.kernel_, Precomputed):
            raise ValueError(
                "kernel='precomputed' has no k(x, x) for new points, which return_std and return_cov need"
            )
        if return_std:
            std = np.sqrt(self._variances(X))[:, None] * self._y_std
            return shaped, std[:, 0] if self._flat else std
        cov = self._covariance(X)[:, :, None] * self._y_std**2
        return shaped, cov[:, :, 0] if self._flat else cov

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> Float64:
        """Draw functions from the posterior at given points.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        n_samples : int
            How many functions.
        random_state : int, RandomState instance or None
            Draws them.

        Returns
        -------
        ndarray of shape (n, n_samples) or (n, n_targets, n_samples)
        """
        rng = check_random_state(random_state)
        mean, cov = self.predict(X, return_cov=True)
        n = mean.shape[0]
        first = cov if self._flat else cov[:, :, 0] / self._y_std[0] ** 2
        # Eigenvectors, because the covariance of near points is singular.
        values, vectors = np.linalg.eigh(first)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        if self._flat:
            return np.asarray(mean[:, None] + root @ rng.standard_normal((n, n_samples)))
        draws = rng.standard_normal((mean.shape[1], n, n_samples))
        moved = np.einsum("ij,tjs->its", root, draws) * self._y_std[None, :, None]
        return np.asarray(mean[:, :, None] + moved)

    def log_marginal_likelihood(self, theta: ArrayLike | None = None, eval_gradient: bool = False) -> Any:
        """Return the logarithm of the evidence of the training data at given parameters.

        Parameters
        ----------
        theta : array of shape (n_hyperparameters,), optional
            The logarithms of the parameters named in ``hyperparameters_``; ``theta_`` by default.
        eval_gradient : bool
            Whether to return the gradient by theta too.

        Returns
        -------
        value : float
            For "cg" an estimate.
        gradient : ndarray of shape (n_hyperparameters,)
            If asked for.
        """
        check_is_fitted(self)
        if theta is None and not eval_gradient:
            return self.log_marginal_likelihood_value_
        vector = self.theta_ if theta is None else check_array(theta, ensure_2d=False, dtype=np.float64)
        if np.shape(vector) != self.theta_.shape:
            raise ValueError(
                f"theta has shape {np.shape(vector)}; it must have one entry each for {self.hyperparameters_}"
            )
        family = KernelFamily(self._tuned, self.X_fit_, self._workers())
        found = self._evidence(family, vector, Limits(), gradient=eval_gradient)
        return (found.value, found.gradient) if eval_gradient else found.value

    def certify(self, X: Any, y: ArrayLike) -> Certificate:
        """Recompute the certificate of the mean from the model and the training data, in float64.

        Parameters
        ----------
        X, y
            The data given to ``fit``.

        Returns
        -------
        Certificate
        """
        check_is_fitted(self)
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        Y = (targets(self, X, y) - self._y_mean) / self._y_std
        return self._certify_process(X, Y)
