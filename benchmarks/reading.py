"""Reading tables: mercer against pandas (CSV) and scikit-learn (svmlight), in one process, taking turns.

``python -m benchmarks.reading [--rows 1000000] [--columns 20] [--rounds 5] [--threads N]``

The files are written first, with each number in the shortest form that reads back exactly, so that what a
reader returns can be compared with the numbers themselves, bit for bit. A ratio is taken within a round.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.memory import touch
from mercer.io import read_data

CHUNK = 20000
TARGETS = {"csv": 1.2, "svmlight": 0.5}  # of the peer's time


def write(folder: Path, X: np.ndarray, y: np.ndarray) -> dict[str, Path]:
    """Write the same table in both formats."""
    files = {"csv": folder / "table.csv", "svmlight": folder / "table.svm"}
    with files["csv"].open("w") as table, files["svmlight"].open("w") as sparse:
        table.write(",".join([*(f"x{k}" for k in range(X.shape[1])), "y"]) + "\n")
        for start in range(0, X.shape[0], CHUNK):
            rows = zip(X[start : start + CHUNK].tolist(), y[start : start + CHUNK].tolist(), strict=True)
            lines, pairs = [], []
            for values, label in rows:
                words = [repr(v) for v in values]
                lines.append(",".join([*words, str(label)]))
                pairs.append(f"{label} " + " ".join(f"{k}:{w}" for k, w in enumerate(words, start=1)))
            table.write("\n".join(lines) + "\n")
            sparse.write("\n".join(pairs) + "\n")
    return files


def timed(read: Callable[[], tuple[np.ndarray, np.ndarray]]) -> tuple[float, tuple[np.ndarray, np.ndarray]]:
    start = time.perf_counter()
    found = read()
    return time.perf_counter() - start, found


def readers(files: dict[str, Path], threads: int | None) -> dict[str, tuple[Callable, Callable]]:
    """Return ours and theirs for each format."""
    import pandas
    from sklearn.datasets import load_svmlight_file

    def ours(kind: str) -> Callable:
        def read() -> tuple:
            table = read_data(files[kind], format=kind, n_jobs=threads)
            return table.X, table.y

        return read

    def pandas_csv() -> tuple:
        frame = pandas.read_csv(files["csv"])
        return frame.iloc[:, :-1].to_numpy(), frame.iloc[:, -1].to_numpy()

    return {
        "csv": (ours("csv"), pandas_csv),
        "svmlight": (ours("svmlight"), lambda: load_svmlight_file(str(files["svmlight"]))),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=None)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    X = rng.standard_normal((options.rows, options.columns))
    y = rng.integers(0, 3, options.rows)
    with tempfile.TemporaryDirectory() as folder:
        small = write(Path(folder), X[:100], y[:100])
        for ours, theirs in readers(
            small, options.threads
        ).values():  # compiled and imported before any clock
            ours()
            theirs()
        files = write(Path(folder), X, y)
        touch(4 * X.nbytes / 1e9)
        for kind, (ours, theirs) in readers(files, options.threads).items():
            times, peer, ratios = [], [], []
            for _ in range(options.rounds):
                seconds, (found, labels) = timed(ours)
                table = found if isinstance(found, np.ndarray) else found.toarray()
                if not (np.array_equal(table.view(np.int64), X.view(np.int64)) and np.array_equal(labels, y)):
                    raise SystemExit(f"{kind}: what was read is not what was written")
                del found, table
                other, _ = timed(theirs)
                times.append(seconds)
                peer.append(other)
                ratios.append(seconds / other)
            print(
                f"{kind:9} {options.rows} x {options.columns}: mercer "
                f"{statistics.median(times):6.2f} s, peer "
                f"{statistics.median(peer):6.2f} s, ratio {statistics.median(ratios):.2f} "
                f"({min(ratios):.2f} to {max(ratios):.2f}), at most {TARGETS[kind]} is wished for; bit-exact"
            )


if __name__ == "__main__":
    main()
