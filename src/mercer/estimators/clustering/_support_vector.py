"""Clusters as the parts of a ball's contour."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClusterMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Float64
from mercer.estimators.fitting import Fitted
from mercer.estimators.machine import KernelMachine
from mercer.estimators.svm.ball import BaseBall
from mercer.kernels import Kernel
from mercer.kernels.data import is_sparse
from mercer.solvers.clustering.level_set import level_set_components, nearest_component
from mercer.values import keep_parameters

NOISE = -1


class SupportVectorClustering(ClusterMixin, BaseBall):
    r"""Clusters as the connected parts of the region that the smallest ball in feature space encloses.

    .. math::
        \min_{a, r} r^2 + C \sum_i w_i \max(0, \|\phi(x_i) - a\|^2 - r^2), \qquad C = 1 / (\nu W),
        \quad W = \sum_i w_i

    The points of the input space whose images lie in the ball form a region. Its connected components are the
    clusters: their number and shape come out of the data. A larger ``gamma`` of the Gaussian kernel makes the
    contour tighter and the clusters more; a larger ``nu`` leaves more points outside, as noise.

    Two points belong to one cluster if a chain of straight lines inside the region joins them. Lines between
    neighbours are looked at, at some points of each.

    Parameters
    ----------
    nu : float, default=0.1
        In [0, 1]: upper bound on the share of points outside the ball.
    n_neighbors : int, default=10
        Neighbours of each point to which lines are drawn.
    n_points : int, default=15
        Points of a line that must lie inside.
    outliers : {"noise", "nearest"}, default="noise"
        What points outside are: noise, with the label -1, or members of the nearest cluster.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The number of each point's cluster, largest cluster first; -1 for noise.
    n_clusters_ : int
        Clusters.
    cluster_points_, cluster_labels_ : ndarray
        The points inside, and their clusters: what new points are compared with.
    radius_ : float
        r.
    certificate_ : Certificate
        Of the ball: primal, dual, gap, KKT violation. Nothing is proved of the clusters.
    support_, support_vectors_, dual_coef_, center_squared_norm_, outside_fraction_, support_fraction_,
    offset_
        As in :class:`SVDD`.
    kernel_ : Kernel
        The kernel with its data-dependent parameters fixed.

    See Also
    --------
    KernelKMeans : A given number of clusters.
    SVDD : The ball itself.

    References
    ----------
    A. Ben-Hur, D. Horn, H. T. Siegelmann and V. Vapnik (2001), Support vector clustering, JMLR 2.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SupportVectorClustering
    >>> X = np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 0.1], [3.0, 3.0], [3.1, 3.0], [3.0, 3.1]])
    >>> SupportVectorClustering(nu=0.0, gamma=1.0).fit(X).n_clusters_
    2
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="both")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "n_points": [Interval(Integral, 1, None, closed="left")],
        "outliers": [StrOptions({"noise", "nearest"})],
    }
    _parameter_constraints.pop("fit_intercept")

    def __init__(
        self,
        *,
        nu: float = 0.1,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        n_neighbors: int = 10,
        n_points: int = 15,
        outliers: str = "noise",
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

    def _share(self) -> tuple[float | None, float | None]:
        return self.nu, None

    # -- fit ---------------------------------------------------------------------------------------------

    def _check_X(self, X: Any, *, kernel: Kernel, reset: bool) -> Any:  # noqa: N802
        if kernel.pairwise or not kernel.is_vector:
            raise ValueError(
                f"SupportVectorClustering draws lines between points, which must be vectors, and "
                f"kernel={self.kernel!r} compares other things: use KernelKMeans, or a kernel on vectors"
            )
        if is_sparse(X):
            raise TypeError("SupportVectorClustering does not support sparse data: pass X.toarray()")
        return super()._check_X(X, kernel=kernel, reset=reset)

    def _finish(self, fitted: Fitted) -> None:
        super()._finish(fitted)
        X = np.asarray(fitted.X, dtype=np.float64)
        inside = self._inside(X)
        found = level_set_components(
            X[inside], self._inside, n_neighbors=int(self.n_neighbors), n_points=int(self.n_points)
        )
        sizes = np.bincount(found)
        rank = np.argsort(np.argsort(-sizes, kind="stable"), kind="stable")
        self.cluster_points_, self.cluster_labels_ = X[inside], rank[found].astype(np.int32)
        self.n_clusters_ = int(sizes.size)
        self.labels_ = np.full(len(X), NOISE, dtype=np.int32)
        self.labels_[inside] = self.cluster_labels_
        if self.outliers == "nearest" and inside.any() and not inside.all():
            self.labels_[~inside] = self._labelled(X[~inside])

    def _inside(self, X: Float64) -> np.ndarray:
        """Return whether checked points lie in the ball, up to the tolerance of the fit."""
        squares = self._squares(X, self._diagonal(X, None))
        slack = self.tol * min(self._squared_radius, 1.0)
        return np.asarray(squares <= self._squared_radius + slack)

    def _labelled(self, X: Float64) -> np.ndarray:
        return nearest_component(
            X, self.cluster_points_, self.cluster_labels_, self._inside,
            n_neighbors=int(self.n_neighbors), n_points=int(self.n_points),
        )  # fmt: skip

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "clusterer"
        tags.input_tags.sparse = False
        return tags

    # -- use ---------------------------------------------------------------------------------------------

    def predict(self, X: Any, *, diag: ArrayLike | None = None) -> np.ndarray:
        """Return the clusters of new points.

        Parameters
        ----------
        X : array of shape (n, n_features)
            Points.
        diag : None
            Not used: kernels are computed here.

        Returns
        -------
        ndarray of shape (n,)
            Numbers of clusters: of the nearest training point that a line inside the region joins them to.
            Points outside are noise, -1, or members of the nearest cluster, as ``outliers`` says.
        """
        check_is_fitted(self)
        X = np.asarray(self._check_X(X, kernel=self.kernel_, reset=False), dtype=np.float64)
        inside = self._inside(X)
        asked = np.ones(len(X), dtype=bool) if self.outliers == "nearest" else inside
        labels = np.full(len(X), NOISE, dtype=np.int32)
        if asked.any() and len(self.cluster_points_):
            labels[asked] = self._labelled(X[asked])
        return labels

    def fit_predict(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> np.ndarray:
        """Fit, and return the clusters of the training points.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.

        Returns
        -------
        ndarray of shape (n,)
            Numbers of clusters, -1 for noise.
        """
        return np.asarray(self.fit(X, y, sample_weight).labels_)
