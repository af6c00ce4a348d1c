"""K-means in feature space."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Float64
from mercer.estimators.diagonal import computed_diagonal, given_diagonal
from mercer.estimators.expansion import FunctionsMixin
from mercer.estimators.machine import KernelMachine, ProblemMachine
from mercer.estimators.splits import Part, Split, keep_expansion
from mercer.estimators.user_warnings import warn_user
from mercer.gram import Gram, Workers
from mercer.kernels import Kernel
from mercer.kernels.data import content_ranks
from mercer.problems.partition import KernelPartition, PartitionMachine
from mercer.solvers.clustering.leading_sum import leading_sum
from mercer.solvers.clustering.lloyd import Lloyd
from mercer.values import keep_parameters


class Clusters(Split):
    """Points that are to be divided.

    Parameters
    ----------
    base : (n,) float64
        Sample weights.
    """

    def __init__(self, base: Float64) -> None:
        self.base = self.weight = base
        self.tasks = [Part(np.arange(base.size), None)]

    def starts(self, model: Any) -> list[Any] | None:
        """Return the means of the previous fit, where it had as many points and clusters."""
        known = hasattr(model, "dual_coef_") and model.shape_fit_[0] == self.n
        if not known or model._coefficients.shape[0] != model.n_clusters:
            return None
        return [self.unpack(model, 0)]

    def pack(self, model: Any, X: Any, machines: list[Any]) -> None:
        """Store the means: points, and their parts."""
        (machine,) = machines
        keep_expansion(model, X, np.flatnonzero(machine.coef.any(axis=1)), machine.coef.T)
        model.intercept_ = np.zeros(machine.coef.shape[1])
        model._norms = machine.squared_norms
        model._occupied = machine.coef.any(axis=0)

    def unpack(self, model: Any, k: int) -> Float64:
        """Return the parts of all points in the means."""
        coef = np.zeros((self.n, model._coefficients.shape[0]))
        coef[model.support_] = model._coefficients.T
        return coef

    def outputs(self, F: Float64, k: int) -> Float64:
        """Return the inner products with all means."""
        return F


class KernelKMeans(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, FunctionsMixin, ProblemMachine
):
    r"""K-means in feature space: clusters whose points are near their mean.

    .. math::
        \min_c \sum_i w_i \|\phi(x_i) - \mu_{c(i)}\|^2, \qquad
        \mu_j = \sum_{i : c(i) = j} w_i \phi(x_i) \Bigl/ \sum_{i : c(i) = j} w_i

    With the linear kernel this is k-means. The problem is not convex: a fit ends where no reassignment of
    points helps, with status "stationary". What no partition can be below, the trace of the (weighted) kernel
    matrix less its ``n_clusters`` largest eigenvalues, is the certificate's ``dual``: if the gap is small,
    there is no better partition.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters.
    init : {"k-means++", "random"} or array of shape (n_clusters,), default="k-means++"
        The first means: points far from each other, points at random, or the rows with these numbers.
    n_init : int, default=5
        Starts, of which the best result is kept; an array as ``init`` is one start.
    max_iter : int, default=300
        Most assignments of all points from one start.
    tol : float, default=0.0
        Share of the objective that a reassignment must gain: 0 goes on until nothing changes.
    random_state : int, RandomState or None, default=None
        Draws the starts, from the distinct points and their weights: a weight of 2 is the row twice, and the
        order of the rows does not matter. In a precomputed matrix, and for objects other than strings, every
        row is a point.
    time_limit : float, optional
        Seconds after which to stop with the best partition so far.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The number of each point's cluster.
    inertia_ : float
        The objective.
    certificate_ : Certificate
        ``primal`` is the objective, ``dual`` what no partition is below.
    support_, support_vectors_ : ndarray
        The points that have a weight, and their numbers.
    dual_coef_ : ndarray of shape (n_clusters, n_samples with a weight)
        Their parts in the means.
    n_iter_ : int
        Assignments, over all starts.
    kernel_ : Kernel
        The kernel with its data-dependent parameters fixed.
    n_features_in_, feature_names_in_, shape_fit_, fit_status_, history_
        As in :class:`SVC`.

    See Also
    --------
    SupportVectorClustering : Clusters of any shape, their number found.
    KernelPCA : Directions of large variance.

    References
    ----------
    I. S. Dhillon, Y. Guan and B. Kulis (2004), Kernel k-means, spectral clustering and normalized cuts, KDD.
    D. Arthur and S. Vassilvitskii (2007), k-means++: the advantages of careful seeding, SODA.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelKMeans
    >>> X = np.array([[0.0], [0.2], [5.0], [5.1]])
    >>> model = KernelKMeans(2, kernel="linear", random_state=0).fit(X)
    >>> bool(model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3])
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: KernelMachine._parameter_constraints[name]
            for name in (
                "kernel", "degree", "gamma", "coef0", "cache_size", "verbose", "time_limit", "n_jobs",
                "precision", "warm_start", "on_interrupt", "trace",
            )
        },
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"k-means++", "random"}), "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "random_state": ["random_state"],
    }  # fmt: skip

    criterion = "gap"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        init: Any = "k-means++",
        n_init: int = 5,
        max_iter: int = 300,
        tol: float = 0.0,
        random_state: Any = None,
        cache_size: float = 200,
        precision: str = "auto",
        time_limit: float | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        on_interrupt: str = "raise",
        trace: bool = False,
        verbose: Any = False,
    ) -> None:
        keep_parameters(self, locals())

    # -- fit ---------------------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Divide the points into clusters.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features), (n_samples, n_samples) or a sequence
            Training data: whatever the kernel takes; the kernel matrix for ``kernel="precomputed"``.
        y : None
            Ignored.
        sample_weight : array of shape (n_samples,), optional
            Non-negative weights.

        Returns
        -------
        self
        """
        self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        try:
            self._fit(X, None, sample_weight)
        finally:
            self.__dict__.pop("_ranks", None)
        found = int(np.count_nonzero(self._occupied))
        if found < self.n_clusters and self.certificate_.status == "stationary":
            warn_user(
                f"KernelKMeans found {found} clusters, fewer than n_clusters={self.n_clusters}: there are no "
                "more different points",
                ConvergenceWarning,
            )
        return self

    @property
    def solver(self) -> Lloyd:
        """Lloyd's iteration, with this estimator's starts."""
        named = isinstance(self.init, str)
        return Lloyd(
            init=self.init if named else np.asarray(self.init),
            n_init=int(self.n_init) if named else 1,
            sweeps=int(self.max_iter),
            seed=getattr(self, "_seed", 0),
            ranks=getattr(self, "_ranks", None),
        )

    def _split(self, X: Any, y: Any, sample_weight: Any) -> Clusters:
        n = self._length(X)
        if n < self.n_clusters:
            raise ValueError(f"n_samples={n} should be >= n_clusters={self.n_clusters}.")
        if not isinstance(self.init, str):
            rows = np.asarray(self.init)
            if (
                rows.shape != (self.n_clusters,)
                or rows.dtype.kind not in "iu"
                or not (rows.min() >= 0 and rows.max() < n)
            ):
                raise ValueError(
                    f"init must name {self.n_clusters} rows from 0 to {n - 1}; it has shape {rows.shape} and "
                    f"type {rows.dtype}"
                )
        return Clusters(self._check_weight(sample_weight, X, n))

    def _matrix(self, kernel: Kernel, X: Any, split: Any, workers: Workers) -> Gram:
        # A kernel matrix does not tell which rows are the same point.
        self._ranks = None if kernel.pairwise else content_ranks(X)
        return self._gram(kernel, X, workers, double=True)

    def _problem(self, target: Any, weight: Float64, matrix: Gram) -> KernelPartition:
        # The matrix brings its own threads to its tiles.
        return KernelPartition(
            matrix.diag(), weight, int(self.n_clusters),
            partial(leading_sum, matrix, weight, int(self.n_clusters), Workers(1)),
        )  # fmt: skip

    def _stated(self, target: Any, weight: Any, matrix: Any, beside: Any = None) -> KernelPartition:
        return self._problem(target, weight, matrix)

    def _shipped(self, number: int, coef: Float64, products: Float64) -> PartitionMachine:
        return PartitionMachine(coef, self.intercept_, products)

    def _keep(self, machines: list[Any], split: Any) -> None:
        (machine,) = machines
        squares = machine.squared_norms - 2.0 * machine.products
        squares[:, ~self._occupied] = np.inf
        own, there = machine.coef.argmax(axis=1), machine.coef.any(axis=1)
        self.labels_ = np.where(there, own, squares.argmin(axis=1)).astype(np.int32)
        self._n_features_out = machine.coef.shape[1]

    def _keep_history(self, history: list[Any]) -> None:
        super()._keep_history(history[0])

    def _conclude(self, certificate: Any, keep: bool = False, notes: Any = ()) -> None:
        self.inertia_ = float(certificate.primal)
        super()._conclude(certificate, keep, notes)

    # -- use ---------------------------------------------------------------------------------------------

    def _relative_squares(self, X: Any) -> Float64:
        """Return squared distances from the means, less k(x, x), of checked data."""
        squares = self._norms - 2.0 * self._products(X)
        squares[:, ~self._occupied] = np.inf
        return np.asarray(squares)

    def predict(self, X: Any) -> np.ndarray:
        """Return the clusters of new points: those of the nearest mean.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,)
            Numbers of clusters.
        """
        check_is_fitted(self)
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        return np.asarray(self._relative_squares(X).argmin(axis=1), dtype=np.int32)

    def transform(self, X: Any, *, diag: ArrayLike | None = None) -> np.ndarray:
        """Return the distances of points from the means, in feature space.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        diag : array of shape (n,), optional
            k(x, x), for a precomputed kernel only.

        Returns
        -------
        ndarray of shape (n, n_clusters)
            Distances; those from an empty cluster are just beyond the largest other one of the row.
        """
        check_is_fitted(self)
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        n = self._length(X)
        if not self._pairwise_kernel:
            own = computed_diagonal(self.kernel_, X, n, diag)
        elif diag is None:
            raise ValueError(
                "distances need k(x, x) of the points: pass it as diag= beside the kernel matrix"
            )
        else:
            own = given_diagonal(diag, n)
        squares = np.maximum(own[:, None] + self._relative_squares(X), 0.0)
        found = np.sqrt(squares)
        empty = np.isinf(squares)
        if empty.any():
            farthest = np.where(empty, 0.0, found).max(axis=1, keepdims=True)
            found = np.where(empty, np.nextafter(farthest, np.inf), found)
        return np.asarray(found)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> np.ndarray:
        """Fit, and return the distances of the training points from the means.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.

        Returns
        -------
        ndarray of shape (n, n_clusters)
            Distances.
        """
        self.fit(X, y, sample_weight)
        return self.transform(X, diag=np.diagonal(X) if self._pairwise_kernel else None)

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return minus the sum of squared distances from the nearest means.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        y : None
            Ignored.
        sample_weight : array of shape (n,), optional
            Weights.

        Returns
        -------
        float
            Larger is better.
        """
        squares = self.transform(X, diag=np.diagonal(X) if self._pairwise_kernel else None).min(axis=1) ** 2
        return -float(self._check_weight(sample_weight, X, squares.size) @ squares)
