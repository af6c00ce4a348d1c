"""Tables with a column of sequences, and the kernels that compare them."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from mercer import kernels
from mercer.cli.option_groups import MachineWishes, SequenceWishes
from mercer.cli.options import SEQUENCE_KERNELS
from mercer.cli.user_error import UserError
from mercer.io import Table
from mercer.selection.preparation import Prepared, is_name
from mercer.values import parameter_names
from mercer.words import listed

FILES = ("fasta", "lines")  # formats that hold sequences and nothing else


def sequence_column(table: Table, kernel: str) -> str | None:
    """Return the name of the column whose sequences are compared; None for a table of numbers and kinds.

    Parameters
    ----------
    table : Table
        As it was read.
    kernel : str
        The kernel that was asked for.
    """
    if table.format in FILES:
        return str(table.feature_names[0])
    if kernel not in SEQUENCE_KERNELS:
        return None
    texts = [name for name in table.categorical if is_name(len(table.categories[name]), table.n_rows)]
    texts = texts or list(table.categorical)
    if len(texts) == 1:
        return texts[0]
    if not texts:
        raise UserError(f"--kernel {kernel} compares sequences: {table.source} has no column of text")
    raise UserError(
        f"--kernel {kernel} compares the sequences of one column, and {table.source} has {listed(texts)}: "
        "leave the others out with --exclude"
    )


def only_sequences(table: Table, column: str) -> tuple[Table, Prepared]:
    """Return a table with its column of sequences only, which need no preparation."""
    others = [name for name in table.feature_names if name != column]
    said = [f"left out {listed(others)}: the kernel compares {column!r} only"] if others else []
    table = table.select([column])
    missing = table.n_missing()
    if missing:
        raise UserError(f"column {column!r} of {table.source} is empty in {missing[column]} rows")
    return table, Prepared(table.X, table.y, [], said, table.target_name)


def sequence_kernel(
    wishes: MachineWishes, given: SequenceWishes, column: str
) -> tuple[kernels.Kernel, list[str]]:
    """Return the kernel that the options stand for, at unit length, on its column; and what was decided."""
    said = []
    name = wishes.kernel
    if name not in SEQUENCE_KERNELS:
        others = ", ".join(SEQUENCE_KERNELS[1:])
        said = [f"kernel spectrum, as {name} compares numbers; others for sequences: {others}"]
        name = "spectrum"
    cls: Any = getattr(kernels, "".join(part.capitalize() for part in name.split("_")))
    known = parameter_names(cls)
    wanted = {option: value for option, value in asdict(given).items() if value is not None}
    defaults = MachineWishes()
    for option in ("gamma", "degree"):
        if getattr(wishes, option) != getattr(defaults, option):
            wanted[option] = getattr(wishes, option)
    for option in wanted:
        if option not in known:
            raise UserError(f"--{option} is no parameter of {name}, which has {listed(sorted(known))}")
    if "gamma" in wanted:
        wanted["gamma"] = float(wanted["gamma"])
    made: kernels.Kernel = cls(**wanted)
    try:
        made.validate()
    except ValueError as error:
        raise UserError(str(error)) from None
    return made.normalized().on(column), said


def with_kernel(machine: Any, kernel: kernels.Kernel) -> Any:
    """Return a machine with another kernel; what belonged to the old one is as if nobody had said it."""
    return machine.set_params(kernel=kernel, gamma="scale", degree=3, coef0=0.0)


def plain(wishes: MachineWishes) -> MachineWishes:
    """Return the wishes without what they say of the kernel."""
    defaults = MachineWishes()
    return replace(wishes, kernel="rbf", gamma=defaults.gamma, degree=defaults.degree, coef0=defaults.coef0)
