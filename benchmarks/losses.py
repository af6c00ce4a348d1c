"""Kernel logistic regression on 5000 points: seconds, and agreement with scikit-learn on explicit features.

``python -m benchmarks.losses`` fits a Gaussian kernel to two and to three classes, at C = 1 and C = 100, to a
relative gap of 1e-6. The peer is what one can do with scikit-learn: the Cholesky factor of the kernel matrix
as features for LogisticRegression (L-BFGS), on fewer points, in turns in one process; the objectives must
agree. Medians with their spread.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy.linalg import cholesky
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

import mercer
from mercer.kernels import RBF

GAMMA = 0.05


def data(n: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(n, 20, n_informative=10, n_classes=classes, random_state=0)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def clocked(work):
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def ours(X, y, C):
    return mercer.KernelLogisticRegression(kernel="rbf", gamma=GAMMA, C=C).fit(X, y)


def theirs(X, y, C):
    """Fit scikit-learn's model; return its objective."""
    K = RBF(gamma=GAMMA)(X)
    L = cholesky(K + 1e-10 * np.eye(len(y)), lower=True)
    model = LogisticRegression(C=C, tol=1e-6, max_iter=10_000).fit(L, y)
    deviance = -model.predict_log_proba(L)[np.arange(len(y)), y].sum()
    return 0.5 * float((model.coef_**2).sum()) + C * float(deviance)


def spread(seconds: list[float]) -> str:
    return f"{np.median(seconds):8.2f} ({min(seconds):.2f} to {max(seconds):.2f})"


def alone(n: int, repeats: int) -> None:
    print(f"{n} points, 20 features, relative gap 1e-6; wall seconds, median (least to most) of {repeats}")
    for classes in (2, 3):
        X, y = data(n, classes)
        for C in (1.0, 100.0):
            walls, cpus = [], []
            for _ in range(repeats):
                model, wall, cpu = clocked(lambda: ours(X, y, C))  # noqa: B023
                walls.append(wall)
                cpus.append(cpu)
            gap = model.certificate_.relative_gap
            assert gap <= 1e-6
            steps = int(np.sum(model.n_iter_))
            print(
                f"  {classes} classes, C = {C:5g}: {spread(walls)}, cpu {np.median(cpus):.2f}; "
                f"{steps} Newton steps, gap {gap:.0e}"
            )


def against(n: int, repeats: int) -> None:
    print(f"{n} points against scikit-learn's L-BFGS on the Cholesky factor; wall seconds")
    for classes in (2, 3):
        X, y = data(n, classes)
        for C in (1.0, 100.0):
            mine, other, ratios = [], [], []
            for _ in range(repeats):
                model, wall, _ = clocked(lambda: ours(X, y, C))  # noqa: B023
                value, their_wall, _ = clocked(lambda: theirs(X, y, C))  # noqa: B023
                mine.append(wall)
                other.append(their_wall)
                ratios.append(their_wall / wall)
            off = abs(value - model.certificate_.primal) / value
            assert off < 1e-4, f"objectives differ by {off:.1e}"
            print(
                f"  {classes} classes, C = {C:5g}: mercer {spread(mine)}, scikit-learn {spread(other)}, "
                f"{np.median(ratios):.1f} times faster ({min(ratios):.1f} to {max(ratios):.1f}); objectives "
                f"agree to {off:.0e}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=5000, help="points of the fits alone")
    parser.add_argument("-m", type=int, default=2000, help="points of the comparison")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    ours(*data(300, 2), 1.0)  # what is compiled or loaded on first use is paid for before the clock starts
    alone(args.n, args.repeats)
    against(args.m, args.repeats)


if __name__ == "__main__":
    main()
