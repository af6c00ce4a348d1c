"""The report on what may be promised, against the fit that it is about, on data that ship with scikit-learn.

Run as ``python -m benchmarks.bounds``. Fit and report take turns in one process; times are processor time,
the smallest of several runs, with the spread of the ratio between its quartiles.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris

from mercer import SVC, SVDD, SVR
from mercer.bounds import report


def cancer(copies=1):
    X, y = load_breast_cancer(return_X_y=True)
    X = X / X.max(axis=0)
    rng = np.random.default_rng(0)
    more = [X + 0.02 * rng.standard_normal(X.shape) for _ in range(copies - 1)]
    return np.concatenate([X, *more]), np.tile(y, copies)


def digits():
    X, y = load_digits(return_X_y=True)
    return X / 16.0, y


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X, y - 150.0


SETS = {
    "iris, 150 points, 3 pairs": (lambda: load_iris(return_X_y=True), SVC(C=10.0, gamma=1.0)),
    "breast cancer, 569 points": (cancer, SVC(C=10.0, gamma=2.0)),
    "breast cancer, 6 noisy copies": (lambda: cancer(6), SVC(C=10.0, gamma=2.0)),
    "breast cancer, 30 noisy copies": (lambda: cancer(30), SVC(C=10.0, gamma=2.0)),
    "digits, 1797 points, 45 pairs": (digits, SVC(C=10.0, gamma=0.1)),
    "diabetes, regression, 442 points": (diabetes, SVR(C=100.0, gamma=10.0)),
    "breast cancer, ball": (cancer, SVDD(nu=0.1, gamma=2.0)),
}


def spent(work):
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(name, rounds):
    data, model = SETS[name]
    X, y = data()
    model.set_params(n_jobs=1)
    arguments = (X,) if isinstance(model, SVDD) else (X, y)
    model.fit(*arguments)
    report(model, *arguments)
    fits, reports = [], []
    for _ in range(rounds):
        fits.append(spent(lambda: model.fit(*arguments)))
        reports.append(spent(lambda: report(model, *arguments)))
    low, high = np.quantile(np.array(reports) / np.array(fits), [0.25, 0.75])
    fit, told = min(fits), min(reports)
    print(
        f"{name:34} fit {1e3 * fit:8.2f} ms   report {1e3 * told:8.2f} ms   ratio {told / fit:5.2f} "
        f"({low:.2f} to {high:.2f})",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    for name in SETS:
        measure(name, rounds)


if __name__ == "__main__":
    main()
