# ruff: noqa: D102  what overrides a method is documented in the base class
"""Kernels on rows of numbers: what they share."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np

from mercer.kernels.base import Kernel
from mercer.kernels.data import Array, Data, is_sparse, variance
from mercer.kernels.fused import Statistic
from mercer.kernels.statistics import dots, scaled_columns, squared_distances, squared_norms
from mercer.values import Value, is_real


def is_number(value: Any) -> bool:
    """Return whether this is a finite real number (a truth value is not)."""
    if isinstance(value, bool | np.bool_):
        return False
    return is_real(value) and math.isfinite(value)


def check_number(
    owner: Value, name: str, *, least: float = -np.inf, above: float = -np.inf, integer: bool = False
) -> None:
    """Refuse a parameter that is not a finite number >= ``least`` and > ``above``."""
    value = getattr(owner, name)
    kind = "an integer" if integer else "a finite number"
    good = (
        is_number(value) and value >= least and value > above and (not integer or isinstance(value, Integral))
    )
    if not good:
        bound = f" >= {least:g}" if least > -np.inf else f" > {above:g}" if above > -np.inf else ""
        owner._refuse(name, value, kind + bound)


def check_scales(owner: Value, name: str, allowed: str, good: Callable[[Array], Any]) -> None:
    """Refuse a parameter that is neither a good number nor a 1-D array of such, one per feature."""
    value = getattr(owner, name)
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        owner._refuse(name, value, allowed)
    if isinstance(value, str | bool) or array.ndim > 1 or array.size == 0:
        owner._refuse(name, value, allowed)
    if not (np.isfinite(array).all() and np.all(good(array))):
        owner._refuse(name, value, allowed)


def stretch(S: Array, factor: float) -> None:
    """Multiply distances in place; what overflows is infinitely far apart, and zero stays zero.

    A factor beyond single precision would be infinite there, and times zero it is nan.
    """
    most = float(np.finfo(S.dtype).max)
    with np.errstate(over="ignore"):
        S *= max(-most, min(factor, most))


def value_at_zero(kernel: Any, base: type[Any]) -> float | None:
    """Return f(0) of a kernel f(s(x, z)) with s(x, x) = 0: what k(x, x) is, whatever x may be.

    Parameters
    ----------
    kernel : ElementwiseKernel or PairwiseKernel
        Its method ``elementwise`` is f.
    base : type
        The class whose ``evaluate`` and ``evaluate_diag`` compute f(s). Of a subclass with methods of its own
        the line alone tells nothing.

    Returns
    -------
    float or None
        None if a parameter still waits for data, or f(0) is no number.
    """
    own = any(
        getattr(type(kernel), name) is not getattr(base, name) for name in ("evaluate", "evaluate_diag")
    )
    if own or not kernel.is_resolved:
        return None
    with np.errstate(all="ignore"):
        value = float(kernel.elementwise(np.zeros(1))[0])
    return value + 0.0 if math.isfinite(value) else None  # -0.0 becomes 0.0


class VectorKernel(Kernel):
    """A kernel on rows of numbers, dense or CSR."""

    @property
    def is_psd(self) -> bool | None:
        return True

    @property
    def is_vector(self) -> bool:
        return True

    @property
    def accepts_sparse(self) -> bool:
        return True


LARGEST = 1e152  # a number whose square, summed over the columns, is still one
LEAST_SPREAD = 1e-306  # a variance below it has lost digits, and its inverse may overflow


class ElementwiseKernel(VectorKernel):
    """A kernel f(s(x, z)) that is one elementwise line f over the inner product or the squared distance s.

    A subclass names its ``statistic`` and writes `elementwise`, in place; the matrix then costs one matrix
    product and one pass.
    """

    statistic: ClassVar[Statistic]

    @property
    def diagonal_bound(self) -> float | None:
        return value_at_zero(self, ElementwiseKernel) if self.statistic == "sqdist" else None

    def check_domain(self, X: Data, estimator: Any = None) -> None:
        values = X.data if is_sparse(X) else X
        if not values.size or max(float(values.max()), -float(values.min())) <= LARGEST:
            return
        table = np.abs(X.toarray() if is_sparse(X) else X)
        row, column = np.unravel_index(int(table.argmax()), table.shape)
        raise ValueError(
            f"column {column} of X reaches {float(table[row, column]):.3g} (row {row}), and its square "
            "overflows: scale the features, or drop that column. The dual coefficients or intercepts are not "
            "finite otherwise"
        )

    @abstractmethod
    def elementwise(self, S: Array) -> Array:
        """Return f(S), computed in place."""

    def scales(self) -> Any:
        """Return a factor for each column to be applied first, or None."""
        return None

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        X = self._scaled(X)
        Z = None if Z is None else self._scaled(Z)
        if self.statistic == "dot":
            return self.elementwise(dots(X, Z))
        return self.elementwise(squared_distances(X, Z))

    def evaluate_diag(self, X: Data) -> Array:
        if self.statistic == "dot":
            return self.elementwise(squared_norms(X))
        return self.elementwise(np.zeros(X.shape[0], dtype=X.dtype))

    def _scaled(self, X: Data) -> Data:
        scales = self.scales()
        if scales is None:
            return X
        if scales.shape[0] != X.shape[1]:
            raise ValueError(
                f"{type(self).__name__} has a width for each of {scales.shape[0]} features; the data have "
                f"{X.shape[1]}."
            )
        return scaled_columns(X, scales)


class GammaKernel(VectorKernel):
    """A vector kernel with a width ``gamma`` that may be left to the data.

    ``gamma="auto"`` is 1 / n_features. ``gamma="scale"`` is 1 / (n_features * variance of all entries of
    X), as in scikit-learn, or 1 / (n_features * standard deviation) for kernels whose statistic grows
    linearly with the data (`Laplacian`, `Chi2`): in either case multiplying X by a constant changes
    nothing. Sample weights enter the variance: a weight of 2 equals the row twice. Constant data give gamma
    = 1.
    """

    homogeneity: ClassVar[int] = 2  # the statistic of t X is t^homogeneity times that of X
    gamma: Any

    @property
    def is_resolved(self) -> bool:
        return not isinstance(self.gamma, str)

    @property
    def depends_on_data(self) -> bool:
        return isinstance(self.gamma, str) and self.gamma != "auto"

    def validate(self) -> None:
        if isinstance(self.gamma, str):
            if self.gamma not in ("scale", "auto"):
                self._refuse("gamma", self.gamma, "a number >= 0, 'scale' or 'auto'")
        elif not is_number(self.gamma) or self.gamma < 0:
            self._refuse("gamma", self.gamma, "a number >= 0, 'scale' or 'auto'")

    def resolve_on(self, X: Data, sample_weight: Any) -> Self:
        if not isinstance(self.gamma, str):
            return self.replaced()
        d = X.shape[1]
        if self.gamma == "auto":
            return self.replaced(gamma=1.0 / d)
        spread = variance(X, sample_weight) ** (self.homogeneity / 2)
        if 0 < spread < LEAST_SPREAD or not math.isfinite(spread):
            raise ValueError(
                f"gamma='scale' is 1 / (n_features * variance of X), but the variance is {spread:.3g}, too "
                f"{'small' if spread < 1 else 'large'} for it: scale the features, or give gamma as a number"
            )
        return self.replaced(gamma=1.0 / (d * spread) if spread > 0 else 1.0)
