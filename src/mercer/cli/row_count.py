"""How many rows a file has, found out quickly, for the bar of those who wait."""

from __future__ import annotations

from pathlib import Path

from mercer.cli.option_groups import Reading

PIECE = 1 << 22
TEXT = ("csv", "svmlight", "arff")


def rows_in(data: str, how: Reading) -> int | None:
    """Return about how many rows a file has; None where only reading all of it would tell.

    Lines are counted in text, which takes a moment; comments, empty lines and line ends inside quotes are
    counted with them, which a bar can bear. Parquet and Feather say it themselves. Compressed files, standard
    input and data sets by their names are not looked at.

    Parameters
    ----------
    data : str
        A file's name.
    how : Reading
        How it is to be read.
    """
    from mercer.io.tables.dialect import sniff
    from mercer.io.tables.encodings import recoded
    from mercer.io.tables.file_bytes import GZIP
    from mercer.io.tables.formats import detect

    path = Path(data)
    if data == "-" or not path.is_file():
        return None
    with path.open("rb") as file:
        head = file.read(PIECE)
        if head.startswith(GZIP):
            return None
        text = recoded(head, how.encoding, path.name)
        kind = how.file_format or detect(text, path.name)
        if kind in TEXT:
            wish = how.options()
            named = kind == "csv" and sniff(text, wish["separator"], wish["header"], path.name).header
            lines, last = -1 if named else 0, b""
            while head:
                lines, last = lines + head.count(b"\n"), head[-1:]
                head = file.read(PIECE)
            return lines + (last not in (b"\n", b"\0", b""))  # UTF-16 may end with a zero
    return _rows_of_columns(path, kind) if kind in ("parquet", "feather") else None


def _rows_of_columns(path: Path, kind: str) -> int | None:
    """Return what the file says of itself; None where it is no such file, which reading it will tell."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    try:
        return int(ds.dataset(path, format=kind).count_rows())
    except (pa.ArrowException, OSError, ValueError):
        return None
