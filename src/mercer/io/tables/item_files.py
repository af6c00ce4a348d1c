"""Files of sequences: FASTA, and one item on each line."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mercer.io.errors import DataFileError
from mercer.io.extras import require
from mercer.io.opening import memory_share
from mercer.io.tables.columns import Wish
from mercer.io.tables.encodings import as_utf8
from mercer.io.tables.file_bytes import SizeLimits, Source
from mercer.io.tables.table import Table, whole
from mercer.words import did_you_mean, listed

PATTERN = "re:"  # begins a target that is a regular expression
PAIR = re.compile(r"\[?\b([A-Za-z_][\w.-]*)\s?[=:]\s?(\"[^\"]*\"|[^\s\];|,]+)")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Items:
    """What a file of sequences holds.

    Attributes
    ----------
    sequences : list of str
        The sequences of a FASTA file, or the lines of another.
    headers : list of str
        What stands behind ``>``; empty for a file of lines.
    source : str
        Where they came from, for messages.
    """

    sequences: list[str]
    headers: list[str]
    source: str = ""

    @property
    def names(self) -> list[str]:
        """The first word of each header."""
        return [header.split(maxsplit=1)[0] if header.strip() else "" for header in self.headers]

    def __len__(self) -> int:
        return len(self.sequences)

    def labels(self, target: str = "last") -> np.ndarray:
        r"""Return what the headers say of each sequence.

        Parameters
        ----------
        target : str, default="last"
            "last" for the last word of the header, behind a blank or a bar; the name of an entry such as
            ``class`` in ``>gene7 class=promoter``; or "re:" and a regular expression, whose first group (or
            all of it) is the label: ``re:\|(\w+)$``.

        Returns
        -------
        ndarray of shape (n,)
            Whole numbers, numbers or text.
        """
        if not self.headers:
            raise DataFileError(f"{self.source} has no headers that could hold labels: name a file of labels")
        if target.startswith(PATTERN):
            return self._each(self._pattern(target), f"target={target!r} does not match")
        if target == "last":
            return self._each(
                [_last_word(header) for header in self.headers],
                "there is no label behind the name (>name label)",
            )
        entries = [dict(PAIR.findall(header)) for header in self.headers]
        known = list(dict.fromkeys(name for entry in entries for name in entry))
        if target not in known:
            has = f"have the entries {listed(known)}" if known else "have no entries such as class=1"
            raise DataFileError(
                f"target={target!r}: the headers of {self.source} {has}.{did_you_mean(target, known)} It may "
                "also be 'last', a regular expression behind 're:', or a file of labels"
            )
        found = [entry[target].strip('"') if target in entry else None for entry in entries]
        return self._each(found, f"there is no entry {target!r}")

    def _pattern(self, target: str) -> list[str | None]:
        try:
            pattern = re.compile(target.removeprefix(PATTERN))
        except re.error as error:
            raise DataFileError(f"target={target!r} is not a regular expression: {error}") from None
        found = [pattern.search(header) for header in self.headers]
        return [None if one is None else one.group(1 if pattern.groups else 0) for one in found]

    def _each(self, found: Sequence[str | None], problem: str) -> np.ndarray:
        for header, one in zip(self.headers, found, strict=True):
            if one is None:
                raise DataFileError(f"{self.source}: in the header {header[:60]!r} {problem}")
        return as_labels([str(one) for one in found])


def as_labels(texts: Sequence[str]) -> np.ndarray:
    """Return labels as numbers if all of them are, else as text."""
    if all(NUMBER.fullmatch(text) for text in texts):
        return whole(np.array([float(text) for text in texts]))
    return np.array(texts)


def _last_word(header: str) -> str | None:
    words = re.split(r"[\s|]+", header.strip().rstrip("|"))
    return words[-1] if len(words) > 1 else None


def parse_fasta(text: str, source: str) -> Items:
    """Return the records of a FASTA file.

    Blanks inside of sequences and a final ``*`` are left out; lines that begin with ``;`` are comments.
    """
    headers: list[str] = []
    parts: list[list[str]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith(">"):
            headers.append(line[1:].strip())
            parts.append([])
        elif line.startswith(";") or not line.strip():
            continue
        elif not headers:
            raise DataFileError(
                f"{source}, line {number}: a FASTA file begins with '>' and a name, not with {line[:20]!r}"
            )
        else:
            parts[-1].append("".join(line.split()))
    return Items(["".join(part).removesuffix("*") for part in parts], headers, source)


def parse_lines(text: str, source: str) -> Items:
    """Return the lines of a file, without blanks at their ends; an empty line is an empty item."""
    return Items([line.strip() for line in text.splitlines()], [], source)


def file_text(source: Source) -> str:
    """Return the whole text of an open file in UTF-8."""
    try:
        return bytes(source.everything()).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise DataFileError(
            f"{source.name}, line {line}: {error.object[error.start : error.end]!r} is not UTF-8: name "
            "another encoding"
        ) from None


def items_of(source: Source, kind: str) -> Items:
    """Return the sequences of an open file in UTF-8."""
    return (parse_fasta if kind == "fasta" else parse_lines)(file_text(source), source.name)


def read_items(source: Source, kind: str, wish: Wish) -> Table:
    """Return the table of a file of sequences: one column of text, and the target where one was asked for."""
    items = items_of(source, kind)
    column = "sequence" if kind == "fasta" else "text"
    y = None if wish.target is None or not len(items) else _target(items, wish.target)
    if wish.features is not None and list(wish.features) != [column]:
        raise DataFileError(f"{source.name} has one column, {column!r}; asked for: {listed(wish.features)}")
    pandas = require("pandas", "files", "a column of sequences")
    frame = pandas.DataFrame({column: pandas.Series(items.sequences, dtype=object)})
    kinds = tuple(sorted(set(items.sequences)))
    named = wish.target if isinstance(wish.target, str) and PATTERN not in wish.target else "label"
    name = None if y is None else "label" if named == "last" else Path(str(named)).stem
    return Table(frame, y, (column,), name, categories={column: kinds}, format=kind, source=source.name)


def _target(items: Items, target: str | int) -> np.ndarray | None:
    if isinstance(target, str) and Path(target).is_file():
        return _from_file(items, Path(target))
    if not items.headers:
        if target in ("last", "first"):
            return None  # lines have no labels, and nobody asked for any
        raise DataFileError(f"target={target!r}: {items.source} holds items only; name a file of labels")
    if target == "last" and all(_last_word(header) is None for header in items.headers):
        return None
    return items.labels(str(target))


def _from_file(items: Items, path: Path) -> np.ndarray:
    """Return labels out of another file: by name, or one for each item in order."""
    rows = [re.split(r"[,;\t]", line) for line in path.read_text(encoding="utf-8-sig").splitlines() if line]
    rows = [[cell.strip().strip('"') for cell in row] for row in rows]
    if rows and all(len(row) == 1 for row in rows):
        if len(rows) != len(items):
            raise DataFileError(f"{path.name} has {len(rows)} labels, {items.source} {len(items)} items")
        return as_labels([row[0] for row in rows])
    by_name = {row[0]: row[-1] for row in rows}
    missing = [name for name in items.names if name not in by_name]
    if missing or not items.headers:
        raise DataFileError(
            f"{path.name} must have the name of each item in its first column and the label in its last"
            + (f"; it has no line for {listed(missing)}" if missing else "")
        )
    return as_labels([by_name[name] for name in items.names])


def read_fasta(
    path: str | os.PathLike[str],
    *,
    encoding: str = "utf-8",
    max_bytes: int | None = None,
    max_expansion: float = 200.0,
) -> Items:
    """Read the sequences of a FASTA file, plain or compressed by gzip.

    Parameters
    ----------
    path : str or path
        The file; "-" for standard input.
    encoding, max_bytes, max_expansion
        As for `read_data`.

    Returns
    -------
    Items
        ``sequences``, ``headers``, ``names``, and ``labels(target)`` for what the headers say.
    """
    return _read(path, "fasta", encoding, max_bytes, max_expansion)


def read_lines(
    path: str | os.PathLike[str],
    *,
    encoding: str = "utf-8",
    max_bytes: int | None = None,
    max_expansion: float = 200.0,
) -> list[str]:
    """Read the items of a file, plain or compressed by gzip, that has one of them on each line.

    Parameters
    ----------
    path, encoding, max_bytes, max_expansion
        As for `read_fasta`.

    Returns
    -------
    list of str
        The lines without blanks at their ends.
    """
    return _read(path, "lines", encoding, max_bytes, max_expansion).sequences


def _read(path: Any, kind: str, encoding: str, max_bytes: int | None, max_expansion: float) -> Items:
    limits = SizeLimits(memory_share() if max_bytes is None else max_bytes, max_expansion)
    with Source(path, limits) as file:
        return items_of(as_utf8(file, encoding), kind)
