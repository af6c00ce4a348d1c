"""How a delimited file is written, told from its first lines."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mercer.io.errors import DataFileError
from mercer.io.tables.row_cells import split

SEPARATORS = ",;\t|"
MISSING = frozenset(
    {"", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "-nan", "NULL", "null", "None", "?"}
)
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|Inf|INF|infinity|Infinity)")


@dataclass(frozen=True)
class Dialect:
    """How a delimited file is written.

    Attributes
    ----------
    separator : str
        One character; a space stands for any run of spaces.
    header : bool
        Whether the first row holds names.
    quote : str
        The quotation marks: one or two characters, each of which closes what it opened.
    names : tuple of str, optional
        Names of the columns, where something else than the first row says them.
    """

    separator: str = ","
    header: bool = True
    quote: str = '"'
    names: tuple[str, ...] | None = None

    @property
    def named(self) -> bool:
        """Whether the columns' names are the file's own."""
        return self.header or self.names is not None

    @property
    def blanks(self) -> str:
        """What may stand around cells, and alone in lines that are no rows."""
        return blanks(self.separator)


def blanks(separator: str | None) -> str:
    """Return what may stand around cells, and alone in lines that are no rows."""
    return " \r" if separator == "\t" else " \t\r"


def sniff(head: bytes, separator: str | None, header: bool | str, source: str) -> Dialect:
    """Return how a file is written, from its first lines and what the user said.

    The separator is the first of comma, semicolon, tab and bar that the first line has most of outside
    quotes, else a run of spaces. The first row is a header unless one of its cells is a number.
    """
    whole = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace")
    before = len(whole) - len(whole.lstrip(blanks(separator) + "\n"))
    text = whole[whole.rfind("\n", 0, before) + 1 :]
    line = text.partition("\n")[0].strip("\r")
    number = 1 + whole[: len(whole) - len(text)].count("\n")
    if separator is None:
        bare = re.sub(r'"[^"]*"', "", line)
        counts = {s: bare.count(s) for s in SEPARATORS}
        separator = max(counts, key=lambda s: counts[s])
        if not counts[separator]:
            separator = " " if " " in bare.strip() else ","
    if len(separator) != 1 or separator in '"\r\n' or ord(separator) > 127:
        raise DataFileError(f"separator={separator!r} must be one character, no quote and no line end")
    if header == "auto":
        header = not any(NUMBER.fullmatch(cell.strip()) for cell in split(line, separator, source, number))
    if header not in (True, False):
        raise DataFileError(f"header={header!r} must be True, False or 'auto'")
    return Dialect(separator, bool(header))
