"""The named public sets: file name, machine, layout. The folder is an option, never written here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from benchmarks import synthetic
from benchmarks.files import DataError, find_file, read_file
from benchmarks.problem import Problem, as_problem

Layout = Literal["dense", "sparse", "as is"]


@dataclass(frozen=True)
class Entry:
    """A set and its machine.

    Attributes
    ----------
    name, file : str
        Name on the command line; file name without its ending.
    C, gamma, epsilon
        The machine (RBF); ``epsilon`` makes it a regression.
    layout : str
        Dense or sparse.
    rows : int, optional
        Only the first so many.
    divide : float
        Features are divided by this.
    standardise : bool
        Features and target get mean 0 and variance 1.
    """

    name: str
    file: str
    C: float
    gamma: float | str
    epsilon: float | None = None
    layout: Layout = "dense"
    rows: int | None = None
    divide: float = 1.0
    standardise: bool = False


FIT = (
    Entry("satimage", "satimage.scale", 16, 1.0),
    Entry("letter", "letter.scale", 16, 4.0),
    Entry("mushrooms", "mushrooms", 1, 1 / 112),
    Entry("mnist10k", "mnist", 10, 0.02, rows=10000, divide=255.0),
    Entry("ijcnn1", "ijcnn1", 32, 2.0),
    Entry("a9a-dense", "a9a", 1, 0.05),
    Entry("a9a-sparse", "a9a", 1, 0.05, layout="sparse"),
    Entry("w8a-sparse", "w8a", 8, 0.05, layout="sparse"),
    Entry("cod-rna", "cod-rna_scale", 10, 0.5),
)
SVR = (
    Entry("cal.housing", "cal.housing", 10, "1/d", epsilon=0.1, standardise=True),
    Entry("cpu.small", "cpu.small", 10, "1/d", epsilon=0.1, standardise=True),
    Entry("kin8nm", "kin8nm", 10, "1/d", epsilon=0.1, standardise=True),
)
SMALL = (
    Entry("diabetes", "diabetes_scale", 1, "1/d"),
    Entry("german", "german.numer_scale", 1, "1/d"),
    Entry("splice", "splice_scale", 1, "1/d"),
)
EXTRA = (
    Entry("w8a-dense", "w8a", 8, 0.05),
    Entry("skin", "skin_nonskin_scale", 10, 1.0),
    Entry("abalone", "abalone", 10, "1/d", epsilon=0.1, standardise=True),
)
REGISTRY = {entry.name: entry for entry in (*FIT, *SVR, *SMALL, *EXTRA)}
ALIASES = {"a9a": ("a9a-dense", "a9a-sparse"), "w8a": ("w8a-sparse",), "mnist": ("mnist10k",)}
SHORT = 50  # integers with at most so many values are classes, when a file is not in the registry


def expand(names: list[str]) -> list[str]:
    """Return names with aliases written out."""
    return [full for name in names for full in ALIASES.get(name, (name,))]


def _standardised(X: np.ndarray) -> np.ndarray:
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def _unregistered(name: str, path: Path, X: object, y: np.ndarray) -> Problem:
    classes = y.dtype.kind in "US" or (np.unique(y).size <= SHORT and np.array_equal(y, np.round(y)))
    epsilon = None if classes else 0.1 * float(np.std(y))
    return as_problem(name, X, y, C=1.0, gamma="scale", epsilon=epsilon)


def load(name: str, folder: Path, limit: int | None = None, target: str | None = None) -> Problem:
    """Return the set called ``name`` from a folder.

    A name that is not in the registry is a file name: C = 1, gamma = "scale", and a tube of a tenth of the
    target's spread when the target is not a class.
    """
    entry = REGISTRY.get(name)
    path = find_file(folder, entry.file if entry else name) or (None if entry else _as_path(folder, name))
    if path is None:
        raise DataError(f"no file for {name!r} ({entry.file if entry else name}) under the data folder")
    X, y = read_file(path, target)
    if entry is None:
        problem = _unregistered(name, path, X, y)
    else:
        if entry.rows is not None:
            X, y = X[: entry.rows], y[: entry.rows]
        if entry.divide != 1.0:
            X = X / entry.divide
        if entry.standardise:
            X, y = _standardised(X), _standardised(y)
        problem = as_problem(
            name, X, y, C=entry.C, gamma=entry.gamma, epsilon=entry.epsilon, layout=entry.layout
        )
    if limit is not None and problem.n > limit:
        problem = problem.take(problem.sample(limit), f"{name}[{limit}]")
    return problem


def _as_path(folder: Path, name: str) -> Path | None:
    for path in (folder / name, Path(name)):
        if path.is_file():
            return path
    return None


def named_or_synthetic(name: str, folder: Path | None) -> Problem:
    """Return a registered set if the folder has it, else a synthetic one to take its place."""
    if folder is not None and find_file(folder, REGISTRY[name].file) is not None:
        return load(name, folder)
    return synthetic.classification(40000, d=8, C=10.0, name="synthetic")
