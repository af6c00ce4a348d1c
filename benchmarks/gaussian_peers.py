"""Gaussian processes and kernel ridge regression against scikit-learn: seconds and peak memory of a fit.

``python -m benchmarks.gaussian_peers`` fits both libraries' classes of one name, with scikit-learn's own
kernels and parameters, in processes that take turns. Each has fitted a small sample before its clock starts;
memory is the high-water mark above what the process held then. At 10000 points parameters stay as they are.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np

SAMPLE = 200
TASKS = ("process", "classifier", "ridge")
MEGABYTE = 1024 if sys.platform != "darwin" else 1 << 20


def data(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * X[:, 3] - 0.05 * X[:, 4] ** 2
    return X, y + 0.2 * rng.normal(size=n)


def model(library: str, task: str, n: int) -> Any:
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    if library == "mercer":
        import mercer as home
    elif task == "ridge":
        from sklearn import kernel_ridge as home
    else:
        from sklearn import gaussian_process as home
    optimizer = "fmin_l_bfgs_b" if n < 10000 else None
    if task == "process":
        kernel = ConstantKernel(1.0) * RBF(1.5) + WhiteKernel(0.1)
        return home.GaussianProcessRegressor(kernel, optimizer=optimizer)
    if task == "classifier":
        return home.GaussianProcessClassifier(ConstantKernel(1.0) * RBF(1.5), optimizer=optimizer)
    return home.KernelRidge(alpha=0.1, kernel="rbf", gamma=0.2)


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MEGABYTE


def one(library: str, task: str, n: int) -> dict[str, float]:
    """Fit once, and say what it took and what came out."""
    warnings.simplefilter("ignore")
    X, y = data(n)
    target = y > 0 if task == "classifier" else y
    model(library, task, n).fit(X[:SAMPLE], target[:SAMPLE])
    before, wall, cpu = peak(), time.perf_counter(), time.process_time()
    found = model(library, task, n).fit(X, target)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    result = (
        float(np.abs(found.dual_coef_).sum()) if task == "ridge" else found.log_marginal_likelihood_value_
    )
    return {"wall": wall, "cpu": cpu, "memory": peak() - before, "result": float(result)}


def measured(library: str, task: str, n: int) -> dict[str, float]:
    """Fit once in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.gaussian_peers", "--one", library, task, str(n)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 2000, 10000])
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=["process", "ridge"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one", nargs=3, metavar=("LIBRARY", "TASK", "N"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(one(args.one[0], args.one[1], int(args.one[2]))))
        return
    print(
        "| fit | points | mercer s | scikit-learn s | times faster | mercer MB | scikit-learn MB | results |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for task in args.tasks:
        for n in args.sizes:
            rounds = []
            for k in range(args.rounds):  # who begins changes from round to round
                order = ("mercer", "sklearn") if k % 2 == 0 else ("sklearn", "mercer")
                rounds.append({library: measured(library, task, n) for library in order})
            ours, theirs = (
                {key: float(np.median([r[lib][key] for r in rounds])) for key in rounds[0][lib]}
                for lib in ("mercer", "sklearn")
            )
            faster = float(np.median([r["sklearn"]["wall"] / r["mercer"]["wall"] for r in rounds]))
            off = abs(ours["result"] - theirs["result"]) / max(abs(theirs["result"]), 1e-300)
            print(
                f"| {task} | {n} | {ours['wall']:.2f} | {theirs['wall']:.2f} | {faster:.1f} | "
                f"{ours['memory']:.0f} | {theirs['memory']:.0f} | differ by {off:.0e} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
