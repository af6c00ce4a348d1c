"""Kernel ridge regression: a grid of penalties against scikit-learn, and a matrix larger than memory.

``python -m benchmarks.ridge`` runs both. The grid: 50 penalties by exact leave-one-out, against
scikit-learn's GridSearchCV (5 folds) over the same ones, in turns in one process. The large problem: 50000
points, 20 features, Gaussian kernel, conjugate gradients until the residual is below 1e-3, in a process of
its own whose peak memory is shown; the target is to stay within ``cache_size``.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np
from sklearn.kernel_ridge import KernelRidge as Reference
from sklearn.model_selection import GridSearchCV

import mercer

GAMMA = 0.05


def data(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)


def clocked(work):
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def grid(n: int, repeats: int) -> None:
    X, y = data(n, 10)
    alphas = np.geomspace(1e-4, 1e2, 50)
    mercer.KernelRidge(kernel="rbf", gamma=GAMMA, alpha="loo", alphas=alphas).fit(X[:200], y[:200])
    ratios, ours, theirs = [], [], []
    for _ in range(repeats):
        model, wall, cpu = clocked(
            lambda: mercer.KernelRidge(kernel="rbf", gamma=GAMMA, alpha="loo", alphas=alphas).fit(X, y)
        )
        search, other_wall, other_cpu = clocked(
            lambda: GridSearchCV(Reference(kernel="rbf", gamma=GAMMA), {"alpha": alphas}, cv=5).fit(X, y)
        )
        ours.append((wall, cpu))
        theirs.append((other_wall, other_cpu))
        ratios.append((other_wall / wall, other_cpu / cpu))
    same = Reference(kernel="rbf", gamma=GAMMA, alpha=model.alpha_).fit(X, y)
    off = float(np.abs(same.predict(X[:500]) - model.predict(X[:500])).max())
    print(f"grid of 50 penalties, {n} points; medians of {repeats}, wall (cpu) seconds")
    print("  mercer, leave-one-out     {:8.2f} ({:.2f})".format(*np.median(ours, axis=0)))
    print("  scikit-learn, 5 folds     {:8.2f} ({:.2f})".format(*np.median(theirs, axis=0)))
    low, high = np.min(ratios, axis=0)[0], np.max(ratios, axis=0)[0]
    print("  times faster              {:8.1f} ({:.1f})".format(*np.median(ratios, axis=0)), end="")
    print(f", wall from {low:.1f} to {high:.1f}; target 20")
    print(
        f"  alpha {model.alpha_:.3g} against {search.best_params_['alpha']:.3g}; predictions at the same "
        f"alpha differ by {off:.1e}"
    )


def large(n: int, alpha: float, cache_size: float, tol: float) -> dict[str, float]:
    X, y = data(n, 20)
    X = X.astype(np.float32)
    mercer.KernelRidge(
        kernel="rbf", gamma=GAMMA, solver="cg", precision="single", cache_size=10, tol=1e-6
    ).fit(X[:1500], y[:1500])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model, wall, cpu = clocked(
        lambda: mercer.KernelRidge(
            kernel="rbf",
            gamma=GAMMA,
            alpha=alpha,
            solver="cg",
            cache_size=cache_size,
            tol=tol,
            random_state=0,
        ).fit(X, y)
    )
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    certificate = model.certificate_
    return {
        "wall": wall, "cpu": cpu, "mb": (after - before) / 1024, "steps": model.n_iter_,
        "relative_gap": certificate.relative_gap, "residual": float(np.sqrt(certificate.gap / (y @ y))),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--grid", type=int, default=3000, help="points of the grid; 0 to leave it out")
    parser.add_argument("--large", type=int, default=50000, help="points of the large problem; 0 likewise")
    parser.add_argument("--alpha", type=float, default=1.0, help="its penalty")
    parser.add_argument("--cache-size", type=float, default=2000, help="its memory, in MB")
    parser.add_argument("--tol", type=float, default=1e-6, help="its relative gap: the residual squared")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print(json.dumps(large(args.large, args.alpha, args.cache_size, args.tol)))
        return
    if args.grid:
        grid(args.grid, args.repeats)
    if args.large:
        command = [
            sys.executable, "-m", "benchmarks.ridge", "--child", "--large", str(args.large), "--alpha",
            str(args.alpha), "--cache-size", str(args.cache_size), "--tol", str(args.tol),
        ]  # fmt: skip
        run = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        matrix = 4e-6 * args.large**2
        print(f"{args.large} points, 20 features: K would take {matrix:.0f} MB in single precision")
        print(f"  {run['wall']:.1f} s wall, {run['cpu']:.1f} s cpu, {run['steps']} steps")
        print(
            f"  residual {run['residual']:.1e} of the outputs' length, relative gap {run['relative_gap']:.1e}"
        )
        print(f"  {run['mb']:.0f} MB more at the peak; cache_size is {args.cache_size:.0f}")


if __name__ == "__main__":
    main()
