"""The data sets of the benchmark: made from a seed, or read from a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp


def dense(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return normal rows, and labels of a plane of which a tenth are wrong."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = np.sign(X @ rng.standard_normal(d) / np.sqrt(d) + 0.3 * rng.standard_normal(n))
    y[rng.random(n) < 0.1] *= -1.0
    return X, y


def sparse(n: int, d: int, entries: int = 50) -> tuple[sp.csr_matrix, np.ndarray]:
    """Return rows with some entries each, more of them in the first columns, as words are spread."""
    rng = np.random.default_rng(0)
    columns = np.minimum((d * rng.random((n, entries)) ** 3).astype(np.int32), d - 1)
    columns.sort(axis=1)
    values = np.full(n * entries, 1.0 / np.sqrt(entries))
    X = sp.csr_matrix((values, columns.ravel(), entries * np.arange(n + 1)), shape=(n, d))
    X.sum_duplicates()
    y = np.sign(X @ rng.standard_normal(d) + 0.1 * rng.standard_normal(n))
    return X, np.where(y == 0, 1.0, y)


def curved(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows whose labels a plane cannot tell: opposite signs of two smooth functions."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    score = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] + 0.3 * rng.standard_normal(n)
    return X, np.where(score > 0, 1.0, -1.0)


def smooth(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and the values of a smooth function of them, with noise."""
    X, _ = curved(n, d)
    rng = np.random.default_rng(1)
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n)


def named(folder: str, name: str, dense_rows: bool = False) -> tuple[Any, np.ndarray]:
    """Return a set of two classes from a folder of LIBSVM text files."""
    from sklearn.datasets import load_svmlight_file

    path = next(p for p in sorted(Path(folder).rglob(f"{name}*")) if p.name.partition(".")[0] == name)
    X, y = load_svmlight_file(str(path))
    return (X.toarray() if dense_rows else X), np.where(y == y.max(), 1.0, -1.0)


def made(spec: dict[str, Any]) -> tuple[Any, np.ndarray]:
    """Return the data that a job asks for."""
    kind = spec["data"]
    makers = {"dense": dense, "sparse": sparse, "curved": curved, "smooth": smooth}
    if kind in makers:
        return makers[kind](spec["n"], spec["d"])
    return named(spec["folder"], kind, spec["task"] == "kernel")
