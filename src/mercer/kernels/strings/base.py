# ruff: noqa: D102  what overrides a method is documented in the base class
"""What kernels between sequences share."""

from __future__ import annotations

from typing import Any

from mercer.kernels.base import Kernel
from mercer.kernels.data import Data
from mercer.kernels.strings.sequences import check_sequences


class KernelOfSequences(Kernel):
    """Base of kernels that count what two sequences share: definite, and never negative."""

    @property
    def is_psd(self) -> bool | None:
        return True

    @property
    def is_nonnegative(self) -> bool | None:
        return True

    def check(self, X: Any, *, estimator: Any = None, input_name: str = "X") -> Data:
        return check_sequences(X, estimator=estimator, name=input_name)
