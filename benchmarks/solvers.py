"""All solvers on the same problems: processor time, steps, kernel values, distance from the optimum.

    python -m benchmarks.solvers                   the problems of docs/solvers.md
    python -m benchmarks.solvers -n 500 2000       other sizes

The solvers take turns in one process; processor time is what a loaded machine leaves comparable. Each is
compiled before its first clock starts. The optimum is that of the interior-point method, proved by its gap.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, SVR
from mercer.solvers import UnsuitableSolverError

SOLVERS = ("decomposition", "smo", "chunking", "ascent", "interior_point", "lagrangian", "subgradient")


def data(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y = make_classification(n, 10, n_informative=6, flip_y=0.05, class_sep=0.8, random_state=0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    target = np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.1 * np.random.default_rng(0).normal(size=n)
    return X, y, target


def problems() -> dict[str, tuple[object, bool]]:
    """Return machines, and whether they learn the numeric target."""
    return {
        "SVC, rbf, C=1": (SVC(), False),
        "SVC, rbf, C=100": (SVC(C=100.0), False),
        "SVC, linear, C=1": (SVC(kernel="linear"), False),
        "SVR, rbf, C=1": (SVR(), True),
    }


def once(model: object, X: np.ndarray, y: np.ndarray) -> tuple[float, object]:
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    return time.process_time() - started, model


def run(name: str, machine: object, X: np.ndarray, y: np.ndarray, tol: float, repeats: int) -> None:
    options = {"tol": tol, "n_jobs": 1, "cache_size": max(200, 9 * 8 * len(X) ** 2 / 1e6), "time_limit": 30}
    few = slice(
        0, 1200 if len(X) > 1024 else 200
    )  # single precision, which has loops of its own, from 1024 on
    fits: dict[str, list[tuple[float, object]]] = {}
    for solver in SOLVERS:
        try:
            once(machine.set_params(solver=solver, **options), X[few], y[few])
            fits[solver] = []
        except UnsuitableSolverError:
            continue
    for _ in range(repeats):
        for solver in fits:
            model = type(machine)(**machine.get_params()).set_params(solver=solver, **options)
            fits[solver].append(once(model, X, y))
    best = fits["interior_point"][0][1].certificate_.dual
    print(f"\n{name}, {len(X)} points, tol={tol:g}, medians of {repeats}")
    print(f"{'':16}{'cpu s':>9}{'spread':>16}{'steps':>10}{'rel. gap':>10}{'from optimum':>14}  status")
    for solver, results in fits.items():
        seconds = [t for t, _ in results]
        certificate = results[0][1].certificate_
        off = (best - certificate.dual) / abs(best)
        spread = f"{min(seconds):.3f}-{max(seconds):.3f}"
        print(
            f"{solver:16}{np.median(seconds):9.3f}{spread:>16}{certificate.n_iter:10d}"
            f"{certificate.relative_gap:10.1e}{off:14.1e}  {certificate.status}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, nargs="+", default=[500, 2000], help="points")
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    for n in args.n:
        X, y, target = data(n)
        for name, (machine, numeric) in problems().items():
            run(name, machine, X, target if numeric else y, args.tol, args.repeats)
    print(
        "\nascent solves another problem (its bias is penalised through an extra coordinate tau = R), so its "
        "dual need not be that of the others; lagrangian and subgradient stop at a gap of 1e-2."
    )


if __name__ == "__main__":
    main()
