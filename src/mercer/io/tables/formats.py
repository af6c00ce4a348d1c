"""The formats of tables, told from the first bytes and the name of a file."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

FORMATS = ("csv", "parquet", "feather", "svmlight", "arff", "npz", "fasta", "lines", "ts", "graphs")
BINARY = ("parquet", "feather", "npz")
ENDINGS = {
    "csv": (".csv", ".tsv"),
    "parquet": (".parquet", ".pq"),
    "feather": (".feather", ".arrow", ".ipc"),
    "svmlight": (".svm", ".svmlight", ".libsvm", ".scale", ".t"),
    "arff": (".arff",),
    "npz": (".npz",),
    "fasta": (".fasta", ".fa", ".fas", ".fna", ".faa", ".ffn", ".frn"),
    "lines": (".lines",),
    "ts": (".ts",),
}
MAGIC = ((b"PAR1", "parquet"), (b"ARROW1", "feather"), (b"FEA1", "feather"), (b"PK\x03\x04", "npz"))
PAIRS = re.compile(rb"[^\s:,]+([ \t]+qid:\d+)?([ \t]+\d+:[^\s:]+)+\s*(#.*)?")


def detect(head: bytes, name: str) -> str:
    """Return the format of a file from its first bytes and its name.

    Parameters
    ----------
    head : bytes
        The first bytes, expanded.
    name : str
        The file's name; ".gz" does not count.

    Returns
    -------
    str
        One of FORMATS.
    """
    for mark, kind in MAGIC:
        if head.startswith(mark):
            return kind
    ending = Path(name.lower().removesuffix(".gz")).suffix
    for kind, endings in ENDINGS.items():
        if ending in endings:
            return kind
    lines = [line.strip() for line in head.removeprefix(codecs.BOM_UTF8).splitlines() if line.strip()]
    if any(line.lower().startswith(b"@relation") for line in lines[:100]):
        return "arff"
    if lines and lines[0].startswith(b">") and len(lines) > 1 and lines[1].isalpha():
        return "fasta"
    rows = [line for line in lines if not line.startswith(b"#")]
    return "svmlight" if rows and PAIRS.fullmatch(rows[0]) else "csv"
