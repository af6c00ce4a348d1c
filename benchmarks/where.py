"""Where the time of a fit goes, set by set, and how far it is from what the machine can do.

``python -m benchmarks.where --data FOLDER``: one thread, warm, seconds by activity. A clock is stopped
while an activity calls another, so the columns add up. The machine's limits (matrix product, exponential,
copy) are measured in the same process just before.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import threadpoolctl

import mercer
from benchmarks.sets import FIT, SVR, load
from mercer.gram.vectors import VectorGram
from mercer.solvers.dual import decomposition
from mercer.solvers.dual.dense_block import DenseBlock

ACTIVITIES = ("gradient", "block", "inner loop", "selection", "check in float64", "rest")


class Clock:
    """Seconds by activity; an activity inside another counts for itself only."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.values = 0
        self.stack: list[str] = ["rest"]
        self.since = time.perf_counter()

    def switch(self) -> None:
        """Give the time since the last call to the present activity."""
        now = time.perf_counter()
        self.seconds[self.stack[-1]] += now - self.since
        self.since = now

    def timed(self, activity: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with its time given to the activity."""

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            self.switch()
            self.stack.append(activity)
            if activity in ("gradient", "block") and len(args) > 1:
                self.values += _kernel_values(function.__name__, *args)
            try:
                return function(*args, **kwargs)
            finally:
                self.switch()
                self.stack.pop()

        return wrapper


def _kernel_values(name: str, gram: Any, idx: Any, *rest: Any) -> int:
    """Return how many kernel values a call asks for (of a symmetric block, half may be mirrored)."""
    if name == "block":
        return int(idx.size * rest[0].size)
    return int(idx.size * gram.n) if name == "add_product" else 0


@contextmanager
def watched(clock: Clock) -> Iterator[None]:
    places = (
        (VectorGram, "add_product", "gradient"),
        (VectorGram, "matvec", "gradient"),
        (VectorGram, "block", "block"),
        (VectorGram, "subset", "block"),
        (DenseBlock, "run", "inner loop"),
        (decomposition._Run, "_working_set", "selection"),
        (decomposition._Run, "_refresh", "check in float64"),
    )
    patches = [patch.object(o, name, clock.timed(what, getattr(o, name))) for o, name, what in places]
    for p in patches:
        p.start()
    try:
        yield
    finally:
        for p in patches:
            p.stop()


def profile(entry: Any, folder: Path) -> tuple[dict[str, float], float, int]:
    """Return seconds by activity, the whole, and the number of kernel values, of a warm fit on one thread."""
    problem = load(entry.name, folder)
    machine = mercer.SVC if entry.epsilon is None else mercer.SVR
    options = {} if entry.epsilon is None else {"epsilon": entry.epsilon}
    model = machine(C=problem.C, gamma=problem.gamma, cache_size=1000, n_jobs=1, **options)
    few = np.random.default_rng(0).permutation(problem.X.shape[0])[:4500]
    model.fit(problem.X[few], problem.y[few])
    clock = Clock()
    with watched(clock):
        start = time.perf_counter()
        clock.since = start
        model.fit(problem.X, problem.y)
        clock.switch()
        whole = time.perf_counter() - start
    return clock.seconds, whole, clock.values


def limits() -> dict[str, float]:
    """Return what one core can do: float32 products per second, exponentials per second, bytes copied."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(1500, 1500)).astype(np.float32)
    x = -rng.random(1 << 14).astype(np.float32)
    big = np.zeros(1 << 25)

    def best(work: Callable[[], Any], repeats: int) -> float:
        times = []
        for _ in range(5):
            start = time.perf_counter()
            for _ in range(repeats):
                work()
            times.append((time.perf_counter() - start) / repeats)
        return min(times)

    out = np.empty_like(big)
    return {
        "GFLOP/s (matrix product, float32)": 2 * 1500**3 / best(lambda: A @ A, 1) / 1e9,
        "exponentials, 1e9/s (NumPy, float32)": x.size / best(lambda: np.exp(x), 200) / 1e9,
        "GB/s copied": 2 * big.nbytes / best(lambda: np.copyto(out, big), 1) / 1e9,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=[e.name for e in (*FIT, *SVR)])
    args = parser.parse_args()
    with threadpoolctl.threadpool_limits(1):
        for name, value in limits().items():
            print(f"{value:8.2f} {name}")
        print("\n| set | seconds | " + " | ".join(ACTIVITIES) + " | ns per kernel value | GFLOP/s |")
        print("|---|---:|" + "---:|" * (len(ACTIVITIES) + 2))
        for entry in (e for e in (*FIT, *SVR) if e.name in args.sets):
            seconds, whole, values = profile(entry, args.data)
            features = load(entry.name, args.data).X.shape[1]
            kernel = seconds["gradient"] + seconds["block"]
            shares = " | ".join(f"{seconds[a] / whole:.0%}" for a in ACTIVITIES)
            speed = f"{kernel / max(values, 1) * 1e9:.2f} | {2e-9 * features * values / kernel:.1f}"
            print(f"| {entry.name} | {whole:.2f} | {shares} | {speed} |", flush=True)


if __name__ == "__main__":
    main()
