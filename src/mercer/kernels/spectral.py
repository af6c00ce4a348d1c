# ruff: noqa: D102  what overrides a method is documented in the base class
r"""Kernels that are made positive semi-definite by a change of their spectrum on the training data.

With the training items T, their weights w and :math:`\mathrm{diag}(w)^{1/2} K \, \mathrm{diag}(w)^{1/2} = U
\mathrm{diag}(\lambda) U'`, the features of any item x are

.. math::
    \phi_j(x) = |\lambda_j|^{-1/2} \, u_j' \, \mathrm{diag}(w)^{1/2} k(T, x)

so that the kernel matrix of the training items has the eigenvalues that are wished, and new items get values
that fit them (Nystrom's extension). A weight of 2 equals the item twice.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, eigvalsh

from mercer.arrays import Index
from mercer.kernels.base import Kernel
from mercer.kernels.composite import ATOM, Composite, operand
from mercer.kernels.data import Array, Data, is_sparse, keys, result_dtype, size, take, tiles
from mercer.kernels.mixed_columns import MixedColumns
from mercer.kernels.prepared import raw
from mercer.values import is_real, source

NOTHING = 1e-10  # eigenvalues, relative to the largest, of which nothing but rounding may be left


class SpectralKernel(Composite):
    """Base of the kernels whose features are eigenvectors of the training items' matrix."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._forget()

    def _forget(self) -> None:
        self._training: Data = None
        self._map: Array | None = None  # (training items, features): phi(x) = k(x, T) map
        self._training_features: Array | None = None
        self._known: dict[Hashable, int] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_known": None}  # identities of objects end with the process

    def set_params(self, **params: Any) -> Self:
        self._forget()
        return super().set_params(**params)

    @abstractmethod
    def chosen(self, values: Array) -> NDArray[np.bool_]:
        """Return which eigenvalues stay (true or false), given those that are more than rounding."""

    @property
    def is_psd(self) -> bool | None:
        return True  # an inner product of features

    @property
    def is_resolved(self) -> bool:
        return self._training is not None and super().is_resolved

    @property
    def depends_on_data(self) -> bool:
        return True

    @property
    def keeps_data(self) -> bool:
        return True

    def tunable(self) -> dict[str, Array]:
        return {}  # eigenvectors have no simple slopes

    def resolve_on(self, X: Data, sample_weight: Any) -> Self:
        resolved = super().resolve_on(X, sample_weight)
        weight = np.ones(size(X)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        there = np.flatnonzero(weight > 0)
        items = X if there.size == size(X) else take(X, there)
        root = np.sqrt(weight[there])
        K = np.asarray(resolved.kernel.evaluate(items), dtype=np.float64)
        values, U = eigh(0.5 * (K + K.T) * root[:, None] * root[None, :])
        size_of = np.abs(values)
        kept = (size_of > NOTHING * size_of.max(initial=0.0)) & resolved.chosen(values)
        resolved._training = items
        resolved._map = root[:, None] * U[:, kept] / np.sqrt(size_of[kept])
        resolved._training_features = K @ resolved._map
        return resolved

    def features(self, X: Data) -> Array:
        """Return phi of each item, in float64."""
        assert self._map is not None, "resolve_on comes first"
        assert self._training_features is not None
        if X is self._training:
            return self._training_features
        if self._known is None:  # solvers ask for the same training items again and again
            self._known = {key: i for i, key in enumerate(keys(self._training))}
        found = np.array([self._known.get(key, -1) for key in keys(X)], dtype=np.intp)
        out = np.empty((size(X), self._map.shape[1]))
        old, new = found >= 0, np.flatnonzero(found < 0)
        out[old] = self._training_features[found[old]]
        for part in tiles(new.size, size(self._training)):
            items = take(self.part_of(X), new[part])
            out[new[part]] = np.asarray(self.kernel.evaluate(items, self._training)) @ self._map
        return out

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        rows = self.features(X)
        columns = rows if Z is None else self.features(Z)
        return np.asarray(rows @ columns.T, dtype=result_dtype(X, Z))

    def evaluate_diag(self, X: Data) -> Array:
        rows = self.features(X)
        return np.asarray(np.einsum("ij,ij->i", rows, rows), dtype=result_dtype(X, None))


class Clipped(SpectralKernel):
    r"""A kernel without its negative eigenvalues: :math:`\lambda_j \to \max(\lambda_j, 0)`.

    On the training items this is the nearest positive semi-definite matrix. Fitting takes all eigenvectors of
    their matrix; like :class:`Centered`, the fitted kernel keeps the training items, and a value for others
    costs as many evaluations of :math:`k_1` as there are of them.

    Parameters
    ----------
    kernel : Kernel
        The kernel :math:`k_1`.

    References
    ----------
    .. [1] Y. Chen, E. K. Garcia, M. R. Gupta, A. Rahimi and L. Cazzanti, "Similarity-based classification:
       concepts and algorithms", Journal of Machine Learning Research 10, 2009.
    .. [2] N. J. Higham, "Computing a nearest symmetric positive semidefinite matrix", Linear Algebra and its
       Applications 103, 1988.
    """

    def chosen(self, values: Array) -> NDArray[np.bool_]:
        return values > 0

    def expression(self) -> str:
        return f"{operand(self.kernel, ATOM)}.clipped()"


class Flipped(SpectralKernel):
    r"""A kernel with its negative eigenvalues made positive: :math:`\lambda_j \to |\lambda_j|`.

    Where negative eigenvalues carry information, this keeps it. Fitting and values cost what they do for
    :class:`Clipped`.

    Parameters
    ----------
    kernel : Kernel
        The kernel :math:`k_1`.

    References
    ----------
    .. [1] Y. Chen, E. K. Garcia, M. R. Gupta, A. Rahimi and L. Cazzanti, "Similarity-based classification:
       concepts and algorithms", Journal of Machine Learning Research 10, 2009.
    """

    def chosen(self, values: Array) -> NDArray[np.bool_]:
        return np.ones(values.shape, dtype=bool)

    def expression(self) -> str:
        return f"{operand(self.kernel, ATOM)}.flipped()"


class Shifted(Composite):
    r""":math:`k(x, z) = k_1(x, z) + s \, [x = z]`: all eigenvalues of the training items' matrix grow by s.

    Only values of an item with itself change, so predictions at new points need nothing of the training data.
    Of points that were not in the training data nothing is promised.

    Parameters
    ----------
    kernel : Kernel
        The kernel :math:`k_1`.
    amount : float or "auto", default="auto"
        s; "auto" is the least that leaves no eigenvalue of the training items' matrix negative.

    References
    ----------
    .. [1] V. Roth, J. Laub, M. Kawanabe and J. Buhmann, "Optimal cluster preserving embedding of nonmetric
       proximity data", IEEE Transactions on Pattern Analysis and Machine Intelligence 25, 2003.
    """

    def __init__(self, kernel: Kernel, amount: Any = "auto") -> None:
        self.kernel = kernel
        self.amount = amount

    @property
    def is_psd(self) -> bool | None:
        return True if self.kernel.is_psd else None

    @property
    def diagonal_bound(self) -> float | None:
        bound = self.kernel.diagonal_bound
        return None if bound is None or not is_real(self.amount) else bound + float(self.amount)

    @property
    def is_nonnegative(self) -> bool | None:
        return self.kernel.is_nonnegative

    @property
    def is_resolved(self) -> bool:
        return is_real(self.amount) and super().is_resolved

    @property
    def depends_on_data(self) -> bool:
        return not is_real(self.amount) or super().depends_on_data

    def validate(self) -> None:
        super().validate()
        if not (self.amount == "auto" or (is_real(self.amount) and 0.0 <= float(self.amount) < np.inf)):
            self._refuse("amount", self.amount, '"auto" or a finite number of at least 0')

    def tunable(self) -> dict[str, Array]:
        return {}  # what is added depends on all parameters of the kernel

    def resolve_on(self, X: Data, sample_weight: Any) -> Self:
        resolved = super().resolve_on(X, sample_weight)
        if is_real(self.amount):
            return resolved
        weight = np.ones(size(X)) if sample_weight is None else np.asarray(sample_weight)
        names = item_names(X)
        # An item that is there twice adds no direction: the distinct ones decide.
        distinct = sorted({name: i for i, name in enumerate(names) if weight[i] > 0}.values())
        K = np.asarray(resolved.kernel.evaluate(take(X, np.array(distinct))), dtype=np.float64)
        least = float(eigvalsh(0.5 * (K + K.T), subset_by_index=[0, 0])[0])
        return resolved.replaced(amount=max(0.0, -least))

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        K = self.kernel.fresh(self.part_of(X), self.part_of(Z))
        rows, columns = numbered(X, Z)
        K += K.dtype.type(float(self.amount)) * (rows[:, None] == columns[None, :])
        return K

    def evaluate_diag(self, X: Data) -> Array:
        values = self.kernel.evaluate_diag(self.part_of(X))
        return np.asarray(values + values.dtype.type(float(self.amount)))

    def expression(self) -> str:
        inside = "" if self.amount == "auto" else source(self.amount)
        return f"{operand(self.kernel, ATOM)}.shifted({inside})"


def item_names(X: Data) -> list[Hashable]:
    """Return what equal items have in common: numbers in any precision, equal strings, or the object."""
    X = raw(X)
    if isinstance(X, MixedColumns):
        parts = [item_names(column) for column in X.columns if column is not None]
        return list(zip(*parts, strict=True))
    if is_sparse(X):
        X = X.astype(np.float64)
        X.eliminate_zeros()
        return list(keys(X))
    if isinstance(X, np.ndarray) and X.dtype.kind != "O":
        return list(keys(X.astype(np.float64) + 0.0 if X.dtype.kind in "biuf" else X))  # -0.0 is 0.0
    return [x if isinstance(x, str | bytes | int | float) else _name_of_object(x) for x in X]


def _name_of_object(x: Any) -> Hashable:
    if isinstance(x, np.ndarray):
        return (x.shape, x.dtype.str, x.tobytes())
    try:
        hash(x)
    except TypeError:  # a list or another container that may change
        return repr(x) if isinstance(x, list | dict | set) else id(x)
    named: Hashable = x
    return named


def numbered(X: Data, Z: Data | None) -> tuple[Index, Index]:
    """Return numbers of the items of X and of Z (X if it is None) that are the same for equal items."""
    number: dict[Hashable, int] = {}
    rows = np.array([number.setdefault(name, len(number)) for name in item_names(X)], dtype=np.intp)
    if Z is None or Z is X:
        return rows, rows
    return rows, np.array([number.setdefault(name, len(number)) for name in item_names(Z)], dtype=np.intp)
