"""One row of a delimited file, taken apart."""

from __future__ import annotations

import csv
from typing import Any

from mercer.io.errors import DataFileError

LONGEST_CELL = 131072  # characters: Python's own limit, which other libraries raise for the whole process


def split(line: str, separator: str, source: str, number: int = 1) -> list[str]:
    """Return the cells of one row, which is that line of the file."""
    try:
        options: dict[str, Any] = {"skipinitialspace": True, "delimiter": separator}
        cells = next(csv.reader([line.strip() if separator == " " else line], **options), [])
    except csv.Error as error:
        raise DataFileError(f"{source}, line {number}: {_why_not(line, separator)}") from error
    if len(line) > LONGEST_CELL and max(map(len, cells)) > LONGEST_CELL:
        raise DataFileError(f"{source}, line {number}: {_why_not(line, separator)}")
    return [cell for cell in cells if cell] if separator == " " else cells


def _why_not(line: str, separator: str) -> str:
    """Return what keeps a line from being a row of a table, and what to do about it."""
    if "\r" in line:
        return "a carriage return stands amid the row: save the file with a line feed at the end of each row"
    if len(line) > LONGEST_CELL:
        return (
            f"a cell has more than {LONGEST_CELL} characters where {separator!r} separates cells: "
            "name another separator, or another format if the file is no table in plain text"
        )
    return (
        f"the quotes of {line[:40]!r} are in disorder: close each of them in its cell, and write one that "
        "belongs to a cell twice"
    )
