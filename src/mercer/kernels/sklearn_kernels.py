# ruff: noqa: D102  what overrides a method is documented in the base class
r"""scikit-learn's kernels of Gaussian processes, as kernels of ours where there are such, else wrapped.

A kernel of theirs is :math:`k(x, z) + w(x) [x \text{ is } z]`: white noise lives on the diagonal of the
training matrix alone, and vanishes between two sets of points. What is translated here is k; the white part
is kept apart, as a sum of variances.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.kernels.algebra import Constant, Power, Product, Scaled, Sum
from mercer.kernels.base import Kernel
from mercer.kernels.data import Array, Data, result_dtype, size
from mercer.kernels.dot import Linear
from mercer.kernels.stationary import NUS, RBF, Matern, RationalQuadratic

UNKNOWN = ("PairwiseKernel", "CompoundKernel", "ExpSineSquared")  # of which nothing is known for sure
MODULE = "sklearn.gaussian_process.kernels"


def is_sklearn_kernel(kernel: Any) -> bool:
    """Return whether this is a Gaussian-process kernel of scikit-learn's, without importing that module."""
    theirs = sys.modules.get(MODULE)
    return theirs is not None and isinstance(kernel, theirs.Kernel)


class SklearnKernel(Kernel):
    r"""A Gaussian-process kernel of scikit-learn's that has no twin here, between two sets of points.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel
        The kernel. Its white noise, which is no function of two points, is left out.
    """

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    @property
    def is_psd(self) -> bool | None:
        return True if _all_known(self.kernel) else None

    @property
    def is_vector(self) -> bool:
        return bool(self.kernel.requires_vector_input)

    def validate(self) -> None:
        if not is_sklearn_kernel(self.kernel):
            self._refuse("kernel", self.kernel, f"a kernel of {MODULE}")
        if type(self.kernel).__name__ == "CompoundKernel":
            raise ValueError(
                "kernel cannot be a CompoundKernel: it stands for several matrices, one for each class"
            )

    def _key(self) -> tuple[Any, ...]:
        return (type(self.kernel).__qualname__, repr(self.kernel), tuple(self.kernel.theta))

    def expression(self) -> str:
        return f"SklearnKernel({self.kernel!r})"

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        K = np.asarray(self.kernel(X, X if Z is None else Z))
        if K.shape != (size(X), size(X if Z is None else Z)):
            raise ValueError(f"kernel={self.kernel!r} returned a matrix of shape {K.shape}")
        values: Array = K.astype(result_dtype(X, Z), copy=False)
        return values


def _all_known(kernel: Any) -> bool:
    """Return whether a kernel consists of such of scikit-learn's own as are positive semi-definite.

    ``ExpSineSquared`` is so for one feature alone: a sine of the distance is none of a feature's.
    """
    parts = [p for p in (getattr(kernel, n, None) for n in ("k1", "k2", "kernel")) if is_sklearn_kernel(p)]
    name = type(kernel).__name__
    own = type(kernel).__module__ == MODULE and name not in UNKNOWN
    if name == "Exponentiation":  # of a power that is no integer nothing is known
        own = own and float(kernel.exponent).is_integer() and kernel.exponent >= 0
    return own and all(_all_known(part) for part in parts)


@dataclass(frozen=True)
class Parameter:
    """One parameter of theirs: log ours = factor * log theirs + shift."""

    name: str  # as in ``kernel.get_params()`` of ours; empty for the variance of white noise
    size: int
    free: bool
    factor: float = 1.0
    shift: float = 0.0

    def under(self, part: str) -> Parameter:
        """Return the same parameter of a kernel that has this one as a part."""
        name = f"{part}__{self.name}" if self.name else ""
        return Parameter(name, self.size, self.free, self.factor, self.shift)


@dataclass(frozen=True)
class Translation:
    """A kernel of ours with the values of one of theirs.

    Attributes
    ----------
    kernel : Kernel
        Ours, without white noise.
    parameters : tuple of Parameter
        In the order of their ``theta``, fixed ones included.
    white : tuple of float
        Variances of white noise, one for each parameter without a name.
    """

    kernel: Kernel
    parameters: tuple[Parameter, ...]
    white: tuple[float, ...] = ()

    def under(self, part: str) -> tuple[Parameter, ...]:
        """Return the parameters as those of a part."""
        return tuple(p.under(part) for p in self.parameters)


class _NoTwin(Exception):  # noqa: N818  it is no error
    """There is no kernel of ours with these values."""


def translated(kernel: Any) -> Translation | None:
    """Return our kernel with the values of one of theirs; None if there is none.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel
        Theirs; subclasses by other people have no twin.
    """
    try:
        found = _translated(kernel)
    except _NoTwin:
        return None
    return None if found.kernel == Constant(0.0) else found


def as_our_kernel(kernel: Any) -> Kernel:
    """Return our kernel with the values, between two sets of points, of one of theirs."""
    found = translated(kernel)
    if found is not None:
        return found.kernel
    wrapped = SklearnKernel(kernel)
    wrapped.validate()
    return wrapped


def _translated(kernel: Any) -> Translation:
    if type(kernel).__module__ != MODULE:
        raise _NoTwin
    rule = _RULES.get(type(kernel).__name__)
    if rule is None:
        raise _NoTwin
    return rule(kernel)


def _is_free(kernel: Any, name: str) -> bool:
    return not getattr(kernel, f"hyperparameter_{name}").fixed


def _constant(kernel: Any) -> Translation:
    value = Parameter("value", 1, _is_free(kernel, "constant_value"))
    return Translation(Constant(float(kernel.constant_value)), (value,))


def _white(kernel: Any) -> Translation:
    level = Parameter("", 1, _is_free(kernel, "noise_level"))
    return Translation(Constant(0.0), (level,), (float(kernel.noise_level),))


def _lengths(kernel: Any) -> tuple[Any, int]:
    if np.ndim(kernel.length_scale) == 0:
        return float(kernel.length_scale), 1
    lengths = np.asarray(kernel.length_scale, dtype=np.float64)
    return (lengths, lengths.size) if lengths.size > 1 else (float(lengths[0]), 1)


def _rbf(kernel: Any) -> Translation:
    length, count = _lengths(kernel)
    gamma = Parameter("gamma", count, _is_free(kernel, "length_scale"), -2.0, -math.log(2.0))
    return Translation(RBF(gamma=0.5 / length**2), (gamma,))


def _matern(kernel: Any) -> Translation:
    if kernel.nu not in NUS:
        raise _NoTwin
    length, count = _lengths(kernel)
    return Translation(
        Matern(length_scale=length, nu=float(kernel.nu)),
        (Parameter("length_scale", count, _is_free(kernel, "length_scale")),),
    )


def _rational(kernel: Any) -> Translation:
    length, count = _lengths(kernel)
    return Translation(
        RationalQuadratic(length_scale=length, alpha=float(kernel.alpha)),
        (
            Parameter("alpha", 1, _is_free(kernel, "alpha")),
            Parameter("length_scale", count, _is_free(kernel, "length_scale")),
        ),
    )


def _dot(kernel: Any) -> Translation:
    square = Parameter("k2__value", 1, _is_free(kernel, "sigma_0"), 2.0)
    return Translation(Sum(Linear(), Constant(float(kernel.sigma_0) ** 2)), (square,))


def _sum(kernel: Any) -> Translation:
    one, two = _translated(kernel.k1), _translated(kernel.k2)
    white = one.white + two.white
    if _is_white(one):
        return Translation(two.kernel, one.parameters + two.parameters, white)
    if _is_white(two):
        return Translation(one.kernel, one.parameters + two.parameters, white)
    return Translation(Sum(one.kernel, two.kernel), one.under("k1") + two.under("k2"), white)


def _is_white(found: Translation) -> bool:
    return bool(found.white) and found.kernel == Constant(0.0)


def _product(kernel: Any) -> Translation:
    one, two = _translated(kernel.k1), _translated(kernel.k2)
    if one.white or two.white:
        raise _NoTwin  # the variance would depend on the other factor
    for scale, other, first in ((one, two, True), (two, one, False)):
        if isinstance(scale.kernel, Constant):
            (value,) = scale.parameters
            factor = (Parameter("scale", 1, value.free),)
            inner = other.under("kernel")
            made = Scaled(other.kernel, scale=scale.kernel.value)
            return Translation(made, factor + inner if first else inner + factor)
    return Translation(Product(one.kernel, two.kernel), one.under("k1") + two.under("k2"))


def _power(kernel: Any) -> Translation:
    base = _translated(kernel.kernel)
    if base.white:
        raise _NoTwin
    return Translation(Power(base.kernel, kernel.exponent), base.under("kernel"))


_RULES: dict[str, Callable[[Any], Translation]] = {
    "ConstantKernel": _constant,
    "WhiteKernel": _white,
    "RBF": _rbf,
    "Matern": _matern,
    "RationalQuadratic": _rational,
    "DotProduct": _dot,
    "Sum": _sum,
    "Product": _product,
    "Exponentiation": _power,
}
