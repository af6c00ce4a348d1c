# ruff: noqa: D102  what overrides a method is documented in the base class
"""Kernels of the Euclidean distance."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from mercer.kernels import fused
from mercer.kernels.data import Array, Data
from mercer.kernels.fused import Fused, Statistic
from mercer.kernels.statistics import distance_slopes, positive, squared_distances
from mercer.kernels.vector import ElementwiseKernel, GammaKernel, check_number, check_scales, stretch

NUS = (0.5, 1.5, 2.5, math.inf)
FAR = 1e4  # exp(-FAR) is zero
LENGTHS = "a number > 0, or an array of such, one per feature"


class RBF(ElementwiseKernel, GammaKernel):
    r""":math:`k(x, z) = \exp(-\gamma \|x - z\|^2)`.

    With one gamma for each feature, :math:`k(x, z) = \exp(-\sum_j \gamma_j (x_j - z_j)^2)`.

    Parameters
    ----------
    gamma : float, "scale", "auto" or array of shape (n_features,), default="scale"
        The inverse squared width; see `mercer.kernels.vector.GammaKernel` for the two names.

    Examples
    --------
    >>> from mercer.kernels import RBF
    >>> RBF(gamma=0.5)([[0.0], [2.0]]).round(3)
    array([[1.   , 0.135],
           [0.135, 1.   ]])

    References
    ----------
    .. [1] B. Scholkopf and A. J. Smola, "Learning with Kernels", MIT Press, 2002, section 2.3.
    """

    name = "rbf"
    statistic: ClassVar[Statistic] = "sqdist"

    def __init__(self, gamma: Any = "scale") -> None:
        self.gamma = gamma

    @property
    def is_nonnegative(self) -> bool | None:
        return True

    def validate(self) -> None:
        if np.ndim(self.gamma) == 0:
            super().validate()
        else:
            allowed = "a number >= 0, an array of such, one per feature, 'scale' or 'auto'"
            check_scales(self, "gamma", allowed, lambda gamma: gamma >= 0)

    def scales(self) -> Any:
        return None if np.ndim(self.gamma) == 0 else np.sqrt(np.asarray(self.gamma, dtype=np.float64))

    def elementwise(self, S: Array) -> Array:
        stretch(S, -float(self.gamma) if np.ndim(self.gamma) == 0 else -1.0)
        return np.exp(S, out=S)

    def fused(self) -> Fused | None:
        if not self.is_resolved or np.ndim(self.gamma):
            return None
        return Fused("sqdist", fused.RBF, float(self.gamma))

    def tunable(self) -> dict[str, Array]:
        return positive(gamma=self.gamma)

    def slopes(self, X: Data, Z: Data | None, G: Array) -> dict[str, Array]:
        def line(U: Array) -> Array:
            np.exp(np.negative(U, out=U), out=U)
            return np.negative(U, out=U)

        return {name: distance_slopes(X, Z, G, value, 1, line) for name, value in self.tunable().items()}


class _LengthScale(ElementwiseKernel):
    """A kernel of ||x - z|| / length_scale."""

    statistic: ClassVar[Statistic] = "sqdist"
    length_scale: Any

    @property
    def is_nonnegative(self) -> bool | None:
        return True

    def validate(self) -> None:
        check_scales(self, "length_scale", LENGTHS, lambda length: length > 0)

    def scales(self) -> Any:
        # Without an array the factor is left to the elementwise line.
        return (
            None if np.ndim(self.length_scale) == 0 else 1.0 / np.asarray(self.length_scale, dtype=np.float64)
        )

    @abstractmethod
    def line_slope(self, U: Array) -> Array:
        """Return the derivative of the line by the squared distance in units of the length scale."""

    def tunable(self) -> dict[str, Array]:
        return positive(length_scale=self.length_scale)

    def slopes(self, X: Data, Z: Data | None, G: Array) -> dict[str, Array]:
        lengths = positive(length_scale=self.length_scale)
        return {name: distance_slopes(X, Z, G, value, -2, self.line_slope) for name, value in lengths.items()}

    @property
    def _length(self) -> float:
        return float(self.length_scale) if np.ndim(self.length_scale) == 0 else 1.0


class Matern(_LengthScale):
    r"""Matérn kernels, with :math:`d = \|x - z\|` and length scale l.

    =====  =====================================================================
    nu     k(x, z)
    =====  =====================================================================
    1/2    :math:`\exp(-d/l)`
    3/2    :math:`(1 + \sqrt{3} d/l) \exp(-\sqrt{3} d/l)`
    5/2    :math:`(1 + \sqrt{5} d/l + 5 d^2 / (3 l^2)) \exp(-\sqrt{5} d/l)`
    inf    :math:`\exp(-d^2 / (2 l^2))`
    =====  =====================================================================

    Samples of a Gaussian process with this kernel have derivatives of every order below nu.

    Parameters
    ----------
    length_scale : float or array of shape (n_features,), default=1.0
        The width l, for each feature its own if it is an array.
    nu : {0.5, 1.5, 2.5, inf}, default=1.5
        The smoothness.

    References
    ----------
    .. [1] C. E. Rasmussen and C. K. I. Williams, "Gaussian Processes for Machine Learning", MIT Press, 2006,
       section 4.2.
    """

    name = "matern"

    def __init__(self, length_scale: Any = 1.0, nu: float = 1.5) -> None:
        self.length_scale = length_scale
        self.nu = nu

    def validate(self) -> None:
        super().validate()
        if self.nu not in NUS:
            self._refuse("nu", self.nu, "0.5, 1.5, 2.5 or inf")

    @property
    def _rate(self) -> float:
        """The factor a in front of d (of d^2 for nu = inf)."""
        if self.nu == math.inf:
            return 0.5 / self._length**2
        return math.sqrt(2.0 * self.nu) / self._length

    def elementwise(self, S: Array) -> Array:
        if self.nu == math.inf:
            S *= -self._rate
            return np.exp(S, out=S)
        np.sqrt(S, out=S)
        S *= self._rate
        np.minimum(S, FAR, out=S)  # the factor may not overflow where the exponential is zero
        if self.nu == 0.5:
            np.negative(S, out=S)
            return np.exp(S, out=S)
        factor = S + 1.0
        if self.nu == 2.5:
            factor += S * S / 3.0
        np.negative(S, out=S)
        np.exp(S, out=S)
        S *= factor
        return S

    def line_slope(self, U: Array) -> Array:
        if self.nu == math.inf:
            U *= -0.5
            return -0.5 * np.exp(U, out=U)
        if self.nu == 0.5:
            r = np.sqrt(U)
            out = np.zeros_like(U)  # where points coincide the slope by any width is 0
            np.divide(np.exp(-r), -2.0 * r, out=out, where=r > 0)
            return out
        r = np.sqrt(2.0 * self.nu * U)
        factor = -1.5 if self.nu == 1.5 else -5.0 / 6.0 * (1.0 + r)
        return np.asarray(factor * np.exp(-r))

    def fused(self) -> Fused | None:
        if np.ndim(self.length_scale):
            return None
        # nu = 1/2 needs tiny distances to full precision, which a matrix product in the Gram layer cannot
        # give.
        codes = dict(zip(NUS[1:], (fused.MATERN32, fused.MATERN52, fused.RBF), strict=True))
        return Fused("sqdist", codes[self.nu], self._rate) if self.nu in codes else None


class RationalQuadratic(_LengthScale):
    r""":math:`k(x, z) = \left(1 + \frac{\|x - z\|^2}{2 \alpha l^2}\right)^{-\alpha}`.

    A mixture of Gaussians of many widths; as alpha grows it becomes the Gaussian of width l.

    Parameters
    ----------
    length_scale : float or array of shape (n_features,), default=1.0
        The width l, for each feature its own if it is an array.
    alpha : float, default=1.0
        How alike the widths are.

    References
    ----------
    .. [1] C. E. Rasmussen and C. K. I. Williams, "Gaussian Processes for Machine Learning", MIT Press, 2006,
       section 4.2.
    """

    name = "rational_quadratic"

    def __init__(self, length_scale: Any = 1.0, alpha: float = 1.0) -> None:
        self.length_scale = length_scale
        self.alpha = alpha

    def validate(self) -> None:
        super().validate()
        check_number(self, "alpha", above=0)

    @property
    def _rate(self) -> float:
        return 0.5 / (float(self.alpha) * self._length**2)

    def elementwise(self, S: Array) -> Array:
        S *= self._rate
        np.log1p(S, out=S)  # for a large alpha 1 + S would round to 1
        S *= -float(self.alpha)
        return np.exp(S, out=S)

    def line_slope(self, U: Array) -> Array:
        alpha = float(self.alpha)
        U *= 0.5 / alpha
        np.log1p(U, out=U)
        U *= -(alpha + 1.0)
        return -0.5 * np.exp(U, out=U)

    def tunable(self) -> dict[str, Array]:
        return {**super().tunable(), **positive(alpha=self.alpha)}

    def slopes(self, X: Data, Z: Data | None, G: Array) -> dict[str, Array]:
        alpha = float(self.alpha)
        V = squared_distances(self._scaled(X), None if Z is None else self._scaled(Z))
        V *= self._rate
        logarithm = np.log1p(V)
        V /= 1.0 + V
        V -= logarithm
        logarithm *= -alpha
        V *= np.exp(logarithm, out=logarithm)
        return {**super().slopes(X, Z, G), "alpha": np.asarray(alpha * np.vdot(G, V))}
