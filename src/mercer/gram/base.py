"""What a solver may ask of a kernel matrix."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from mercer.arrays import Float64, Floats, Index
from mercer.threads import Workers

UNIT = 4 * float(np.finfo(np.float64).eps)  # of a kernel value and of a sum of many, generously


class Gram(ABC):
    """The n by n matrix K with K_ij = k(x_i, x_j), of which only asked-for parts exist in memory.

    Attributes
    ----------
    n : int
        Number of points.
    dtype : numpy.dtype
        Precision of the entries; sums are always float64.
    evaluations : int
        Kernel values computed so far.
    is_psd : bool or None
        Whether the kernel is known to be positive semi-definite (None: unknown).
    """

    n: int
    dtype: np.dtype[Any]
    evaluations: int = 0
    is_psd: bool | None = None
    independent_subsets: bool = True  # whether subsets may be used from several threads at once

    @abstractmethod
    def diag(self) -> Float64:
        """Return the diagonal, exact to float64 rounding of the kernel in this precision."""

    @abstractmethod
    def block(self, idx: Index, jdx: Index, out: Floats | None = None) -> Floats:
        """Return K[idx][:, jdx] (written to ``out`` when given)."""

    @abstractmethod
    def add_product(self, idx: Index, coef: Float64, out: Float64) -> None:
        """Add K[:, idx] @ coef to ``out`` (length n, float64), in place."""

    @abstractmethod
    def exact(self) -> Gram:
        """Return the same matrix in float64."""

    @abstractmethod
    def subset(self, idx: Index, workers: Workers | None = None) -> Gram:
        """Return the matrix restricted to the points ``idx`` (with its own threads when they are given)."""

    @property
    def is_exact(self) -> bool:
        """Whether ``exact()`` is this very matrix."""
        return self.exact() is self

    def noise(self, coef: Float64) -> Float64:
        r"""Return a bound on the rounding error of each entry of K coef, summed in float64.

        :math:`|K_{ij}| \le \sqrt{K_{ii} K_{jj}}`, so that is a few units of rounding times
        :math:`\sqrt{K_{ii}} \sum_j |c_j| \sqrt{K_{jj}}`: large where big terms cancel.
        """
        root = np.sqrt(np.abs(self.diag()))
        size = np.abs(coef) if coef.ndim == 1 else np.add.reduce(np.abs(coef), axis=1)
        return (UNIT * float(size @ root)) * root

    def features(self) -> Any:
        """Return rows (array or CSR) whose inner products are K, or None where no such rows are known."""
        return None

    def exact_block(self, idx: Index, jdx: Index) -> Float64:
        """Return K[idx][:, jdx] in float64, for a modest number of entries."""
        return np.asarray(self.exact().block(idx, jdx), dtype=np.float64)

    def shared(self, budget: int) -> Gram:
        """Return a Gram for many overlapping subsets: one that keeps its values, where that pays and fits."""
        return self

    def rows(self, idx: Index) -> Floats:
        """Return K[idx, :]."""
        return self.block(np.asarray(idx, dtype=np.intp), np.arange(self.n))

    def matvec(self, v: Float64) -> Float64:
        """Return K @ v in float64 sums; zeros in ``v`` cost nothing."""
        idx = np.flatnonzero(v)
        out = np.zeros(self.n)
        if idx.size:
            self.add_product(idx, np.ascontiguousarray(v[idx], dtype=np.float64), out)
        return out
