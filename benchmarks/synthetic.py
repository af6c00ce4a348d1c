"""Data for machines without a folder of public sets: smooth boundaries, overlap and noise, seeded."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from benchmarks.problem import Problem, as_problem


def _waves(rng: np.random.Generator, X: np.ndarray, outputs: int) -> np.ndarray:
    """Return random smooth functions of the rows of X, each of variance about 1."""
    waves = 4 * X.shape[1]
    W = rng.normal(size=(X.shape[1], waves)) / np.sqrt(X.shape[1])
    A = rng.normal(size=(waves, outputs)) / np.sqrt(waves / 2)
    return np.sin(2.0 * (X @ W) + rng.uniform(0, 2 * np.pi, waves)) @ A


def classification(
    n: int,
    d: int = 20,
    classes: int = 2,
    C: float = 1.0,
    noise: float = 0.3,
    name: str = "synthetic",
    seed: int = 0,
) -> Problem:
    """Return Gaussian points whose class is the largest of several smooth noisy functions."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = _waves(rng, X, classes) + noise * rng.normal(size=(n, classes))
    y = score.argmax(axis=1)
    y[:classes] = np.arange(classes)  # no class is empty, however small n is
    return as_problem(name, X, y, C=C, gamma="1/d", epsilon=None)


def sparse_classification(
    n: int, d: int = 300, C: float = 4.0, name: str = "synthetic-sparse", seed: int = 1
) -> Problem:
    """Return rows of a dozen ones among d columns, labelled by noisy weights of columns and of pairs."""
    rng = np.random.default_rng(seed)
    per_row = 12
    columns = np.sort(np.array([rng.choice(d, per_row, replace=False) for _ in range(n)]), axis=1)
    weight, pull = rng.normal(size=d), rng.normal(size=d)
    score = weight[columns].sum(axis=1) + 0.5 * pull[columns].sum(axis=1) ** 2 / per_row
    y = (score + rng.normal(size=n) > np.median(score)).astype(int)
    X = sp.csr_matrix(
        (np.ones(n * per_row), columns.ravel(), np.arange(0, n * per_row + 1, per_row)), shape=(n, d)
    )
    return as_problem(name, X, y, C=C, gamma=0.05, epsilon=None)


def regression(n: int, d: int = 8, C: float = 10.0, name: str = "synthetic-svr", seed: int = 2) -> Problem:
    """Return a smooth noisy function of Gaussian points, standardised."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = _waves(rng, X, 1)[:, 0] + 0.2 * rng.normal(size=n)
    return as_problem(name, X, (y - y.mean()) / y.std(), C=C, gamma="1/d", epsilon=0.1)


def suite(limit: int | None = None) -> list[Problem]:
    """Return the sets that stand in for the public ones, each cut to ``limit`` rows."""

    def rows(n: int) -> int:
        return n if limit is None else min(n, limit)

    return [
        classification(rows(20000), C=1.0, name="synthetic-C1"),
        classification(rows(20000), C=10.0, name="synthetic-C10"),
        classification(rows(12000), d=16, classes=12, C=10.0, name="synthetic-12class", seed=3),
        sparse_classification(rows(20000)),
        regression(rows(10000)),
    ]
