"""Ordered classes: mean absolute error of OrdinalSVC beside mord's models, regression and classification.

``python -m benchmarks.ordinal DATA`` with a folder of CSV files whose first line has rows, features and class
names, and whose last column is the class. Ten times two thirds of the rows train and one third tests, the
same for all; C and gamma of the kernel machines (alpha of mord's) are chosen by five folds of these rows.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC, SVR, OrdinalSVC

GRID = {"C": [0.1, 1.0, 10.0], "gamma": [0.05, 0.2, 0.8]}
LINEAR = {"C": [0.01, 0.1, 1.0, 10.0]}


def candidates():
    """Return what is compared: a name, an estimator, its grid."""
    found = [
        ("OrdinalSVC, implicit", OrdinalSVC(), GRID),
        ("OrdinalSVC, explicit", OrdinalSVC(constraints="explicit"), GRID),
        ("OrdinalSVC, linear", OrdinalSVC(kernel="linear"), LINEAR),
        ("SVR, rounded", SVR(), GRID),
        ("SVC", SVC(), GRID),
    ]
    try:
        import mord
    except ImportError:
        return found
    alphas = {"alpha": [0.01, 0.1, 1.0, 10.0]}
    return [
        *found,
        ("mord.LogisticAT", mord.LogisticAT(), alphas),
        ("mord.LogisticIT", mord.LogisticIT(), alphas),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--splits", type=int, default=10)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for path in sorted(asked.data.glob("*.csv")):
        table = np.loadtxt(path, delimiter=",", skiprows=1)
        X, y = table[:, :-1], table[:, -1].astype(int)
        cuts = list(ShuffleSplit(asked.splits, test_size=1 / 3, random_state=0).split(X))
        for name, machine, grid in candidates():
            errors = []
            for train, test in cuts:
                step = type(machine).__name__.lower()
                search = GridSearchCV(
                    make_pipeline(StandardScaler(), machine),
                    {f"{step}__{key}": values for key, values in grid.items()},
                    scoring="neg_mean_absolute_error",
                    cv=KFold(5, shuffle=True, random_state=0),
                ).fit(X[train], y[train])
                said = np.clip(np.rint(search.predict(X[test])), y.min(), y.max())
                errors.append(np.abs(said - y[test]).mean())
            print(
                f"{path.stem:5s} {name:22s} {np.mean(errors):.3f} ± {np.std(errors, ddof=1):.3f}", flush=True
            )


if __name__ == "__main__":
    main()
