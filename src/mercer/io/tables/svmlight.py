"""Sparse text: the format of SVMlight and LIBSVM."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import _jit
from mercer.gram import Workers
from mercer.io.errors import DataFileError
from mercer.io.tables.file_bytes import Bytes, Source, joined
from mercer.io.tables.table import NumberedNames, Table, whole

BLOCK = 1 << 23
LONGEST_ROW = 1 << 26
TOKEN = re.compile(rb"[^\s#]*")
HARD_BITS = np.int64(0x7FF8000000000000)
WRONG = {
    1: "the row has no label before its first index:value",
    2: "expected index:value",
    3: "the index is too large",
    4: "qid must be a whole number",
}


@dataclass
class Rows:
    """The rows of a part of the text, before anyone has said where indices begin."""

    labels: np.ndarray
    queries: np.ndarray | None
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    least: int
    most: int
    unsorted: bool


def parse(text: Bytes, source: str, workers: Workers, line: int = 1) -> Rows:
    """Return the rows of a text; ``line`` is the number of its first line."""
    parts = max(1, min(4 * workers.threads, text.size >> 16))
    edges = _line_edges(text, parts)
    parts = len(edges) - 1
    sizes = np.zeros((parts, 2), dtype=np.int64)

    def count(k: int) -> None:
        sizes[k] = _jit.svmlight.count_pairs(text, edges[k], edges[k + 1])

    workers.each(parts, count)
    rows = np.concatenate([[0], np.cumsum(sizes[:, 0] + 1)])
    pairs = np.concatenate([[0], np.cumsum(sizes[:, 1])])
    labels = np.empty(rows[-1])
    queries, lengths = np.empty((2, rows[-1]), dtype=np.int64)
    indices, data = np.empty(pairs[-1], dtype=np.int64), np.empty(pairs[-1])
    counts = np.zeros((parts, _jit.svmlight.COUNTS), dtype=np.int64)
    wrong: list[tuple[int, int]] = [(0, 0)] * parts

    def read(k: int) -> None:
        r, p = slice(rows[k], rows[k + 1]), slice(pairs[k], pairs[k + 1])
        wrong[k] = _jit.svmlight.read_lines(
            text, edges[k], edges[k + 1], labels[r], queries[r], lengths[r], indices[p], data[p], counts[k]
        )

    workers.each(parts, read)
    for code, position in wrong:
        if code:
            _refuse(text, position, source, line, WRONG[code])
    r = [slice(rows[k], rows[k] + counts[k, 0]) for k in range(parts)]
    p = [slice(pairs[k], pairs[k] + counts[k, 1]) for k in range(parts)]
    n_rows, asked = int(counts[:, 0].sum()), int(counts[:, 5].sum())
    if asked not in (0, n_rows):
        raise DataFileError(f"{source}: {asked} of {n_rows} rows have a qid; all or none must")
    indptr = np.zeros(n_rows + 1, dtype=np.int64)
    np.cumsum(joined(lengths, r), out=indptr[1:])
    out = Rows(
        labels=joined(labels, r),
        queries=joined(queries, r) if asked else None,
        indptr=indptr,
        indices=joined(indices, p),
        data=joined(data, p),
        least=int(counts[:, 2].min()),
        most=int(counts[:, 3].max()),
        unsorted=bool(counts[:, 4].any()),
    )
    for values, what in ((out.labels, "label"), (out.data, "value")):
        _read_hard(text, values, source, line, what)
    return out


def _line_edges(text: Bytes, parts: int) -> list[int]:
    """Cut a text into about equal parts at line ends."""
    edges = [0]
    for k in range(1, parts):
        start = max(edges[-1], k * text.size // parts)
        window = text[start : start + LONGEST_ROW]
        step = 1 << 16
        for s in range(0, window.size, step):
            found = np.flatnonzero(window[s : s + step] == 10)
            if found.size:
                edges.append(start + s + int(found[0]) + 1)
                break
    edges.append(text.size)
    return sorted(set(edges)) if text.size else [0, 0]


def _read_hard(text: Bytes, values: np.ndarray, source: str, line: int, what: str) -> None:
    """Read in Python the few numbers that the compiled loop left; the bits of a nan say where."""
    bits = values.view(np.int64)
    for k in np.flatnonzero(np.isnan(values)):
        position = int(bits[k] & ~HARD_BITS) - 1
        match = TOKEN.match(bytes(text[position : position + 4096]))
        token = match.group().decode("utf-8", errors="replace") if match else ""
        try:
            values[k] = float(token.replace("_", "?"))
        except ValueError:
            several = (
                "; several labels for a row are not supported" if "," in token and what == "label" else ""
            )
            _refuse(text, position, source, line, f"the {what} is not a number{several}")


def _refuse(text: Bytes, position: int, source: str, line: int, why: str) -> None:
    line += int(np.count_nonzero(text[:position] == 10))
    near = bytes(text[position : position + 40]).split(b"\n")[0].decode("utf-8", errors="replace")
    raise DataFileError(f"{source}, line {line}: {why}, found {near!r}")


def to_table(
    rows: Rows, source: str, zero_based: bool, n_features: int | None, first_row: int, with_target: bool
) -> Table:
    """Return parsed rows as a table."""
    offset = 0 if zero_based else 1
    if rows.least < offset and rows.data.size:
        raise DataFileError(f"{source} has an index 0, but indices were said to start at 1: zero_based=True?")
    found = rows.most + 1 - offset if rows.data.size else 0
    width = max(found, 1) if n_features is None else n_features
    if found > width:
        raise DataFileError(f"{source} has features up to number {found}; {width} were expected")
    kind: Any = np.int32 if max(width, rows.data.size) < 2**31 else np.int64
    indices = np.empty(rows.indices.size, dtype=kind)
    np.subtract(rows.indices, offset, out=indices, casting="unsafe")
    X = sp.csr_matrix((rows.data, indices, rows.indptr.astype(kind)), shape=(rows.labels.size, width))
    if rows.unsorted:
        X.sort_indices()
        steps = np.diff(X.indices.astype(np.int64))
        inner = np.ones(steps.size, dtype=bool)
        edges = X.indptr[1:-1]
        inner[edges[(edges > 0) & (edges <= steps.size)] - 1] = False
        if (steps[inner] == 0).any():
            raise DataFileError(f"{source} has a row with the same index twice")
    X.has_sorted_indices = True
    return Table(
        X=X,
        y=whole(rows.labels) if with_target else None,
        feature_names=NumberedNames(width),
        target_name="label" if with_target else None,
        query=rows.queries,
        format="svmlight",
        source=source,
        first_row=first_row,
        named=False,
    )


def read_svmlight(
    source: Source, workers: Workers, zero_based: bool | str, n_features: int | None, with_target: bool
) -> Table:
    """Return all rows of a file."""
    rows = parse(source.array(workers), source.name, workers)
    if not rows.labels.size:
        raise DataFileError(f"{source.name} has no rows")
    base = rows.least == 0 if zero_based == "auto" else bool(zero_based)
    return to_table(rows, source.name, base, n_features, 0, with_target)


def svmlight_batches(
    source: Source,
    workers: Workers,
    zero_based: bool | str,
    n_features: int | None,
    with_target: bool,
    batch_rows: int,
) -> Iterator[Table]:
    """Yield tables of some rows each.

    Whether indices start at 0 cannot be known before the end, so "auto" means that they start at 1, and a
    file with an index 0 in a later batch is refused. Without ``n_features`` batches may differ in width.
    """
    left, first_row, line = b"", 0, 1
    base = zero_based
    blocks = source.blocks(BLOCK)
    while True:
        block = next(blocks, None)
        cut = len(left) if block is None else 0
        if block is not None:
            left += block
            cut = left.rfind(b"\n") + 1
        if cut:
            text = np.frombuffer(left, dtype=np.uint8)[:cut]
            rows = parse(text, source.name, workers, line)
            if rows.labels.size:
                if base == "auto":
                    base = rows.least == 0
                table = to_table(rows, source.name, bool(base), n_features, first_row, with_target)
                for start in range(0, table.n_rows, batch_rows):
                    yield _slice(table, start, start + batch_rows)
                first_row += table.n_rows
            line += int(np.count_nonzero(text == 10))
            left = left[cut:]
        if len(left) > LONGEST_ROW:
            raise DataFileError(f"{source.name} has a row of more than {LONGEST_ROW >> 20} MB")
        if block is None:
            break
    if first_row == 0:
        raise DataFileError(f"{source.name} has no rows")


def _slice(table: Table, start: int, stop: int) -> Table:
    return Table(
        X=table.X[start:stop],
        y=None if table.y is None else table.y[start:stop],
        feature_names=table.feature_names,
        target_name=table.target_name,
        query=None if table.query is None else table.query[start:stop],
        format=table.format,
        source=table.source,
        first_row=table.first_row + start,
        named=table.named,
    )
