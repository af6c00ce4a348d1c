"""The one-class machine on features."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import OutlierMixin, _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.degenerate import DegenerateFitWarning
from mercer.estimators.linear._base import WeightMachine
from mercer.estimators.linear._weights import LinearOutputs
from mercer.estimators.user_warnings import warn_user
from mercer.problems.linear_plane import LinearPlane
from mercer.problems.losses import Hinge
from mercer.values import keep_parameters


class LinearOneClassSVM(OutlierMixin, WeightMachine):
    r"""Linear one-class SVM: the plane that separates the data from the origin with the largest margin.

    .. math::
        \min_{w, \rho} \tfrac12 \|w\|^2 - \nu W \rho + \sum_i w_i \max(0, \rho - \langle w, x_i \rangle),
        \qquad W = \sum_i w_i

    in time and memory linear in the rows: :class:`OneClassSVM` with the linear kernel. Behind
    :class:`RandomFeatures` or :class:`Nystroem` it detects novelties as a kernel machine does.

    Parameters
    ----------
    nu : float, default=0.5
        In (0, 1]: upper bound on the share of outliers, lower bound on the share of support vectors.
    max_iter : int, default=-1
        Most Newton steps; -1 for no limit.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights.
    offset_ : ndarray of shape (1,)
        rho: ``decision_function(X) = score_samples(X) - offset_``.
    intercept_ : ndarray of shape (1,)
        1 - rho: the bias of the problem as it is solved, with the margin 1.
    certificate_ : Certificate
        Primal, dual, gap, violation.
    dual_coef_ : sparse array of shape (1, n_samples)
        The multipliers that prove the gap.
    n_iter_ : int
        Steps of the solver.
    fit_status_, shape_fit_, history_
        As in :class:`mercer.OneClassSVM`.

    See Also
    --------
    OneClassSVM : The same with any kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import LinearOneClassSVM
    >>> X = np.random.default_rng(0).normal(size=(200, 2)) + 4
    >>> model = LinearOneClassSVM(nu=0.1).fit(X)
    >>> bool((model.decision_function(X) < -1e-6).mean() <= 0.1)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: WeightMachine._parameter_constraints[name]
            for name in (
                "tol", "max_iter", "verbose", "time_limit", "n_jobs", "warm_start", "on_interrupt", "trace"
            )
        },
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }  # fmt: skip

    solver = "auto"
    path = None  # type: ignore[assignment]  # there is no C

    def __init__(
        self,
        *,
        nu: float = 0.5,
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

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the detector.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features)
            Training data.
        y : None
            Ignored.
        sample_weight : array of shape (n_samples,), optional
            Non-negative; a weight of 2 equals the row twice.

        Returns
        -------
        self
        """
        self._fit(X, None, sample_weight)
        return self

    def _split(self, X: Any, y: Any, sample_weight: Any) -> LinearOutputs:
        n = self._length(X)
        split = LinearOutputs(np.ones((n, 1)), self._check_weight(sample_weight, X, n), True)
        split.loss = Hinge()
        return split

    def _problem(self, target: Any, weight: Any, matrix: Any) -> LinearPlane:
        return LinearPlane(matrix, weight, self.nu)

    def _keep(self, machines: list[Any], split: Any) -> None:
        self.offset_ = 1.0 - self.intercept_
        if not self.coef_.any():
            warn_user(
                f"the origin lies inside the reduced convex hull of the points at nu={self.nu:g}: the "
                "optimum is w = 0 and no plane separates the data from the origin. Map the rows to features "
                "of a kernel with positive values first (RandomFeatures, Nystroem)",
                DegenerateFitWarning,
            )

    def score_samples(self, X: Any) -> np.ndarray:
        """Return <w, x>.

        Parameters
        ----------
        X : {array, CSR} of shape (n, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n,)
            Larger is more normal; ``offset_`` is the threshold.
        """
        check_is_fitted(self)
        return np.asarray(self._values(X)[:, 0] - self.intercept_[0])

    def decision_function(self, X: Any) -> np.ndarray:
        """Return ``score_samples(X) - offset_``: not negative inside.

        Parameters
        ----------
        X : {array, CSR} of shape (n, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n,)
            Values.
        """
        return np.asarray(self.score_samples(X) - self.offset_[0])

    def predict(self, X: Any) -> np.ndarray:
        """Return +1 for points inside, -1 for novelties.

        Parameters
        ----------
        X : {array, CSR} of shape (n, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n,)
            Of +1 and -1.
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)
