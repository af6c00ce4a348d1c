"""Files of data in every format, sound and damaged: read to the last bit, or refused in words."""

import csv
import gzip
import io
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from .damage import STEPS, damaged
from .report import Report
from .watching import Refused, watched

FORMATS = ("csv", "tsv", "semicolons", "arff", "svmlight", "npz", "parquet", "feather")
ENDINGS = {"semicolons": "csv", "svmlight": "svm"}
WORDS = ("red", "blue", "a b", "it's", 'say "so"', "é", "x,y", "1", "", "nan", "?", "%", "#", "\t", "{z}")


@dataclass(frozen=True)
class TableFile:
    """A table, the format that it is written in, and what is done to the file."""

    format: str
    rows: tuple  # of tuples of numbers; the last column is the target
    words: tuple  # a text column, or nothing
    zipped: bool
    steps: tuple
    options: tuple  # of (name, value) for the reader
    times: int = 1  # the rows are repeated

    @property
    def place(self):
        return f"read_data {self.format}"

    def snippet(self):
        return f"from fuzz.table_files import TableFile\nprint({self!r}.run().failures)"

    def content(self):
        made = damaged(self._sound(), self.steps if not self.zipped else ())
        level = 9 if self.times == 1 else 1
        return damaged(gzip.compress(made, level, mtime=0), self.steps) if self.zipped else made

    def _sound(self):
        if self.times == 1 or self.format in ("npz", "parquet", "feather"):
            return _written(self.format, list(self.rows) * self.times, list(self.words) * self.times)
        once, twice = (_written(self.format, list(self.rows) * k, list(self.words) * k) for k in (1, 2))
        return once + twice[len(once) :] * (self.times - 1)  # the lines after the header repeat

    def run(self):
        report = Report(fits=1)
        start = time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            name = f"t.{ENDINGS.get(self.format, self.format)}" + (".gz" if self.zipped else "")
            path = Path(folder) / name
            path.write_bytes(self.content())
            try:
                self._read(report, path)
            except Refused as refusal:
                report.ending, report.refusal = "refused", str(refusal)
                if not refusal.told and not self.steps and not self.options:
                    report.fail("a sound file is read", self.place, refusal)
        report.seconds = time.process_time() - start
        return report

    def _read(self, report, path):
        from mercer.io import read_batches, read_data

        options = dict(self.options)
        with watched(report, "read_data", ["target", *options]):
            table = read_data(path, n_jobs=1, **options)
        report.ending = "read"
        n = table.n_rows
        if table.X.shape[0] != n or (table.y is not None and len(table.y) != n):
            report.fail("rows are counted", self.place, f"{n}: X {table.X.shape}")
        if not self.steps and not self.options:
            self._compare(report, table)
        with watched(report, "read_batches", ["target", *options]):
            few = 3 if self.times == 1 else 100_000
            parts = list(read_batches(path, batch_rows=few, n_jobs=1, **({"target": "last"} | options)))
        if sum(part.n_rows for part in parts) != n:
            report.fail("batches hold all rows", self.place, f"{sum(part.n_rows for part in parts)} of {n}")

    def _compare(self, report, table):
        """Numbers come back to the last bit."""
        written = np.array(self.rows, dtype=float)
        expected = np.tile(written[:, :-1], (self.times, 1))
        X = table.X.toarray() if hasattr(table.X, "toarray") else table.X
        if hasattr(X, "select_dtypes"):
            X = X[[name for name in X.columns if name != "word"]].to_numpy()
        X = np.asarray(X, dtype=float)
        if self.words and X.shape[1] == expected.shape[1] + 1:
            X = X[:, :-1]  # words that are all numbers, or gaps
        if self.format == "svmlight" and X.shape[1] < expected.shape[1]:
            X = np.hstack([X, np.zeros((len(X), expected.shape[1] - X.shape[1]))])
        target = np.asarray(table.y)
        same_target = target.dtype.kind not in "biuf" or np.array_equal(
            target.astype(float), np.tile(written[:, -1], self.times), equal_nan=True
        )
        if X.shape != expected.shape or not np.array_equal(X, expected, equal_nan=True) or not same_target:
            report.fail("numbers come back", self.place, f"{X.tolist()} {target.tolist()} for {self.rows}")


def _number(value):
    return "" if np.isnan(value) else repr(float(value))


def _written(kind, rows, words):
    """Return the bytes of a sound file. Text stands in a column of its own before the target."""
    d = len(rows[0]) - 1
    names = [f"x{j}" for j in range(d)]
    if kind in ("csv", "tsv", "semicolons"):
        out = io.StringIO()
        writer = csv.writer(
            out, delimiter={"csv": ",", "tsv": "\t", "semicolons": ";"}[kind], lineterminator="\n"
        )
        writer.writerow([*names, *(["word"] if words else []), "y"])
        for k, row in enumerate(rows):
            writer.writerow([*map(_number, row[:-1]), *([words[k]] if words else []), _number(row[-1])])
        return out.getvalue().encode()
    if kind == "arff":
        lines = ["@relation t", *(f"@attribute {name} numeric" for name in [*names, "y"]), "@data"]
        lines += [",".join(_number(v) or "?" for v in row) for row in rows]
        return ("\n".join(lines) + "\n").encode()
    if kind == "svmlight":
        lines = [
            f"{row[-1]!r} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row[:-1]) if v != 0)
            for row in rows
        ]
        return ("\n".join(lines) + "\n").encode()
    if kind == "npz":
        out = io.BytesIO()
        table = np.array(rows, dtype=float)
        np.savez(out, X=table[:, :-1], y=table[:, -1])
        return out.getvalue()
    import pandas

    frame = pandas.DataFrame(np.array(rows, dtype=float)[:, :-1], columns=names)
    if words:
        frame["word"] = words
    frame["y"] = [row[-1] for row in rows]
    out = io.BytesIO()
    frame.to_parquet(out, index=False) if kind == "parquet" else frame.to_feather(out)
    return out.getvalue()


NUMBERS = st.sampled_from(
    [0.0, 1.0, -1.0, 0.1, 1e300, -1e-300, 5e-324, 123456789.123456789, 1 / 3]
) | st.floats(allow_nan=False, allow_infinity=False)
OPTIONS = {
    "target": ["x0", "first", 0, 7, "none such", None],
    "header": [True, False],
    "separator": [",", ";", "\t", " ", "ab"],
    "decimal": [".", ","],
    "encoding": ["utf-8", "cp1252", "utf-16", "nonsense"],
    "format": [*FORMATS, "nonsense"],
    "zero_based": [True, False],
    "n_features": [1, 100],
    "features": [("x0",), ("none such",)],
    "categorical": [("x0",)],
    "max_bytes": [10],
}


@st.composite
def table_files(draw):
    kind = draw(st.sampled_from(FORMATS))
    d = draw(st.integers(2, 4))
    n = draw(st.integers(1, 6))
    whole = st.integers(0, 3).map(float)
    rows = tuple((*draw(st.tuples(*[NUMBERS] * (d - 1))), draw(whole)) for _ in range(n))
    with_words = kind in ("csv", "tsv", "semicolons", "parquet", "feather") and draw(st.integers(0, 3)) == 3
    words = draw(st.tuples(*[st.sampled_from(WORDS)] * n)) if with_words else ()
    steps = tuple(draw(STEPS)) if draw(st.booleans()) else ()
    options = {}
    if draw(st.integers(0, 5)) == 5:
        key = draw(st.sampled_from(sorted(OPTIONS)))
        options[key] = draw(st.sampled_from(OPTIONS[key]))
    zipped = draw(st.integers(0, 3)) == 3
    times = 1
    if draw(st.integers(0, 300)) == 217:  # megabytes of zeros, which shrink to a few kilobytes
        zipped, steps, words = True, (), ()
        times, rows = 200_000, (tuple(0.0 for _ in range(d)),)
    return TableFile(kind, rows, words, zipped, steps, tuple(options.items()), times)
