"""Gaussian process regression."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import MultiOutputMixin, RegressorMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Float64
from mercer.estimators.approximation._mixin import APPROXIMATION
from mercer.estimators.approximation._values import has_features
from mercer.estimators.gaussian._base import BaseGaussianProcess
from mercer.estimators.gaussian._outputs import ProcessOutputs, squeezed
from mercer.estimators.gaussian._regression_on_features import RegressionOnFeatures
from mercer.estimators.gaussian._regression_prior import RegressionPrior
from mercer.estimators.gaussian._sklearn_names import SklearnNames
from mercer.estimators.parametric import PARAMETRIC
from mercer.estimators.ridge._kernel_ridge import targets
from mercer.estimators.verdict import check_squares
from mercer.kernels import Precomputed
from mercer.problems import Certificate
from mercer.solvers.base import Limits
from mercer.values import keep_parameters


class GaussianProcessRegressor(
    MultiOutputMixin, RegressorMixin, RegressionOnFeatures, SklearnNames, RegressionPrior
):
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
    kernel : str, Kernel, scikit-learn's kernel or callable, optional
        The covariance function; its parameters are where the search starts. Vectors of widths
        (``RBF(gamma=[...])``, ``Matern(length_scale=[...])``) give each feature its own. None is
        scikit-learn's default, ``ConstantKernel() * RBF()``; beside ``noise`` it is ``1.0 * RBF()`` of ours
        with the width of the data.
    alpha : float or array of shape (n_samples,), default=1e-10
        A variance that is added to the diagonal of K and kept as given, as in scikit-learn.
    optimizer : "fmin_l_bfgs_b", "lbfgs" (the same), callable or None, default="fmin_l_bfgs_b"
        How the evidence is maximised; None keeps all parameters. A callable is called as in scikit-learn,
        with (function, start, bounds).
    n_restarts_optimizer : int, default=0
        Further starts, drawn log-uniformly between the bounds.
    normalize_y : bool, default=False
        Whether the process sees outputs of mean 0 and variance 1; ``alpha`` and ``noise`` are then in their
        units. Predictions are in those of y.
    copy_X_train : bool, default=True
        Whether to keep a copy of the data, or the data themselves, which must then not change.
    n_targets : int, optional
        How many outputs there are, for predictions before ``fit``; one when not given.
    random_state : int, RandomState instance or None, default=None
        Draws further starts, probes and landmarks.
    noise : float, "auto", array of shape (n_samples,) or None, default=None
        The variance :math:`\sigma^2` of the noise, with ``optimizer`` the start of its search; one for each
        training point is kept as given. "auto" is for data as they come: widths, amplitudes and noise start
        from the scales of X and y, the best of several starts counts, ``kernel=None`` is a Gaussian kernel
        with a width for each of up to 32 features, and a kernel given by its name gets an amplitude and,
        unless ``normalize_y``, an offset. None leaves the noise to ``alpha`` and to the
        kernel.
    bounds : dict, optional
        Bounds (low, high), or "fixed", by the parameter's name in ``kernel.get_params()``, or "noise". Others
        have (1e-5, 1e5), ``gamma`` (1e-10, 1e10) and the noise (1e-10, 1e5). scikit-learn's kernels have
        their own.
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
        Seconds after which the fit ends with the best found.
    cache_size : float, default=2000
        Memory for kernel values and the preconditioner, in MB.
    precision : {"auto", "single", "double"}, default="auto"
        Of kernel values in the "cg" solution for the mean; all else is double.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does: "keep" ends the search with the best parameters found.
    verbose : bool, default=False
        Print each evaluation of the evidence.
    parametric : "auto", None, "constant", "linear", "quadratic", sequence of int or callable, default="auto"
        A trend of unknown coefficients around which f lies (universal kriging): products of features up to a
        degree, some columns, or those that a function of the data returns. "auto" takes the kernel's own,
        None none. The evidence is then that of contrasts (restricted likelihood), and deviations include the
        trend's. It needs ``solver="cholesky"``.
    approximation : None, "nystroem", "features" or a transformer, default=None
        Explicit features that stand for the kernel, for very many rows: from landmarks
        (:class:`Nystroem`), random ones (:class:`RandomFeatures`), or an unfitted map. With landmarks the
        parameters maximise a lower bound on the evidence of all rows [3]_, and variances far from the
        landmarks are the prior's; with other maps they maximise the evidence of 1000 rows.
        ``distance_from_exact_`` tells what the approximation costs the mean.
    n_components : int or "auto", default="auto"
        Number of features. "auto" doubles 100 until the mean of 5000 rows is within 1 % of its exact
        optimum, up to 3200; a given map keeps its own.

    Attributes
    ----------
    kernel_ : Kernel, or scikit-learn's
        The kernel, as it was given, with the parameters found.
    noise_ : float or ndarray of shape (n_samples,)
        The variance of the noise, ``alpha`` if that was to be it; white noise of scikit-learn's kernels stays
        in the kernel.
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
    parametric_ : Trend or None
        The functions of the trend.
    parametric_coef_, intercept_ : ndarray of shape (n_targets, n_columns), (n_targets,)
        Their coefficients and that of the constant, where there is a trend.
    log_marginal_likelihood_bounds_ : tuple of float or None
        With ``approximation``: bounds between which the logarithm of the exact evidence at the parameters
        found lies; the lower one is ``log_marginal_likelihood_value_``. None for other maps than landmarks.
    feature_map_, feature_weights_, n_components_, distance_from_exact_
        With ``approximation``: the fitted map, the weights of its features (a row for each output), their
        number, and the measured distance of the mean's objective from the exact optimum. The training data,
        ``dual_coef_``, ``alpha_`` and ``L_`` are then not kept.
    dual_coef_, alpha_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        :math:`S^{-1} y`.
    L_ : ndarray of shape (n_samples, n_samples)
        Cholesky's factor of S, unless "cg" has solved the system.
    certificate_ : Certificate
        Of the mean, as the ridge regression that it is. The evidence has many maxima: nothing is claimed.
    condition_ : float
        An estimate of the condition number of S; nan for "cg".
    n_iter_ : int
        Evaluations of the evidence.
    X_fit_, X_train_ : array, CSR or sequence
        The training data.
    y_train_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        The outputs, as the process sees them.
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
    .. [3] M. K. Titsias (2009). Variational learning of inducing variables in sparse Gaussian processes.
       *AISTATS*, 567-574.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import GaussianProcessRegressor
    >>> x = np.linspace(0.0, 6.0, 30)[:, None]
    >>> y = np.sin(x[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=30)
    >>> model = GaussianProcessRegressor(noise="auto").fit(x, y)
    >>> mean, std = model.predict([[1.0], [20.0]], return_std=True)
    >>> bool(std[0] < 0.1 < std[1])
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseGaussianProcess._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="left"), np.ndarray],
        "normalize_y": ["boolean"],
        "n_targets": [Interval(Integral, 1, None, closed="left"), None],
        "noise": [Interval(Real, 0.0, None, closed="neither"), StrOptions({"auto"}), "array-like", None],
        "solver": [StrOptions({"auto", "cholesky", "cg"})],
        "n_probes": [Interval(Integral, 2, None, closed="left")],
        "preconditioner_rank": [Interval(Integral, 0, None, closed="left"), None],
        "precision": [StrOptions({"auto", "single", "double"})],
        **PARAMETRIC,
        **APPROXIMATION,
    }

    def __init__(
        self,
        kernel: Any = None,
        *,
        alpha: Any = 1e-10,
        optimizer: Any = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        normalize_y: bool = False,
        copy_X_train: bool = True,
        n_targets: int | None = None,
        random_state: Any = None,
        noise: Any = None,
        bounds: Any = None,
        solver: str = "auto",
        tol: float = 1e-6,
        n_probes: int = 16,
        preconditioner_rank: int | None = None,
        max_iter: int = -1,
        time_limit: float | None = None,
        cache_size: float = 2000,
        precision: str = "auto",
        n_jobs: int | None = None,
        on_interrupt: str = "raise",
        verbose: bool | int = False,
        parametric: Any = "auto",
        approximation: Any = None,
        n_components: Any = "auto",
    ) -> None:
        keep_parameters(self, locals())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False  # there is a prior
        return tags

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
        self._fit(X, y, None)
        return self

    def _split(self, X: Any, y: Any, sample_weight: Any) -> ProcessOutputs:
        Y = targets(self, X, y)
        check_squares(Y)
        if self.n_targets is not None and Y.shape[1] != self.n_targets:
            raise ValueError(
                "The number of targets seen in `y` is different from the parameter `n_targets`. Got "
                f"{Y.shape[1]} != {self.n_targets}."
            )
        return ProcessOutputs(Y, np.asarray(y).ndim == 1, self.normalize_y)

    # -- use -------------------------------------------------------------------------------------------------

    def predict(
        self, X: Any, return_std: bool = False, return_cov: bool = False, *, noise: bool = False
    ) -> Any:
        """Return the mean of f at new points, and how uncertain it is; before ``fit``, that of the prior.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        return_std : bool
            Whether to return standard deviations of f too; they exclude the noise, except for white noise of
            scikit-learn's kernels, which belongs to their variance.
        return_cov : bool
            Whether to return the covariance matrix of f at the points instead.
        noise : bool
            Whether deviations and covariances are those of outputs to be measured, f and the noise.

        Returns
        -------
        mean : ndarray of shape (n,) or (n, n_targets)
        std : ndarray of shape (n,) or (n, n_targets)
            If asked for. The mean alone costs no more than that of a ridge regression.
        cov : ndarray of shape (n, n) or (n, n, n_targets)
            If asked for.
        """
        if return_std and return_cov:
            raise RuntimeError(
                "At most one of return_std or return_cov can be requested: return_std and return_cov are "
                "both True"
            )
        if not (hasattr(self, "dual_coef_") or has_features(self)):
            return self._prior(X, return_std, return_cov)
        kernel = self._smooth
        X = self._check_X(X, kernel=kernel, reset=False)
        mean = squeezed(self._y_mean + self._y_std * self._means(X) + self._trend(X))
        if not (return_std or return_cov):
            return mean
        if isinstance(kernel, Precomputed):
            raise ValueError(
                "kernel='precomputed' has no k(x, x) for new points, which return_std and return_cov need"
            )
        if noise and np.ndim(self.noise_):
            raise ValueError("noise=True needs one variance of the noise; this model has one for each row")
        more = float(self.noise_) if noise else 0.0
        if return_std:
            return mean, squeezed(np.sqrt(self._variances(X) + more)[:, None] * self._y_std)
        cov = self._covariance(X)
        cov.ravel()[:: cov.shape[0] + 1] += more
        return mean, squeezed(cov[:, :, None] * self._y_std**2)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> Float64:
        """Draw functions from the posterior, before ``fit`` from the prior, at given points.

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
        columns = mean.reshape(mean.shape[0], -1)
        joint = cov.reshape(*cov.shape[:2], -1)
        # Outputs differ by a factor alone. Eigenvectors, because the covariance of near points is singular.
        values, vectors = np.linalg.eigh(joint[:, :, 0])
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        spread = getattr(self, "_y_std", np.ones(columns.shape[1]))
        draws = rng.standard_normal((columns.shape[1], mean.shape[0], n_samples))
        moved = np.einsum("ij,tjs->its", root, draws) * (spread / spread[0])[None, :, None]
        out = np.asarray(columns[:, :, None] + moved)
        return out[:, 0] if mean.ndim == 1 else out

    def log_marginal_likelihood(
        self, theta: ArrayLike | None = None, eval_gradient: bool = False, clone_kernel: bool = True
    ) -> Any:
        """Return the logarithm of the evidence of the training data at given parameters.

        Parameters
        ----------
        theta : array of shape (n_hyperparameters,), optional
            The logarithms of the parameters named in ``hyperparameters_``; ``theta_`` by default.
        eval_gradient : bool
            Whether to return the gradient by theta too.
        clone_kernel : bool
            If False, ``kernel_`` gets these parameters, as in scikit-learn.

        Returns
        -------
        value : float
            For "cg" an estimate.
        gradient : ndarray of shape (n_hyperparameters,)
            If asked for.
        """
        check_is_fitted(self)
        if theta is None and not eval_gradient:
            return np.float64(self.log_marginal_likelihood_value_)
        if has_features(self):
            raise ValueError(
                "log_marginal_likelihood at other parameters, and its gradient, need the training data, "
                "which a model with approximation=... does not keep"
            )
        vector: Float64 = self.theta_ if theta is None else np.asarray(theta, dtype=np.float64)
        if np.shape(vector) != self.theta_.shape:
            raise ValueError(
                f"theta has shape {np.shape(vector)}; it must have one entry each for {self.hyperparameters_}"
            )
        family = self._family(self.X_fit_)
        found = self._evidence(family, vector, self._Y, Limits(), gradient=eval_gradient)
        if not clone_kernel:
            self.kernel_ = family.at(self._parted(vector)[0]).shown
        value = np.float64(found.value)
        return (value, found.gradient) if eval_gradient else value

    def certify(self, X: Any, y: ArrayLike) -> Certificate:  # type: ignore[override]
        """Recompute the certificate of the mean from the model and the training data, in float64.

        Parameters
        ----------
        X, y
            The data given to ``fit``.
        """
        return super().certify(X, y)
