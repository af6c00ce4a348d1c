"""Kernel regression with any convex loss."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import MultiOutputMixin, RegressorMixin, _fit_context
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_array, check_is_fitted

from mercer.estimators.convex._base import ConvexMachine
from mercer.estimators.expansion import ExpansionMixin
from mercer.estimators.interrupts import stoppable
from mercer.estimators.monitoring import Watch
from mercer.gram import Segment, cross_products
from mercer.problems import Certificate, Machine, combine
from mercer.problems.losses import REGRESSION, Loss, as_loss
from mercer.problems.penalised import penalised
from mercer.solvers import Solution


class KernelRegressor(MultiOutputMixin, RegressorMixin, ExpansionMixin, ConvexMachine):
    r"""Regression with any convex loss and any kernel.

    .. math::
        \min_{w, b} \tfrac12 \|w\|^2 + C \sum_i w_i \, L(y_i, \langle w, \phi(x_i) \rangle + b)

    The solution is :math:`f(x) = \sum_i \beta_i k(x_i, x) + b` with
    :math:`\beta_i = -C w_i L'(y_i, f(x_i))`; the conjugate of the loss proves how near it is
    (``certificate_``). Piecewise-linear losses are solved through their box-constrained dual, all others by a
    semismooth Newton method. Several outputs are fitted one by one, on one kernel matrix.

    Parameters
    ----------
    loss : str or Loss, default="huber"
        "squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive", "pinball" (the
        median), or an object of :mod:`mercer.losses` such as ``Huber(threshold=0.5)`` or
        ``Pinball(quantile=0.9)``, perhaps your own. Its parameters can be searched as
        ``loss__threshold`` and the like.
    kernel : str, Kernel or callable, default="rbf"
        A name, a :class:`mercer.kernels.Kernel`, a function of two data sets that returns the kernel matrix,
        or "precomputed".
    degree, gamma, coef0
        Parameters of the kernels given by name, as in scikit-learn. ``gamma="scale"`` uses the weighted
        variance when sample weights are given.
    C : float, default=1.0
        Price of a unit of loss.
    fit_intercept : bool, default=True
        Whether the function has an unpenalised bias.
    tol : float, default=1e-6
        Relative gap (``criterion="gap"``) or largest violation of the optimality conditions (``"kkt"``) at
        which to stop.
    criterion : {"gap", "kkt"}, default="gap"
        What ``tol`` measures.
    max_iter : int, default=-1
        Most steps of the solver; -1 for no limit.
    time_limit : float, optional
        Seconds after which to stop with the best machine so far.
    cache_size : float, default=200
        Memory for kernel values, in MB; a Newton system may take as much again. Up to
        :math:`n = \sqrt{10^6 \mathtt{cache\_size} / 8}` points (5000 by default) the kernel matrix is kept;
        beyond, it is recomputed by conjugate gradients in every product.
    n_jobs : int, optional
        Threads; None for all cores (one inside joblib workers).
    precision : {"auto", "single", "double"}, default="auto"
        Precision of kernel values. Sums and the certificate are always float64.
    warm_start : bool, default=False
        Start from the previous fit on the same rows.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C during ``fit`` does: raise, or keep the machine so far.
    trace : bool, default=False
        Record ``history_``.
    verbose : bool, default=False
        Print a line per round.

    Attributes
    ----------
    certificate_ : Certificate
        Primal, dual, gap, violation; one part per output.
    loss_ : Loss
        The loss.
    support_ : ndarray of shape (n_support,)
        Rows with a coefficient that is not zero for some output.
    support_vectors_ : array, CSR or sequence
        These rows.
    dual_coef_ : ndarray of shape (n_outputs, n_support)
        Coefficients.
    intercept_ : ndarray of shape (n_outputs,)
        Biases.
    coef_ : ndarray of shape (n_outputs, n_features)
        Weights of the features, for the linear kernel.
    n_iter_ : int
        Steps of the solver, of all outputs together.
    kernel_ : Kernel
        The kernel with its data-dependent parameters fixed.
    fit_status_, shape_fit_, history_
        As in :class:`mercer.SVR`; ``history_`` has a list for each output.

    See Also
    --------
    SVR : The epsilon-insensitive losses.
    KernelRidge : Squared error, with leave-one-out and a grid of penalties in one go.

    References
    ----------
    .. [1] T. Hastie, R. Tibshirani and J. Friedman (2009). *The Elements of Statistical Learning*, 12.3.6 and
       12.3.7. Springer.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRegressor
    >>> from mercer.losses import Pinball
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 3, (200, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(size=200) / 5
    >>> high = KernelRegressor(loss=Pinball(quantile=0.9), C=10).fit(X, y)
    >>> bool(abs((y < high.predict(X)).mean() - 0.9) < 0.05)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ConvexMachine._parameter_constraints,
        "loss": [StrOptions(set(REGRESSION)), Loss],
    }

    def __init__(
        self,
        *,
        loss: Any = "huber",
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        C: float = 1.0,
        fit_intercept: bool = True,
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
    ) -> None:
        self.loss = loss
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.C = C
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.criterion = criterion
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.cache_size = cache_size
        self.n_jobs = n_jobs
        self.precision = precision
        self.warm_start = warm_start
        self.on_interrupt = on_interrupt
        self.trace = trace
        self.verbose = verbose

    # -- fit ---------------------------------------------------------------------------------------------

    def _targets(self, X: Any, y: Any) -> tuple[np.ndarray, bool]:
        """Return the targets as a column for each output, and whether they were given as one vector."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        Y = check_array(y, ensure_2d=False, dtype=None, input_name="y", estimator=self)
        flat = Y.ndim == 1
        Y = Y[:, None] if flat else Y
        try:
            Y = Y.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"y must hold numbers; its entries are of type {Y.dtype}") from error
        self._check_lengths(X, Y)
        return np.asarray(Y), flat

    def _problem(self, target: np.ndarray, weight: np.ndarray) -> Any:
        return penalised(self.loss_, target, self.C * weight, fit_intercept=self.fit_intercept)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the machine.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features), (n_samples, n_samples) or a sequence
            Training data: whatever the kernel takes; the kernel matrix for ``kernel="precomputed"``.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        sample_weight : array of shape (n_samples,), optional
            Non-negative factors of C; a weight of 2 equals the row twice.

        Returns
        -------
        self
        """
        given = X
        X, limits, workers = self._begin(X)
        Y, flat = self._targets(X, y)
        n, outputs = Y.shape
        weight = self._check_weight(sample_weight, X, n)
        loss = as_loss(self.loss, REGRESSION)
        starts = self._starts(n, outputs) if getattr(self, "loss_", None) == loss else None
        self._resolve(X, None if sample_weight is None else weight)
        self.loss_ = loss
        self._flat = flat
        with stoppable(limits, self.on_interrupt == "keep") as stop, self._blas_threads(workers):
            watch = Watch(self, stop, given, y, sample_weight, outputs)
            matrix = self._gram(self.kernel_, X, workers)
            psd = self._psd(self.kernel_, matrix)
            kept = matrix.shared(self._cache_bytes() // 2) if outputs > 1 else matrix
            solutions: list[Solution] = []
            machines: list[Machine] = []
            for k in range(outputs):
                problem = self._problem(Y[:, k], weight)
                start = None if starts is None else problem.recover(starts[:, k])
                solution = self._minimise(kept, problem, stop, watch.listener(k), psd, start)
                solutions.append(solution)
                machines.append(problem.machine(solution.b, solution.f))
            self._store(X, machines)
            if self.trace:
                self.history_ = watch.history
        self.n_iter_ = max(1, sum(s.n_iter for s in solutions))
        self._conclude(
            combine([s.certificate(self.criterion, psd) for s in solutions]), stop.asked_by_callback
        )
        watch.end()
        return self

    def _store(self, X: Any, machines: list[Machine]) -> None:
        coef = np.stack([m.coef for m in machines])
        support = np.flatnonzero(np.abs(coef).max(axis=0))
        packed = np.ascontiguousarray(coef[:, support])
        self.support_ = support.astype(np.int32)
        self.dual_coef_: Any = packed
        if sp.issparse(X):  # as in scikit-learn, sparse data give sparse coefficients
            self.dual_coef_ = sp.csr_array(packed) if isinstance(X, sp.sparray) else sp.csr_matrix(packed)
        self.intercept_ = np.array([m.intercept for m in machines])
        self.support_vectors_ = self._kept(X, support)

    def _of_all_points(self, n: int) -> np.ndarray:
        """Return the coefficients of all points, a column for each output."""
        whole = np.zeros((n, self.intercept_.size))
        whole[self.support_] = self._coefficients.T
        return whole

    def _starts(self, n: int, outputs: int) -> np.ndarray | None:
        """Return the coefficients of the previous fit, if wanted and on as many rows and outputs."""
        same = self.warm_start and hasattr(self, "dual_coef_") and self.shape_fit_[0] == n
        return self._of_all_points(n) if same and self.intercept_.size == outputs else None

    # -- use ---------------------------------------------------------------------------------------------

    def _products(self, X: Any) -> np.ndarray:
        """Return K(X, support vectors) coef for checked data, a column for each output."""
        outputs = np.arange(self.intercept_.size)
        segment = Segment(0, self.support_.size, np.ascontiguousarray(self._coefficients.T), outputs)
        return cross_products(self.kernel_, X, self._reference(), [segment], outputs.size, self._workers())

    def predict(self, X: Any) -> np.ndarray:
        """Return f at new points.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,) or (n, n_outputs)
            Values.
        """
        check_is_fitted(self)
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        F = np.asarray(self._products(X) + self.intercept_)
        return F[:, 0] if self._flat else F

    def certify(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Certificate:
        """Recompute the certificate from nothing but the model and the training data, in float64.

        Parameters
        ----------
        X, y, sample_weight
            The data given to ``fit``.

        Returns
        -------
        Certificate
        """
        check_is_fitted(self)
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        n = self._fitted_length(X)
        Y, _ = self._targets(X, y)
        if Y.shape[1] != self.intercept_.size:
            raise ValueError(f"y has {Y.shape[1]} outputs; this model was fitted on {self.intercept_.size}")
        weight = self._check_weight(sample_weight, X, n)
        coef, F = self._of_all_points(n), self._products(X)
        parts = []
        for k, known in enumerate(self.certificate_.parts):
            values = self._problem(Y[:, k], weight).certify(coef[:, k], float(self.intercept_[k]), F[:, k])
            solution = Solution(coef[:, k], F[:, k], values, known.n_iter, known.status)  # type: ignore[arg-type]
            parts.append(solution.certificate(self.criterion, not math.isnan(self.certificate_.gap)))
        return combine(parts)
