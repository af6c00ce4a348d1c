"""``partial_fit`` and ``forget`` of machines that keep their training rows."""

from __future__ import annotations

import functools
from collections.abc import Callable
from numbers import Integral
from types import MethodType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Index
from mercer.estimators.fitting import Fit, Fitted, Solved, fit_machine, keep_machines, proof, working
from mercer.estimators.probability import wants_probabilities
from mercer.estimators.splits import Split
from mercer.estimators.updating.live import Live
from mercer.estimators.updating.rows import Rows
from mercer.estimators.verdict import check_finite_model
from mercer.gram.base import MatrixGram
from mercer.kernels.data import size, take
from mercer.solvers import Limits, Solution
from mercer.solvers.base import Reached

UPDATES: dict[str, list[Any]] = {
    "updatable": ["boolean"],
    "window": [Interval(Integral, 1, None, closed="left"), None],
}
KEPT = ("X_fit_", "y_fit_", "sample_weight_fit_")


class kept_rows_only:  # noqa: N801  a decorator
    """A method of models that keep their training rows: others do not have it, and say why.

    Parameters
    ----------
    method : callable
        The method.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method
        functools.update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        """Return the method, bound to a model that keeps its rows."""
        if model is None:
            return self.method
        if not getattr(model, "updatable", False):
            raise AttributeError(
                f"{type(model).__name__}.{self.method.__name__} needs updatable=True, which keeps the "
                "training rows: set it and fit again"
            )
        return MethodType(self.method, model)


def _latest(values: Any, n: int, window: int) -> Any:
    """Return the last of n entries, in the same kind of container; numbers and None as they are."""
    if values is None or isinstance(values, int | float):
        return values
    last = np.arange(n - window, n)
    return values.iloc[last] if hasattr(values, "iloc") else take(values, last)


def row_numbers(rows: Any, n: int) -> Index:
    """Return checked numbers of rows, in order, each once; negative ones count from the end.

    Parameters
    ----------
    rows : int, slice, array of int or mask
        Positions in order of arrival.
    n : int
        How many rows there are.
    """
    if isinstance(rows, slice):
        return np.arange(n)[rows]
    given = np.atleast_1d(np.asarray(rows))
    if given.dtype == bool:
        if given.shape != (n,):
            raise ValueError(f"rows is a mask of shape {given.shape}; this model has {n} rows")
        return np.flatnonzero(given)
    if given.size == 0:
        return np.zeros(0, dtype=np.intp)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise TypeError(f"rows={rows!r} must be whole numbers, a slice or a mask")
    if given.min() < -n or given.max() >= n:
        bad = given[(given < -n) | (given >= n)][0]
        raise IndexError(f"rows has {bad}, but this model has {n} rows, numbered from 0 in order of arrival")
    return np.unique(np.where(given < 0, given + n, given)).astype(np.intp)


class UpdateMixin:
    """Exact updates: one more row, one row less.

    After each step the model is the one that ``fit`` would find on the rows that are left, with the kernel
    parameters and class weights of the first call: ``gamma="scale"``, ``class_weight="balanced"`` and
    everything else that is computed from the data are frozen then.

    Parameters
    ----------
    updatable : bool, default=False
        Whether to keep all training rows, in model files as well, so that ``partial_fit`` adds rows and
        ``forget`` removes them exactly. Parameters that are computed from the data (``gamma="scale"``,
        ``class_weight="balanced"``) are frozen at the first call.
    window : int, optional
        With ``updatable=True``, the most rows to keep: the oldest are forgotten when more arrive.
    """

    kernel_: Any
    certificate_: Any
    _live: Any = None
    _reads_target: ClassVar[bool] = True

    # -- what fit keeps --------------------------------------------------------------------------------------

    def _last_rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """Return the latest rows that a window holds."""
        window = getattr(self, "window", None)
        if window is None or not (hasattr(X, "shape") or hasattr(X, "__len__")) or size(X) <= window:
            return X, y, sample_weight
        n = size(X)
        return _latest(X, n, window), _latest(y, n, window), _latest(sample_weight, n, window)

    def _fit_rows(self, X: Any, y: Any, sample_weight: Any) -> Fitted:
        """Run the one fit on the latest rows, and keep them."""
        this: Any = self
        this._check_updatable(X)
        X, y, sample_weight = self._last_rows(X, y, sample_weight)
        fitted = fit_machine(self, X, y, sample_weight)
        self._keep_rows(fitted.X, y, fitted.split.base, X)
        return fitted

    def _check_updatable(self, X: Any = None) -> None:
        """Refuse what cannot be updated."""
        this: Any = self
        if not this.updatable:
            if this.window is not None:
                raise ValueError(f"window={this.window} needs updatable=True")
            return
        if getattr(this, "approximation", None) is not None:
            raise ValueError(
                "updatable=True needs approximation=None: features are chosen once, from all rows"
            )
        if getattr(this, "_joint", False):
            raise ValueError("updatable=True does not support multiclass='joint': use 'ovo' or 'ovr'")
        if this._kernel().pairwise:
            raise ValueError(
                "updatable=True needs a kernel that can be evaluated at new rows; kernel='precomputed' cannot"
            )
        wanted = getattr(this, "parametric", None)
        if isinstance(wanted, str) and wanted == "auto":
            wanted = this._kernel().trend_on(int(X.shape[1])) if getattr(X, "ndim", 1) == 2 else None
        if wanted is not None:
            raise ValueError(
                "updatable=True needs parametric=None: columns beside the kernel have no exact updates"
            )

    def _keep_rows(self, X: Any, y: Any, weight: Any, given: Any) -> None:
        """Store copies of the training rows."""
        self._drop_rows()
        if X is given:
            X = take(X, np.arange(size(X)))
        target = self._kept_targets(y) if self._reads_target else None
        self._set_rows(Rows(X, target, np.array(weight, dtype=np.float64)))

    @staticmethod
    def _kept_targets(y: Any) -> np.ndarray:
        """Return a copy of the targets, one for each row."""
        return np.array(y).reshape(-1)

    def _drop_rows(self) -> None:
        """Remove what an earlier fit has kept."""
        for name in (*KEPT, "_live"):
            self.__dict__.pop(name, None)

    def _set_rows(self, rows: Rows) -> None:
        self.X_fit_, self.sample_weight_fit_ = rows.X, rows.weight
        if rows.y is not None:
            self.y_fit_ = rows.y

    def _rows_kept(self) -> Rows:
        if not hasattr(self, "X_fit_"):
            raise ValueError(
                f"this {type(self).__name__} was fitted without updatable=True, so its training rows are not "
                "kept: fit it again"
            )
        return Rows(self.X_fit_, getattr(self, "y_fit_", None), self.sample_weight_fit_)

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        # What is live follows from the model and its rows.
        return {name: value for name, value in state.items() if name != "_live"}

    # -- what users call -------------------------------------------------------------------------------------

    @kept_rows_only
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn more rows, exactly: the result is that of ``fit`` on all rows so far.

        The first call is ``fit``. Kernel parameters and class weights are those of the first call.

        Parameters
        ----------
        X : array, CSR or sequence
            New rows.
        y : array of shape (n_samples,), optional
            Their targets.
        sample_weight : array of shape (n_samples,), optional
            Their weights.

        Returns
        -------
        self
        """
        this: Any = self
        if not hasattr(self, "certificate_"):
            return this.fit(X, y, sample_weight)  # type: ignore[no-any-return]
        rows = self._rows_kept()
        this._check_updatable()
        checked = this._check_X(X, kernel=self.kernel_, reset=False)
        target = self._more_targets(checked, y)
        weight = self._more_weights(rows, checked, sample_weight)
        self._update(rows, Rows(checked, target, weight), np.zeros(0, dtype=np.intp))
        return self

    @kept_rows_only
    def forget(self, rows: Any) -> Self:
        """Remove training rows, exactly: the result is that of ``fit`` on the rows that are left.

        Nothing of the rows remains in the model or in files that are saved from it.

        Parameters
        ----------
        rows : int, slice, array of int or mask
            Their positions in order of arrival, before the call; negative ones count from the end.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        kept = self._rows_kept()
        gone = row_numbers(rows, kept.n)
        if gone.size == kept.n:
            raise ValueError(f"rows names all {kept.n} rows: nothing would be left to fit")
        if gone.size:
            self._update(kept, None, gone)
        return self

    # -- one update ------------------------------------------------------------------------------------------

    def _more_targets(self, X: Any, y: Any) -> Any:
        """Return the checked targets of new rows."""
        this: Any = self
        if not self._reads_target:
            return None
        if y is None:
            raise ValueError(
                f"{type(self).__name__}.partial_fit requires y to be passed, but the target y is None"
            )
        return np.asarray(this._checked_targets(X, y))

    def _more_weights(self, rows: Rows, X: Any, sample_weight: Any) -> Any:
        """Return the checked weights of new rows, which may all be zero beside rows that have some."""
        this: Any = self
        n = size(X)
        if sample_weight is None:
            return np.ones(n)
        given = np.full(n, sample_weight) if np.ndim(sample_weight) == 0 else np.asarray(sample_weight)
        if given.shape != (n,):
            raise ValueError(f"sample_weight has shape {given.shape}; for {n} rows it must be ({n},)")
        return this._check_weight(np.concatenate([rows.weight, given]), None, rows.n + n)[rows.n :]

    def _split_of(self, rows: Rows) -> Split:
        """Return the target of rows, in parts, with the class weights of the first call."""
        this: Any = self
        split: Split = this._split(rows.X, rows.y, rows.weight)
        return split

    def _rows_left(self, rows: Rows, more: Rows | None, gone: Index) -> tuple[Rows, Index, Rows]:
        """Return all rows and the new ones, the numbers of those that go, and the rows that are left."""
        this: Any = self
        both = rows if more is None else rows.with_more(more)
        if this.window is not None and both.n - gone.size > this.window:
            gone = np.unique(np.concatenate([gone, np.arange(both.n - this.window)]))
        stays = np.ones(both.n, dtype=bool)
        stays[gone] = False
        return both, gone, both.only(np.flatnonzero(stays)) if gone.size else both

    def _update(self, rows: Rows, more: Rows | None, gone: Index) -> None:
        """Bring the model to the optimum with more rows, and without some."""
        this: Any = self
        n_new = 0 if more is None else more.n
        both, gone, left = self._rows_left(rows, more, gone)
        split = self._split_of(left)
        this._check_feasible(split)
        live = self.__dict__.pop("_live", None)
        limits = Limits(max_iter=this.max_iter, time_limit=this.time_limit)
        workers = this._workers()
        # The products of a step are small: waking other threads for them would take longer than the work.
        with working(self, limits, workers) as stop, workers.one_blas_thread():
            if live is None:
                live = Live(self, rows, self._split_of(rows))
            live.model = self
            found = live.update(both, n_new, gone, split)
            this._begin(split)
            this.shape_fit_ = tuple(left.X.shape) if hasattr(left.X, "shape") else (left.n,)
            keep_machines(self, left.X, split, found)
            if wants_probabilities(self):
                self._calibrated(left, split, found, stop)
            certificate = proof(self, found, live.psd)
        self._set_rows(left)
        self.__dict__.pop("history_", None)
        parts = certificate.parts or (certificate,)
        this._keep_history([[_line(one, part)] for one, part in zip(found, parts, strict=True)])
        check_finite_model(this)
        this._conclude(certificate)
        self._live = live

    def _calibrated(self, rows: Rows, split: Split, found: list[Solved], stop: Any) -> None:
        """Find the links of probabilities anew, from the rows that are left."""
        this: Any = self
        workers = this._workers()
        fit = Fit(self, rows.X, split, workers, stop, None, None)
        matrix = this._gram(self.kernel_, rows.X, workers, double=True)
        for k, solved in enumerate(found):
            task = split.tasks[k]
            part = matrix if task.rows.size == matrix.n else matrix.subset(task.rows)
            part = MatrixGram(None, origin=part)
            fit.chosen = fit.solver(matrix)
            problem: Any = solved.problem
            b = problem.recover(solved.machine.coef)
            reached = Reached(b, solved.machine.products, solved.n_iter, "optimal")
            solution = Solution(problem, reached, 0.0, this.tol, this.criterion)
            state: Callable[..., Any] = lambda target, weight, part, k=k: fit.stated(k, target, weight, part)  # noqa: E731
            assert fit.calibration is not None
            fit.calibration.learn(
                k, task, part, problem, solution, state, split.weight[task.rows], fit.chosen
            )
        this._keep_links(fit.calibration)


def _line(solved: Solved, certificate: Any) -> dict[str, float]:
    """Return the line of a trace for one update of one problem."""
    return {
        "n_iter": solved.n_iter,
        "dual": certificate.dual,
        "primal": certificate.primal,
        "gap": certificate.gap,
        "kkt_violation": certificate.kkt_violation,
        "n_support": int(np.count_nonzero(solved.machine.coef)),
    }
