"""Every estimator with a ``time_limit`` looks at the clock while it works, and ends when time is up.

The clock is a made-up one, which ends the time at a chosen look: nothing here depends on how fast or how busy
a machine is.
"""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, is_classifier, is_outlier_detector, is_regressor

import mercer
from mercer.solvers import base
from mercer.structured import CostSensitive

FEW = 20  # looks that may still follow: at each of several problems, or folds, that are not begun
SECONDS = 1.0


def limited():
    found = {name: getattr(mercer, name) for name in mercer.__all__}
    return sorted(
        name
        for name, cls in found.items()
        if inspect.isclass(cls)
        and issubclass(cls, BaseEstimator)
        and "time_limit" in inspect.signature(cls).parameters
    )


class Clock:
    """Stands still until it has been looked at ``last`` times; from then on each look ends all time."""

    def __init__(self, last):
        self.last, self.looks = last, 0

    def perf_counter(self):
        self.looks += 1
        return 10.0 * SECONDS * max(0, self.looks - self.last)


def hard_data(model):
    """Noise on a fine scale: 300 rows that take every machine more than a few steps."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.sign(X[:, 0]) + rng.normal(size=300)
    if is_classifier(model) or hasattr(model, "model"):
        return X, (y > 0).astype(int)
    if is_regressor(model) or isinstance(model, mercer.RankSVM):
        return X, y
    if is_outlier_detector(model):
        return (X,)
    return X, np.column_stack([y, X[:, 0]])


def made(name, **changes):
    cls = getattr(mercer, name)
    known = inspect.signature(cls).parameters
    params = {"n_jobs": 1, "tol": 1e-9, "time_limit": SECONDS, "C": 100.0} | changes
    params = {key: value for key, value in params.items() if key in known}
    if "preconditioner_rank" in known and "alpha" in known:
        params["solver"] = "cg"  # so few rows are factorised at once
    if "model" in known:  # outputs that are structures
        params |= {"model": CostSensitive(), "solver": "block_frank_wolfe"}
    if "param_grid" in known:
        params["param_grid"] = {"gamma": [0.1, 1.0, 10.0]}
    return cls(**params)


def fitted(monkeypatch, name, last, **changes):
    """Return the model after a fit whose time ends at look ``last`` (None if refused), and the looks."""
    model = made(name, **changes)
    clock = Clock(last)
    monkeypatch.setattr(base, "time", clock)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(*hard_data(model))
        except ValueError as refusal:
            if "time_limit=" not in str(refusal):  # a search that has nothing to choose from yet
                raise
            return None, clock.looks
    return model, clock.looks


def ending(model):
    certificate = getattr(model, "certificate_", None)
    return getattr(model, "status_", None) if certificate is None else certificate.status


@pytest.mark.parametrize("name", limited())
def test_a_fit_ends_when_its_time_is_up(monkeypatch, name):
    model, needed = fitted(monkeypatch, name, last=10**9)
    assert needed > 0, "it does not look at the clock"
    whole, endings = ending(model), set()
    for last in {1, 2, 3, needed // 3, needed // 2}:
        model, looks = fitted(monkeypatch, name, last)
        assert looks <= last + FEW
        endings.add("time_limit" if model is None else ending(model))
    assert endings <= {"time_limit", whole}  # what was almost done may end before the next look
    assert "time_limit" in endings or needed <= FEW


@pytest.mark.parametrize("name", [name for name in limited() if name.endswith("Search")])
def test_a_search_keeps_time_for_the_fit_of_its_choice(monkeypatch, name):
    """The settings are given four fifths of the time, and the limit of the machine is left as it was."""

    class Slow(Clock):
        """A hundredth of the time for each look."""

        def perf_counter(self):
            self.looks += 1
            return 0.01 * SECONDS * self.looks

    model, clock = made(name), Slow(0)
    monkeypatch.setattr(base, "time", clock)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(*hard_data(model))
    assert model.status_ in ("time_limit", "complete")
    assert clock.looks <= 1.1 * 100 + FEW
    assert model.best_estimator_.time_limit is None
    assert np.isfinite(model.best_estimator_.dual_coef_).all()


@pytest.mark.parametrize("name", ["KernelRidge", "KernelRidgeClassifier"])
def test_a_factorisation_that_takes_longer_than_allowed_is_not_begun(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.sign(X[:, 0])
    kernel = {"kernel": "rbf", "alpha": 0.1}
    cls = getattr(mercer, name)
    assert cls(**kernel).fit(X, y).solver_ == cls(time_limit=1e3, **kernel).fit(X, y).solver_ == "cholesky"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert cls(time_limit=1e-4, **kernel).fit(X, y).solver_ == "cg"
        assert cls(time_limit=1e-4, solver="cholesky", **kernel).fit(X, y).solver_ == "cholesky"
