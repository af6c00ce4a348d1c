"""The epsilon support vector regressor for every C."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.interrupts import stoppable
from mercer.estimators.machine import KernelMachine
from mercer.estimators.svm.path_base import PathMixin
from mercer.estimators.svm.regressor import BaseSVR
from mercer.estimators.svm.svr import SVR
from mercer.gram import Gram
from mercer.problems import Dual, Machine
from mercer.problems.parametric_family import tube_family
from mercer.problems.regression import epsilon_tube

SHARED = ("kernel", "degree", "gamma", "coef0", "cache_size", "epsilon", "n_jobs", "fit_intercept", "tol")
FITTED = ("kernel_", "shape_fit_", "_gamma", "n_features_in_", "feature_names_in_")


class SVRPath(PathMixin, BaseSVR):
    r"""The exact solution of epsilon-support vector regression for every C, at a fixed epsilon.

    .. math::
        \min_{w, b} \tfrac12 \|w\|^2
        + C \sum_i w_i \max(0, |y_i - \langle w, \phi(x_i) \rangle - b| - \epsilon),
        \qquad C_{\min} \le C \le C_{\max}

    With lambda = 1 / C the coefficients are C theta(lambda), where theta is piecewise linear in lambda;
    ``fit`` finds all its knots. :meth:`at` gives the fitted :class:`mercer.SVR` of any C, with its
    certificate, at the price of a look-up. The estimator itself predicts with the parameter ``C``.

    Parameters
    ----------
    C : float, default=1.0
        The value that ``predict`` uses when it is given none.
    C_min : float, default=0.0
        Where the path begins; 0 for the very beginning.
    C_max : float, default=1e4
        Where it ends.
    epsilon : float, default=0.1
        Half width of the tube inside which there is no loss.
    kernel : str, Kernel or callable, default="rbf"
        As in :class:`mercer.SVR`; it must be positive semi-definite.
    degree, gamma, coef0
        Parameters of the kernels given by name.
    tol : float, default=1e-8
        The KKT violation that no knot may exceed without a warning (unless rounding alone explains it). The
        walk itself is as exact as float64 allows.
    cache_size : float, default=200
        Memory for the kernel matrix, in MB. It is kept whole: 8 n^2 bytes.
    verbose : bool, default=False
        Print a line per slice of the walk.
    max_iter : int, default=-1
        Most events; -1 for no limit.
    time_limit : float, optional
        Seconds after which to stop; the path is exact as far as it has come.
    n_jobs : int, optional
        Threads for kernel values.
    fit_intercept : bool, default=True
        Whether the function has an unpenalised bias.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C during ``fit`` does: raise, or keep the path so far.

    Attributes
    ----------
    lambdas_, Cs_ : arrays of shape (n_knots,)
        1 / C (falling) and C (rising) at the knots.
    thetas_ : array of shape (n_knots, n_samples)
        Coefficients divided by C at the knots, in [-w_i, w_i]. Below the first knot they stay as they are
        there.
    intercepts_ : array of shape (n_knots,)
        The bias at the knots.
    events_ : structured array with the fields C, kind and index
        Which row entered or left the elbow (the rows on the edge of the tube), and when.
    C_range_ : tuple of float
        The values of C that the path knows.
    kkt_violation_ : float
        The largest at any knot.
    paths_ : list of Path
        The path with all it knows.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, fit_status_, shape_fit_,
    certificate_, kernel_
        Those of the machine at ``C``, as in :class:`mercer.SVR`.

    References
    ----------
    Gunter and Zhu (2007), Efficient computation and model selection for the support vector regression, Neural
    Computation 19. Hastie, Rosset, Tibshirani and Zhu (2004), The entire regularization path for the support
    vector machine, Journal of Machine Learning Research 5.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVRPath
    >>> X = np.linspace(0, 3, 30)[:, None]
    >>> path = SVRPath(epsilon=0.05).fit(X, np.sin(X[:, 0]))
    >>> bool(np.abs(path.at(10.0).predict(X) - np.sin(X[:, 0])).max() < 0.06)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: rule
            for name, rule in KernelMachine._parameter_constraints.items()
            if name not in ("shrinking", "solver", "criterion", "precision", "warm_start", "trace")
        },
        **PathMixin._range_constraints,
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        C_min: float = 0.0,
        C_max: float = 1e4,
        epsilon: float = 0.1,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-8,
        cache_size: float = 200,
        verbose: Any = False,
        max_iter: int = -1,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        fit_intercept: bool = True,
        on_interrupt: str = "raise",
    ) -> None:
        self.C = C
        self.C_min = C_min
        self.C_max = C_max
        self.epsilon = epsilon
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.fit_intercept = fit_intercept
        self.on_interrupt = on_interrupt

    def _problem(self, target: Any, weight: np.ndarray, matrix: Gram) -> Dual:
        return epsilon_tube(target, self._nearest() * weight, self.epsilon, fit_intercept=self.fit_intercept)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> SVRPath:
        """Find the path.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features), (n_samples, n_samples) or a sequence
            Training data: whatever the kernel takes; the kernel matrix for ``kernel="precomputed"``.
        y : array of shape (n_samples,)
            Targets.
        sample_weight : array of shape (n_samples,), optional
            Non-negative factors of C; a weight of 2 equals the row twice.

        Returns
        -------
        self
        """
        limits = self._limits()
        self._check_range()
        kernel = self._kernel()
        X = self._check_X(X, kernel=kernel, reset=True)
        n = self._length(X)
        target = self._target(X, y)
        weight = self._check_weight(sample_weight, X, n)
        kernel.validate()
        resolved = kernel.resolve_on(X, None if sample_weight is None else weight)  # X, weights are checked
        self.kernel_ = resolved
        self.shape_fit_ = tuple(X.shape) if hasattr(X, "shape") else (n,)
        self._gamma = getattr(resolved, "gamma", 0.0)
        rows = np.flatnonzero(weight > 0)
        with stoppable(limits, self.on_interrupt == "keep") as stop:
            matrix = self._gram(resolved, X, self._workers())
            self._check_kernel(resolved, matrix)
            K = matrix.exact_block(rows, rows)
            family = tube_family(target[rows], weight[rows], self.epsilon, fit_intercept=self.fit_intercept)
            self.paths_ = [self._follow(K, family, stop, 0, 1)]
        self._data, self._there, self._n = X, rows, n
        self._judge()
        self._machine(self, self._nearest())
        self.fit_status_ = int(self.paths_[0].status != "optimal")
        return self

    # -- along the path ----------------------------------------------------------------------------------

    def _machine(self, model: Any, C: float) -> None:
        """Give a model what a fit at C would have given it."""
        (dual,), (solution,) = self._solutions(self.paths_, C)
        machine = dual.machine(solution.b, solution.f)
        if self._there.size < self._n:  # rows of weight zero take no part
            coef, values = np.zeros(self._n), np.full(self._n, np.nan)
            coef[self._there], values[self._there] = machine.coef, machine.values
            machine = Machine(coef, machine.intercept, values)
        model._store(self._data, machine, np.empty(0))
        model.n_iter_ = solution.n_iter
        model.certificate_ = solution.certificate("kkt", psd=True)
        model.fit_status_ = 0

    def at(self, C: float) -> SVR:
        """Return the fitted machine of a value of C.

        Parameters
        ----------
        C : float
            Within ``C_range_``.

        Returns
        -------
        SVR
            With everything that its own ``fit`` would have given it, ``certificate_`` included.
        """
        check_is_fitted(self, "paths_")
        C = self._check_C(C)
        model = SVR(C=C, **{name: getattr(self, name) for name in SHARED})
        model.__dict__.update({name: value for name, value in vars(self).items() if name in FITTED})
        self._machine(model, C)
        return model

    def predict(self, X: Any, C: Any = None) -> np.ndarray:
        """Return f at new points.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        C : float or sequence of float, optional
            One value of C, or several; the parameter ``C`` when not given.

        Returns
        -------
        ndarray of shape (n,) or (n, number of values of C)
            Values.
        """
        check_is_fitted(self, "paths_")
        if C is None:
            return super().predict(X)
        if np.ndim(C) == 0:
            return self.at(C).predict(X)
        return self._values_at(X, C)

    def training_error(self, C: Any, number: int = 0) -> np.ndarray:
        """Return the weighted mean absolute error of the training rows, at some values of C.

        Parameters
        ----------
        C : sequence of float
            Values within ``C_range_``.
        number : int, default=0
            Always 0: a regression has one path.

        Returns
        -------
        ndarray of shape (number of values of C,)
            Errors.
        """
        check_is_fitted(self, "paths_")
        family = self.paths_[number].family
        weight, target = family.rests[:, -1], -family.slopes.mean(axis=1)
        return np.asarray(np.abs(self.curves(C)["values"] - target) @ weight / weight.sum())

    def _rows(self) -> list[np.ndarray]:
        return [self._there]

    @property
    def thetas_(self) -> np.ndarray:
        """The coefficients divided by C, at the knots."""
        check_is_fitted(self, "paths_")
        (path,) = self.paths_
        table = np.zeros((path.t.size, self._n))
        table[:, self._there] = path.a
        return table
