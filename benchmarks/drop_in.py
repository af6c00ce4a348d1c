"""Classes with scikit-learn's name against scikit-learn's: time, peak memory, and whether the results agree.

``python -m benchmarks.drop_in`` fits both in turns in one process, who begins changing from round to round. A
row of the table is an entry of ``CASES``: data, one estimator for each side, and the numbers that must agree.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.decomposition
import sklearn.discriminant_analysis
import sklearn.gaussian_process
import sklearn.kernel_ridge
from sklearn.datasets import make_blobs, make_classification
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import mercer
from benchmarks.memory import peak, reset_peak, resident, settle

SIZES = (500, 2000, 10000)
SHORT = 0.25  # seconds: what takes less is repeated for that long
OUT = Path(__file__).parent / "out"
FIGURES = Path(__file__).parent / "drop_in.json"  # what the page "Coming from scikit-learn" shows


@dataclass(frozen=True)
class Case:
    """A class of scikit-learn's name: how to make both, on what, and what must be the same to ``agree``."""

    name: str
    data: Callable[[int], tuple[Any, ...]]
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    result: Callable[[Any, tuple[Any, ...]], np.ndarray]
    agree: float
    note: str = ""
    sizes: tuple[int, ...] = SIZES


def cloud(n: int) -> tuple[np.ndarray]:
    """Points in 20 dimensions."""
    X, _ = make_classification(n, 20, n_informative=10, random_state=0)
    return ((X - X.mean(axis=0)) / X.std(axis=0),)


def classes(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Five overlapping classes in 20 dimensions."""
    return make_blobs(n, 20, centers=5, cluster_std=8.0, random_state=0)


def curve(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a smooth function of five columns, with noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)
    return X, y


def halves(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two overlapping classes of five columns."""
    X, y = curve(n)
    return X, (y > 0).astype(int)


def _projection(model: Any, data: tuple[Any, ...]) -> np.ndarray:
    return np.abs(model.transform(data[0][:200]))


def _probabilities(model: Any, data: tuple[Any, ...]) -> np.ndarray:
    return np.asarray(model.predict_proba(data[0][:200]))


def _predictions(model: Any, data: tuple[Any, ...]) -> np.ndarray:
    return np.asarray(model.predict(data[0][:200]))


def _means_and_deviations(model: Any, data: tuple[Any, ...]) -> np.ndarray:
    return np.concatenate(model.predict(data[0][:200], return_std=True))


PCA = {"n_components": 10, "kernel": "rbf", "gamma": 0.05, "random_state": 0}
RIDGE = {"alpha": 0.1, "kernel": "rbf", "gamma": 0.2}
PROCESS = {"kernel": ConstantKernel(1.0) * RBF(1.0), "alpha": 0.1}
FIXED = {"kernel": ConstantKernel(2.0) * RBF(2.0), "alpha": 0.1, "optimizer": None}
SORTED = {"kernel": ConstantKernel(1.0) * RBF(1.0)}
CASES = (
    Case(
        "KernelPCA",
        cloud,
        lambda: mercer.KernelPCA(**PCA),
        lambda: sklearn.decomposition.KernelPCA(**PCA),
        _projection,
        1e-4,
        "10 components",
    ),
    Case(
        "KernelRidge",
        curve,
        lambda: mercer.KernelRidge(**RIDGE),
        lambda: sklearn.kernel_ridge.KernelRidge(**RIDGE),
        _predictions,
        1e-3,
    ),
    Case(
        "GaussianProcessRegressor",
        curve,
        lambda: mercer.GaussianProcessRegressor(**PROCESS),
        lambda: sklearn.gaussian_process.GaussianProcessRegressor(**PROCESS),
        _means_and_deviations,
        1e-3,
        "theta fitted",
        (500, 2000),
    ),
    Case(
        "GaussianProcessRegressor",
        curve,
        lambda: mercer.GaussianProcessRegressor(**FIXED),
        lambda: sklearn.gaussian_process.GaussianProcessRegressor(**FIXED),
        _means_and_deviations,
        1e-3,
        "optimizer=None",
    ),
    Case(
        "GaussianProcessClassifier",
        halves,
        lambda: mercer.GaussianProcessClassifier(**SORTED),
        lambda: sklearn.gaussian_process.GaussianProcessClassifier(**SORTED),
        _probabilities,
        1e-3,  # scikit-learn approximates an integral
        "theta fitted",
        (500, 2000),
    ),
    Case(
        "LinearDiscriminantAnalysis",
        classes,
        mercer.LinearDiscriminantAnalysis,
        sklearn.discriminant_analysis.LinearDiscriminantAnalysis,
        _probabilities,
        1e-6,
    ),
    Case(
        "QuadraticDiscriminantAnalysis",
        classes,
        mercer.QuadraticDiscriminantAnalysis,
        sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis,
        _probabilities,
        1e-6,
    ),
)


def timed(make: Callable[[], Any], data: tuple[Any, ...]) -> tuple[float, float, Any]:
    """Return the seconds of a fit, its peak memory above what was held before in MB, and the model."""
    settle()
    reset_peak()
    before = resident()
    start = time.perf_counter()
    model = make().fit(*data)
    seconds = time.perf_counter() - start
    megabytes = max(0, peak() - before) / 1e6
    if seconds < SHORT:
        times = [seconds]
        end = time.perf_counter() + SHORT
        while time.perf_counter() < end:
            start = time.perf_counter()
            make().fit(*data)
            times.append(time.perf_counter() - start)
        seconds = float(np.median(times))
    return seconds, megabytes, model


def compare(case: Case, n: int, rounds: int) -> dict[str, Any]:
    """Fit both sides in turns."""
    data = case.data(n)
    for make in (case.ours, case.theirs):  # what is compiled or loaded on first use is paid for here
        make().fit(*data)
    seconds: dict[str, list[float]] = {"ours": [], "theirs": []}
    megabytes: dict[str, list[float]] = {"ours": [], "theirs": []}
    models: dict[str, Any] = {}
    for turn in range(rounds):
        sides = ("ours", "theirs") if turn % 2 == 0 else ("theirs", "ours")
        for side in sides:
            models.pop(side, None)
            took, held, models[side] = timed(getattr(case, side), data)
            seconds[side].append(took)
            megabytes[side].append(held)
    apart = float(np.abs(case.result(models["ours"], data) - case.result(models["theirs"], data)).max())
    ratios = np.array(seconds["ours"]) / np.array(seconds["theirs"])
    return {
        "name": case.name,
        "note": case.note,
        "n": n,
        "seconds": {side: float(np.median(seconds[side])) for side in seconds},
        "megabytes": {side: float(np.median(megabytes[side])) for side in megabytes},
        "ratio": float(np.median(ratios)),
        "apart": apart,
        "agree": apart <= case.agree,
    }


def table(rows: list[dict[str, Any]]) -> str:
    """Return the results as Markdown."""
    lines = [
        "| class | rows | ours, s | theirs, s | ours / theirs | ours, MB | theirs, MB | difference |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        name = row["name"] + (f" ({row['note']})" if row["note"] else "")
        seconds, held, mark = row["seconds"], row["megabytes"], "" if row["agree"] else " (!)"
        lines.append(
            f"| {name} | {row['n']} | {seconds['ours']:.3g} | {seconds['theirs']:.3g} | {row['ratio']:.2f} | "
            f"{held['ours']:.0f} | {held['theirs']:.0f} | {row['apart']:.0e}{mark} |"
        )
    return "\n".join(lines)


def record(rows: list[dict[str, Any]]) -> None:
    """Put rows into the file of figures, in the place of older ones of the same class and size."""
    known = json.loads(FIGURES.read_text()) if FIGURES.exists() else []
    places = {(row["name"], row["note"], row["n"]): row for row in [*known, *rows]}
    order = {(case.name, case.note): k for k, case in enumerate(CASES)}
    kept = sorted(places, key=lambda key: (order.get(key[:2], len(order)), key[2]))
    FIGURES.write_text(json.dumps([places[key] for key in kept], indent=1) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", help="names of classes")
    parser.add_argument(
        "--record", action="store_true", help=f"put the rows into {FIGURES.name}, for the page"
    )
    args = parser.parse_args()
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for case in CASES:
            if args.only and case.name not in args.only:
                continue
            for n in (n for n in case.sizes if n in args.sizes):
                rows.append(compare(case, n, args.rounds))
                print(table(rows[-1:]).splitlines()[-1], flush=True)
    if args.record:
        record(rows)
    OUT.mkdir(exist_ok=True)
    (OUT / "drop_in.json").write_text(json.dumps(rows, indent=1))
    print(f"\n{table(rows)}")
    return 0 if all(row["agree"] for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
