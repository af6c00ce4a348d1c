"""Limits that were not kept once, timed by the processor's clock."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

import mercer

from . import discovery

pytest.importorskip("clarabel")
pytest.importorskip("psutil")

pytestmark = pytest.mark.exhaustive


class Limited:
    """A fit of many rows under a limit, timed by the processor's clock."""

    place = "time_limit"

    def __init__(self, name, params, n):
        self.name, self.params, self.n = name, params, n

    def run(self):
        import time

        from .report import Report

        rng = np.random.default_rng(0)
        X = rng.normal(size=(self.n, 4))
        role = discovery.role(self.name)
        y = X[:, 0] + rng.normal(size=self.n)
        y = (y > 0).astype(int) if role == "classifier" else np.column_stack([y, y]) if role == "views" else y
        model = discovery.estimators()[self.name](time_limit=0.5, n_jobs=1, **self.params)
        report = Report(fits=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clone(model).set_params(time_limit=None).fit(X[:50], y[:50])  # compiles
            start = time.process_time()
            try:
                model.fit(X) if role in ("detector", "map") else model.fit(X, y)
            except ValueError as error:  # a search that has nothing to show says so
                if "time_limit" not in str(error):
                    raise
        report.seconds = time.process_time() - start
        return report


def limited():
    return [
        name
        for name in sorted(discovery.estimators())
        if {"time_limit", "n_jobs"} <= set(discovery.parameters(name))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", limited())
def test_a_time_limit_is_kept_by_every_estimator(worker, name):
    tight = {"tol": 1e-10} if "tol" in discovery.parameters(name) else {}
    report = worker.run(Limited(name, tight, 1500))
    assert not report.failures, report.failures
    assert report.seconds <= 1.1 * 0.5 + 3.0  # a slice of compiled work, and what is prepared and concluded


@pytest.mark.parametrize("limit", [1e-9, 0.05, 0.5])
def test_a_gaussian_process_larger_than_memory_under_a_limit(limit):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = mercer.GaussianProcessRegressor(time_limit=limit, cache_size=2, n_jobs=1)
        model.fit(X, X[:, 0] + 0.1 * rng.normal(size=1200))
    assert np.isfinite(model.predict(X[:5])).all()
