# ruff: noqa: D102  what overrides a method is documented in the base class
"""Kernels of the inner product."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from mercer.kernels import fused
from mercer.kernels.data import Array, Data
from mercer.kernels.feature_map import Columns, FeatureMap, UnitLength, inverse_roots
from mercer.kernels.fused import Fused, Statistic
from mercer.kernels.statistics import dots, integer_power, positive, power_is_nonnegative, squared_norms
from mercer.kernels.vector import ElementwiseKernel, GammaKernel, VectorKernel, check_number


class Linear(ElementwiseKernel):
    r""":math:`k(x, z) = \langle x, z \rangle`.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> Linear()([[1.0, 2.0], [0.0, 1.0]])
    array([[5., 2.],
           [2., 1.]])
    """

    name = "linear"
    statistic: ClassVar[Statistic] = "dot"

    def __init__(self) -> None:
        pass

    @property
    def is_nonnegative(self) -> bool | None:
        return False

    def elementwise(self, S: Array) -> Array:
        return S

    def fused(self) -> Fused | None:
        return Fused("dot", fused.LINEAR, 1.0)

    def feature_map_on(self, X: Data, names: tuple[str, ...] | None) -> FeatureMap | None:
        assert names is not None, "the columns have names"
        return Columns(names)


class Cosine(VectorKernel):
    r""":math:`k(x, z) = \langle x, z \rangle / (\|x\| \, \|z\|)`, the cosine of the angle between two rows.

    A row of zeros is orthogonal to everything.

    Examples
    --------
    >>> from mercer.kernels import Cosine
    >>> Cosine()([[1.0, 0.0], [1.0, 1.0]]).round(3)
    array([[1.   , 0.707],
           [0.707, 1.   ]])
    """

    name = "cosine"

    def __init__(self) -> None:
        pass

    @property
    def diagonal_bound(self) -> float | None:
        return 1.0

    @property
    def is_nonnegative(self) -> bool | None:
        return False

    def check_domain(self, X: Data, estimator: Any = None) -> None:
        Linear().check_domain(X, estimator)

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        K = dots(X, Z)
        rows = inverse_roots(squared_norms(X))
        K *= rows[:, None]
        K *= rows if Z is None else inverse_roots(squared_norms(Z))
        if Z is None:
            np.fill_diagonal(K, rows > 0)
        return K

    def evaluate_diag(self, X: Data) -> Array:
        squares = squared_norms(X)
        return (squares > 0).astype(squares.dtype)

    def feature_map_on(self, X: Data, names: tuple[str, ...] | None) -> FeatureMap | None:
        assert names is not None, "the columns have names"
        return UnitLength(Columns(names))


class Polynomial(ElementwiseKernel, GammaKernel):
    r""":math:`k(x, z) = (\gamma \langle x, z \rangle + c)^p`.

    Positive semi-definite when p is an integer and c >= 0: expanding the power gives a sum, with non-negative
    weights, of powers of the linear kernel.

    Parameters
    ----------
    degree : int, default=3
        The exponent p. Real numbers >= 0 are allowed where no value of the base is negative.
    gamma : float, "scale" or "auto", default="scale"
        The factor; see `mercer.kernels.vector.GammaKernel` for the two names.
    coef0 : float, default=0.0
        The constant c.

    References
    ----------
    .. [1] N. Cristianini and J. Shawe-Taylor, "An Introduction to Support Vector Machines", Cambridge
       University Press, 2000, section 3.3.
    """

    name = "poly"
    statistic: ClassVar[Statistic] = "dot"

    def __init__(self, degree: float = 3, gamma: Any = "scale", coef0: float = 0.0) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    @property
    def is_psd(self) -> bool | None:
        return bool(self.coef0 >= 0 and float(self.degree).is_integer())

    @property
    def is_nonnegative(self) -> bool | None:
        return power_is_nonnegative(self.degree)

    def validate(self) -> None:
        super().validate()
        check_number(self, "degree", least=0)
        check_number(self, "coef0")

    def elementwise(self, S: Array) -> Array:
        S *= float(self.gamma)
        S += float(self.coef0)
        if float(self.degree).is_integer():
            return integer_power(S, int(self.degree))
        if S.size and S.min() < 0:
            raise ValueError(
                f"Polynomial: degree={self.degree!r} is not an integer, but gamma <x, z> + coef0 is negative "
                "for some pairs: such a power does not exist. Use an integer degree."
            )
        return np.power(S, float(self.degree), out=S)

    def tunable(self) -> dict[str, Array]:
        return positive(gamma=self.gamma, coef0=self.coef0)

    def slopes(self, X: Data, Z: Data | None, G: Array) -> dict[str, Array]:
        S = dots(X, Z)
        S *= float(self.gamma)
        B = S + float(self.coef0)
        if self.degree == 0:
            B[:] = 0.0
        elif float(self.degree).is_integer():
            B = integer_power(B, int(self.degree) - 1)
        else:
            B = np.power(B, float(self.degree) - 1.0, out=B)
        B *= float(self.degree)
        return _line_slopes(self, S, B, G)

    def fused(self) -> Fused | None:
        if not self.is_resolved or not float(self.degree).is_integer():
            return None  # the fused line could not refuse a negative base
        return Fused("dot", fused.POLYNOMIAL, float(self.gamma), float(self.coef0), float(self.degree))


class Sigmoid(ElementwiseKernel, GammaKernel):
    r""":math:`k(x, z) = \tanh(\gamma \langle x, z \rangle + c)`.

    Known not to be positive semi-definite in general: solvers reach a stationary point with it, not a
    certified optimum.

    Parameters
    ----------
    gamma : float, "scale" or "auto", default="scale"
        The factor.
    coef0 : float, default=0.0
        The constant c.

    References
    ----------
    .. [1] H.-T. Lin and C.-J. Lin, "A study on sigmoid kernels for SVM and the training of non-PSD kernels by
       SMO-type methods", technical report, National Taiwan University, 2003.
    """

    name = "sigmoid"
    statistic: ClassVar[Statistic] = "dot"

    def __init__(self, gamma: Any = "scale", coef0: float = 0.0) -> None:
        self.gamma = gamma
        self.coef0 = coef0

    @property
    def is_psd(self) -> bool | None:
        return False

    def validate(self) -> None:
        super().validate()
        check_number(self, "coef0")

    def elementwise(self, S: Array) -> Array:
        S *= float(self.gamma)
        S += float(self.coef0)
        return np.tanh(S, out=S)

    def tunable(self) -> dict[str, Array]:
        return positive(gamma=self.gamma, coef0=self.coef0)

    def slopes(self, X: Data, Z: Data | None, G: Array) -> dict[str, Array]:
        S = dots(X, Z)
        S *= float(self.gamma)
        return _line_slopes(self, S, 1.0 - np.tanh(S + float(self.coef0)) ** 2, G)

    def fused(self) -> Fused | None:
        if not self.is_resolved:
            return None
        return Fused("dot", fused.SIGMOID, float(self.gamma), float(self.coef0))


def _line_slopes(kernel: Polynomial | Sigmoid, S: Array, B: Array, G: Array) -> dict[str, Array]:
    """Return the slopes of a line in S + coef0 with derivatives B; S is gamma times the inner product."""
    B = B * G
    slopes = {"gamma": np.asarray(np.vdot(B, S)), "coef0": np.asarray(float(kernel.coef0) * B.sum())}
    return {name: slopes[name] for name in kernel.tunable()}
