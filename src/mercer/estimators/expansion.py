"""A function written as a sum over support vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.approximation._values import feature_products, has_features
from mercer.estimators.parametric import has_parametric
from mercer.gram import Segment, cross_products
from mercer.kernels import Kernel, Linear
from mercer.problems.multiclass import feature_weights


class ExpansionMixin:
    """What follows from the support vectors and their coefficients alone."""

    kernel_: Kernel
    support_: np.ndarray
    support_vectors_: Any
    dual_coef_: Any

    @property
    def _coefficients(self) -> np.ndarray:
        """``dual_coef_`` as an array."""
        packed = self.dual_coef_
        return packed if isinstance(packed, np.ndarray) else np.asarray(packed.toarray())

    @property
    def n_support_(self) -> Any:
        """Number of support vectors, as an array of length one."""
        check_is_fitted(self)
        return np.array([self.support_.size], dtype=np.int32)

    @property
    def coef_(self) -> Any:
        """Weights of the features, for the linear kernel; sparse for sparse data."""
        check_is_fitted(self)
        if not isinstance(self.kernel_, Linear):
            raise AttributeError("coef_ is only available when using a linear kernel")
        coef = self._feature_weights() if not has_parametric(self) else self._weights_with_columns()
        (coef if isinstance(coef, np.ndarray) else coef.data).flags.writeable = False  # it is a copy
        return coef

    def _weights_with_columns(self) -> Any:
        """Return the weights of the features, with what columns that cost nothing add to them."""
        this: Any = self
        features = this.parametric_.weights(this.n_features_in_)
        if features is None:
            raise AttributeError("coef_: the parametric part is not linear in the features")
        coef = self._feature_weights()
        coef = np.array(coef if isinstance(coef, np.ndarray) else coef.toarray())
        coef[:, features] += this.parametric_coef_
        return coef

    def _feature_weights(self) -> Any:
        return self.dual_coef_ @ self.support_vectors_


class FunctionsMixin(ExpansionMixin):
    """Functions that share their support vectors, f_k(x) = sum_i coef_ki k(x_i, x) + intercept_k."""

    intercept_: np.ndarray

    def _segments(self) -> tuple[list[Segment], int]:
        coef = self._coefficients
        every = np.arange(coef.shape[0])
        return [Segment(0, coef.shape[1], np.ascontiguousarray(coef.T), every)], coef.shape[0]

    def _products(self, X: Any) -> np.ndarray:
        """Return K(X, support vectors) coef for checked data, a column for each function."""
        this: Any = self
        if has_features(self):
            return feature_products(self, X, this._workers())
        segments, outputs = self._segments()
        return cross_products(self.kernel_, X, this._reference(), segments, outputs, this._workers())

    def _values(self, X: Any) -> np.ndarray:
        """Return f(X), a column for each function."""
        check_is_fitted(self)
        this: Any = self
        X = this._check_X(X, kernel=self.kernel_, reset=False)
        return np.asarray(self._products(X) + self.intercept_ + this._trend_values(X))


class ClassExpansionMixin(ExpansionMixin):
    """The same for classifiers, whose support vectors stand class by class."""

    _n_support: np.ndarray
    multiclass: str

    @property
    def n_support_(self) -> np.ndarray:
        """Number of support vectors of each class."""
        check_is_fitted(self)
        counts: np.ndarray = self._n_support
        return counts

    def _feature_weights(self) -> Any:
        pairs = self.multiclass == "ovo"
        return feature_weights(self.dual_coef_, self.support_vectors_, self._n_support, pairs)
