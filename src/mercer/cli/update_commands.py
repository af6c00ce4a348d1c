"""``mercer train --update`` and ``mercer forget``: rows come and go, the model stays exact."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mercer.cli import options as o
from mercer.cli.option_groups import Columns, ItemWishes, MachineWishes, Measuring, Reading, Shown, spread
from mercer.cli.screen import Screen
from mercer.cli.user_error import UserError

if TYPE_CHECKING:
    from mercer.cli.model_files import Loaded

ROWS = re.compile(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?")


def refuse_other_wishes(wishes: MachineWishes, items: ItemWishes, measuring: Measuring) -> None:
    """Refuse options that say how a new model is made: an update keeps what the model has."""
    for given in (wishes, items, measuring):
        if given != type(given)():
            raise UserError(
                "--update keeps the machine, its parameters and the preparation of the model: leave out "
                "the options that choose or measure them"
            )


def update(
    model: Path,
    data: str,
    columns: Columns,
    reading: Reading,
    shown: Shown,
    output: Path | None,
) -> None:
    """Learn the rows of a file in addition to those that a model was trained on.

    Parameters
    ----------
    model : Path
        The model.
    data : str
        The file.
    columns : Columns
        Its target and weights.
    reading : Reading
        How to read it.
    shown : Shown
        What is shown.
    output : Path or None
        Where to write the model; None for where it was.
    """
    from mercer.cli.model_files import load_model, read_for
    from mercer.cli.whole_files import check_place

    screen = Screen(shown.as_json, shown.quiet)
    loaded = load_model(model)
    machine = _updatable(loaded, "partial_fit")
    place = output or model
    check_place(place)
    X, table = read_for(loaded, data, columns.target, reading, columns.weights)
    y = None if loaded.kind == "detector" else table.y
    if y is None and loaded.kind != "detector":
        raise UserError("--update needs the target of the new rows: give --target COLUMN")
    for name, texts in loaded.strangers(table).items():
        listed = ", ".join(sorted(texts)[:5])
        screen.warn(f"column {name!r} has values not seen before: {listed}; they are encoded as zeros")
    before = int(machine.shape_fit_[0])
    arguments = [loaded.prepared(X)] if y is None else [loaded.prepared(X), y]
    machine.partial_fit(*arguments, sample_weight=table.sample_weight)
    dropped = before + table.n_rows - int(machine.shape_fit_[0])
    words = f"learned {table.n_rows} rows" + (f" and forgot the oldest {dropped}" if dropped else "")
    _finish(loaded, place, words, {"command": "train", "update": str(model), "learned": table.n_rows}, screen)


@spread
def forget(model: o.Model, rows: o.ForgottenRows, shown: Shown, output: o.UpdatedOutput = None) -> None:
    """Remove training rows from a model exactly: the model is then that of the rows that are left."""
    from mercer.cli.model_files import load_model
    from mercer.cli.whole_files import check_place

    screen = Screen(shown.as_json, shown.quiet)
    loaded = load_model(model)
    machine = _updatable(loaded, "forget")
    place = output or model
    check_place(place)
    numbers = row_numbers(rows)
    n = int(machine.shape_fit_[0])
    if max(numbers) >= n:
        raise UserError(f"--rows has {max(numbers)}; {model} has rows 0 to {n - 1}, in order of arrival")
    machine.forget(numbers)
    words = f"forgot {len(numbers)} row{'' if len(numbers) == 1 else 's'}"
    _finish(loaded, place, words, {"command": "forget", "forgotten": numbers}, screen)


def row_numbers(text: str) -> list[int]:
    """Return the numbers that a list such as 3,17,20-25 stands for, in order, each once."""
    found: set[int] = set()
    for part in text.split(","):
        match = ROWS.fullmatch(part)
        if match is None or (match[2] is not None and int(match[2]) < int(match[1])):
            raise UserError(f"--rows {text}: give numbers from 0 on and ranges, such as 3,17,20-25")
        found.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return sorted(found)


def _updatable(loaded: Loaded, method: str) -> Any:
    """Return the machine of a model that keeps its rows."""
    machine = loaded.machine
    if not hasattr(machine, method) or not hasattr(machine, "sample_weight_fit_"):
        raise UserError(f"{loaded.path} does not keep its training rows: train it with --updatable")
    return machine


def _finish(loaded: Loaded, place: Path, words: str, document: dict[str, Any], screen: Screen) -> None:
    """Write the model, without the fingerprint of rows that are no longer those of the model."""
    from dataclasses import replace

    from mercer.cli.train_results import certificate_document
    from mercer.cli.whole_files import whole_file
    from mercer.io.model.saving import save_again

    machine, file = loaded.machine, loaded.file
    assert file is not None
    n = int(machine.shape_fit_[0])
    known = replace(file.training, rows=n, features=None, target=None, weights=None)
    with whole_file(place) as part:
        save_again(replace(file, training=known), part)
    screen.say(f"{words}; {n} rows are left")
    rows = [("certificate", str(machine.certificate_)), ("model", f"{place}, fitted on {n} rows")]
    if not screen.quiet:
        screen.pairs(rows)
    certificate = certificate_document(machine.certificate_)
    screen.finish({**document, "rows": n, "certificate": certificate, "model": str(place)})
