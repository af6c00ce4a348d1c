# ruff: noqa: D102  what overrides a method is documented in the base class
"""Functions that stand beside a kernel and cost nothing: polynomials of the features, or a user's own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from mercer.arrays import Float64
from mercer.kernels.data import Data, dense, size
from mercer.values import Value, name_of

Monomial = tuple[int, ...]  # the features of a product, ascending; x_0 x_1^2 is (0, 1, 1)
NAMES = {"constant": 0, "linear": 1, "quadratic": 2}  # and their degrees


class Trend(Value, ABC):
    """Functions p_j of an item whose coefficients are not penalised.

    The constant is not among the columns: it is a machine's bias.
    """

    constant: Any  # whether the constant function is one of them, whatever ``fit_intercept`` says

    @abstractmethod
    def columns(self, X: Data) -> Float64:
        """Return the values of the functions at canonical data, a column for each."""

    def names(self, X: Data, features: Sequence[str] | None = None) -> list[str] | None:
        """Return what the columns are called, where they have names."""
        return None

    def weights(self, n_features: int) -> Any:
        """Return the columns as numbers of features where each is a feature itself, else None."""
        return None


class PolynomialTrend(Trend):
    r"""The products of up to ``degree`` features, :math:`x_{j_1} \cdots x_{j_p}`.

    Parameters
    ----------
    degree : int, default=1
        The highest degree; 0 is the constant alone.
    features : sequence of int, optional
        Which features; all of them by default.
    constant : bool, default=True
        Whether the constant is free, too, also where ``fit_intercept=False``.
    """

    def __init__(self, degree: int = 1, features: Any = None, constant: bool = True) -> None:
        self.degree = degree
        self.features = features
        self.constant = constant

    def moved(self, index: Sequence[int]) -> PolynomialTrend:
        """Return the same products of other features: feature j becomes ``index[j]``."""
        chosen = _chosen(self.features, len(index))
        return self.replaced(features=tuple(int(index[j]) for j in chosen))

    def monomials(self, n_features: int) -> list[Monomial]:
        """Return the products, those of low degree first."""
        return [
            product
            for degree in range(1, int(self.degree) + 1)
            for product in combinations_with_replacement(_chosen(self.features, n_features), degree)
        ]

    def columns(self, X: Data) -> Float64:
        return _columns(X, self.monomials)

    def names(self, X: Data, features: Sequence[str] | None = None) -> list[str] | None:
        return _names(X, self.monomials, features)

    def weights(self, n_features: int) -> Any:
        return list(_chosen(self.features, n_features)) if int(self.degree) <= 1 else None


class JoinedTrend(Trend):
    """The polynomials of several trends, each once.

    Parameters
    ----------
    parts : sequence of PolynomialTrend
        The trends.
    """

    def __init__(self, parts: Any) -> None:
        self.parts = parts

    @property
    def constant(self) -> bool:
        """Whether the constant function is one of them."""
        return any(part.constant for part in self.parts)

    def moved(self, index: Sequence[int]) -> JoinedTrend:
        """Return the same products of other features: feature j becomes ``index[j]``."""
        return JoinedTrend(tuple(part.moved(index) for part in self.parts))

    def monomials(self, n_features: int) -> list[Monomial]:
        """Return the products, those of low degree first."""
        every = {product for part in self.parts for product in part.monomials(n_features)}
        return sorted(every, key=lambda product: (len(product), product))

    def columns(self, X: Data) -> Float64:
        return _columns(X, self.monomials)

    def names(self, X: Data, features: Sequence[str] | None = None) -> list[str] | None:
        return _names(X, self.monomials, features)

    def weights(self, n_features: int) -> Any:
        products = self.monomials(n_features)
        return [product[0] for product in products] if all(len(p) == 1 for p in products) else None


class FunctionTrend(Trend):
    """A user's own functions.

    Parameters
    ----------
    function : callable
        Takes the data (as the kernel gets them) and returns an array of shape (n,) or (n, m). Its values at a
        row must not depend on the other rows.
    """

    def __init__(self, function: Callable[[Data], Any]) -> None:
        self.function = function

    constant = False

    def columns(self, X: Data) -> Float64:
        called = f"parametric={name_of(self.function)}"
        P = np.asarray(self.function(X))
        if P.dtype.kind not in "biuf":
            raise TypeError(f"{called} must return numbers, it returned values of type {P.dtype}.")
        P = P[:, None] if P.ndim == 1 else P
        if P.ndim != 2 or P.shape[0] != size(X):
            raise ValueError(
                f"{called} must return an array of shape (n,) or (n, m) for n = {size(X)} rows; its shape is "
                f"{P.shape}."
            )
        return P.astype(np.float64)


def _chosen(features: Any, n_features: int) -> list[int]:
    if features is None:
        return list(range(n_features))
    out = []
    for j in features:
        if not -n_features <= int(j) < n_features:
            raise ValueError(
                f"parametric: there is no feature {int(j)}; the data have {n_features} features."
            )
        out.append(int(j) % n_features)
    return sorted(set(out))


def _width(X: Data) -> int:
    if getattr(X, "ndim", 1) != 2:
        raise ValueError(
            "parametric: products of features need a table of numbers; for other items give a function of "
            "them, or parametric='constant'."
        )
    return int(X.shape[1])


def _columns(X: Data, monomials: Callable[[int], list[Monomial]]) -> Float64:
    if not hasattr(X, "shape") or X.ndim != 2:
        if not monomials(1):  # nothing but the constant
            return np.zeros((size(X), 0))
        _width(X)
    products = monomials(X.shape[1])
    out = np.ones((X.shape[0], len(products)))
    with np.errstate(over="ignore", invalid="ignore"):
        for k, product in enumerate(products):
            for j in product:
                out[:, k] *= dense(X[:, [j]]).ravel()
    bad = np.argwhere(~np.isfinite(out))
    if bad.size:
        row, k = bad[0]
        raise ValueError(
            f"the product of the columns {list(products[k])} overflows at row {row}: scale the features, or "
            "choose a trend of a lower degree"
        )
    return out


def _names(
    X: Data, monomials: Callable[[int], list[Monomial]], features: Sequence[str] | None
) -> list[str] | None:
    if getattr(X, "ndim", 1) != 2:
        return None
    called = list(features) if features is not None else [f"x{j}" for j in range(X.shape[1])]
    return [" ".join(str(called[j]) for j in product) for product in monomials(X.shape[1])]


def as_trend(parametric: Any, own: Trend | None) -> Trend | None:
    """Return the functions that an estimator's ``parametric`` names.

    Parameters
    ----------
    parametric : str, sequence of int, callable, Trend or None
        "auto" stands for the kernel's own.
    own : Trend or None
        The kernel's.
    """
    if parametric is None or isinstance(parametric, Trend):
        return parametric
    if isinstance(parametric, str):
        if parametric == "auto":
            return own
        if parametric in NAMES:
            return PolynomialTrend(NAMES[parametric])
    elif callable(parametric):
        return FunctionTrend(parametric)
    elif isinstance(parametric, Sequence | np.ndarray) and np.asarray(parametric).dtype.kind in "iu":
        return PolynomialTrend(1, tuple(int(j) for j in parametric), constant=False)
    raise ValueError(
        f"parametric={parametric!r} is not allowed; it must be 'auto', None, "
        f"{', '.join(map(repr, NAMES))}, numbers of columns, or a function of the data that returns columns."
    )


def join(one: Trend | None, two: Trend | None) -> Trend | None:
    """Return the trend of a sum of kernels: the functions of both, each once."""
    if one is None or two is None:
        return one or two
    parts: list[Any] = []
    for trend in (one, two):
        parts += trend.parts if isinstance(trend, JoinedTrend) else [trend]
    return JoinedTrend(tuple(dict.fromkeys(parts)))


def covers(trend: Trend | None, needed: Trend | None, constant: bool, n_features: int) -> bool:
    """Return whether functions contain others; ``constant``: whether a bias stands beside them."""
    if needed is None:
        return True
    if isinstance(trend, FunctionTrend):
        return False  # for all we know
    given: Any = trend or PolynomialTrend(0, constant=False)
    asked: Any = needed
    inside = set(asked.monomials(n_features)) <= set(given.monomials(n_features))
    return inside and bool(given.constant or constant or not asked.constant)
