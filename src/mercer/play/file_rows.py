"""Kernel PCA of a person's own file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Float64
from mercer.estimators import KernelPCA

__all__ = ["MOST_ROWS", "FileRows", "kernel_pca", "sample_rows"]

MOST_ROWS = 2000  # live, and legible
MOST_CHARACTERS = 400


@dataclass(frozen=True)
class FileRows:
    """The rows of a table, ready for a kernel.

    Attributes
    ----------
    name : str
        The file's name.
    X : array or CSR of shape (n, n_features)
        Prepared features.
    target : sequence or None
        What colours the points: numbers or labels.
    told : sequence of str
        What hovering over each row shows.
    left_out : int
        Rows of the file that are not shown.
    """

    name: str
    X: Any
    target: Sequence[Any] | None
    told: Sequence[str]
    left_out: int = 0


def sample_rows(n: int) -> np.ndarray:
    """Return the numbers of the rows that are shown: all, or a fixed random sample in file order."""
    if n <= MOST_ROWS:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, MOST_ROWS, replace=False))


def row_text(number: int, names: Sequence[str], values: Sequence[Any]) -> str:
    """Return what hovering over a row shows: its number and its columns, cut where they are many."""
    text = f"row {number + 1}: " + ", ".join(f"{n}={v}" for n, v in zip(names, values, strict=False))
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"


def kernel_pca(rows: FileRows, kernel: str, gamma: float) -> tuple[Float64, Float64]:
    """Project the rows on the first two kernel principal components.

    Parameters
    ----------
    rows : FileRows
        The table.
    kernel : str
        Name of the kernel.
    gamma : float
        Its width, for a data set whose features have unit variance: it is divided by their number.

    Returns
    -------
    scores : ndarray of shape (n, 2)
        Coordinates.
    fractions : ndarray of shape (2,)
        Fraction of the variance in feature space that each component explains.
    """
    width = gamma / max(1, rows.X.shape[1])
    model = KernelPCA(n_components=2, kernel=kernel, gamma=width, degree=3, coef0=1.0)
    scores = np.asarray(model.fit_transform(rows.X), dtype=np.float64)
    if scores.shape[1] < 2:
        scores = np.column_stack([scores, np.zeros((scores.shape[0], 2 - scores.shape[1]))])
    # The variance in feature space is the trace of the centred matrix, which kernel PCA does not keep.
    K = model.kernel_(rows.X)
    total = float(np.trace(K) - K.mean() * K.shape[0])
    explained = (scores**2).sum(axis=0)
    return scores, explained / total if total > 0.0 else np.zeros(2)
