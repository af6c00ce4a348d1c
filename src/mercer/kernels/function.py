# ruff: noqa: D102  what overrides a method is documented in the base class
"""Functions that compute whole kernel matrices, as scikit-learn takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.kernels.base import Kernel
from mercer.kernels.data import Array, Data, dense, is_sparse, result_dtype, size, take
from mercer.values import name_of


class FromFunction(Kernel):
    r""":math:`K = f(X, Z)`, with f a function that returns the whole matrix.

    Parameters
    ----------
    function : callable
        Takes n and m items and returns an array of shape (n, m), as scikit-learn's callables do. A table of
        numbers arrives as a float array or a CSR matrix, anything else as it came.
    params : dict, optional
        Further keyword arguments of the function.

    See Also
    --------
    kernel : For a function of two items.

    Notes
    -----
    The kernel can be pickled if the function can: a lambda cannot.
    """

    def __init__(self, function: Callable[..., Any], params: dict[str, Any] | None = None) -> None:
        self.function = function
        self.params = params

    @property
    def accepts_sparse(self) -> bool:
        return True

    def validate(self) -> None:
        if not callable(self.function):
            self._refuse("function", self.function, "a function of two sets of items")

    def expression(self) -> str:
        more = "" if not self.params else f", params={self.params!r}"
        return f"{type(self).__name__}(function={name_of(self.function)}{more})"

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        Z = X if Z is None else Z
        K = np.asarray(dense(self.function(X, Z, **(self.params or {}))))
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


class OfPairs(FromFunction):
    r""":math:`K_{ij} = f(x_i, z_j)`, with f a function of two items, as ``pairwise_kernels`` takes.

    Parameters
    ----------
    function : callable
        Takes two items (rows of a table are arrays of one dimension) and returns a number. It is called for
        every pair.
    params : dict, optional
        Further keyword arguments of the function.

    See Also
    --------
    kernel : A decorator, which compiles what it can.
    """

    @property
    def accepts_sparse(self) -> bool:
        return False

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        params = self.params or {}
        out = np.empty((size(X), size(X if Z is None else Z)), dtype=result_dtype(X, Z))
        for i, x in enumerate(X):
            others = X[i:] if Z is None else Z
            for j, z in enumerate(others, start=i if Z is None else 0):
                out[i, j] = self.function(x, z, **params)
        if Z is None:
            below = np.tril_indices(out.shape[0], -1)
            out[below] = out.T[below]
        return out


class AnyFunction(FromFunction):
    """A function of two sets of items or of two items, detected on the data.

    Parameters
    ----------
    function : callable
        As for `FromFunction`, or as for `OfPairs`.
    params : dict, optional
        Further keyword arguments of the function.
    """

    @property
    def is_resolved(self) -> bool:
        return False

    @property
    def depends_on_data(self) -> bool:
        return False  # the values do not

    def resolve_on(self, X: Data, sample_weight: Any) -> Any:
        kind = FromFunction if _takes_sets(self.function, self.params or {}, X) else OfPairs
        return kind(self.function, self.params)

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        K: Array = self.resolve_on(X, None).evaluate(X, Z)
        return K


def _takes_sets(function: Callable[..., Any], params: dict[str, Any], X: Data) -> bool:
    """Return whether a function takes two sets of items; one that takes items alone fails or gives no matrix.

    A few of the items are tried. Where both ways give something, the values must be the same
    for it to count as a function of sets: x @ z of two matrices may have the right shape, and means something
    else.
    """
    n = size(X)
    few, more = take(X, np.arange(min(2, n))), take(X, np.arange(min(3, n)))
    try:
        K = np.asarray(dense(function(few, more, **params)), dtype=np.float64)
    except (TypeError, ValueError, IndexError, AttributeError, KeyError):
        return False
    if K.shape != (size(few), size(more)):
        return False
    if is_sparse(X):
        return True
    try:
        one = np.asarray(function(few[0], more[-1], **params), dtype=np.float64)
    except (TypeError, ValueError, IndexError, AttributeError, KeyError):
        return True
    return one.shape != () or bool(np.isclose(one, K[0, -1]))
