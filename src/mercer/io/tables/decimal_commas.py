"""Numbers written with a decimal comma, as most of Europe writes them: found, and read as they are meant."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from mercer.io.tables.dialect import MISSING
from mercer.io.tables.file_bytes import HEAD, ChangedSource, Content, Source

SEPARATORS = (";", "\t", "|")  # a comma cannot separate cells and decimals at once
MOST_LINES = 200  # looked at
NUMBER = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+|(\d*|\d{1,3}(\.\d{3})+),\d+([eE][+-]?\d+)?)")


def separator_beside_commas(head: bytes, separator: str | None = None) -> str | None:
    """Return the separator of a file whose numbers have decimal commas; None if it is not such a file.

    It is one if its lines have equally many cells, and one of the columns holds nothing but numbers, some of
    them with a comma.

    Parameters
    ----------
    head : bytes
        The first bytes of the file.
    separator : str, optional
        The separator, if it is known.

    Returns
    -------
    str or None
        The separator.
    """
    lines = head.decode("utf-8", errors="replace").splitlines()
    if len(head) >= HEAD:
        del lines[-1:]  # it may be cut
    lines = [line for line in lines if line.strip()][:MOST_LINES]
    for candidate in SEPARATORS if separator is None else (separator,):
        if candidate == "," or len(candidate) != 1 or not lines or candidate not in lines[0]:
            continue
        if _has_commas(lines, candidate):
            return candidate
    return None


def _has_commas(lines: list[str], separator: str) -> bool:
    try:
        rows = list(csv.reader(lines, delimiter=separator, skipinitialspace=True))
    except (csv.Error, TypeError, ValueError):  # not such a file; the reader that follows tells what it is
        return False
    body = rows[1:] or rows  # the first may hold names
    if not body or len(body[0]) < 2 or any(len(row) != len(body[0]) for row in rows):
        return False
    for column in zip(*body, strict=True):
        cells = [cell for cell in map(str.strip, column) if cell not in MISSING]
        if any("," in cell for cell in cells) and all(NUMBER.fullmatch(cell) for cell in cells):
            return True
    return False


class PointedSource(ChangedSource):
    """A file with decimal commas, read as if it had points.

    Only cells that are numbers as a whole change: ``1.234,5`` becomes ``1234.5`` and ``1.234`` becomes
    ``1234``; a comma or a point inside a text stays.

    Parameters
    ----------
    source : Source
        The file, which stays open as long as its own ``with`` lasts.
    separator : str
        What separates its cells.
    """

    def __init__(self, source: Source, separator: str) -> None:
        super().__init__(source, source.encoding)
        edge = re.escape(separator.encode()) + rb"\r\n\""
        grouped, decimals = rb"\d{1,3}(?:\.\d{3})+", rb"\d+(?:[eE][+-]?\d+)?"
        self._cell = re.compile(
            rb"(?<![^%b])( *[+-]?)(?:(%b)(?:,(%b))?|(\d*),(%b))(?! *[^ %b])"
            % (edge, grouped, decimals, decimals, edge)
        )
        self.head = self._pointed(source.head)

    def _pointed(self, text: Content) -> bytes:
        def cell(found: re.Match[bytes]) -> bytes:
            sign, grouped, few, plain, many = found.groups()
            decimals = few if grouped is not None else many
            whole = plain if grouped is None else grouped.replace(b".", b"")
            return bytes(sign + whole + (b"" if decimals is None else b"." + decimals))

        return bytes(self._cell.sub(cell, text))

    def everything(self) -> Content:
        """Return all bytes."""
        return self._pointed(self._source.everything())

    def blocks(self, size: int) -> Iterator[bytes]:
        """Yield the content in blocks of about ``size`` bytes, which end where a line ends."""
        rest = b""
        for block in self._source.blocks(size):
            text = rest + block
            end = text.rfind(b"\n") + 1
            rest = text[end:]
            if end:
                yield self._pointed(text[:end])
        if rest:
            yield self._pointed(rest)
