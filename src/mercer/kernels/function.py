# ruff: noqa: D102  what overrides a method is documented in the base class
"""Functions that compute whole kernel matrices, as scikit-learn takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.kernels.base import Kernel
from mercer.kernels.data import Array, Data, dense, result_dtype, size
from mercer.values import name_of


class FromFunction(Kernel):
    r""":math:`K = f(X, Z)`, with f a function that returns the whole matrix.

    Parameters
    ----------
    function : callable
        Takes n and m items and returns an array of shape (n, m), as scikit-learn's callables do. A table of
        numbers arrives as a float array or a CSR matrix, anything else as it came.

    See Also
    --------
    kernel : For a function of two items.

    Notes
    -----
    The kernel can be pickled if the function can: a lambda cannot.
    """

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function = function

    @property
    def accepts_sparse(self) -> bool:
        return True

    def validate(self) -> None:
        if not callable(self.function):
            self._refuse("function", self.function, "a function of two sets of items")

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        Z = X if Z is None else Z
        K = np.asarray(dense(self.function(X, Z)))
        if K.shape != (size(X), size(Z)):
            raise ValueError(
                f"The kernel function {name_of(self.function)} returned an array of shape {K.shape} for "
                f"{size(X)} and {size(Z)} items; it must be {(size(X), size(Z))}."
            )
        if K.dtype.kind not in "biuf":
            raise ValueError(
                f"The kernel function {name_of(self.function)} returned values of type {K.dtype}; they must "
                "be real numbers."
            )
        values: Array = K.astype(result_dtype(X, Z), copy=False)
        return values

    def fresh(self, X: Data, Z: Data | None = None) -> Array:
        return np.array(self.evaluate(X, Z))  # the function may keep what it returned
