"""Reading LIBSVM text, ``.npz``, CSV and ARFF files, compressed or not."""

from __future__ import annotations

import bz2
import csv
import gzip
from pathlib import Path
from typing import Any, TextIO

import numpy as np

COMPRESSED = (".gz", ".bz2")
ENDINGS = ("", ".txt", ".svm", ".libsvm", ".npz", ".csv", ".arff")
TARGETS = ("y", "target", "class", "label")


class DataError(ValueError):
    """A file is missing or cannot be understood."""


def find_file(folder: Path, stem: str) -> Path | None:
    """Return the file called ``stem``, with or without a known ending, anywhere under ``folder``."""
    names = {stem + ending + pack for ending in ENDINGS for pack in ("", *COMPRESSED)}
    found = sorted(p for p in folder.rglob("*") if p.name in names and p.is_file())
    return found[0] if found else None


def read_file(path: Path, target: str | None = None) -> tuple[Any, np.ndarray]:
    """Return (X, y) as they are in the file.

    Parameters
    ----------
    path : Path
        What it holds is told by its ending; without a known one it is LIBSVM text.
    target : str, optional
        Column of the target in a CSV file: a name, or a number counted from 0. By default a column called y,
        target, class or label, else the last one.
    """
    ending = path.with_suffix("").suffix if path.suffix in COMPRESSED else path.suffix
    if ending == ".npz":
        return _npz(path)
    if ending == ".csv":
        return _csv(path, target)
    if ending == ".arff":
        return _arff(path)
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(path))
    return X, y


def _text(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt")
    if path.suffix == ".bz2":
        return bz2.open(path, "rt")
    return path.open()


def _npz(path: Path) -> tuple[np.ndarray, np.ndarray]:
    with np.load(path, allow_pickle=False) as stored:
        for x_name, y_name in (("X", "y"), ("X_train", "y_train"), ("x_train", "y_train")):
            if x_name in stored and y_name in stored:
                X, y = stored[x_name], stored[y_name]
                return X.reshape(X.shape[0], -1), y.ravel()
        raise DataError(f"{path.name} holds {sorted(stored)}; expected X and y, or X_train and y_train")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _csv(path: Path, target: str | None) -> tuple[np.ndarray, np.ndarray]:
    with _text(path) as stream:
        rows = [row for row in csv.reader(stream) if row]
    if not rows:
        raise DataError(f"{path.name} is empty")
    # A heading is told by having no number at all: a row of data has at least one.
    header = None if any(map(_is_number, rows[0])) else [name.strip() for name in rows.pop(0)]
    width = len(rows[0])
    column = width - 1
    if target is not None:
        if header is not None and target in header:
            column = header.index(target)
        elif target.lstrip("-").isdigit():
            column = int(target) % width
        else:
            raise DataError(f"{path.name} has no column {target!r}; it has {header or width}")
    elif header is not None:
        column = next((i for i, name in enumerate(header) if name.lower() in TARGETS), column)
    try:
        X = np.array([[*row[:column], *row[column + 1 :]] for row in rows], dtype=np.float64)
    except ValueError as error:
        raise DataError(f"{path.name} has a feature that is no number: {error}") from error
    y = np.array([row[column] for row in rows])
    return X, y.astype(np.float64) if all(map(_is_number, y)) else y


def _arff(path: Path) -> tuple[np.ndarray, np.ndarray]:
    from scipy.io import arff

    with _text(path) as stream:
        table, meta = arff.loadarff(stream)
    columns: list[np.ndarray] = []
    for name in meta.names()[:-1]:
        kind, values = meta[name]
        if kind == "nominal":  # one column for each value
            columns.extend((table[name] == value.encode()).astype(np.float64) for value in values)
        else:
            columns.append(np.asarray(table[name], dtype=np.float64))
    y = table[meta.names()[-1]]
    return np.column_stack(columns), y.astype(np.float64) if y.dtype.kind == "f" else y.astype(str)
