"""Many classes with a few rows each: mercer against scikit-learn, in one process, taking turns.

``python -m benchmarks.classes [--rounds 5] [--threads N]``

Each pair of classes is a problem of its own, so small that calling costs more than solving. The labels that
both predict must be the same before a time counts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import sklearn.svm

import mercer
from benchmarks.stats import spread

SIZES = ((10, 500), (30, 600), (100, 1000), (300, 1200))


def timed(call: Callable) -> tuple[float, object]:
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=None)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    for classes, n in SIZES:
        y = np.arange(n) % classes
        X = 2 * rng.normal(size=(classes, 10))[y] + rng.normal(size=(n, 10))
        machines = {"mercer": mercer.SVC(n_jobs=options.threads), "scikit-learn": sklearn.svm.SVC()}
        machines["mercer"].fit(X, y).predict(X)  # compiled before any clock
        seconds: dict[str, list[list[float]]] = {name: [[], []] for name in machines}
        for _ in range(options.rounds):
            labels = []
            for name, machine in machines.items():
                fit, _ = timed(partial(machine.fit, X, y))
                predict, found = timed(partial(machine.predict, X))
                seconds[name][0].append(fit)
                seconds[name][1].append(predict)
                labels.append(found)
            if not np.array_equal(*labels):
                raise SystemExit(f"{classes} classes: the labels differ")
        for k, task in enumerate(("fit", "predict")):
            ours, theirs = (seconds[name][k] for name in machines)
            ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
            print(
                f"{classes:4} classes, {n} rows, {task:7}: mercer {np.median(ours):.3f} s, scikit-learn "
                f"{np.median(theirs):.3f} s, ratio {spread(ratios)}"
            )


if __name__ == "__main__":
    main()
