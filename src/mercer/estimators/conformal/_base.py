"""What conformal regressors and classifiers share: rows that are left out, and the estimator inside."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, _fit_context, clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing, check_random_state, get_tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _num_samples, check_is_fitted, indexable

from mercer.arrays import Float64
from mercer.estimators.conformal._refits import (
    Folds,
    expansion_values,
    fitted_without,
    is_pairwise,
    kept_points,
    without_folds,
)
from mercer.problems.conformal import METHODS, CoverageGuarantee, equal_folds
from mercer.values import keep_parameters

BATCH = 1 << 22  # values of left-out machines in memory at a time


class BaseConformal(MetaEstimatorMixin, BaseEstimator):
    """Base of the conformal estimators."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [BaseEstimator, None],
        "method": [StrOptions(set(METHODS))],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "calibration_size": [Interval(Real, 0.0, 1.0, closed="neither")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: str = "split",
        cv: int = 10,
        calibration_size: float = 0.5,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        keep_parameters(self, locals())

    def _default(self) -> Any:
        """Return the estimator inside when none is given."""
        raise NotImplementedError

    def _template(self) -> Any:
        return self._default() if self.estimator is None else self.estimator

    # -- fit -------------------------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any) -> Self:
        """Fit the estimator inside, and score rows that it has not seen.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features), (n_samples, n_samples) or a sequence
            Training data: whatever the estimator takes.
        y : array of shape (n_samples,)
            Targets.

        Returns
        -------
        self
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        X, y = indexable(X, y)
        y = self._check_y(y)
        n = _num_samples(X)
        if n < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 rows, some of them unseen; it has {n} sample"
            )
        for name in ("left_out_", "left_out_coef_", "left_out_intercept_", "X_fit_"):
            self.__dict__.pop(name, None)
        if self.method == "split":
            self._fit_split(X, y)
        else:
            self._fit_folds(X, y)
        return self

    def _check_y(self, y: Any) -> NDArray[Any]:
        raise NotImplementedError

    def _fit_split(self, X: Any, y: NDArray[Any]) -> None:
        """Fit on some rows and score the others; a frozen estimator is not fitted, and scores all rows."""
        template = self._template()
        fold = np.zeros(y.size, dtype=np.intp)
        if not isinstance(template, FrozenEstimator):
            fold = self._calibration_rows(y) - 1
        train, rest = np.flatnonzero(fold == -1), np.flatnonzero(fold == 0)
        seen = (X, y) if isinstance(template, FrozenEstimator) else _safe_split(template, X, y, train)
        self._fit_all(template, *seen)
        self.folds_ = fold
        self._train = train  # the columns that a precomputed kernel needs of new rows
        unseen = _safe_indexing(X, rest)
        if train.size:
            unseen = self._columns(template, unseen, train)
        self.scores_ = self._scores_of([self._values_of(model, unseen) for model in self._ends()], y[rest])

    def _calibration_rows(self, y: NDArray[Any]) -> NDArray[np.intp]:
        """Return 1 for the rows to calibrate on, 0 for the others."""
        return self._drawn(y.size, check_random_state(self.random_state))

    def _drawn(self, n: int, random: np.random.RandomState) -> NDArray[np.intp]:
        count = min(max(1, round(self.calibration_size * n)), n - 1)
        drawn = np.zeros(n, dtype=np.intp)
        drawn[random.permutation(n)[:count]] = 1
        return drawn

    def _fit_folds(self, X: Any, y: NDArray[Any]) -> None:
        """Fit on all rows, and without each fold."""
        template, n = self._template(), y.size
        if isinstance(template, FrozenEstimator):
            raise ValueError(f"method={self.method!r} fits the estimator again, which is frozen: use 'split'")
        if self.method == "jackknife+":
            self.folds_ = np.arange(n)
        elif self.cv > n:
            raise ValueError(f"cv={self.cv} must be at most the number of rows, {n}")
        else:
            self.folds_ = equal_folds(n, self.cv, check_random_state(self.random_state))
        folds = [np.flatnonzero(self.folds_ == k) for k in range(int(self.folds_.max()) + 1)]
        self._fit_all(template, X, y)
        found = [self._left_out(model, k, X, y, folds) for k, model in enumerate(self._ends())]
        scored = self.folds_ >= 0
        self.scores_ = self._scores_of([values[scored] for values in found], y[scored])

    def _left_out(self, model: Any, number: int, X: Any, y: NDArray[Any], folds: Folds) -> Any:
        """Fit a machine without each fold, and return what these functions say of the rows left out."""
        fast = without_folds(model, X, y, folds) if self._takes_functions(model) else None
        if fast is not None:
            if number == 0:
                self.X_fit_ = kept_points(model, X)
                self.left_out_coef_, self.left_out_intercept_ = [], []
            self.left_out_coef_.append(fast.coef)
            self.left_out_intercept_.append(fast.intercept)
            return self._values_of_functions(fast.left_out)
        if number == 0:
            self.left_out_ = []
        fits = fitted_without(model, X, y, folds, self.n_jobs)
        self.left_out_.append(fits)
        first = None
        for fitted, rows in zip(fits, folds, strict=True):
            rest = np.delete(np.arange(y.size), rows)
            values = self._values_of(fitted, self._columns(model, _safe_indexing(X, rows), rest))
            if first is None:
                first = np.full((y.size, *values.shape[1:]), np.nan)
            first[rows] = values
        return first

    def _columns(self, template: Any, X: Any, rows: NDArray[np.intp]) -> Any:
        """Return new rows for an estimator of some rows: their columns of a kernel matrix."""
        return _safe_indexing(X, rows, axis=1) if is_pairwise(template) else X

    # -- what subclasses say -----------------------------------------------------------------------------

    def _fit_all(self, template: Any, X: Any, y: NDArray[Any]) -> None:
        """Fit what predicts."""
        self.estimator_ = clone(template).fit(X, y)

    def _ends(self) -> list[Any]:
        """Return the fitted estimators whose values are scored."""
        return [self.estimator_]

    def _takes_functions(self, model: Any) -> bool:
        """Return whether values of the function that a machine is made of are all that scores need."""
        raise NotImplementedError

    def _values_of_functions(self, F: Float64) -> Float64:
        """Return what scores are made of, given the values of functions."""
        return F

    def _values_of(self, model: Any, X: Any) -> Float64:
        """Return what scores are made of, for new rows."""
        raise NotImplementedError

    def _scores_of(self, values: list[Float64], y: NDArray[Any]) -> Float64:
        """Return the score of each target."""
        raise NotImplementedError

    # -- predictions -----------------------------------------------------------------------------------------

    def _guarantee(self, coverage: Any, by_class: bool = False) -> CoverageGuarantee:
        if not isinstance(coverage, Real) or not 0.0 < float(coverage) < 1.0:
            raise ValueError(f"coverage={coverage!r} must be a number between 0 and 1, such as 0.9")
        folds = 0 if self.method == "split" else int(self.folds_.max()) + 1
        return CoverageGuarantee(self.method, float(coverage), int(self.scores_.size), folds, by_class)

    def _batches(self, X: Any) -> Iterator[Any]:
        """Yield new rows, as many at a time as all left-out machines can be asked for."""
        n = _num_samples(X)
        step = max(1, BATCH // max(1, self.scores_.size))
        for start in range(0, n, step):
            yield _safe_indexing(X, np.arange(start, min(n, start + step)))

    def _values_by_fold(self, number: int, X: Any) -> Iterator[Float64]:
        """Yield the values of new rows by the machines without each fold."""
        if hasattr(self, "left_out_coef_"):
            model = self._ends()[number]
            F = expansion_values(
                model, self.X_fit_, self.left_out_coef_[number], self.left_out_intercept_[number], X
            )
            for column in F.T:
                yield self._values_of_functions(column)
            return
        every = np.arange(self.folds_.size)
        for k, fitted in enumerate(self.left_out_[number]):
            yield self._values_of(fitted, self._columns(fitted, X, every[self.folds_ != k]))

    def _whole(self, X: Any) -> Any:
        """Return new rows for the estimator inside."""
        check_is_fitted(self)
        split = self.method == "split" and is_pairwise(self.estimator_) and self._train.size
        return _safe_indexing(X, self._train, axis=1) if split else X

    def predict(self, X: Any) -> Any:
        """Return what the estimator inside predicts.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,)
            Predictions.
        """
        X = self._whole(X)
        return self.estimator_.predict(X)

    # -- scikit-learn ----------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "scores_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._template())
        tags.input_tags = inner.input_tags
        return tags

    @property
    def n_features_in_(self) -> int:
        """Number of features seen by ``fit``."""
        return int(self._of_estimator("n_features_in_"))

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features seen by ``fit``, where they have names."""
        names: NDArray[Any] = self._of_estimator("feature_names_in_")
        return names

    def _of_estimator(self, name: str) -> Any:
        try:
            check_is_fitted(self)
        except NotFittedError as error:
            raise AttributeError(f"{type(self).__name__} has no {name} before fit") from error
        return getattr(self.estimator_, name)
