"""The data sets that come with scikit-learn, by name."""

from __future__ import annotations

import numpy as np
from sklearn import datasets

from mercer.io.errors import DataFileError
from mercer.io.tables.columns import Columns, Wish, assemble
from mercer.io.tables.table import Table, whole

BUNDLED = ("breast_cancer", "diabetes", "digits", "iris", "linnerud", "wine")


def read_bundled(name: str, wish: Wish) -> Table:
    """Return a data set that needs no download.

    Parameters
    ----------
    name : str
        One of BUNDLED.
    wish : Wish
        What was asked for; classes are given by their names.
    """
    found = getattr(datasets, f"load_{name}")()
    names = [str(n) for n in found.feature_names]
    X = np.ascontiguousarray(found.data, dtype=np.float64)
    if name == "linnerud":  # three targets, of which one is chosen
        names = names + [str(n) for n in found.target_names]
        columns = Columns(names, np.column_stack([X, found.target]))
        return assemble(columns, wish, source=name, format="sklearn")
    if wish.target not in (None, "last", "first", "target"):
        raise DataFileError(f"target={wish.target!r}: the target of {name} is called 'target'")
    y = found.target
    if name in ("iris", "wine", "breast_cancer"):
        y = np.asarray(found.target_names, dtype=np.str_)[y]
    table = Table(
        X=X,
        y=None if wish.target is None else whole(y),
        feature_names=tuple(names),
        target_name=None if wish.target is None else "target",
        format="sklearn",
        source=name,
    )
    return table if wish.features is None else table.select(wish.features)
