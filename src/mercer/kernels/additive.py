# ruff: noqa: D102  what overrides a method is documented in the base class
"""Kernels that are sums over the features of g(x_j, z_j), or a function of such a sum."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from mercer import _jit
from mercer.kernels.data import Array, Data, dense, is_sparse, result_dtype, tiles
from mercer.kernels.statistics import integer_power, positive
from mercer.kernels.trends import PolynomialTrend, Trend
from mercer.kernels.vector import (
    GammaKernel,
    VectorKernel,
    check_number,
    check_scales,
    stretch,
    value_at_zero,
)


class PairwiseKernel(VectorKernel):
    """A vector kernel whose statistic is a compiled loop over pairs of rows.

    The loops see dense rows; sparse data are filled in a few rows at a time.
    """

    is_distance: ClassVar[bool] = False  # whether the statistic of a row and itself is 0

    @property
    def diagonal_bound(self) -> float | None:
        return value_at_zero(self, PairwiseKernel) if self.is_distance else None

    @abstractmethod
    def loop(self, X: Array, Zt: Array, out: Array) -> None:
        """Write the statistic of the rows of X and the columns of Zt to ``out``."""

    def elementwise(self, S: Array) -> Array:
        """Return the kernel's values from the statistic, in place."""
        return S

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        return self.elementwise(self.pairs(X, Z))

    def evaluate_diag(self, X: Data) -> Array:
        if self.is_distance:
            return self.elementwise(np.zeros(X.shape[0], dtype=X.dtype))
        return super().evaluate_diag(X)

    def pairs(self, X: Data, Z: Data | None = None) -> Array:
        """Return the statistic of all pairs of rows."""
        Z = X if Z is None else Z
        dtype = result_dtype(X, Z)
        out = np.empty((X.shape[0], Z.shape[0]), dtype=dtype)
        if not (is_sparse(X) or is_sparse(Z)):
            self.loop(_as(X, dtype), np.ascontiguousarray(Z.T, dtype=dtype), out)
            return out
        for columns in tiles(Z.shape[0], Z.shape[1]):
            Zt = np.ascontiguousarray(dense(Z[columns]).T, dtype=dtype)
            for rows in tiles(X.shape[0], X.shape[1]):
                part = np.empty((rows.stop - rows.start, columns.stop - columns.start), dtype=dtype)
                self.loop(_as(dense(X[rows]), dtype), Zt, part)
                out[rows, columns] = part
        return out


def _as(X: Array, dtype: Any) -> Array:
    return np.ascontiguousarray(X, dtype=dtype)


class ExponentialKernel(PairwiseKernel, GammaKernel):
    """A kernel exp(-gamma s) of a distance s."""

    is_distance: ClassVar[bool] = True

    @property
    def is_nonnegative(self) -> bool | None:
        return True

    def elementwise(self, S: Array) -> Array:
        stretch(S, -float(self.gamma))
        return np.exp(S, out=S)

    def tunable(self) -> dict[str, Array]:
        return positive(gamma=self.gamma)

    def slopes(self, X: Data, Z: Data | None, G: Array) -> dict[str, Array]:
        S = self.pairs(X, Z)
        S *= float(self.gamma)
        return {name: np.asarray(-np.vdot(G, S * np.exp(-S))) for name in self.tunable()}


class Laplacian(ExponentialKernel):
    r""":math:`k(x, z) = \exp(-\gamma \|x - z\|_1)`.

    Parameters
    ----------
    gamma : float, "scale" or "auto", default="scale"
        The inverse width. "scale" is 1 / (n_features * standard deviation of all entries of X), because the
        distance here is not squared; "auto" is 1 / n_features, which is the default of scikit-learn's
        ``laplacian_kernel``.

    References
    ----------
    .. [1] M. Rupp, "Machine learning for quantum mechanics in a nutshell", International Journal of Quantum
       Chemistry 115, 2015.
    """

    name = "laplacian"
    homogeneity = 1

    def __init__(self, gamma: Any = "scale") -> None:
        self.gamma = gamma

    def loop(self, X: Array, Zt: Array, out: Array) -> None:
        _jit.pairwise.l1(X, Zt, out)


class ANOVA(PairwiseKernel, GammaKernel):
    r""":math:`k(x, z) = \left(\sum_j \exp(-\gamma (x_j - z_j)^2)\right)^p`.

    The sum is a kernel for additive functions of single features; its power p takes in interactions of up
    to p of them. This is kernlab's form [2]_; the ANOVA kernel in the strict sense [1]_ sums over sets of p
    different features, while here a feature may also meet itself.

    Parameters
    ----------
    gamma : float, "scale" or "auto", default="scale"
        The inverse squared width on each feature.
    degree : int, default=3
        The exponent p >= 1.

    References
    ----------
    .. [1] T. Hofmann, B. Scholkopf and A. J. Smola, "Kernel methods in machine learning", Annals of
       Statistics 36, 2008.
    .. [2] A. Karatzoglou, A. Smola, K. Hornik and A. Zeileis, "kernlab: an S4 package for kernel methods in
       R", Journal of Statistical Software 11(9), 2004.
    """

    name = "anova"

    def __init__(self, gamma: Any = "scale", degree: int = 3) -> None:
        self.gamma = gamma
        self.degree = degree

    @property
    def is_nonnegative(self) -> bool | None:
        return True

    def validate(self) -> None:
        super().validate()
        check_number(self, "degree", least=1, integer=True)

    def loop(self, X: Array, Zt: Array, out: Array) -> None:
        _jit.pairwise.gaussians(X, Zt, X.dtype.type(self.gamma), out)

    def elementwise(self, S: Array) -> Array:
        return integer_power(S, int(self.degree))

    def evaluate_diag(self, X: Data) -> Array:
        return np.full(X.shape[0], float(X.shape[1]) ** int(self.degree), dtype=X.dtype)

    def tunable(self) -> dict[str, Array]:
        return positive(gamma=self.gamma)

    def slopes(self, X: Data, Z: Data | None, G: Array) -> dict[str, Array]:
        X = dense(X)
        Z = X if Z is None else dense(Z)
        B, moved = np.zeros((2, X.shape[0], Z.shape[0]))
        for x, z in zip(X.T, Z.T, strict=True):
            D = float(self.gamma) * np.subtract.outer(x, z) ** 2
            E = np.exp(-D)
            B += E
            moved -= D * E
        B = integer_power(B, int(self.degree) - 1)
        B *= moved
        return {name: np.asarray(int(self.degree) * np.vdot(G, B)) for name in self.tunable()}


class Spline(PairwiseKernel):
    r"""The additive cubic smoothing-spline kernel :math:`k(x, z) = \sum_j K(x_j - a_j, z_j - a_j)`.

    .. math::
        K(s, t) = 1 + s t + \int_0^\infty (|s| - u)_+ (|t| - u)_+ \, du \; [s t > 0]
                = 1 + s t + m^2 (3 M - m) / 6,

    with m and M the smaller and the larger modulus of s and t, and m = 0 if they have different signs. K
    reproduces the functions f of one variable under the norm

    .. math:: \|f\|^2 = f(0)^2 + f'(0)^2 + \int f''(u)^2 \, du :

    the linear functions have the kernel 1 + s t, and by Taylor's formula a function with f(0) = f'(0) = 0
    is :math:`\int (s - u)_+ f''(u) du` to the right of 0, and its mirror image to the left. The two sides
    are independent, so the kernel is a sum of three and positive semi-definite on the whole line; no value
    is out of its domain.

    Estimators with a ``parametric`` part (:class:`mercer.KernelRidge`, :class:`mercer.SVR` and their kin)
    leave 1 and the x_j free by themselves, so that the integral of :math:`f''^2` is all that is penalised and
    the fit is an additive model of natural cubic splines, whatever the anchor. Others (and those with
    ``parametric=None``) penalise value and slope at the anchor, too: their functions are cubic splines with a
    jump in f'' there.

    Parameters
    ----------
    anchor : float, array of shape (n_features,) or "min", default=0.0
        The point a at which value and slope are measured where they are penalised. "min" takes each feature's
        smallest value in the training data: the textbook's one-sided kernel. (New values may lie below it.)

    Notes
    -----
    K grows as the cube of the data's scale; standardise the data first.

    References
    ----------
    .. [1] G. Wahba, "Spline Models for Observational Data", SIAM, 1990, section 1.2.
    .. [2] T. Hastie, R. Tibshirani and J. Friedman, "The Elements of Statistical Learning", second edition,
       Springer, 2009, sections 5.8 and 12.3.3.
    """

    name = "spline"

    def __init__(self, anchor: Any = 0.0) -> None:
        self.anchor = anchor

    @property
    def is_nonnegative(self) -> bool | None:
        return False

    def trend_on(self, n_features: int) -> Trend | None:
        return PolynomialTrend(1)

    @property
    def is_resolved(self) -> bool:
        return not isinstance(self.anchor, str)

    def validate(self) -> None:
        if isinstance(self.anchor, str) and self.anchor == "min":
            return
        check_scales(self, "anchor", "a number, an array of numbers, one per feature, or 'min'", np.isfinite)

    def resolve_on(self, X: Data, sample_weight: Any) -> Self:
        if not isinstance(self.anchor, str):
            return self.replaced()
        rows = X if sample_weight is None else X[np.flatnonzero(sample_weight)]  # a weight of 0 means absent
        lowest = rows.min(axis=0)
        return self.replaced(anchor=np.asarray(dense(lowest), dtype=np.float64).ravel())

    def _anchors(self, X: Array) -> Array:
        anchor = np.asarray(self.anchor, dtype=X.dtype)
        if anchor.ndim and anchor.shape[0] != X.shape[1]:
            raise ValueError(
                f"Spline: anchor has {anchor.shape[0]} values, but the data have {X.shape[1]} features."
            )
        return np.array(np.broadcast_to(anchor, (X.shape[1],)))

    def loop(self, X: Array, Zt: Array, out: Array) -> None:
        _jit.pairwise.cubic_splines(X, Zt, self._anchors(X), out)

    def evaluate_diag(self, X: Data) -> Array:
        out = np.empty(X.shape[0], dtype=X.dtype)
        for rows in tiles(X.shape[0], X.shape[1]):
            part = dense(X[rows])
            with np.errstate(over="ignore"):  # whoever asks refuses infinite values by name
                s = np.abs(part - self._anchors(part))
                out[rows] = (1.0 + s * s * (1.0 + s / 3.0)).sum(axis=1)
        return out
