"""Columns that stand beside a kernel and cost nothing: 1, x_j, or any others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular

from mercer.arrays import Float64, Index
from mercer.gram import Gram
from mercer.gram.projected import ProjectedGram

DEPENDENT = 1e-10  # share of a column's length that lies outside the others' span and is taken for rounding


@dataclass(frozen=True)
class Design:
    r"""Columns P and an orthogonal basis of theirs: :math:`P = B R`, :math:`B^T W B = \sum_i w_i \, I`.

    The unpenalised part of a function is :math:`\sum_j d_j p_j`; problems work with the multipliers
    :math:`\delta = R d` of the basis, whose entries are of order one whatever the columns' units.

    Attributes
    ----------
    B : (n, m) float64
        The basis.
    R : (m, m) float64
        Upper triangular.
    weight : (n,) float64
        Of the rows; rows of weight zero have no say in the basis.
    constant : bool
        Whether the first column is constant: its coefficient is the bias.
    """

    B: Float64
    R: Float64
    weight: Float64
    constant: bool

    @classmethod
    def of(
        cls,
        columns: Float64,
        weight: Float64 | NDArray[np.bool_],
        *,
        constant: bool,
        names: Sequence[str] | None = None,
    ) -> Self:
        """Return the design of some columns, refusing one that is a combination of those before it.

        Parameters
        ----------
        columns : (n, m) float64
            Without the constant.
        weight : (n,) float64 or bool
            Of the rows.
        constant : bool
            Whether a column of ones comes first.
        names : sequence of str, optional
            What the columns are called.
        """
        w = np.asarray(weight, dtype=np.float64)
        n = columns.shape[0]
        P = np.hstack([np.ones((n, 1)), columns]) if constant else np.asarray(columns, dtype=np.float64)
        called = [*(["1"] if constant else []), *(names or [f"column {j}" for j in range(columns.shape[1])])]
        there = w > 0
        rows = int(there.sum())
        if not np.isfinite(P).all():
            j = int(np.flatnonzero(~np.isfinite(P).all(axis=0))[0])
            raise ValueError(f"parametric: {called[j]} holds NaN or infinity")
        root = np.sqrt(w[there] / w.sum())
        scaled = root[:, None] * P[there]
        length = np.linalg.norm(scaled, axis=0)
        # Without pivots: entry j of the diagonal is the distance of column j from the span of those before.
        R = np.asarray(qr(scaled, mode="r", check_finite=False)[0])[: P.shape[1]]
        apart = np.zeros(P.shape[1])
        apart[: min(R.shape)] = np.abs(np.diagonal(R))
        bad = np.flatnonzero(apart <= DEPENDENT * length)
        if bad.size:
            j = int(bad[0])
            why = (
                f"there are {P.shape[1]} columns and {rows} rows"
                if P.shape[1] > rows
                else f"it is a linear combination of {', '.join(called[:j])}"
                if j and length[j] > 0
                else "it is zero"
            )
            raise ValueError(
                f"parametric: the coefficient of {called[j]} is not determined by these {rows} rows ({why}): "
                "leave that column out, or give more rows"
            )
        sign = np.where(np.diagonal(R) < 0, -1.0, 1.0)
        R = sign[:, None] * np.triu(R)
        B = solve_triangular(R, P.T, trans="T", check_finite=False).T
        if constant:
            B[:, 0] = 1.0 / R[0, 0]
        return cls(np.ascontiguousarray(B), R, w, constant)

    @property
    def dual_basis(self) -> Float64:
        """The dual basis on the rows that have a weight: B'V = I."""
        return np.asarray((self.weight / self.weight.sum())[:, None] * self.B)

    @property
    def size(self) -> int:
        """Number of columns, the constant included."""
        return int(self.B.shape[1])

    def projected(self, matrix: Gram) -> ProjectedGram:
        """Return the kernel matrix as it acts where B'beta = 0."""
        return ProjectedGram(matrix, self.B, self.dual_basis)

    def coefficients(self, delta: Float64) -> Float64:
        """Return the coefficients of the columns, given those of the basis."""
        return np.asarray(solve_triangular(self.R, delta, check_finite=False))

    def multipliers(self, d: Float64) -> Float64:
        """Return the coefficients of the basis, given those of the columns."""
        return np.asarray(self.R @ d)

    def split(self, d: Float64) -> tuple[Float64, Float64]:
        """Return the bias (zero without a constant) and the coefficients of the other columns."""
        return (d[0], d[1:]) if self.constant else (np.zeros(d.shape[1:]), d)

    def joined(self, intercept: Float64 | float, others: Float64) -> Float64:
        """Return the coefficients of all columns, the inverse of `split`."""
        if not self.constant:
            return np.asarray(others, dtype=np.float64)
        return np.concatenate([np.asarray(intercept, dtype=np.float64)[None], others])

    def take(self, rows: Index) -> Design:
        """Return the same basis on some of the rows, which must be all that have a weight."""
        return Design(self.B[rows], self.R, self.weight[rows], self.constant)
