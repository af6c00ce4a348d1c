"""The whole path against single fits at the same tolerance: ``python -m benchmarks.path``.

For each kind of data the path and a set of single fits, spread over the same range of C, take turns in one
process; what is compiled is compiled before the first clock starts. Both are checked: the largest KKT
violation of the path at 200 values of C, and the difference of the objectives at those of the fits. Processor
time is what a loaded machine leaves comparable.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import mercer

TOL = 1e-8
CS = np.geomspace(1e-2, 1e3, 11)  # values of C of the single fits


def data(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 0.3 * rng.normal(size=n) > 0.3, 1, 0)
    return X, y


def clocked(work) -> tuple[float, object]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def one_round(n: int, seed: int, kernel: str) -> tuple[float, float, float, float]:
    """Return seconds of the path, mean seconds of a fit, worst violation, worst relative difference."""
    X, y = data(n, seed)
    top = CS[-1] if kernel == "rbf" else 10.0
    Cs = CS[top >= CS]
    whole, path = clocked(lambda: mercer.SVCPath(kernel=kernel, C_max=top, n_jobs=1).fit(X, y))
    fits = []
    difference = 0.0
    for C in Cs:
        seconds, model = clocked(lambda C=C: mercer.SVC(kernel=kernel, C=C, tol=TOL, n_jobs=1).fit(X, y))
        fits.append(seconds)
        ours, theirs = path.at(C).certificate_, model.certificate_
        difference = max(difference, abs(ours.primal - theirs.primal) / theirs.primal)
    rng = np.random.default_rng(seed)
    random = np.exp(rng.uniform(np.log(1e-3), np.log(top), 200))
    violation = max(path.at(C).certificate_.kkt_violation for C in random)
    return whole, float(np.mean(fits)), violation, difference


def look_up(n: int) -> float:
    """Return milliseconds of ``path.at(C)``."""
    X, y = data(n, 0)
    path = mercer.SVCPath(C_max=1e3, n_jobs=1).fit(X, y)
    Cs = np.geomspace(1e-2, 1e3, 300)
    seconds, _ = clocked(lambda: [path.at(C) for C in Cs])
    return 1e3 * seconds / Cs.size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, nargs="+", default=[200, 500, 1000])
    parser.add_argument("--kernels", nargs="+", default=["rbf", "linear"])
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    one_round(60, 0, "rbf")  # compiles
    print(f"a whole path in single fits at tol={TOL:g}, processor time, median (least to largest)")
    print(
        f"{'n':>6} {'kernel':8}{'path s':>9}{'fit s':>9}{'path / fit':>26}{'violation':>11}{'difference':>12}"
    )
    good = True
    for kernel in args.kernels:
        for n in args.n:
            table = np.array([one_round(n, seed, kernel) for seed in range(args.rounds)])
            ratio = table[:, 0] / table[:, 1]
            whole, fit = np.median(table[:, :2], axis=0)
            violation, difference = table[:, 2].max(), table[:, 3].max()
            spread = f"{np.median(ratio):.1f} ({ratio.min():.1f} to {ratio.max():.1f})"
            print(
                f"{n:>6} {kernel:8}{whole:>9.3f}{fit:>9.4f}{spread:>26}{violation:>11.1e}{difference:>12.1e}"
            )
            good &= violation <= TOL and difference <= 1e-6 and bool(np.median(ratio) < 50)
    print(f"path.at(C) at n=1000: {look_up(1000):.2f} ms")
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()
