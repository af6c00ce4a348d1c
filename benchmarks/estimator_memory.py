"""Peak memory of every estimator that takes `cache_size`, each in a process of its own.

    python -m benchmarks.estimator_memory                    20,000 points, cache_size=200
    python -m benchmarks.estimator_memory --n 8000 --cache-size 50 --only KernelCCA --only NuSVC

A fit may add `cache_size` + 1.5 times the data + 50 MB to what the process holds; the exit code is 1 if one
adds more. One that needs more refuses, and names `cache_size`. A fit that would take long is ended by its
`time_limit`: what it takes, it takes early.
"""

from __future__ import annotations

import argparse
import inspect
import json
import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_regressor

from benchmarks import memory

MB = 1e6
SLACK = 50.0  # MB: compiled code, threads, buffers of BLAS
WARMING = 2500  # points of the fit before: it compiles, loads, starts the threads
# What the defaults would make another problem of: matrices that no promise covers, or hours.
PARAMETERS: dict[str, dict[str, Any]] = {
    "KernelPCA": {"kernel": "rbf", "n_components": 3, "tol": 1e-4, "random_state": 0},
    "GaussianProcessRegressor": {"optimizer": None},
    "GaussianProcessClassifier": {"optimizer": None},
    "SVCSearch": {"param_grid": {"C": [1.0, 10.0]}, "cv": 2},
    "SVRSearch": {"param_grid": {"C": [1.0, 10.0]}, "cv": 2},
    "DetectorSearch": {"param_grid": {"gamma": [0.01, 0.1]}},
}


def estimators() -> dict[str, type]:
    """Return the public estimators that take `cache_size`, by name."""
    import mercer

    found = {name: getattr(mercer, name) for name in mercer.__all__}
    return {
        name: cls
        for name, cls in found.items()
        if inspect.isclass(cls)
        and issubclass(cls, BaseEstimator)
        and "cache_size" in inspect.signature(cls.__init__).parameters
    }


def data(model: BaseEstimator, n: int, d: int = 20) -> list[np.ndarray]:
    """Return points of three overlapping classes, and a target where the estimator takes one."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, d)) + 0.4 * rng.normal(size=(3, d))[y]
    if is_regressor(model):
        return [X, np.sin(X[:, 0]) + 0.3 * rng.normal(size=n)]
    if type(model).__name__ == "KernelCCA":
        return [X, X[:, :10] ** 2]
    return [X, y] if is_classifier(model) or type(model).__name__ == "KernelFisherDiscriminant" else [X]


def measure(name: str, n: int, cache_size: float, seconds: float) -> dict[str, float | str | int]:
    """Fit in this process, and return what was added at the peak, in MB, and what may be."""
    cls = estimators()[name]
    model = cls(cache_size=cache_size, **PARAMETERS.get(name, {}))
    if "time_limit" in inspect.signature(cls.__init__).parameters:
        model.set_params(time_limit=seconds)
    given = data(model, n)
    warnings.simplefilter("ignore")  # of limits
    model.fit(*[part[:WARMING] for part in given])
    memory.settle()
    before = memory.resident()
    if not memory.reset_peak():
        raise SystemExit("the kernel's high-water mark cannot be reset here")
    start = time.perf_counter()
    try:
        model.fit(*given)
        status = getattr(getattr(model, "certificate_", None), "status", "")
    except ValueError as refusal:
        if "cache_size" not in str(refusal):
            raise
        status = "refused"
    taken = time.perf_counter() - start
    size = sum(part.nbytes for part in given if part.ndim == 2)
    return {
        "name": name, "n": n, "added": (memory.peak() - before) / MB, "seconds": taken,
        "allowed": cache_size + 1.5 * size / MB + SLACK,
        "status": status,
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--cache-size", type=float, default=200.0)
    parser.add_argument("--seconds", type=float, default=60.0, help="the fits' time_limit")
    parser.add_argument("--only", action="append", help="estimators, by name")
    parser.add_argument("--here", action="store_true", help="measure in this process, and print JSON")
    options = parser.parse_args()
    names = options.only or list(estimators())
    if options.here:
        print(json.dumps(measure(names[0], options.n, options.cache_size, options.seconds)))
        return 0
    above = 0
    for name in names:
        child = [
            sys.executable, "-m", "benchmarks.estimator_memory", "--here", "--only", name,
            "--n", str(options.n), "--cache-size", str(options.cache_size), "--seconds", str(options.seconds),
        ]  # fmt: skip
        done = subprocess.run(child, check=False, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            print(f"{name:28} failed", flush=True)
            above = 1
            continue
        found = json.loads(done.stdout)
        within = found["added"] <= found["allowed"]
        above |= not within
        print(
            f"{name:28} n={found['n']}  added {found['added']:6.0f} MB of {found['allowed']:.0f} allowed  "
            f"{found['seconds']:6.1f} s  {found['status']}{'' if within else '  ABOVE'}",
            flush=True,
        )
    return int(above)


if __name__ == "__main__":
    sys.exit(main())
