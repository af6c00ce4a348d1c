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
from mercer.values import keep_parameters


class SphereAndSlab(BaseBall):
    r"""Novelty detection by a ball around most of the data, intersected with a slab around its main axes.

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
        keep_parameters(self, locals())

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
