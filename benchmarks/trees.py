"""Questions by what they ask for, from their parse trees: training, testing, accuracy.

Run as ``python -m benchmarks.trees --data FOLDER``, a folder with ``train_5500.coarse.klp.gz`` and
``TREC_10.coarse.klp.gz`` (6 classes, 5452 / 500 questions; the trees named ``grct``). Wall-clock and
processor seconds on all cores, compiled beforehand. Published accuracy of the subset-tree kernel: 91.4 %.
"""

from __future__ import annotations

import argparse
import gzip
import re
import time
from pathlib import Path

import mercer
from mercer.kernels import PartialTree, SubsetTree, Subtree

KERNELS = {
    "subset": SubsetTree(0.4),
    "subset, with leaves": SubsetTree(0.4, leaves=True),
    "subtree": Subtree(0.4),
    "partial": PartialTree(0.4, 0.4),
}


def questions(path, name):
    """Return the trees of a name, and the classes."""
    pattern = re.compile(rf"\|BT:{name}\| (.*?) \|ET\|")
    trees, classes = [], []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            trees.append(pattern.search(line)[1])
            classes.append(line.split(maxsplit=1)[0])
    return trees, classes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--trees", default="grct", help="which of the trees of a question")
    parser.add_argument("--kernel", nargs="+", choices=KERNELS, default=["subset"])
    parser.add_argument("--C", type=float, nargs="+", default=[1.0])
    parser.add_argument("--rows", type=int, default=None, help="only so many training questions")
    options = parser.parse_args()
    X, y = questions(options.data / "train_5500.coarse.klp.gz", options.trees)
    Z, t = questions(options.data / "TREC_10.coarse.klp.gz", options.trees)
    X, y = X[: options.rows], y[: options.rows]
    for name in options.kernel:
        for C in options.C:
            model = mercer.SVC(kernel=KERNELS[name].normalized(), C=C, multiclass="ovr", cache_size=500)
            mercer.SVC(kernel=model.kernel, multiclass="ovr").fit(X[:100], y[:100]).predict(Z[:5])  # compile
            start, cpu = time.perf_counter(), time.process_time()
            model.fit(X, y)
            fitted, fitted_cpu = time.perf_counter() - start, time.process_time() - cpu
            accuracy = model.score(Z, t)
            took, took_cpu = time.perf_counter() - start, time.process_time() - cpu
            print(
                f"{name}, C={C:g}: {100 * accuracy:.1f} %, {model.certificate_.status}; fit {fitted:.1f} s "
                f"({fitted_cpu:.1f} s of processor), with test {took:.1f} s ({took_cpu:.1f} s)"
            )


if __name__ == "__main__":
    main()
