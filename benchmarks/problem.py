"""What is handed to every library, and what every library hands back."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class Settings:
    """How to solve: the same for every library in one comparison."""

    tol: float = 1e-3
    cache_size: float = 1000.0
    threads: int = 2


@dataclass(frozen=True)
class Fitted:
    """A fitted model in LIBSVM's layout, reduced to numbers.

    Attributes
    ----------
    support : (m,) int
        Rows of the training data.
    dual_coef : (k - 1, m) or (1, m) float64
        Signed duals. With k > 2 classes a support vector of the class at position p has its coefficient
        against the class at position q in row q if q < p, else in row q - 1.
    intercept : (pairs,) float64
        The bias of each pair, in the order (0, 1), (0, 2), ..., (1, 2), ...
    order : (k,) int
        The class at each position; empty for regression.
    claimed : float or None
        The KKT violation that the library itself reports.
    """

    support: np.ndarray
    dual_coef: np.ndarray
    intercept: np.ndarray
    order: np.ndarray
    claimed: float | None = None

    def digest(self) -> str:
        """Return a hash of the numbers."""
        h = hashlib.sha256()
        for part in (self.support, self.dual_coef, self.intercept, self.order):
            h.update(np.ascontiguousarray(part).tobytes())
        return h.hexdigest()


@dataclass(frozen=True)
class Problem:
    """Data with the parameters of the machine (RBF kernel).

    Attributes
    ----------
    name : str
        Shown in tables.
    X : (n, d) float64 array or csr_matrix
        Features.
    y : (n,) array
        Codes 0, ..., k - 1 of the classes (int64), or targets (float64).
    C, gamma : float
        Price of slack, width of the kernel.
    epsilon : float or None
        Half width of the tube; None means classification.
    """

    name: str
    X: Any
    y: np.ndarray
    C: float
    gamma: float
    epsilon: float | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def regression(self) -> bool:
        """Whether the targets are numbers."""
        return self.epsilon is not None

    @property
    def sparse(self) -> bool:
        """Whether X is a CSR matrix."""
        return bool(sp.issparse(self.X))

    @property
    def classes(self) -> int:
        """Number of classes, 0 for regression."""
        return 0 if self.regression else int(self.y.max()) + 1

    @property
    def data_bytes(self) -> int:
        """Memory that X takes."""
        if self.sparse:
            return int(self.X.data.nbytes + self.X.indices.nbytes + self.X.indptr.nbytes)
        return int(self.X.nbytes)

    @cached_property
    def digest(self) -> str:
        """A hash of data and parameters."""
        h = hashlib.sha256(json.dumps([self.C, self.gamma, self.epsilon, self.X.shape]).encode())
        parts = (self.X.data, self.X.indices, self.X.indptr) if self.sparse else (self.X,)
        for part in (*parts, self.y):
            h.update(np.ascontiguousarray(part).tobytes())
        return h.hexdigest()

    def take(self, rows: np.ndarray, name: str | None = None) -> Problem:
        """Return the problem on some of the rows."""
        return Problem(name or self.name, self.X[rows], self.y[rows], self.C, self.gamma, self.epsilon)

    def sample(self, n: int, seed: int = 0) -> np.ndarray:
        """Return n rows in random order, at least two of each class; samples of one seed are nested."""
        order = np.random.default_rng(seed).permutation(self.n)
        if not self.regression:
            codes = self.y[order]
            first = np.concatenate([np.flatnonzero(codes == c)[:2] for c in range(self.classes)])
            rest = np.setdiff1d(np.arange(self.n), first)
            order = order[np.concatenate([np.sort(first), rest])]
        return order[: min(n, self.n)]

    def save(self, folder: Path) -> Path:
        """Write the problem where a worker can load it without parsing text."""
        path = folder / f"{self.digest[:24]}.npz"
        if path.exists():
            return path
        head = {
            "name": self.name,
            "C": self.C,
            "gamma": self.gamma,
            "epsilon": self.epsilon,
            "shape": self.X.shape,
        }
        arrays = (
            {"data": self.X.data, "indices": self.X.indices, "indptr": self.X.indptr}
            if self.sparse
            else {"X": self.X}
        )
        np.savez(path, y=self.y, head=np.array(json.dumps(head)), **arrays)
        return path

    @classmethod
    def load(cls, path: Path) -> Problem:
        """Read what ``save`` wrote."""
        with np.load(path) as stored:
            head = json.loads(str(stored["head"]))
            shape = tuple(head.pop("shape"))
            if "X" in stored:
                X = stored["X"]
            else:
                X = sp.csr_matrix((stored["data"], stored["indices"], stored["indptr"]), shape=shape)
            return cls(X=X, y=stored["y"], **head)


def as_problem(
    name: str,
    X: Any,
    y: np.ndarray,
    *,
    C: float,
    gamma: float | str,
    epsilon: float | None,
    layout: str = "as is",
) -> Problem:
    """Return a problem from raw data: float64, 32-bit indices, classes as codes, gamma as a number.

    ``gamma`` may be "1/d" or "scale" (1 / (d var X)); resolved here, so that all libraries get one number.
    """
    if layout == "sparse" or (layout == "as is" and sp.issparse(X)):
        X = sp.csr_matrix(X, dtype=np.float64)
        X.sort_indices()
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    else:
        X = np.ascontiguousarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    if gamma == "1/d":
        gamma = 1.0 / X.shape[1]
    elif gamma == "scale":
        mean = X.mean()
        square = X.multiply(X).mean() if sp.issparse(X) else (X * X).mean()
        gamma = 1.0 / (X.shape[1] * max(float(square - mean * mean), 1e-12))
    if epsilon is None:
        y = np.unique(y, return_inverse=True)[1].astype(np.int64)
    else:
        y = np.ascontiguousarray(y, dtype=np.float64)
    return Problem(name, X, y, float(C), float(gamma), epsilon)
