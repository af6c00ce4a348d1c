# ruff: noqa: D102  what overrides a method is documented in the base class
"""Thin-plate splines: kernels that are positive semi-definite only beside polynomials."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np

from mercer.kernels.data import Array, Data
from mercer.kernels.fused import Statistic
from mercer.kernels.trends import PolynomialTrend, Trend
from mercer.kernels.vector import ElementwiseKernel, check_number


class ThinPlate(ElementwiseKernel):
    r"""The thin-plate spline kernel: :math:`\|f\|^2` is the bending energy of f in d dimensions.

    .. math::
        J_m(f) = \sum_{|\nu| = m} \frac{m!}{\nu_1! \cdots \nu_d!} \int \Bigl(
        \frac{\partial^m f}{\partial x_1^{\nu_1} \cdots \partial x_d^{\nu_d}} \Bigr)^2 dx, \qquad
        k(x, z) = \theta \, r^{2m - d} \log r \text{ (even d)}, \quad \theta \, r^{2m - d} \text{ (odd d)}

    with :math:`r = \|x - z\|`. J does not see polynomials of degree below m; they stand beside the kernel and
    cost nothing (``parametric="auto"``). The matrix K itself is not positive semi-definite: it is so for
    coefficients that are orthogonal to those polynomials, which is all that such a machine needs. Estimators
    without a parametric part treat it as an indefinite kernel.

    Parameters
    ----------
    order : int, optional
        The order m of the derivatives, with 2 m > d; by default the least that is allowed, but at least 2. On
        the line, m = 2 is the cubic smoothing spline.
    dimension : int, optional
        The number d of features; by default that of the training data.

    Notes
    -----
    All features must have the same unit: the energy is invariant to rotations.

    References
    ----------
    .. [1] J. Duchon, "Splines minimizing rotation-invariant semi-norms in Sobolev spaces", 1977.
    .. [2] G. Wahba, "Spline Models for Observational Data", SIAM, 1990, section 2.4.

    Examples
    --------
    >>> from mercer.kernels import ThinPlate
    >>> ThinPlate()([[0.0], [2.0]]).round(3)  # r^3 / 12
    array([[0.   , 0.667],
           [0.667, 0.   ]])
    """

    name = "thin_plate"
    statistic: ClassVar[Statistic] = "sqdist"

    def __init__(self, order: Any = None, dimension: Any = None) -> None:
        self.order = order
        self.dimension = dimension

    @property
    def is_psd(self) -> bool | None:
        return False

    @property
    def is_psd_beside_trend(self) -> bool | None:
        return True

    @property
    def has_nonnegative_diagonal(self) -> bool:
        return True  # it is zero

    @property
    def is_resolved(self) -> bool:
        return self.order is not None and self.dimension is not None

    @property
    def depends_on_data(self) -> bool:
        return False

    @property
    def needs_near(self) -> bool:
        return self.is_resolved and 2 * int(self.order) - int(self.dimension) == 1

    def trend_on(self, n_features: int) -> Trend | None:
        return PolynomialTrend((_least_order(n_features) if self.order is None else int(self.order)) - 1)

    def validate(self) -> None:
        if self.order is not None:
            check_number(self, "order", least=1, integer=True)
        if self.dimension is not None:
            check_number(self, "dimension", least=1, integer=True)
        if self.is_resolved and 2 * int(self.order) <= int(self.dimension):
            self._refuse("order", self.order, f"above half the number of features, {self.dimension}")

    def resolve_on(self, X: Data, sample_weight: Any) -> Self:
        d = int(X.shape[1]) if self.dimension is None else self.dimension
        resolved = self.replaced(order=_least_order(d) if self.order is None else self.order, dimension=d)
        resolved.validate()
        return resolved

    def check_pair(self, X: Data, Z: Data) -> None:
        super().check_pair(X, Z)
        if self.dimension is not None and X.shape[1] != self.dimension:
            raise ValueError(f"ThinPlate is for {self.dimension} features; the data have {X.shape[1]}.")

    def elementwise(self, S: Array) -> Array:
        m, d = int(self.order), int(self.dimension)
        power = 0.5 * (2 * m - d)  # of the squared distance
        if d % 2:
            theta = math.gamma(0.5 * d - m) / (4.0**m * math.pi ** (0.5 * d) * math.factorial(m - 1))
            np.power(S, power, out=S)
            S *= theta
            return S
        half = d // 2
        theta = (-1.0) ** (half + 1 + m) / (
            2.0 ** (2 * m - 1) * math.pi**half * math.factorial(m - 1) * math.factorial(m - half)
        )
        logarithm = np.zeros_like(S)
        np.log(S, out=logarithm, where=S > 0)
        np.power(S, power, out=S)
        S *= logarithm
        S *= 0.5 * theta
        return S


def _least_order(n_features: int) -> int:
    return max(2, n_features // 2 + 1)
