"""A 10 x 10 grid of C and gamma with 5 folds, against GridSearchCV: ``python -m benchmarks.search``.

The two searches run alternately in one process, on the same folds, with as many threads (ours) as processes
(joblib's), at the same tolerance. Scores are compared fold by fold: machines within ``tol`` of the optimum
may put a point on the boundary to either side, so a score may differ by a few points of a fold.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as TheirSVC  # noqa: N811

from mercer import SVCSearch

FOLDS = 5
MOST_POINTS = 4  # of a fold, by which a score may differ


def problem(n: int, seed: int):
    X, y = make_classification(n, 20, n_informative=8, flip_y=0.05, class_sep=0.8, random_state=seed)
    return StandardScaler().fit_transform(X), y


def table(search):
    return np.array([search.cv_results_[f"split{j}_test_score"] for j in range(FOLDS)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    grid = {"C": 2.0 ** np.arange(-5, 15, 2), "gamma": 4.0 ** np.arange(-6, 4) / 20.0}
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    X, y = problem(300, seed=99)  # compilation and first touch are nobody's
    SVCSearch(param_grid=grid, cv=folds, n_jobs=options.jobs).fit(X, y)
    ratios = []
    for repeat in range(options.repeats):
        X, y = problem(options.n, seed=repeat)
        started = time.perf_counter()
        ours = SVCSearch(param_grid=grid, cv=folds, n_jobs=options.jobs).fit(X, y)
        middle = time.perf_counter()
        theirs = GridSearchCV(TheirSVC(), grid, cv=folds, n_jobs=options.jobs).fit(X, y)
        ended = time.perf_counter()
        difference = np.abs(table(ours) - table(theirs))
        points = difference.max() * options.n / FOLDS
        same = (difference < 1e-12).mean()
        ratios.append((ended - middle) / (middle - started))
        print(
            f"n={options.n} jobs={options.jobs}: mercer {middle - started:.2f} s, scikit-learn "
            f"{ended - middle:.2f} s, ratio {ratios[-1]:.2f}; {same:.1%} of the scores equal, the rest "
            f"within {points:.0f} points of a fold; best {ours.best_score_:.4f} and {theirs.best_score_:.4f}"
        )
        if points > MOST_POINTS or abs(ours.best_score_ - theirs.best_score_) > 0.005:
            raise SystemExit("the two searches disagree")
    print(f"ratio: median {np.median(ratios):.2f}, from {min(ratios):.2f} to {max(ratios):.2f}")


if __name__ == "__main__":
    main()
