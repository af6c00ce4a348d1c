"""One row in and one out: exact updates beside fresh and warm-started fits, and exact leave-one-out.

``python -m benchmarks.updates`` swaps rows of models of 500 to 10000 rows (one `partial_fit`, one `forget`)
in turns with fits from nothing and warm-started fits, checks that objectives agree to 1e-8, and prints how
many times cheaper a swap is. ``--figure FILE`` draws it. ``--left-out`` times exact leave-one-out at 1000
rows beside as many warm-started fits, of which it makes a sample.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.stats import spread
from mercer import SVC
from mercer.gram.base import MatrixGram
from mercer.problems import soft_margin
from mercer.selection import leave_one_out
from mercer.solvers import Decomposition

SIZES = (500, 1000, 2000, 5000, 10000)
NOISE = {"apart": 0.3, "overlapping": 2.0}  # how far labels lie from where the features put them


def data(n: int, kind: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows of 10 features whose class depends on two of them, smoothly."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 10))
    score = X[:, 0] + 0.3 * X[:, 1] ** 2 - 0.3 + NOISE[kind] * rng.normal(size=n)
    return X, (score > 0).astype(int)


def clocked(work: Callable[..., Any], *arguments: Any) -> float:
    """Return the seconds that a call takes."""
    started = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - started


def swaps(n: int, kind: str, rounds: int) -> dict[str, Any]:
    """Time swaps, fresh fits and warm-started fits in turns."""
    X, y = data(n + rounds + 1, kind)
    rng = np.random.default_rng(1)
    machine = {"C": 1.0, "gamma": 0.02}
    model = SVC(**machine, updatable=True).fit(X[:n], y[:n])
    model.partial_fit(X[n : n + 1], y[n : n + 1]).forget(0)  # settles the optimum
    warm = SVC(**machine, warm_start=True).fit(model.X_fit_, model.y_fit_)
    held, labels = model.X_fit_.copy(), model.y_fit_.copy()
    taken: dict[str, list[float]] = {name: [] for name in ("in", "out", "swap", "fresh", "exact", "warm")}
    for k in range(rounds):
        new, label = X[n + 1 + k : n + 2 + k], y[n + 1 + k : n + 2 + k]
        out = int(rng.integers(n))
        taken["in"].append(clocked(model.partial_fit, new, label))
        taken["out"].append(clocked(model.forget, out))
        taken["swap"].append(taken["in"][-1] + taken["out"][-1])
        if k % max(1, rounds // 5) == 0:
            rows, targets = model.X_fit_, model.y_fit_
            taken["fresh"].append(clocked(SVC(**machine).fit, rows, targets))
            exact = SVC(**machine, tol=1e-9, precision="double")
            taken["exact"].append(clocked(exact.fit, rows, targets))
            off = abs(exact.certificate_.dual - model.certificate_.dual) / exact.certificate_.dual
            assert off < 1e-8, f"objectives differ by {off:.1e}"
            held[out], labels[out] = new[0], label[0]  # in place: a warm start wants as many rows
            taken["warm"].append(clocked(warm.fit, held, labels))
    free = sum(state.optimum.block.size for state in model._live.states.values())
    return {"taken": taken, "free": free, "support": model.support_.size}


def left_out(n: int, kind: str, sample: int) -> None:
    """Time exact leave-one-out beside warm-started fits without one row."""
    X, y = data(n, kind)
    model = SVC(C=1.0, gamma=0.02).fit(X, y)
    leave_one_out(SVC(C=1.0, gamma=0.02).fit(X[:100], y[:100]), X[:100], y[:100], method="exact")  # compiles
    K = model.kernel_(X)
    sign = np.where(y == 1, 1.0, -1.0)
    whole = Decomposition(tol=1e-9).solve(MatrixGram(K, True), soft_margin(sign, np.ones(n)))
    exact = clocked(lambda: leave_one_out(model, X, y, method="exact"))
    bounds = clocked(lambda: leave_one_out(model, X, y))
    support = np.flatnonzero(whole.b)
    chosen = np.random.default_rng(0).choice(support, min(sample, support.size), replace=False)
    for tol in (1e-3, 1e-9):
        seconds = []
        for i in chosen:
            others = np.delete(np.arange(n), i)

            def refit(others: np.ndarray = others, tol: float = tol) -> None:
                part = MatrixGram(np.ascontiguousarray(K[np.ix_(others, others)]), True)
                problem = soft_margin(sign[others], np.ones(n - 1))
                Decomposition(tol=tol).solve(part, problem, problem.nearest(whole.b[others]))

            seconds.append(clocked(refit))
        all_fits = float(np.mean(seconds)) * support.size
        print(
            f"leave-one-out, {kind}, n = {n}, {support.size} support vectors: exact {exact - bounds:.3f} s, "
            f"as many warm-started fits to tol={tol:g} {all_fits:.2f} s: {all_fits / (exact - bounds):.1f} "
            "times cheaper; target 10"
        )


def figure(path: Path, found: dict[tuple[str, int], dict[str, Any]]) -> None:
    """Draw the seconds of a swap and of fits by the number of rows."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    kinds = list(dict.fromkeys(kind for kind, _ in found))
    names = {"fresh": "fit", "exact": "fit to tol=1e-9", "warm": "warm-started fit", "swap": "in and out"}
    size = (4.2 * len(kinds), 3.4)
    panels, axes = plt.subplots(1, len(kinds), figsize=size, sharey=True, layout="constrained")
    for axis, kind in zip(np.atleast_1d(axes), kinds, strict=True):
        sizes = [n for k, n in found if k == kind]
        for name, words in names.items():
            middle = [1e3 * float(np.median(found[kind, n]["taken"][name])) for n in sizes]
            axis.loglog(sizes, middle, marker="o", label=words)
        axis.set(title=f"classes {kind}", xlabel="rows")
        axis.grid(alpha=0.3)
    np.atleast_1d(axes)[0].set_ylabel("milliseconds")
    np.atleast_1d(axes)[0].legend(frameon=False, fontsize="small")
    panels.savefig(path, dpi=150)


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--kinds", nargs="+", choices=NOISE, default=list(NOISE))
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--left-out", action="store_true")
    given = parser.parse_args()
    if given.left_out:
        for kind in given.kinds:
            left_out(1000, kind, 30)
        return
    swaps(200, given.kinds[0], 4)  # compiles
    found = {(kind, n): swaps(n, kind, given.rounds) for kind in given.kinds for n in given.sizes}
    print("milliseconds, median (least to most); times: how many swaps one fit costs")
    for (kind, n), result in found.items():
        taken = result["taken"]
        swap = float(np.median(taken["swap"]))
        print(f"{kind}, n = {n}: {result['support']} support vectors, {result['free']} free")
        for name in ("in", "out", "swap", "fresh", "exact", "warm"):
            values = [1e3 * t for t in taken[name]]
            times = "" if name in ("in", "out", "swap") else f"  {np.median(taken[name]) / swap:6.1f} times"
            print(f"  {name:<6} {spread(values)!s:>28}  mean {np.mean(values):8.2f}{times}")
    if given.figure is not None:
        figure(given.figure, found)


if __name__ == "__main__":
    main()
