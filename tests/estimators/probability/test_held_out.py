"""Held-out decisions from warm-started folds: near those of models trained from nothing, and cheap."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs

from clouds import blobs
from mercer import SVC, NuSVC
from mercer.estimators import probability
from mercer.estimators.probability import folds
from mercer.solvers.dual import held_out as module

pytestmark = pytest.mark.core


@pytest.fixture
def watched(monkeypatch):
    """Record what every call of held_out was given and returned, as (arguments, result)."""
    calls = []
    inner = probability.held_out

    def record(*arguments):
        result = inner(*arguments)
        calls.append((arguments, result))
        return result

    monkeypatch.setattr(probability, "held_out", record)
    return calls


def separable():
    return make_blobs(240, centers=[[-2, -2, 1], [2, 2, -1]], cluster_std=0.7, random_state=0)


MACHINES = [
    (SVC(C=1.0), False),
    (SVC(C=100.0, kernel="linear"), False),
    (SVC(loss="squared_hinge"), False),
    (SVC(fit_intercept=False), False),
    (SVC(C=np.inf, gamma=0.5), True),
    (SVC(C=np.inf, gamma=0.5, fit_intercept=False), True),
    (NuSVC(nu=0.5), False),
]


@pytest.mark.parametrize("cache_size", [200, 0.2], ids=["in memory", "by parts"])
@pytest.mark.parametrize(("machine", "easy"), MACHINES, ids=lambda m: repr(m) if hasattr(m, "fit") else "")
def test_values_are_near_those_of_models_trained_from_nothing(machine, easy, cache_size, watched):
    X, y = separable() if easy else blobs(240, 3, 2, seed=0)
    model = clone(machine).set_params(probability=True, cache_size=cache_size).fit(X, y)
    (_, _, _, fold, *_), result = watched[-1]
    exact = np.empty(y.size)
    fresh = clone(machine).set_params(kernel=model.kernel_, gamma="scale")
    for k in range(5):
        inside = fold != k
        exact[~inside] = fresh.fit(X[inside], y[inside]).decision_function(X[~inside])
    assert np.array_equal(np.sort(result.rows), np.arange(y.size))
    error = np.abs(result.values - exact[result.rows])
    assert error.mean() < 0.08 * exact.std()
    assert error.max() < 0.6 * exact.std()


@pytest.mark.parametrize("weights", [[0.5, 0.5], [0.9, 0.1]])
@pytest.mark.parametrize("C", [1.0, 10.0])
def test_two_fits_worth_of_steps_and_no_more_kernel_values(C, weights, watched, monkeypatch):
    X, y = _overlapping(1200, weights)
    plain, calibrated = _counted(SVC(C=C), monkeypatch), _counted(SVC(C=C, probability=True), monkeypatch)
    plain.fit(X, y)
    calibrated.fit(X, y)
    assert calibrated.n_iter_[0] == plain.n_iter_[0]
    assert watched[-1][1].n_iter < plain.n_iter_[0]
    assert calibrated.evaluations() <= 1.2 * plain.evaluations()


@pytest.mark.parametrize("C", [1.0, 10.0])
def test_large_problems_cost_less_than_two_fits_too(C, watched, monkeypatch):
    X, y = _overlapping(4000, [0.5, 0.5])
    plain, calibrated = _counted(SVC(C=C), monkeypatch), _counted(SVC(C=C, probability=True), monkeypatch)
    plain.fit(X, y)
    calibrated.fit(X, y)
    assert watched[-1][1].n_iter < plain.n_iter_[0]
    assert calibrated.evaluations() < 2.0 * plain.evaluations()
    assert watched[-1][1].rows.size < 4000  # enough was seen before the last fold


def _overlapping(n, weights):
    rng = np.random.default_rng(0)
    y = (rng.random(n) < weights[1]).astype(int)
    return rng.normal(size=(n, 8)) + 0.8 * y[:, None], y


def _counted(model, monkeypatch):
    """Let a model remember its kernel matrix, to ask it for its count."""
    kept = []
    inner = model._gram

    def gram(*arguments):
        kept.append(inner(*arguments))
        return kept[-1]

    def evaluations():
        matrix = kept[-1]
        exact = matrix.exact()
        return matrix.evaluations + (exact.evaluations if exact is not matrix else 0)

    monkeypatch.setattr(model, "_gram", gram, raising=False)
    model.evaluations = evaluations
    return model


def test_folds_of_a_rare_class_do_not_jump(watched):
    # With a small C all multipliers are at their bounds, and the bias hangs on the balance of the classes.
    rng = np.random.default_rng(3)
    X = rng.normal(size=(700, 3))
    z = X @ [1.5, -1.0, 0.7] + rng.normal(size=700)
    y = z > np.quantile(z, 1 - 0.087)
    model = SVC(C=0.03125, gamma=0.0063, class_weight="balanced", probability=True).fit(X, y)
    _, result = watched[-1]
    same = (result.values > 0) == (model.decision_function(X)[result.rows] > 0)
    assert same.mean() > 0.9


def test_folds_are_balanced_and_repeatable():
    labels = np.repeat([0, 1, 2], [50, 23, 7])
    fold = folds(labels, np.ones(80, dtype=bool), None)
    assert np.array_equal(fold, folds(labels, np.ones(80, dtype=bool), 0))
    assert not np.array_equal(fold, folds(labels, np.ones(80, dtype=bool), 1))
    for c in range(3):
        sizes = np.bincount(fold[labels == c], minlength=5)
        assert sizes.max() - sizes.min() <= 1
    assert np.array_equal(np.bincount(fold), np.full(5, 16))


def test_small_classes_lose_one_row_at_a_time_and_single_rows_none():
    labels = np.array([0] * 20 + [1] * 3 + [2])
    fold = folds(labels, np.ones(24, dtype=bool), 3)
    assert np.unique(fold[labels == 1]).size == 3
    assert fold[-1] == -1
    absent = np.ones(24, dtype=bool)
    absent[:4] = False
    assert (folds(labels, absent, 3)[:4] == -1).all()


def test_limits_hold_for_folds(watched):
    X, y = blobs(300, 3, 2, seed=2)
    with pytest.warns(UserWarning, match="max_iter=20"):
        model = SVC(C=10.0, max_iter=20, probability=True).fit(X, y)
    assert watched[-1][1].n_iter <= 5 * 20
    assert np.isfinite(model.predict_proba(X)).all()


def test_rows_that_errors_make_needless(monkeypatch, watched):
    """With the thresholds of large problems lowered, folds end as soon as enough was seen."""
    monkeypatch.setattr(module, "ENOUGH", 60)
    monkeypatch.setattr(module, "ENOUGH_OF_CLASS", 20)
    monkeypatch.setattr(module, "ENOUGH_ERRORS", 5)
    X, y = blobs(300, 3, 2, seed=5, spread=2.0)
    model = SVC(probability=True, cache_size=0.2).fit(X, y)
    (_, _, _, fold, *_), result = watched[-1]
    used = np.unique(fold[result.rows])
    assert used.size < 5
    assert np.array_equal(np.sort(result.rows), np.flatnonzero(np.isin(fold, used)))
    assert (model.classes_[model.predict_proba(X).argmax(axis=1)] == model.predict(X)).all()
