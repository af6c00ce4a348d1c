"""Tables whose rows are sequences, trees, graphs or time series, and the kernels that compare them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from mercer import kernels
from mercer.cli.option_groups import ItemWishes, MachineWishes
from mercer.cli.options import GRAPH_KERNELS, ITEM_KERNELS, SEQUENCE_KERNELS, SERIES_KERNELS, TREE_KERNELS
from mercer.cli.user_error import UserError
from mercer.io import Table
from mercer.selection.preparation import Prepared, is_name
from mercer.values import parameter_names
from mercer.words import listed

TEXT = (*SEQUENCE_KERNELS, *TREE_KERNELS)
# Formats that hold items and nothing else: what they are, and their kernels, the default first.
FILES = {
    "fasta": ("sequences", SEQUENCE_KERNELS),
    "lines": ("sequences and trees", TEXT),
    "graphs": ("graphs", GRAPH_KERNELS),
    "ts": ("time series", SERIES_KERNELS),
}
CLASSES = {"wl_optimal_assignment": "WLOptimalAssignment", "dtw": "DTW"}  # which are not spelled alike


@dataclass(frozen=True)
class ItemColumn:
    """Where the items of a table are.

    Attributes
    ----------
    name : str or None
        The column; None if a whole row of numbers is an item, a time series.
    what : str
        What the items are, in words.
    kernels : tuple of str
        Names of the kernels that compare such items, the default first.
    """

    name: str | None
    what: str
    kernels: tuple[str, ...]


def item_column(table: Table, kernel: str) -> ItemColumn | None:
    """Return where the items are that a kernel compares; None for a table of numbers and kinds.

    Parameters
    ----------
    table : Table
        As it was read.
    kernel : str
        The kernel that was asked for.
    """
    if table.format in FILES:
        what, known = FILES[table.format]
        if kernel in ITEM_KERNELS and kernel not in known:
            raise UserError(
                f"--kernel {kernel} does not compare {what}, which {table.source} holds: choose one of "
                f"{', '.join(known)}"
            )
        return ItemColumn(str(table.feature_names[0]), what, known)
    if kernel in SERIES_KERNELS:
        if isinstance(table.X, np.ndarray):
            return ItemColumn(None, "time series", SERIES_KERNELS)
        raise UserError(
            f"--kernel {kernel} compares time series, a row of numbers each: {table.source} has other columns"
        )
    if kernel in GRAPH_KERNELS:
        raise UserError(f"--kernel {kernel} compares graphs: {table.source} is not a folder of graphs")
    if kernel not in TEXT:
        return None
    what = "trees" if kernel in TREE_KERNELS else "sequences"
    texts = [name for name in table.categorical if is_name(len(table.categories[name]), table.n_rows)]
    texts = texts or list(table.categorical)
    if len(texts) == 1:
        return ItemColumn(texts[0], what, TEXT)
    if not texts:
        raise UserError(f"--kernel {kernel} compares {what}: {table.source} has no column of text")
    raise UserError(
        f"--kernel {kernel} compares the {what} of one column, and {table.source} has {listed(texts)}: "
        "leave the others out with --exclude"
    )


def only_items(table: Table, column: ItemColumn) -> tuple[Table, Prepared]:
    """Return a table with its items only, which need no preparation."""
    if column.name is None:  # NaN at the end of a row is padding
        return table, Prepared(table.X, table.y, [], ["each row is a time series"], table.target_name)
    others = [name for name in table.feature_names if name != column.name]
    said = [f"left out {listed(others)}: the kernel compares {column.name!r} only"] if others else []
    table = table.select([column.name])
    missing = table.n_missing()
    if missing:
        raise UserError(f"column {column.name!r} of {table.source} is empty in {missing[column.name]} rows")
    return table, Prepared(table.X, table.y, [], said, table.target_name)


def item_kernel(
    wishes: MachineWishes, given: ItemWishes, column: ItemColumn
) -> tuple[kernels.Kernel, list[str]]:
    """Return the kernel that the options stand for, at unit length, on its column; and what was decided."""
    said = []
    name = wishes.kernel
    if name not in column.kernels:
        default, *others = column.kernels
        said = [
            f"kernel {default}, as {name} compares numbers; others for {column.what}: {', '.join(others)}"
        ]
        name = default
    cls: Any = getattr(kernels, CLASSES.get(name) or "".join(p.capitalize() for p in name.split("_")))
    known = parameter_names(cls)
    wanted = {option: value for option, value in asdict(given).items() if value is not None}
    defaults = MachineWishes()
    for option in ("gamma", "degree"):
        if getattr(wishes, option) != getattr(defaults, option):
            wanted[option] = getattr(wishes, option)
    for option in wanted:
        if option not in known:
            raise UserError(f"--{option} is no parameter of {name}, which has {listed(sorted(known))}")
    if "gamma" in wanted and wanted["gamma"] != "median":
        wanted["gamma"] = float(wanted["gamma"])
    made: kernels.Kernel = cls(**wanted)
    try:
        made.validate()
    except ValueError as error:
        raise UserError(str(error)) from None
    if made.diagonal_bound != 1.0:
        made = made.normalized()
    return made if column.name is None else made.on(column.name), said


def with_kernel(machine: Any, kernel: kernels.Kernel) -> Any:
    """Return a machine with another kernel; what belonged to the old one is as if nobody had said it."""
    return machine.set_params(kernel=kernel, gamma="scale", degree=3, coef0=0.0)


def plain(wishes: MachineWishes) -> MachineWishes:
    """Return the wishes without what they say of the kernel."""
    defaults = MachineWishes()
    return replace(wishes, kernel="rbf", gamma=defaults.gamma, degree=defaults.degree, coef0=defaults.coef0)
