"""Maximising the evidence of a Gaussian process against scikit-learn: seconds, and the evidence reached.

``python -m benchmarks.gaussian_process`` fits both in turns in one process, from the same start: amplitude,
width (one, or one for each feature) and noise of a Gaussian kernel on 2000 points.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor as Reference
from sklearn.gaussian_process.kernels import RBF as THEIR_RBF
from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel

import mercer
from mercer.kernels import RBF

WIDTH, NOISE = 1.5, 0.1


def data(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * X[:, 3] - 0.05 * X[:, 4] ** 2
    return X, y + 0.2 * rng.normal(size=n)


def ours(d: int, wide: bool):
    gamma = 0.5 / WIDTH**2
    return mercer.GaussianProcessRegressor(
        kernel=1.0 * RBF(gamma=np.full(d, gamma) if wide else gamma), noise=NOISE
    )


def theirs(d: int, wide: bool):
    width = np.full(d, WIDTH) if wide else WIDTH
    return Reference(kernel=ConstantKernel(1.0) * THEIR_RBF(width) + WhiteKernel(NOISE), alpha=1e-12)


def clocked(work):
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=2000, help="points")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    X, y = data(args.n, 5)
    for wide in (False, True):
        ours(5, wide).fit(X[:150], y[:150])  # compilation is not what is compared
        times: list[tuple[float, float, float, float]] = []
        for _ in range(args.repeats):
            model, wall, cpu = clocked(lambda wide=wide: ours(5, wide).fit(X, y))
            other, other_wall, other_cpu = clocked(lambda wide=wide: theirs(5, wide).fit(X, y))
            times.append((wall, cpu, other_wall, other_cpu))
        a, b, c, d = np.median(times, axis=0)
        ratios = [t[2] / t[0] for t in times]
        print(f"{args.n} points, {'a width for each feature' if wide else 'one width'}; wall (cpu) seconds")
        print(f"  mercer        {a:8.2f} ({b:.2f}), {model.n_iter_} evaluations")
        print(f"  scikit-learn  {c:8.2f} ({d:.2f})")
        print(
            f"  times faster  {np.median(ratios):8.2f} ({d / b:.2f}), from {min(ratios):.2f} to "
            f"{max(ratios):.2f}; target 2"
        )
        off = model.log_marginal_likelihood_value_ - other.log_marginal_likelihood_value_
        print(f"  log evidence  {model.log_marginal_likelihood_value_:.6f}, ours minus theirs {off:.1e}")


if __name__ == "__main__":
    main()
