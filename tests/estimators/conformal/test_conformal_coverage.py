"""Coverage by simulation: the mean over 200 draws is at most two standard errors below the guarantee."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from mercer import SVC, SVR, ConformalClassifier, ConformalRegressor, KernelRegressor, KernelRidge

DRAWS, ROWS, NEW = 200, 40, 20
NOISES = {
    "heavy tails": lambda rng, x: rng.standard_t(1.5, size=x.size),
    "unequal": lambda rng, x: (0.05 + np.abs(x)) * rng.normal(size=x.size),
    "skewed, tied": lambda rng, x: np.round(rng.exponential(size=x.size) ** 2, 1),
}


def regression(rng, noise):
    X = rng.normal(size=(ROWS + NEW, 2))
    y = np.sin(2 * X[:, 0]) + NOISES[noise](rng, X[:, 1])
    return X[:ROWS], y[:ROWS], X[ROWS:], y[ROWS:]


def classes(rng):
    X = rng.normal(size=(ROWS + NEW, 2))
    score = X[:, 0] + 0.8 * rng.standard_t(2, size=X.shape[0])
    y = np.digitize(score, [-0.3])
    return X[:ROWS], y[:ROWS], X[ROWS:], y[ROWS:]


def assert_holds(covered, guaranteed):
    """The draws are independent; the rows of one draw are not."""
    covered = np.array(covered)
    error = covered.std(ddof=1) / np.sqrt(covered.size)
    assert covered.mean() >= guaranteed - 2 * error


def covered_by(model, noise, coverage, seed=0):
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(DRAWS):
        X, y, new, truth = regression(rng, noise)
        intervals = model.fit(X, y).predict_interval(new, coverage)
        found.append(intervals.contain(truth).mean())
    return found, intervals.guaranteed


RIDGE = KernelRidge(kernel="rbf", gamma=0.5, alpha=0.1, fit_intercept=True)


@pytest.mark.parametrize("method", ["split", "cv+", "jackknife+"])
@pytest.mark.parametrize("noise", NOISES)
def test_ridge_intervals_hold(method, noise):
    model = ConformalRegressor(RIDGE, method=method, cv=4, random_state=np.random.RandomState(0))
    assert_holds(*covered_by(model, noise, 0.8))


@pytest.mark.exhaustive
@pytest.mark.parametrize("method", ["split", "cv+", "jackknife+"])
@pytest.mark.parametrize(
    "machine",
    [SVR(gamma=0.5), SVR(), Ridge()],
    ids=["fixed kernel", "kernel of the rows", "scikit-learn's"],
)
def test_intervals_of_other_machines_hold(method, machine):
    model = ConformalRegressor(machine, method=method, cv=4, random_state=np.random.RandomState(0))
    for noise in ("heavy tails", "unequal"):
        assert_holds(*covered_by(model, noise, 0.9, seed=5))


@pytest.mark.exhaustive
def test_quantile_intervals_hold():
    machine = KernelRegressor(loss="pinball", gamma=0.5, tol=1e-3)
    model = ConformalRegressor(machine, quantiles=(0.1, 0.9), random_state=np.random.RandomState(0))
    for noise in NOISES:
        assert_holds(*covered_by(model, noise, 0.8))


def sets_cover(model, coverage, of_class=None):
    rng = np.random.default_rng(0)
    found = []
    for _ in range(DRAWS):
        X, y, new, truth = classes(rng)
        rows = slice(None) if of_class is None else truth == of_class
        sets = model.fit(X, y).predict_set(new, coverage)
        if truth[rows].size:
            found.append(sets.contain(truth)[rows].mean())
    return found, sets.guaranteed


@pytest.mark.parametrize("method", ["split", "cv+"])
def test_sets_hold(method):
    machine = LogisticRegression() if method == "split" else SVC(gamma=0.5)
    random = np.random.RandomState(0)
    assert_holds(*sets_cover(ConformalClassifier(machine, method=method, cv=4, random_state=random), 0.8))


@pytest.mark.exhaustive
@pytest.mark.parametrize("method", ["split", "jackknife+"])
def test_mondrian_sets_hold_for_each_class(method):
    model = ConformalClassifier(
        SVC(gamma=0.5), method=method, mondrian=True, random_state=np.random.RandomState(0)
    )
    for label in (0, 1):
        assert_holds(*sets_cover(model, 0.8, label))
