"""A function written as a sum over support vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.kernels import Kernel, Linear


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
        return self._feature_weights()

    def _feature_weights(self) -> Any:
        return self.dual_coef_ @ self.support_vectors_
