# ruff: noqa: D102  what overrides a method is documented in the base class
"""Sums, products, powers and multiples of kernels. They are trees: ``k1 + k2 * k3`` stays what it says."""

from __future__ import annotations

import math

import numpy as np

from mercer.kernels.base import Kernel
from mercer.kernels.composite import Composite, operand
from mercer.kernels.data import Array, Data, result_dtype, size
from mercer.kernels.feature_map import FeatureMap, Intercept, Rescaled, SideBySide
from mercer.kernels.mixed_columns import MixedColumns
from mercer.kernels.statistics import integer_power, positive, power_is_nonnegative
from mercer.kernels.trends import Trend, join
from mercer.kernels.vector import check_number
from mercer.values import source

SUM, PRODUCT, POWER = 1, 2, 3  # how strongly Python's operators bind


def finite(bound: float) -> float | None:
    """Return a bound, or None if it has overflowed: it tells nothing."""
    return bound if math.isfinite(bound) else None


class Constant(Kernel):
    r""":math:`k(x, z) = c`, on any data.

    ``k + 1`` is ``Sum(k, Constant(1))``.

    Parameters
    ----------
    value : float, default=1.0
        The constant c >= 0.
    """

    def __init__(self, value: float = 1.0) -> None:
        self.value = value

    @property
    def is_psd(self) -> bool | None:
        return True

    @property
    def accepts_sparse(self) -> bool:
        return True

    @property
    def diagonal_bound(self) -> float | None:
        return float(self.value)

    @property
    def is_nonnegative(self) -> bool | None:
        return True

    def validate(self) -> None:
        check_number(self, "value", least=0)

    def columns_read(self, table: MixedColumns) -> set[int]:
        return set()

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        shape = (size(X), size(X if Z is None else Z))
        return np.full(shape, float(self.value), dtype=result_dtype(X, Z))

    def evaluate_diag(self, X: Data) -> Array:
        return np.full(size(X), float(self.value), dtype=result_dtype(X, None))

    def feature_map_on(self, X: Data, names: tuple[str, ...] | None) -> FeatureMap | None:
        return Intercept(float(self.value))

    def tunable(self) -> dict[str, Array]:
        return positive(value=self.value)

    def slopes(self, X: Data, Z: Data | None, G: Array) -> dict[str, Array]:
        return {name: value * G.sum() for name, value in self.tunable().items()}


class Sum(Composite):
    r""":math:`k(x, z) = k_1(x, z) + k_2(x, z)`: the features of both kernels side by side.

    Parameters
    ----------
    k1, k2 : Kernel
        The summands.

    Examples
    --------
    >>> from mercer.kernels import RBF, Linear
    >>> RBF(0.5) + 2 * Linear()
    RBF(gamma=0.5) + 2 * Linear()
    """

    part_names = ("k1", "k2")
    binding = SUM

    def __init__(self, k1: Kernel, k2: Kernel) -> None:
        self.k1 = k1
        self.k2 = k2

    @property
    def is_psd(self) -> bool | None:
        return True if self.k1.is_psd and self.k2.is_psd else None

    @property
    def is_psd_beside_trend(self) -> bool | None:
        return True if all(part.is_psd_beside_trend for part in self.parts) else None

    def trend_on(self, n_features: int) -> Trend | None:
        return join(self.k1.trend_on(n_features), self.k2.trend_on(n_features))

    @property
    def diagonal_bound(self) -> float | None:
        one, two = self.k1.diagonal_bound, self.k2.diagonal_bound
        return None if one is None or two is None else finite(one + two)

    @property
    def is_nonnegative(self) -> bool | None:
        return True if self.k1.is_nonnegative and self.k2.is_nonnegative else None

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        K = self.k1.fresh(self.part_of(X, 0), self.part_of(Z, 0))
        K += self.k2.evaluate(self.part_of(X, 1), self.part_of(Z, 1))
        return K

    def evaluate_diag(self, X: Data) -> Array:
        return self.k1.evaluate_diag(self.part_of(X, 0)) + self.k2.evaluate_diag(self.part_of(X, 1))

    def magnitude(self, X: Data) -> Array:
        return np.hypot(self.k1.magnitude(self.part_of(X, 0)), self.k2.magnitude(self.part_of(X, 1)))

    def feature_map_on(self, X: Data, names: tuple[str, ...] | None) -> FeatureMap | None:
        one, two = (part.feature_map_on(X, names) for part in self.parts)
        return None if one is None or two is None else SideBySide((one, two), self.part_names)

    def slopes(self, X: Data, Z: Data | None, G: Array) -> dict[str, Array]:
        return self.prefixed({"k1": self.k1.slopes(X, Z, G), "k2": self.k2.slopes(X, Z, G)})

    def expression(self) -> str:
        return f"{operand(self.k1, SUM)} + {operand(self.k2, SUM + 1)}"


class Product(Composite):
    r""":math:`k(x, z) = k_1(x, z) \, k_2(x, z)`: all products of a feature of one and a feature of the other.

    Parameters
    ----------
    k1, k2 : Kernel
        The factors.
    """

    part_names = ("k1", "k2")
    binding = PRODUCT

    def __init__(self, k1: Kernel, k2: Kernel) -> None:
        self.k1 = k1
        self.k2 = k2

    @property
    def is_psd(self) -> bool | None:
        return True if self.k1.is_psd and self.k2.is_psd else None  # Schur's product theorem

    @property
    def diagonal_bound(self) -> float | None:
        one, two = self.k1.diagonal_bound, self.k2.diagonal_bound
        known = self.k1.has_nonnegative_diagonal and self.k2.has_nonnegative_diagonal
        return None if one is None or two is None or not known else finite(one * two)

    @property
    def is_nonnegative(self) -> bool | None:
        return True if self.k1.is_nonnegative and self.k2.is_nonnegative else None

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        K = self.k1.fresh(self.part_of(X, 0), self.part_of(Z, 0))
        K *= self.k2.evaluate(self.part_of(X, 1), self.part_of(Z, 1))
        return K

    def evaluate_diag(self, X: Data) -> Array:
        return self.k1.evaluate_diag(self.part_of(X, 0)) * self.k2.evaluate_diag(self.part_of(X, 1))

    def magnitude(self, X: Data) -> Array:
        one, two = (part.magnitude(self.part_of(X, k)) for k, part in enumerate(self.parts))
        if not self.is_psd:
            return one * two
        # The error of each factor meets the value of the other, which is at most a product of lengths.
        long, wide = (
            np.sqrt(np.abs(part.evaluate_diag(self.part_of(X, k)))) for k, part in enumerate(self.parts)
        )
        both = np.sqrt(np.finfo(np.float64).eps) * one * two
        return np.asarray(np.minimum(one * two, np.hypot(np.hypot(long * two, wide * one), both)))

    def slopes(self, X: Data, Z: Data | None, G: Array) -> dict[str, Array]:
        parts = {}
        for name, part, other in (("k1", self.k1, self.k2), ("k2", self.k2, self.k1)):
            if part.tunable():
                parts[name] = part.slopes(X, Z, G * other.evaluate(X, Z))
        return self.prefixed(parts)

    def expression(self) -> str:
        return f"{operand(self.k1, PRODUCT)} * {operand(self.k2, PRODUCT + 1)}"


class Scaled(Composite):
    r""":math:`k(x, z) = c \, k_1(x, z)`.

    Parameters
    ----------
    kernel : Kernel
        The kernel :math:`k_1`.
    scale : float, default=1.0
        The factor c >= 0; a negative multiple of a kernel is none.
    """

    binding = PRODUCT

    def __init__(self, kernel: Kernel, scale: float = 1.0) -> None:
        self.kernel = kernel
        self.scale = scale

    @property
    def is_psd(self) -> bool | None:
        return True if self.scale == 0 else self.kernel.is_psd

    @property
    def is_psd_beside_trend(self) -> bool | None:
        return True if self.scale == 0 else self.kernel.is_psd_beside_trend

    def trend_on(self, n_features: int) -> Trend | None:
        return self.kernel.trend_on(n_features)

    @property
    def diagonal_bound(self) -> float | None:
        bound = self.kernel.diagonal_bound
        return None if bound is None else finite(float(self.scale) * bound)

    @property
    def is_nonnegative(self) -> bool | None:
        return True if self.scale == 0 else self.kernel.is_nonnegative

    def validate(self) -> None:
        super().validate()
        check_number(self, "scale", least=0)

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        K = self.kernel.fresh(self.part_of(X), self.part_of(Z))
        K *= float(self.scale)
        return K

    def evaluate_diag(self, X: Data) -> Array:
        return self.kernel.evaluate_diag(self.part_of(X)) * float(self.scale)

    def magnitude(self, X: Data) -> Array:
        return self.kernel.magnitude(self.part_of(X)) * math.sqrt(float(self.scale))

    def feature_map_on(self, X: Data, names: tuple[str, ...] | None) -> FeatureMap | None:
        inner = self.kernel.feature_map_on(X, names)
        return None if inner is None else Rescaled(inner, float(self.scale))

    def tunable(self) -> dict[str, Array]:
        return {**super().tunable(), **positive(scale=self.scale)}

    def slopes(self, X: Data, Z: Data | None, G: Array) -> dict[str, Array]:
        inner = self.kernel.slopes(X, Z, G)
        slopes = {f"kernel__{name}": float(self.scale) * slope for name, slope in inner.items()}
        if self.scale > 0:
            slopes["scale"] = np.asarray(float(self.scale) * np.vdot(G, self.kernel.evaluate(X, Z)))
        return slopes

    def expression(self) -> str:
        return f"{source(self.scale)} * {operand(self.kernel, PRODUCT + 1)}"


class Power(Composite):
    r""":math:`k(x, z) = k_1(x, z)^p`.

    Parameters
    ----------
    kernel : Kernel
        The kernel :math:`k_1`.
    exponent : int, default=2
        The power p >= 0. Other real numbers are allowed where :math:`k_1` is not negative; the result is then
        positive semi-definite for some kernels (`RBF`) and not for others, so `is_psd` is None.
    """

    binding = POWER

    def __init__(self, kernel: Kernel, exponent: float = 2) -> None:
        self.kernel = kernel
        self.exponent = exponent

    @property
    def is_psd(self) -> bool | None:
        if self.exponent == 0:
            return True
        if self.exponent == 1:
            return self.kernel.is_psd
        return True if self.kernel.is_psd and float(self.exponent).is_integer() else None

    @property
    def diagonal_bound(self) -> float | None:
        bound = self.kernel.diagonal_bound
        if self.exponent == 0:
            return 1.0
        if self.exponent == 1:
            return bound
        if bound is None or not self.kernel.has_nonnegative_diagonal:
            return None
        with np.errstate(all="ignore"):
            return finite(float(np.float64(bound) ** float(self.exponent)))

    @property
    def is_nonnegative(self) -> bool | None:
        return power_is_nonnegative(self.exponent) or self.kernel.is_nonnegative

    def validate(self) -> None:
        super().validate()
        check_number(self, "exponent", least=0)

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        return self._raised(self.kernel.fresh(self.part_of(X), self.part_of(Z)))

    def evaluate_diag(self, X: Data) -> Array:
        return self._raised(np.array(self.kernel.evaluate_diag(self.part_of(X))))

    def magnitude(self, X: Data) -> Array:
        p, inner = float(self.exponent), self.kernel.magnitude(self.part_of(X))
        if not self.is_psd or p < 1.0:
            return inner**p
        # The error meets p - 1 values, or other errors.
        long = np.sqrt(np.abs(self.kernel.evaluate_diag(self.part_of(X))))
        near = np.maximum(long, np.sqrt(np.finfo(np.float64).eps) * inner)
        return np.asarray(np.minimum(inner**p, np.sqrt(p) * near ** (p - 1.0) * inner))

    def slopes(self, X: Data, Z: Data | None, G: Array) -> dict[str, Array]:
        p = float(self.exponent)
        if not self.kernel.tunable():
            return {}
        if p == 0.0:
            return {name: np.zeros(value.shape) for name, value in self.tunable().items()}
        K = self.kernel.fresh(self.part_of(X), self.part_of(Z))
        if p.is_integer():
            B = integer_power(K, int(p) - 1)
        else:  # 0 to a power below 0 has no slope to give: such pairs do not move
            B = np.where(K > 0, np.power(K, p - 1.0, where=K > 0, out=np.ones_like(K)), 0.0)
        return self.prefixed({"kernel": self.kernel.slopes(X, Z, p * B * G)})

    def _raised(self, K: Array) -> Array:
        if float(self.exponent).is_integer():
            return integer_power(K, int(self.exponent))
        if K.size and K.min() < 0:
            raise ValueError(
                f"Power: exponent={self.exponent!r} is not an integer, but {self.kernel!r} is negative for "
                "some pairs: such a power does not exist. Use an integer exponent."
            )
        return np.power(K, float(self.exponent), out=K)

    def expression(self) -> str:
        return f"{operand(self.kernel, POWER + 1)} ** {source(self.exponent)}"
