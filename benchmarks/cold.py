"""Cold start: importing, and the first fit of a process with and without compiled code on disk.

Every number comes from a process of its own.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from benchmarks.workers import environment

IMPORTS = {
    "import mercer": "import mercer",
    "from mercer import SVC": "from mercer import SVC",
    "import sklearn.svm": "import sklearn.svm",
}
CLOCK = "import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
# The data is made, and the class imported, before the clock of the first fit starts.
FIRST_FIT = """
import json, sys, time
import numpy as np
import scipy.sparse as sp
kind = sys.argv[1]
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 20))
score = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=2000)
y = np.digitize(score, [-0.7, 0.7]) if kind == "three classes" else score if kind == "svr" else score > 0
if kind == "sparse":
    X = sp.random(2000, 200, density=0.05, format="csr", random_state=0)
t0 = time.perf_counter()
import mercer
Machine = mercer.SVR if kind == "svr" else mercer.SVC
t1 = time.perf_counter()
Machine(gamma=0.05).fit(X, y)
t2 = time.perf_counter()
warm = []
for _ in range(5):
    t = time.perf_counter()
    Machine(gamma=0.05).fit(X, y)
    warm.append(time.perf_counter() - t)
print(json.dumps({"import": t1 - t0, "first": t2 - t1, "warm": sorted(warm)[2]}))
"""
KINDS = ("dense", "three classes", "sparse", "svr")


def _child(code: str, threads: int, *arguments: str, **more: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment(threads, **more),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(
            done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "the child failed"
        )
    return done.stdout.strip().splitlines()[-1]


def imports(times: int, threads: int, say: Callable[[str], None]) -> dict[str, list[float]]:
    """Return the seconds that each import takes, in turns; the first turn only fills file caches."""
    out: dict[str, list[float]] = {name: [] for name in IMPORTS}
    for turn in range(times + 1):
        for name, statement in IMPORTS.items():
            seconds = float(_child(CLOCK.format(statement=statement), threads))
            if turn:
                out[name].append(seconds)
    for name, values in out.items():
        say(f"  {name}: {statistics.median(values):.3f} s")
    return out


def first_fits(times: int, threads: int, say: Callable[[str], None]) -> dict[str, dict[str, Any]]:
    """Return, per kind of problem, what the first fit costs without and with compiled code on disk."""
    out: dict[str, dict[str, Any]] = {}
    for kind in KINDS:
        runs: dict[str, Any] = {"empty": [], "cached": [], "error": None}
        try:
            for _ in range(times):
                with tempfile.TemporaryDirectory(prefix="compiled-") as folder:
                    for state in ("empty", "cached"):  # the first run fills the folder for the second
                        found = _child(FIRST_FIT, threads, kind, NUMBA_CACHE_DIR=folder)
                        runs[state].append(json.loads(found))
        except RuntimeError as error:
            runs["error"] = str(error)
        for state in ("empty", "cached"):
            if runs[state]:
                over = statistics.median(r["first"] - r["warm"] for r in runs[state])
                runs[f"{state}_over_warm"] = over
                runs[f"{state}_with_import"] = statistics.median(
                    r["import"] + r["first"] - r["warm"] for r in runs[state]
                )
        out[kind] = runs
        say(
            f"  first fit, {kind}: "
            + (
                runs["error"]
                or f"{runs['cached_over_warm']:.2f} s over a warm fit with compiled code on disk, "
                f"{runs['empty_over_warm']:.2f} s without"
            )
        )
    return out


def run(times: int, threads: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Return all measurements of cold start."""
    say("cold start")
    return {
        "imports": imports(max(times, 5), threads, say),
        "first_fits": first_fits(times, threads, say),
    }
