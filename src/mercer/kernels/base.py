"""What a kernel is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from mercer.kernels import data as _data
from mercer.kernels.data import Array, Data
from mercer.kernels.feature_map import FeatureMap, OfAnyForm, column_names
from mercer.kernels.fused import Fused
from mercer.kernels.mixed_columns import MixedColumns, has_columns, mixed_columns
from mercer.kernels.operators import Operators
from mercer.kernels.tiles_of_pairs import matrix_in_tiles
from mercer.values import Value

if TYPE_CHECKING:
    from mercer.kernels.trends import Trend

DIAGONAL_TILE = 32


class Kernel(Operators, Value, ABC):
    r"""A function :math:`k(x, z) = \langle \phi(x), \phi(z) \rangle` of two items.

    A kernel is a value: it is its parameters, holds no data, is compared and hashed by them, prints as
    Python that builds it again, and may be shared by estimators and threads. Parameters are checked when
    the kernel is used, not when it is made.

    Parameters that depend on data (``gamma="scale"``) are fixed by `resolve`, which returns another kernel.
    Calling an unresolved kernel resolves it on its first argument.

    A subclass writes ``__init__`` (which stores its arguments and does nothing else) and `evaluate`, and
    where it can, `evaluate_diag`, `validate` and the properties below.
    """

    __array_ufunc__ = None  # so that ``np.float64(2) * k`` comes to __rmul__

    name: ClassVar[str | None] = None  # by which estimators know it; never inherited

    # What the kernel promises and asks for.

    @property
    def is_psd(self) -> bool | None:
        """Whether every kernel matrix is positive semi-definite; None if that is not known."""
        return None

    def trend_on(self, n_features: int) -> Trend | None:
        """Return the functions that belong beside the kernel at no cost, for data of so many features.

        An estimator with a ``parametric`` part leaves their coefficients free.
        """
        return None

    @property
    def is_psd_beside_trend(self) -> bool | None:
        """Whether matrices are positive semi-definite where coefficients are orthogonal to the trend."""
        return self.is_psd

    @property
    def is_vector(self) -> bool:
        """Whether the data must be a table of numbers with features."""
        return False

    @property
    def reads_columns(self) -> bool:
        """Whether the kernel, or some part of it, chooses columns of a table."""
        return False

    @property
    def accepts_sparse(self) -> bool:
        """Whether CSR data are accepted."""
        return False

    @property
    def requires_positive(self) -> bool:
        """Whether the data must be non-negative."""
        return False

    @property
    def diagonal_bound(self) -> float | None:
        """A bound on k(x, x) that holds for every item, not only for those seen; None if none is known."""
        return None

    @property
    def is_nonnegative(self) -> bool | None:
        """Whether k(x, z) is never negative, for any two items; None if that is not known."""
        return None

    @property
    def has_nonnegative_diagonal(self) -> bool:
        """Whether k(x, x) is known to be never negative: a squared length, or a value of such a kernel."""
        return bool(self.is_psd or self.is_nonnegative)

    @property
    def depends_on_data(self) -> bool:
        """Whether the training data's rows decide what the kernel is; their number of columns may."""
        return not self.is_resolved

    @property
    def keeps_data(self) -> bool:
        """Whether the kernel, once resolved, is made of the training items."""
        return False

    @property
    def pairwise(self) -> bool:
        """Whether the data are a kernel matrix already."""
        return False

    @property
    def by_pairs(self) -> bool:
        """Whether values are computed pair by pair, in compiled loops that all threads may run."""
        return False

    @property
    def is_resolved(self) -> bool:
        """Whether no parameter waits for data."""
        return True

    # Data.

    def check(self, X: Any, *, estimator: Any = None, input_name: str = "X") -> Data:
        """Return data in canonical form, or say what is wrong with them.

        Parameters
        ----------
        X : Any
            A table of numbers (array, CSR matrix, data frame) or, for kernels on other items, a sequence.
        estimator : object or str, optional
            Whose data they are, for messages.
        input_name : str
            What the data are called in messages.

        Returns
        -------
        ndarray, CSR matrix or sequence
            float32 or float64, C-contiguous or with sorted indices; float32 is kept. Not copied when it is so
            already.
        """
        if self.pairwise:
            return _data.check_matrix(X, estimator=estimator, name=input_name)
        if self.reads_columns and has_columns(X):
            return self.check_columns(X, estimator=estimator, input_name=input_name)
        check = _data.check_vectors if self.is_vector else _data.check_items
        X = check(X, sparse=self.accepts_sparse, estimator=estimator, name=input_name)
        self.check_domain(X, estimator)
        return X

    def check_columns(self, X: Any, *, estimator: Any, input_name: str) -> Data:
        """Return a table in canonical form: numbers if all are, else the columns that matter."""
        table = mixed_columns(X)
        if not table.rows:
            raise ValueError(
                f"Found array with 0 sample(s) (shape={table.shape}) while a minimum of 1 is required."
            )
        if self.is_vector and all(map(table.is_number, range(table.shape[1]))):
            numbers = _data.check_vectors(X, sparse=self.accepts_sparse, estimator=estimator, name=input_name)
            self.check_domain(numbers, estimator)
            return numbers
        table = table.only(self.columns_read(table))
        self.check_items_of(table, estimator=estimator, input_name=input_name)
        return table

    def columns_read(self, table: MixedColumns) -> set[int]:
        """Return the numbers of the columns that the kernel looks at."""
        raise ValueError(
            f"{self!r} would look at all columns of the table, and they are not all numbers: say which it is "
            f"for, as in {self.expression()}.on('name of a column')."
        )

    def check_items_of(self, table: MixedColumns, *, estimator: Any, input_name: str) -> None:
        """Raise if the columns that the kernel looks at hold what it cannot compare."""

    def check_domain(self, X: Data, estimator: Any = None) -> None:
        """Raise ValueError if canonical data lie outside the kernel's domain."""

    @staticmethod
    def take(X: Data, idx: Any) -> Data:
        """Return the items with these integer indices."""
        return _data.take(X, idx)

    # Parameters.

    def validate(self) -> None:
        """Raise ValueError naming a parameter, its value and what is allowed."""

    def resolve(self, X: Any, sample_weight: Any = None) -> Self:
        """Return a copy with the parameters that depend on data fixed.

        Parameters
        ----------
        X : array, CSR matrix or sequence
            The training data.
        sample_weight : array of shape (n,), optional
            A weight of 2 equals the item twice.

        Returns
        -------
        Kernel
            Resolved.
        """
        self.validate()
        X = self.check(X)
        if sample_weight is not None:
            sample_weight = np.asarray(sample_weight, dtype=np.float64)
            if sample_weight.shape != (_data.size(X),):
                raise ValueError(
                    f"sample_weight has shape {sample_weight.shape}; for {_data.size(X)} items it must be "
                    f"({_data.size(X)},)."
                )
            if not (sample_weight.sum() > 0 and np.isfinite(sample_weight).all()):
                raise ValueError("sample_weight must be finite and sum to more than 0.")
        return self.resolve_on(X, sample_weight)

    def resolve_on(self, X: Data, sample_weight: Any) -> Self:
        """Resolve on canonical data (what subclasses override)."""
        return self.replaced()

    # Values.

    def prepare(self, X: Data, like: Data | None = None) -> Data:
        """Return canonical data in the form that `evaluate` reads fastest, to be made once per data set.

        Parameters
        ----------
        X : array, CSR matrix or sequence
            Canonical data.
        like : Prepared, optional
            Another data set that was prepared, which these data are to be compared with.

        Returns
        -------
        Prepared, or X itself
            What `evaluate`, `evaluate_diag` and `take` accept in the place of canonical data.
        """
        return X

    def __call__(self, X: Any, Z: Any = None) -> Array:
        """Return the matrix k(x_i, z_j).

        Parameters
        ----------
        X : array, CSR matrix or sequence
            n items.
        Z : array, CSR matrix or sequence, optional
            m items; X itself if not given.

        Returns
        -------
        ndarray of shape (n, m)
            float32 if all data are float32, else float64.
        """
        same = Z is None or Z is X
        X = self.check(X)
        kernel = self._ready(X)
        if same:
            X, Z = kernel.prepare(X), None
        else:
            Z = self.check(Z, input_name="Z")
            kernel.check_pair(X, Z)
            Z = kernel.prepare(Z)
            X = kernel.prepare(X, Z)
        return matrix_in_tiles(kernel, X, Z) if kernel.by_pairs else kernel.evaluate(X, Z)

    def diag(self, X: Any) -> Array:
        """Return the values k(x_i, x_i).

        Parameters
        ----------
        X : array, CSR matrix or sequence
            n items.

        Returns
        -------
        ndarray of shape (n,)
            Of the same type as ``k(X)``.
        """
        X = self.check(X)
        kernel = self._ready(X)
        return kernel.evaluate_diag(kernel.prepare(X))

    def _ready(self, X: Data) -> Kernel:
        self.validate()
        return self if self.is_resolved else self.resolve_on(X, None)

    def check_pair(self, X: Data, Z: Data) -> None:
        """Raise ValueError if items of X cannot be compared with items of Z."""
        if getattr(X, "ndim", 1) == getattr(Z, "ndim", 1) == 2 and X.shape[1] != Z.shape[1]:
            raise ValueError(f"X has {X.shape[1]} features, but Z has {Z.shape[1]}; they must have as many.")

    @abstractmethod
    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        """Return k(X, Z) of a resolved kernel on canonical data, unchecked: what inner loops call."""

    def evaluate_diag(self, X: Data) -> Array:
        """Return the diagonal of ``evaluate(X)``."""
        n = _data.size(X)
        out = np.empty(n, dtype=_data.result_dtype(X, None))
        for start in range(0, n, DIAGONAL_TILE):
            idx = np.arange(start, min(n, start + DIAGONAL_TILE))
            out[idx] = np.diagonal(self.evaluate(self.take(X, idx)))
        return out

    def magnitude(self, X: Data) -> Array:
        r"""Return how large the numbers are that values are computed from, as a length m(x) of each item.

        The rounding error of k(x, z) is a few units of :math:`m(x) m(z)`. For most kernels m(x) is
        :math:`\sqrt{k(x, x)}`; a kernel whose values are what is left of larger ones says so.
        """
        return np.sqrt(np.abs(self.evaluate_diag(X)))

    def fresh(self, X: Data, Z: Data | None = None) -> Array:
        """Return ``evaluate(X, Z)`` as an array that the caller may change."""
        return self.evaluate(X, Z)

    def fused(self) -> Fused | None:
        """Return how the Gram layer may compute this kernel by itself, if it may."""
        return None

    # Features.

    def feature_map(self, X: Any, names: Sequence[str] | None = None) -> FeatureMap | None:
        """Return the map to the features whose inner product the kernel is, where they are few.

        Parameters
        ----------
        X : array, CSR matrix, data frame or sequence
            The training data.
        names : sequence of str, optional
            What the columns of X are called; those of a data frame, or x0, x1, ..., if not given.

        Returns
        -------
        FeatureMap or None
            Immutable; the kernel itself stays without data. None if the kernel has no such features.
        """
        checked = self.check(X)
        names = column_names(X if hasattr(X, "columns") else checked, names)
        kernel = self._ready(checked)
        found = kernel.feature_map_on(checked, names)
        return None if found is None else OfAnyForm(found, kernel)

    def feature_map_on(self, X: Data, names: tuple[str, ...] | None) -> FeatureMap | None:
        """Return the map of a resolved kernel fitted on canonical data (what subclasses override)."""
        return None

    # Derivatives.

    def tunable(self) -> dict[str, Array]:
        """Return the positive parameters whose derivatives `slopes` knows, by their names in `get_params`.

        Returns
        -------
        dict
            Values, arrays without dimension for single numbers. Empty unless a subclass says otherwise.
        """
        return {}

    def slopes(self, X: Data, Z: Data | None, G: Array) -> dict[str, Array]:
        r"""Return :math:`\sum_{ij} G_{ij} \, \partial k(x_i, z_j) / \partial \log p` for each tunable p.

        Whatever depends on the kernel through its matrix has its derivatives by this one sum, with G the
        derivatives by the matrix's entries; no matrix for each parameter is ever made.

        Parameters
        ----------
        X, Z : array, CSR matrix or sequence
            Canonical data; Z is X if it is None.
        G : ndarray of shape (n, m)
            Weights of the pairs; not changed.

        Returns
        -------
        dict
            Of the keys and shapes of `tunable`.
        """
        return {}

    def slopes_diag(self, X: Data, g: Array) -> dict[str, Array]:
        r"""Return :math:`\sum_i g_i \, \partial k(x_i, x_i) / \partial \log p` for each tunable p."""
        total: dict[str, Array] = {name: np.zeros(value.shape) for name, value in self.tunable().items()}
        if total:
            for start in range(0, g.size, DIAGONAL_TILE):
                idx = np.arange(start, min(g.size, start + DIAGONAL_TILE))
                for name, slope in self.slopes(self.take(X, idx), None, np.diag(g[idx])).items():
                    total[name] += slope
        return total
