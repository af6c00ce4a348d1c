"""One margin for all classes beside scikit-learn's pairs of classes: seconds, gap, accuracy.

``python -m benchmarks.joint DATA`` with a folder of LIBSVM files (letter.scale, satimage.scale). Machines
take turns in one process; a third of the rows, every third, is held out for the accuracy.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from statistics import median

import numpy as np
from sklearn import svm
from sklearn.datasets import load_svmlight_file

from mercer import SVC, CrammerSingerSVC

SETS = {"satimage.scale": (16.0, 1.0), "letter.scale": (16.0, 4.0)}


def timed(model, X, y):
    start = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    rng = np.random.default_rng(0)
    CrammerSingerSVC(criterion="gap").fit(rng.normal(size=(2000, 3)), rng.integers(0, 3, 2000))  # compile
    for name, (C, gamma) in SETS.items():
        (path,) = asked.data.rglob(f"{name}*")
        X, y = load_svmlight_file(str(path))
        X = X.toarray()
        joint, theirs = [], []
        for _ in range(asked.rounds):
            model = CrammerSingerSVC(C=C, gamma=gamma, criterion="gap", tol=1e-3)
            joint.append(timed(model, X, y))
            theirs.append(timed(svm.SVC(C=C, gamma=gamma), X, y))
        ratio = [a / b for a, b in zip(joint, theirs, strict=True)]
        gap = model.certificate_.relative_gap
        print(
            f"{name}: joint {median(joint):.2f} s (gap {gap:.1e}), scikit-learn {median(theirs):.2f} s, "
            f"ratio {median(ratio):.2f} ({min(ratio):.2f} to {max(ratio):.2f})"
        )
        held = np.arange(y.size) % 3 == 0
        for kind in ("ovo", "ovr", "joint"):
            machine = SVC(C=C, gamma=gamma, multiclass=kind).fit(X[~held], y[~held])
            print(f"  {kind:5s} held-out accuracy {machine.score(X[held], y[held]):.4f}")


if __name__ == "__main__":
    main()
