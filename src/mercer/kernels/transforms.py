# ruff: noqa: D102  what overrides a method is documented in the base class
"""Kernels seen differently: normalised, centred."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Self

import numpy as np

from mercer.kernels.base import Kernel
from mercer.kernels.composite import ATOM, Composite, operand
from mercer.kernels.data import Array, Data, keys, size, take, tiles
from mercer.kernels.feature_map import FeatureMap, UnitLength, inverse_roots
from mercer.kernels.prepared import PreparedLengths, PreparedParts


class Normalized(Composite):
    r""":math:`k(x, z) = k_1(x, z) / \sqrt{k_1(x, x) \, k_1(z, z)}`: the cosine in feature space.

    An item without length, :math:`k_1(x, x) = 0`, is orthogonal to everything: 0/0 is 0.

    Parameters
    ----------
    kernel : Kernel
        The kernel :math:`k_1`.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    @property
    def is_psd(self) -> bool | None:
        return True if self.kernel.is_psd else None

    @property
    def diagonal_bound(self) -> float | None:
        return 1.0

    @property
    def is_nonnegative(self) -> bool | None:
        return self.kernel.is_nonnegative

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        K = self.kernel.fresh(self.part_of(X), self.part_of(Z))
        rows = self._inverse_lengths(X)
        K *= rows[:, None]
        K *= rows[None, :] if Z is None else self._inverse_lengths(Z)[None, :]
        if Z is None:
            np.fill_diagonal(K, rows > 0)
        return K

    def evaluate_diag(self, X: Data) -> Array:
        lengths = self._inverse_lengths(X)
        return (lengths > 0).astype(lengths.dtype)

    def magnitude(self, X: Data) -> Array:
        # An error in a length is one in all values of the item, hence the square; rounding alone may have
        # made a length zero.
        inverse, inner = self._inverse_lengths(X), self.kernel.magnitude(self.part_of(X))
        lost = np.where(inner > 0, 1.0 / np.finfo(np.float64).eps, 0.0)
        return np.where(inverse > 0, np.maximum(inner * inverse, 1.0) ** 2, lost)

    def feature_map_on(self, X: Data, names: tuple[str, ...] | None) -> FeatureMap | None:
        inner = self.kernel.feature_map_on(X, names)
        return None if inner is None else UnitLength(inner)

    def slopes(self, X: Data, Z: Data | None, G: Array) -> dict[str, Array]:
        rows = self._inverse_lengths(X)
        columns = rows if Z is None else self._inverse_lengths(Z)
        scaled = G * rows[:, None] * columns[None, :]
        share = scaled * self.kernel.evaluate(X, Z)
        out = self.kernel.slopes(X, Z, scaled)
        for D, sums, inverse in (
            (X, share.sum(axis=1), rows),
            (X if Z is None else Z, share.sum(axis=0), columns),
        ):
            for name, slope in self.kernel.slopes_diag(D, sums * inverse**2).items():
                out[name] = out[name] - 0.5 * slope
        return self.prefixed({"kernel": out})

    def prepare(self, X: Data, like: Data | None = None) -> Data:
        X = super().prepare(X, like)
        if not isinstance(X, PreparedParts):
            return X
        return PreparedLengths(X.items, X.parts, self._inverse_lengths(X))

    def _inverse_lengths(self, X: Data) -> Array:
        if isinstance(X, PreparedLengths):
            return np.asarray(X.inverse)
        squares = self.kernel.evaluate_diag(self.part_of(X))
        if self.kernel.is_psd:  # what is negative is rounding
            squares = np.maximum(squares, 0.0)
        elif squares.size and squares.min() < 0:
            raise ValueError(
                f"Normalized: {self.kernel!r} has k(x, x) = {float(squares.min()):g} < 0 for some item; it "
                "has no length to divide by."
            )
        return inverse_roots(squares)

    def expression(self) -> str:
        return f"{operand(self.kernel, ATOM)}.normalized()"


class Centered(Composite):
    r""":math:`k(x, z) = \langle \phi(x) - \mu, \phi(z) - \mu \rangle`, :math:`\mu` the training data's mean.

    With weights :math:`w_i` of the training items,

    .. math::
        \mu = \sum_i w_i \phi(x_i) / \sum_i w_i,

    .. math::
        k(x, z) = k_1(x, z) - m(x) - m(z) + \bar m, \qquad
        m(x) = \frac{\sum_i w_i k_1(x, x_i)}{\sum_i w_i}, \quad \bar m = \frac{\sum_i w_i m(x_i)}{\sum_i w_i}.

    The mean is that of the training data, so this is the one kernel that keeps data: `resolve` returns a
    copy that holds them, since m(x) of a new item needs them all. They are no parameter: they count neither
    for equality nor in the printed form, ``clone`` drops them, and pickling keeps them. A value for items
    outside the training data costs as many evaluations of :math:`k_1` as there are training items.

    Parameters
    ----------
    kernel : Kernel
        The kernel :math:`k_1`.

    References
    ----------
    .. [1] B. Scholkopf, A. Smola and K.-R. Muller, "Nonlinear component analysis as a kernel eigenvalue
       problem", Neural Computation 10, 1998.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._forget()

    def _forget(self) -> None:
        self._training: Data = None
        self._weights: Array | None = None  # they sum to 1
        self._training_means: Array | None = None
        self._mean = 0.0
        self._known: dict[Hashable, float] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_known": None}  # identities of objects end with the process

    def set_params(self, **params: Any) -> Self:
        self._forget()
        return super().set_params(**params)

    @property
    def is_psd(self) -> bool | None:
        return True if self.kernel.is_psd else None

    @property
    def is_resolved(self) -> bool:
        return self._training is not None and super().is_resolved

    @property
    def depends_on_data(self) -> bool:
        return True

    @property
    def keeps_data(self) -> bool:
        return True

    def resolve_on(self, X: Data, sample_weight: Any) -> Self:
        resolved = super().resolve_on(X, sample_weight)
        weights = np.ones(size(X)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        resolved._weights = weights / weights.sum()
        resolved._training = X
        resolved._training_means = resolved._means(X)
        resolved._mean = float(resolved._weights @ resolved._training_means)
        return resolved

    def _means(self, X: Data) -> Array:
        """Return m(x) of each item, in float64."""
        assert self._weights is not None, "resolve_on comes first"
        out = np.full(size(X), np.nan)
        if self._training_means is not None:
            if X is self._training:
                return self._training_means
            if self._known is None:  # solvers ask for the same training items again and again
                self._known = dict(zip(keys(self._training), self._training_means.tolist(), strict=True))
            out[:] = [self._known.get(key, np.nan) for key in keys(X)]
        new = np.flatnonzero(np.isnan(out))
        for part in tiles(new.size, size(self._training)):
            items = self.part_of(take(X, new[part]))
            with np.errstate(over="ignore", invalid="ignore"):  # refused later, in words
                out[new[part]] = self.kernel.evaluate(items, self._training) @ self._weights
        return out

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        K = self.kernel.fresh(self.part_of(X), self.part_of(Z))
        rows = self._means(X)
        columns = rows if Z is None else self._means(Z)
        K -= (rows - self._mean).astype(K.dtype)[:, None]
        K -= columns.astype(K.dtype)[None, :]
        if Z is None:
            np.fill_diagonal(K, self._diagonal(self.kernel.evaluate_diag(self.part_of(X)), rows))
        return K

    def evaluate_diag(self, X: Data) -> Array:
        return self._diagonal(self.kernel.evaluate_diag(self.part_of(X)), self._means(X))

    def magnitude(self, X: Data) -> Array:
        # Of all four terms: |m(x)| is at most the length of x times the mean length of the training items.
        assert self._weights is not None, "resolve_on comes first"
        mean = float(self._weights @ self.kernel.magnitude(self._training))
        return self.kernel.magnitude(self.part_of(X)) + mean

    def slopes(self, X: Data, Z: Data | None, G: Array) -> dict[str, Array]:
        assert self._weights is not None, "resolve_on comes first"
        training, w = self._training, self._weights
        total = [
            self.kernel.slopes(X, Z, G),
            self.kernel.slopes(X, training, np.outer(-G.sum(axis=1), w)),
            self.kernel.slopes(X if Z is None else Z, training, np.outer(-G.sum(axis=0), w)),
            self.kernel.slopes(training, None, G.sum() * np.outer(w, w)),
        ]
        return self.prefixed({"kernel": {name: np.asarray(sum(s[name] for s in total)) for name in total[0]}})

    def _diagonal(self, values: Array, means: Array) -> Array:
        """Return k(x, x); an item that is the mean, up to rounding, has length 0, not a random one."""
        centred = values - (2.0 * means - self._mean)
        noise = 32 * np.finfo(values.dtype).eps * (np.abs(values) + np.abs(2.0 * means) + abs(self._mean))
        return np.where(np.abs(centred) <= noise, 0.0, centred).astype(values.dtype)

    def expression(self) -> str:
        return f"{operand(self.kernel, ATOM)}.centered()"
