# ruff: noqa: D102  what overrides a method is documented in the base class
"""Kernels made of kernels: what they share."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from mercer.kernels.base import Kernel
from mercer.kernels.data import Array, Data
from mercer.kernels.mixed_columns import MixedColumns
from mercer.kernels.prepared import PreparedParts
from mercer.values import source

ATOM = 100  # binding strength of what never needs parentheses


class Composite(Kernel):
    """A kernel whose parameters are kernels (named in ``part_names``) and perhaps numbers.

    Data must suit every part; what is said here holds for the whole when it holds for the parts.
    """

    part_names: ClassVar[tuple[str, ...]] = ("kernel",)
    binding: ClassVar[int] = ATOM  # of the operator that writes this kernel

    @property
    def parts(self) -> list[Kernel]:
        """The kernels that this one is made of."""
        return [getattr(self, name) for name in self.part_names]

    @property
    def is_of_user(self) -> bool:
        return super().is_of_user or any(part.is_of_user for part in self.parts)

    @property
    def is_vector(self) -> bool:
        # A part that looks at a column of strings, or at columns by name, wants a table that is no array.
        if any(part.reads_columns and not part.is_vector for part in self.parts):
            return False
        return any(part.is_vector for part in self.parts)

    @property
    def reads_columns(self) -> bool:
        return any(part.reads_columns for part in self.parts)

    @property
    def accepts_sparse(self) -> bool:
        return all(part.accepts_sparse for part in self.parts)

    @property
    def requires_positive(self) -> bool:
        return any(part.requires_positive for part in self.parts)

    @property
    def is_resolved(self) -> bool:
        return all(part.is_resolved for part in self.parts)

    @property
    def depends_on_data(self) -> bool:
        return any(part.depends_on_data for part in self.parts)

    @property
    def by_pairs(self) -> bool:
        return any(part.by_pairs for part in self.parts)

    @property
    def keeps_data(self) -> bool:
        return any(part.keeps_data for part in self.parts)

    def check(self, X: Any, *, estimator: Any = None, input_name: str = "X") -> Data:
        self._check_parts()  # before anything is asked of them
        if not self.is_vector and not self.reads_columns:  # each part knows best what its items are
            for part in self.parts:
                X = part.check(X, estimator=estimator, input_name=input_name)
            return X
        return super().check(X, estimator=estimator, input_name=input_name)

    def check_domain(self, X: Data, estimator: Any = None) -> None:
        for part in self.parts:
            part.check_domain(X, estimator)

    def columns_read(self, table: MixedColumns) -> set[int]:
        return set().union(*(part.columns_read(table) for part in self.parts))

    def check_items_of(self, table: MixedColumns, *, estimator: Any, input_name: str) -> None:
        for part in self.parts:
            part.check_items_of(table, estimator=estimator, input_name=input_name)

    def validate(self) -> None:
        self._check_parts()
        for part in self.parts:
            part.validate()

    def _check_parts(self) -> None:
        for name in self.part_names:
            part = getattr(self, name)
            if not isinstance(part, Kernel):
                raise TypeError(f"{type(self).__name__}: {name}={part!r} must be a Kernel.")
            if part.pairwise:
                raise ValueError(
                    f"{type(self).__name__}: {name}={part!r} cannot be part of another kernel, because its "
                    "data are the kernel matrix already. Combine the matrices instead."
                )

    def prepare(self, X: Data, like: Data | None = None) -> Data:
        if isinstance(X, PreparedParts):
            X = X.items
        others = like.parts if isinstance(like, PreparedParts) else (None,) * len(self.part_names)
        parts = tuple(part.prepare(X, other) for part, other in zip(self.parts, others, strict=True))
        return X if all(part is X for part in parts) else PreparedParts(X, parts)

    @staticmethod
    def part_of(X: Data, number: int = 0) -> Data:
        """Return data as one of the parts sees them."""
        return X.parts[number] if isinstance(X, PreparedParts) else X

    def tunable(self) -> dict[str, Array]:
        return self.prefixed({name: getattr(self, name).tunable() for name in self.part_names})

    @staticmethod
    def prefixed(parts: dict[str, dict[str, Array]]) -> dict[str, Array]:
        """Return the parts' values under the names that their parameters have here."""
        return {f"{part}__{name}": value for part, values in parts.items() for name, value in values.items()}

    def resolve_on(self, X: Data, sample_weight: Any) -> Self:
        names = zip(self.part_names, self.parts, strict=True)
        return self.replaced(**{name: part.resolve_on(X, sample_weight) for name, part in names})


def operand(kernel: Any, binding: int) -> str:
    """Return a kernel's source, in parentheses unless it binds at least as strongly as ``binding``."""
    strength = kernel.binding if isinstance(kernel, Composite) else ATOM
    return source(kernel) if strength >= binding else f"({source(kernel)})"
