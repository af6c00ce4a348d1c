"""The support vector machine that ranks."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.expansion import FunctionsMixin
from mercer.estimators.fitting import Fit, Solved
from mercer.estimators.machine import KernelMachine, ProblemMachine
from mercer.estimators.ranking._metrics import pair_accuracy
from mercer.estimators.ranking._queries import Queries, checked_grades, numbered_queries
from mercer.gram import Gram
from mercer.problems import Certificate
from mercer.problems.pair_ranking import PairRanking, QueryPairs, RankMachine
from mercer.values import keep_parameters


class RankSVM(FunctionsMixin, ProblemMachine):
    r"""Support vector machine that puts the items of each query in order.

    .. math::
        \min_w \tfrac12 \|w\|^2 + C \sum_{(i, j)} w_i w_j \,
        L(\langle w, \phi(x_i) \rangle - \langle w, \phi(x_j) \rangle)

    over all pairs of items of one query with :math:`y_i > y_j`, L(m) = max(0, 1 - m) or its square. The
    pairs are never listed: losses, slopes and curvatures are sums over sorted values, O(n log n) for n
    items. ``predict`` returns the function, whose order is the ranking; there is no bias, which would not
    change it. The certificate proves how far the function is from the best one of all.

    Parameters
    ----------
    C : float, default=1.0
        Price of a unit of a pair's loss. Queries with many items have many pairs.
    kernel : str, Kernel or callable, default="linear"
        The kernel. A linear one takes time and memory linear in the items, up to the logarithm; others keep
        the kernel matrix, for some thousand items.
    loss : {"hinge", "squared_hinge"}, default="squared_hinge"
        The loss. The plain hinge takes more steps.
    tol : float, default=1e-3
        Relative duality gap at which to stop.
    solver : {"auto", "pair_newton"} or mercer.solvers.Solver, default="auto"
        How the problem is solved.
    max_iter : int, default=-1
        Most Newton steps; -1 for no limit.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (1, n_SV)
        Coefficients of the items that have a pair to lose.
    coef_ : ndarray of shape (1, n_features)
        Weights, for the linear kernel.
    smoothing_ : float
        The width over which the proof rounds off the plain hinge.
    certificate_ : Certificate
        Primal, dual, gap, KKT violation.
    support_, support_vectors_, n_support_, intercept_, n_iter_, fit_status_, shape_fit_, kernel_, history_
        As in :class:`SVR`; ``intercept_`` is 0.

    See Also
    --------
    OrdinalSVC : Classes with an order that is the same for all rows.
    mercer.ranking : Measures of rankings.

    References
    ----------
    T. Joachims (2002), Optimizing search engines using clickthrough data, KDD. C.-P. Lee and C.-J. Lin
    (2014), Large-scale linear RankSVM, Neural Computation 26.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RankSVM
    >>> rng = np.random.default_rng(0)
    >>> X, query = rng.normal(size=(200, 3)), np.repeat(np.arange(20), 10)
    >>> y = X @ [2.0, 1.0, 0.0] + 5.0 * query  # grades are compared within queries only
    >>> model = RankSVM().fit(X, y, group=query)
    >>> bool(model.score(X, y, group=query) > 0.99)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: KernelMachine._parameter_constraints[name]
            for name in (
                "kernel", "degree", "gamma", "coef0", "tol", "cache_size", "max_iter", "verbose", "solver",
                "time_limit", "n_jobs", "warm_start", "on_interrupt", "trace"
            )
        },
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
    }  # fmt: skip

    criterion = "gap"  # at a kink every slope is right, and only the gap says how good a function is
    precision = "double"
    _definite_first = True
    _group: Any = None  # of the call to fit or certify that is under way

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "linear",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        loss: str = "squared_hinge",
        tol: float = 1e-3,
        cache_size: float = 200,
        max_iter: int = -1,
        solver: Any = "auto",
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
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        group: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn to order items.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features), (n_samples, n_samples) or a sequence
            Items: whatever the kernel takes; the kernel matrix for ``kernel="precomputed"``.
        y : array of shape (n_samples,)
            Their grades: larger ones stand first. Only grades within one query are compared.
        group : array of shape (n_samples,), optional
            The query of each item, as numbers or names in any order; without it all are one query.
        sample_weight : array of shape (n_samples,), optional
            Non-negative; a pair has the product of its items' weights, so that 2 equals the item twice.

        Returns
        -------
        self
        """
        self._group = group
        try:
            self._fit(X, y, sample_weight)
        finally:
            del self._group
        return self

    def certify(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        group: ArrayLike | None = None,
    ) -> Certificate:
        """Recompute the certificate from nothing but the model and the training data, in float64.

        Parameters
        ----------
        X, y, sample_weight, group
            The data given to ``fit``.

        Returns
        -------
        Certificate
        """
        self._group = group
        try:
            return super().certify(X, y, sample_weight)
        finally:
            del self._group

    def _split(self, X: Any, y: Any, sample_weight: Any) -> Queries:
        name = type(self).__name__
        grades = checked_grades(y, name)
        self._check_lengths(X, grades)
        n = grades.size
        base = self._check_weight(sample_weight, X, n)
        pairs = QueryPairs(grades, numbered_queries(self._group, n))
        if not pairs.weight_of_pairs(base, self._workers()).any():
            raise ValueError(
                f"{name}: no query has two items of different y with a weight, and there is nothing to order "
                f"(n_samples={n}, {pairs.counts.size} queries)"
            )
        return Queries(pairs, base)

    def _problem(self, target: QueryPairs, weight: Any, matrix: Gram) -> PairRanking:
        squared = self.loss == "squared_hinge"
        return PairRanking(matrix, target, self.C, weight, squared=squared, workers=self._workers())

    def _shipped(self, number: int, coef: np.ndarray, products: np.ndarray) -> RankMachine:
        return RankMachine(coef, 0.0, products, float(self.smoothing_))

    def _solve(self, fit: Fit, matrix: Gram) -> list[Solved]:
        return fit.solve(matrix)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    # -- use ---------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> np.ndarray:
        """Return the function that orders items: the larger, the nearer to the top of its query.

        Parameters
        ----------
        X : array, CSR or sequence
            Items.

        Returns
        -------
        ndarray of shape (n,)
            Values; only differences between items of one query mean anything.
        """
        check_is_fitted(self)
        return np.asarray(self._values(X)[:, 0])

    def score(
        self,
        X: Any,
        y: ArrayLike,
        group: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the share of pairs in the right order, the mean over queries.

        Parameters
        ----------
        X : array, CSR or sequence
            Items.
        y : array of shape (n,)
            Their grades.
        group : array of shape (n,), optional
            Their queries.
        sample_weight : array of shape (n,), optional
            Weights of the items; a pair has their product.

        Returns
        -------
        float
            :func:`mercer.ranking.pair_accuracy`: 1 for the perfect order, about 0.5 for a random one.
        """
        return pair_accuracy(y, self.predict(X), group, sample_weight)
