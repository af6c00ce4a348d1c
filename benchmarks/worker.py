"""The process of one library: imports it once, then does what it is told over a pipe, one job at a time.

Started as ``python -m benchmarks.worker NAME FILE_DESCRIPTOR THREADS``.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import memory
from benchmarks.peers import LIBRARIES
from benchmarks.problem import Problem, Settings

PREDICTED_ROWS = 2000  # enough for the loops that large predictions take
WARM_UP_ROWS = 2000
MOST_REPEATS = 100


class Worker:
    """The jobs. Each returns something that can be pickled."""

    def __init__(self, name: str) -> None:
        self.library = LIBRARIES[name]()
        self.problem: Problem | None = None
        self.data: Any = None
        self.model: Any = None
        self.base = 0

    def start(self, touch_gb: float) -> dict[str, Any]:
        """Import the library and touch memory."""
        began = time.perf_counter()
        self.library.start()
        seconds = time.perf_counter() - began
        return {
            "version": self.library.version(), "import_seconds": seconds,
            "touched_gb": memory.touch(touch_gb) if touch_gb > 0 else 0.0, "exact_peak": memory.reset_peak(),
        }  # fmt: skip

    def load(self, path: Path, settings: Settings) -> dict[str, Any]:
        """Load a problem and warm up: on a sample, and on the whole for a library that compiles on first use.

        Memory is counted from here: data loaded and the sample fitted. What a whole fit keeps counts as used.
        """
        self.problem = self.data = self.model = None
        memory.settle()
        problem = Problem.load(path)
        small = problem.take(problem.sample(WARM_UP_ROWS))
        warm = self.library.prepare(small)
        self.library.predict(
            self.library.fit(warm, small, settings), self.library.prepare_rows(small.X[:100])
        )
        del warm, small
        self.problem, self.data = problem, self.library.prepare(problem)
        memory.settle()
        self.base = memory.resident()
        if self.library.compiles:  # predictions have loops of their own
            model = self.library.fit(self.data, problem, settings)
            self.library.predict(model, self.library.prepare_rows(problem.X[:PREDICTED_ROWS]))
        return {"base_bytes": self.base}

    def fit(self, settings: Settings, repeat_seconds: float) -> dict[str, Any]:
        """Fit, again and again until ``repeat_seconds`` are spent; return times, model and peak memory."""
        assert self.problem is not None
        self.model = None
        memory.settle()
        exact = memory.reset_peak()
        times = self._repeat(self._fit_once, settings, repeat_seconds)
        return {
            "seconds": statistics.median(times), "all_seconds": times,
            "peak_bytes": memory.peak() - self.base if exact else None, "base_bytes": self.base,
            "fitted": self.library.export(self.model, self.problem),
        }  # fmt: skip

    def _fit_once(self, settings: Settings) -> None:
        self.model = self.library.fit(self.data, self.problem, settings)

    def predict(self, rows: int, repeat_seconds: float) -> dict[str, Any]:
        """Predict so many rows of the training data, drawn with replacement by one seed for all libraries."""
        assert self.problem is not None
        drawn = np.random.default_rng(5).integers(0, self.problem.n, rows)
        data = self.library.prepare_rows(self.problem.X[drawn])
        result: list[np.ndarray] = []

        def once(_: None) -> None:
            result[:] = [self.library.predict(self.model, data)]

        times = self._repeat(once, None, repeat_seconds)
        return {"seconds": statistics.median(times), "all_seconds": times, "values": result[0]}

    def _repeat(self, work: Callable[[Any], None], argument: Any, seconds: float) -> list[float]:
        times: list[float] = []
        while not times or (sum(times) < seconds and len(times) < MOST_REPEATS):
            began = time.perf_counter()
            work(argument)
            times.append(time.perf_counter() - began)
        return times


def main() -> None:
    name, descriptor, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    if hasattr(os, "sched_setaffinity"):  # the one limit that every thread pool respects
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    pipe = Connection(descriptor)
    worker = Worker(name)
    while True:
        try:
            job, arguments = pipe.recv()
        except EOFError:
            return
        try:
            answer = ("done", getattr(worker, job)(**arguments))
        except Exception as error:  # noqa: BLE001  (any failure of a library is a result: it is sent and shown)
            traceback.print_exc()
            answer = ("failed", f"{type(error).__name__}: {error}")
        pipe.send(answer)


if __name__ == "__main__":
    main()
