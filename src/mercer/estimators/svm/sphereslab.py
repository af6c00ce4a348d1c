"""A ball intersected with a thin slab."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.fitting import Fitted
from mercer.estimators.machine import KernelMachine
from mercer.estimators.svm.ball import BaseBall
from mercer.gram import Segment, Workers, cross_products
from mercer.problems.slab import residuals, thinnest_slab
from mercer.solvers.linear_algebra.principal_axes import principal_axes


class SphereAndSlab(BaseBall):
    r"""The ball around most of the data, cut down to a thin slab around its first principal axes.

    .. math::
        \{x : \|\phi(x) - a\|^2 \le r^2\} \cap \{x : \|(I - P)(\phi(x) - \mu)\|^2 \le s^2\}

    (a, r) is the ball of :class:`SVDD` with nu / 2, P the projection on the first k principal axes of the
    data in feature space, mu their mean, and s the least width for which at most a share nu / 2 of the
    weight lies outside the slab. Together they leave out at most a share nu. Where data fill a subspace
    only, a ball overestimates their support in all other directions; the slab does not.

    Parameters
    ----------
    nu : float, default=0.1
        In [0, 1]: upper bound on the share of points outside; half of it for the ball, half for the slab.
    n_components : int, default=2
        k, the number of principal axes that the slab follows; fewer where the data span fewer.
    kernel : str, Kernel or callable, default="rbf"
        A name, a :class:`mercer.kernels.Kernel`, a function of two data sets that returns the kernel matrix,
        or "precomputed".
    degree, gamma, coef0
        Parameters of the kernels given by name, as in scikit-learn. ``gamma="scale"`` uses the weighted
        variance when sample weights are given.
    tol : float, default=1e-3
        Largest KKT violation (``criterion="kkt"``), in units of the squared radius where that is below one,
        or relative gap (``"gap"``) at which to stop. The hard ball is solved a thousand times finer.
    shrinking : bool, default=True
        Accepted for compatibility; working sets make a separate shrinking step needless.
    cache_size : float, default=200
        Memory for kernel values, in MB.
    verbose : bool or int, default=False
        Print where the solver stands, twice a second at most (2: after every round), and the verdict.
    max_iter : int, default=-1
        Most steps of the solver; -1 for no limit.
    solver : str or mercer.solvers.Solver, default="auto"
        How the problem is solved. "auto" chooses; the other names, those of ``mercer.solvers.SOLVERS``, are
        there to be studied and compared. A solver object brings its options, such as
        ``mercer.solvers.Ascent(omega=1.5)``. What a solver cannot solve it refuses, and says why.
    criterion : {"kkt", "gap", "growth"}, default="kkt"
        What ``tol`` measures: the largest KKT violation, the relative gap, or the relative growth of the dual
        in a round (which proves nothing; the certificate tells the true gap all the same).
    time_limit : float, optional
        Seconds after which to stop with the best machine so far.
    n_jobs : int, optional
        Threads; None for all cores (one inside joblib workers).
    precision : {"auto", "single", "double"}, default="auto"
        Precision of kernel values. Sums, gradients and the certificate are always float64.
    warm_start : bool, default=False
        Start from the previous fit on the same rows.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C during ``fit`` does: raise, or keep the machine so far.
    trace : bool, default=False
        Record ``history_``, which :func:`mercer.plots.convergence` draws. scikit-learn's ``set_callbacks``,
        where the installed version has it, is called after each round, too.

    Attributes
    ----------
    radius_, center_squared_norm_, slack_sum_, dual_coef_, support_, support_vectors_, n_support_
        The ball, as in :class:`SVDD`.
    width_ : float
        s, half the thickness of the slab.
    n_components_ : int
        Number of axes used.
    explained_variance_ : array of shape (n_components,)
        Variance of the data along each axis.
    offset_ : float
        0: ``decision_function`` is the lesser of r^2 - distance^2 and s^2 - residual^2.
    outside_fraction_ : float
        Share of the weight outside the ball; at most nu / 2.
    support_fraction_ : float
        Share of the weight on support vectors of the ball.
    certificate_ : Certificate
        Primal, dual, gap, KKT violation of the ball; the slab has a closed form.
    n_iter_, fit_status_, shape_fit_
        As in scikit-learn's OneClassSVM.
    kernel_ : Kernel
        The kernel with its data-dependent parameters fixed.
    history_ : list of dict
        With ``trace=True``, a line per round of the solver: ``n_iter``, ``seconds``, ``dual``, ``primal``,
        ``gap``, ``kkt_violation``, ``margin``, ``n_support`` and ``kernel_evaluations``.

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Remark 7.15.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SphereAndSlab
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 1)) * [3.0, 1.0] + 0.01 * rng.standard_normal((200, 2))
    >>> model = SphereAndSlab(n_components=1, kernel="linear").fit(X)
    >>> model.predict([[3.0, 1.0], [0.0, 1.0]])  # along the axis, and off it
    array([ 1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="both")],
        "n_components": [Interval(Integral, 1, None, closed="left")],
    }
    _parameter_constraints.pop("fit_intercept")

    def __init__(
        self,
        *,
        nu: float = 0.1,
        n_components: int = 2,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        verbose: Any = False,
        max_iter: int = -1,
        solver: Any = "auto",
        criterion: str = "kkt",
        time_limit: float | None = None,
        n_jobs: int | None = None,
        precision: str = "auto",
        warm_start: bool = False,
        on_interrupt: str = "raise",
        trace: bool = False,
    ) -> None:
        self.nu = nu
        self.n_components = n_components
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.solver = solver
        self.criterion = criterion
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.precision = precision
        self.warm_start = warm_start
        self.on_interrupt = on_interrupt
        self.trace = trace

    _predicts_in_rounds = False  # the slab comes after the ball

    def _share(self) -> tuple[float | None, float | None]:
        return 0.5 * self.nu, None

    def _finish(self, fitted: Fitted) -> None:
        super()._finish(fitted)
        weight = fitted.split.weight
        there = np.flatnonzero(weight > 0)
        p = weight[there] / weight.sum()
        # The threads work on tiles of their own here, so the matrix has none.
        alone = fitted.matrix.exact().subset(there, Workers(1))
        axes = principal_axes(alone, p, self.n_components, self._workers(), self._cache_bytes())
        slab = thinnest_slab(axes.products, alone.diag(), p, 0.5 * self.nu)
        self._slab_coef = axes.coef
        self._slab_points = there if self._pairwise_kernel else self.kernel_.take(fitted.X, there)
        self._slab_offsets, self._mean_squared_norm = slab.offsets, slab.mean_norm
        self._squared_width = slab.squared_width
        self.width_ = math.sqrt(slab.squared_width)
        self.n_components_ = axes.variances.size
        self.explained_variance_ = axes.variances

    def residual(self, X: Any, *, diag: ArrayLike | None = None) -> np.ndarray:
        """Return the distances from the plane of the first principal axes in feature space.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        diag : array of shape (n,), optional
            k(x, x), for a precomputed kernel only.

        Returns
        -------
        ndarray of shape (n,)
            ||(I - P)(phi(x) - mu)||.
        """
        check_is_fitted(self)
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        return np.asarray(np.sqrt(self._squared_residuals(X, self._diagonal(X, diag))))

    def _squared_residuals(self, X: Any, diag: np.ndarray) -> np.ndarray:
        outputs = self._slab_coef.shape[1]
        segment = Segment(0, self._slab_coef.shape[0], self._slab_coef, np.arange(outputs))
        F = cross_products(self.kernel_, X, self._slab_points, [segment], outputs, self._workers())
        return residuals(F, diag, self._slab_offsets, self._mean_squared_norm)

    def score_samples(self, X: Any, *, diag: ArrayLike | None = None) -> np.ndarray:
        """Return the lesser of r^2 - distance^2 from the centre and s^2 - distance^2 from the plane.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        diag : array of shape (n,), optional
            k(x, x), for a precomputed kernel only.

        Returns
        -------
        ndarray of shape (n,)
            Not negative inside.
        """
        check_is_fitted(self)
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        values = self._diagonal(X, diag)
        inside = self._squared_radius - self._squares(X, values)
        return np.minimum(inside, self._squared_width - self._squared_residuals(X, values))

    def _threshold(self) -> float:
        return 0.0
