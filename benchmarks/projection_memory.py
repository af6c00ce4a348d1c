"""Peak memory of the projections, each in a process of its own, beside what `cache_size` promises.

    python -m benchmarks.projection_memory                    20,000 points, cache_size=200
    python -m benchmarks.projection_memory --n 8000 --cache-size 50 --only KernelCCA

A fit may add `cache_size` + 1.5 times the data + 50 MB to what the process holds; the exit code is 1 if one
adds more.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time

import numpy as np

from benchmarks import memory

MB = 1e6
SLACK = 50.0  # MB: compiled code, threads, buffers of BLAS
PARAMETERS = {
    "KernelPCA": {"kernel": "rbf", "n_components": 3, "tol": 1e-4, "random_state": 0},
    "KernelFisherDiscriminant": {},
    "KernelCCA": {},
}


def points(n: int, d: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Return points of three overlapping classes, and their classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, d)) + 0.4 * rng.normal(size=(3, d))[y], y


def measure(name: str, n: int, cache_size: float) -> dict[str, float | str | int]:
    """Fit in this process, and return what was added at the peak, in MB, and what may be."""
    import mercer

    X, y = points(n)
    target = X[:, :10] ** 2 if name == "KernelCCA" else y
    model = getattr(mercer, name)(cache_size=cache_size, **PARAMETERS[name])
    model.fit(X[:2500], target[:2500])  # compile, load, start the threads
    memory.settle()
    before = memory.resident()
    if not memory.reset_peak():
        raise SystemExit("the kernel's high-water mark cannot be reset here")
    start = time.perf_counter()
    model.fit(X, target)
    seconds = time.perf_counter() - start
    data = X.nbytes + (target.nbytes if name == "KernelCCA" else 0)
    return {
        "name": name, "n": n, "added": (memory.peak() - before) / MB, "seconds": seconds,
        "allowed": cache_size + 1.5 * data / MB + SLACK,
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--cache-size", type=float, default=200.0)
    parser.add_argument("--only", choices=PARAMETERS)
    parser.add_argument("--here", action="store_true", help="measure in this process, and print JSON")
    options = parser.parse_args()
    names = [options.only] if options.only else list(PARAMETERS)
    if options.here:
        print(json.dumps(measure(names[0], options.n, options.cache_size)))
        return 0
    worst = 0
    for name in names:
        size = ["--n", str(options.n), "--cache-size", str(options.cache_size)]
        child = [sys.executable, "-m", "benchmarks.projection_memory", "--here", "--only", name, *size]
        found = json.loads(subprocess.run(child, check=True, stdout=subprocess.PIPE, text=True).stdout)
        within = found["added"] <= found["allowed"]
        worst |= not within
        print(
            f"{name:26} n={found['n']}  added {found['added']:6.0f} MB of {found['allowed']:.0f} allowed  "
            f"{found['seconds']:6.1f} s{'' if within else '  ABOVE'}"
        )
    return int(worst)


if __name__ == "__main__":
    sys.exit(main())
