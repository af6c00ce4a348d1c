"""Files that people take for tables: told by their first bytes, with what to do about them."""

from __future__ import annotations

import re

from mercer.io.errors import DataFileError

TABLE = "save its table as CSV"
KINDS = (
    (rb"PK\x03\x04(?s:.{26,200}?)(\[Content_Types\]\.xml|_rels/|docProps/|xl/)", "an Excel workbook", TABLE),
    (rb"PK\x03\x04(?s:.{26})mimetypeapplication/vnd\.oasis", "an OpenDocument file", TABLE),
    (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or Office file", TABLE),
    (rb"%PDF-", "a PDF document", TABLE),
    (rb"SQLite format 3\0", "an SQLite database", "export a table as CSV"),
    (rb"\x89HDF\r\n", "an HDF5 file", "write its arrays to an NPZ file"),
    (rb"\s*(<!DOCTYPE|<html|<\?xml)", "a web page or XML", "is it the download that you wanted?"),
    (
        rb'\s*(\{\s*("|\})|\[\s*[\[{"\]])',
        "JSON",
        "write it as CSV or Parquet (pandas can: read_json, with lines=True for an object a line; to_csv)",
    ),
)
COMPILED = [(re.compile(mark, re.IGNORECASE), what, advice) for mark, what, advice in KINDS]


def refuse_foreign(head: bytes, name: str) -> None:
    """Refuse a file that is of another kind.

    Parameters
    ----------
    head : bytes
        The first bytes, in UTF-8 if they are text.
    name : str
        For the message.
    """
    for mark, what, advice in COMPILED:
        if mark.match(head):
            raise DataFileError(f"{name} is {what}, not a table that can be read here: {advice}")
