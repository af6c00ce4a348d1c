"""A 10 x 10 grid of C and gamma with 5 folds, against GridSearchCV: ``python -m benchmarks.search``.

The searches run alternately in one process, on the same folds, with as many threads (ours) as processes
(joblib's), at the same tolerance. Scores are compared fold by fold: machines within ``tol`` of the optimum
may put a point on the boundary to either side, so a score may differ by a few points of a fold.

``--data banana`` takes two noisy banana-shaped classes and adds processor seconds and the error on fresh
rows, with scikit-learn-intelex beside scikit-learn where it is installed. Most of the time goes into large C.
"""

from __future__ import annotations

import argparse
import importlib.util
import time

import numpy as np
from sklearn.datasets import make_classification, make_moons
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as TheirSVC  # noqa: N811

from mercer import SVCSearch

FOLDS = 5
MOST_POINTS = 4  # of a fold, by which a score may differ
NOISE = 0.35  # of the bananas: about one row in nine is on the wrong side
FRESH = 20_000  # rows that the chosen machines are tested on


def problem(n: int, seed: int):
    X, y = make_classification(n, 20, n_informative=8, flip_y=0.05, class_sep=0.8, random_state=seed)
    return StandardScaler().fit_transform(X), y


def bananas(n: int, seed: int):
    return make_moons(n, noise=NOISE, random_state=seed)


def rivals():
    """Return the machines to search over with GridSearchCV, by the name of their library."""
    found = {"scikit-learn": TheirSVC}
    if importlib.util.find_spec("sklearnex") is not None:
        from sklearnex.svm import SVC as IntelSVC  # noqa: N811

        found["scikit-learn-intelex"] = IntelSVC
    return found


def compare_on_bananas(n: int, repeats: int, jobs: int) -> None:
    """Print processor seconds and test errors of all searches, round by round."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    X_fresh, y_fresh = bananas(FRESH, seed=1_000_000)
    for repeat in range(repeats):
        X, y = bananas(n, seed=repeat)
        grid = {"C": 2.0 ** np.arange(-5, 15, 2), "gamma": 4.0 ** np.arange(-6, 4) / (2 * X.var())}
        searches = {"mercer": SVCSearch(param_grid=grid, cv=folds, n_jobs=jobs, select="best")}
        searches |= {
            name: GridSearchCV(kind(), grid, cv=folds, n_jobs=jobs) for name, kind in rivals().items()
        }
        seconds = {}
        for name, search in searches.items():
            started = time.process_time()
            search.fit(X, y)
            seconds[name] = time.process_time() - started
            print(
                f"n={n} round {repeat + 1}: {name} {seconds[name]:.2f} processor seconds, "
                f"{seconds[name] / seconds['mercer']:.2f} of mercer's; cross-validated error "
                f"{1 - search.best_score_:.4f}, error on fresh rows {1 - search.score(X_fresh, y_fresh):.4f}"
            )
        scores = [table(search) for search in searches.values()]
        points = max(np.abs(scores[0] - other).max() for other in scores[1:]) * n / FOLDS
        print(f"scores of the same setting and fold differ by at most {points:.0f} rows")


def table(search):
    return np.array([search.cv_results_[f"split{j}_test_score"] for j in range(FOLDS)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--data", choices=("clusters", "banana"), default="clusters")
    options = parser.parse_args()
    if options.data == "banana":
        SVCSearch(n_jobs=1).fit(*bananas(200, seed=99))  # compilation is nobody's
        if options.jobs != 1:
            parser.error("--data banana counts the seconds of one process: leave --jobs at 1")
        compare_on_bananas(options.n, options.repeats, options.jobs)
        return
    grid = {"C": 2.0 ** np.arange(-5, 15, 2), "gamma": 4.0 ** np.arange(-6, 4) / 20.0}
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    X, y = problem(300, seed=99)  # compilation and first touch are nobody's
    SVCSearch(param_grid=grid, cv=folds, n_jobs=options.jobs).fit(X, y)
    ratios = []
    for repeat in range(options.repeats):
        X, y = problem(options.n, seed=repeat)
        started = time.perf_counter()
        ours = SVCSearch(param_grid=grid, cv=folds, n_jobs=options.jobs, select="best").fit(X, y)
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
