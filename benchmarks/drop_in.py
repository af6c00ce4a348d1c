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
from sklearn.datasets import make_blobs, make_classification

import mercer
from benchmarks.memory import peak, reset_peak, resident, settle

SIZES = (500, 2000, 10000)
SHORT = 0.25  # seconds: what takes less is repeated for that long
OUT = Path(__file__).parent / "out"


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


def cloud(n: int) -> tuple[np.ndarray]:
    """Points in 20 dimensions."""
    X, _ = make_classification(n, 20, n_informative=10, random_state=0)
    return ((X - X.mean(axis=0)) / X.std(axis=0),)


def classes(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Five overlapping classes in 20 dimensions."""
    return make_blobs(n, 20, centers=5, cluster_std=8.0, random_state=0)


def _projection(model: Any, data: tuple[Any, ...]) -> np.ndarray:
    return np.abs(model.transform(data[0][:200]))


def _probabilities(model: Any, data: tuple[Any, ...]) -> np.ndarray:
    return np.asarray(model.predict_proba(data[0][:200]))


PCA = {"n_components": 10, "kernel": "rbf", "gamma": 0.05, "random_state": 0}
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", help="names of classes")
    args = parser.parse_args()
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for case in CASES:
            if args.only and case.name not in args.only:
                continue
            for n in args.sizes:
                rows.append(compare(case, n, args.rounds))
                print(table(rows[-1:]).splitlines()[-1], flush=True)
    OUT.mkdir(exist_ok=True)
    (OUT / "drop_in.json").write_text(json.dumps(rows, indent=1))
    print(f"\n{table(rows)}")
    return 0 if all(row["agree"] for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
