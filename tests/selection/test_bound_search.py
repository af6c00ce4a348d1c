"""Searches by generalisation bounds: finite where there is something to compare, refused where not."""

import numpy as np
import pytest

import mercer.bounds
from mercer import SVR, SVRSearch

pytestmark = pytest.mark.core

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 2))
Y = X[:, 0] + 0.1 * RNG.normal(size=120)
GRID = {"C": [0.05, 1.0], "gamma": [0.1]}


def test_the_score_is_the_bound_of_the_report():
    search = SVRSearch(param_grid=GRID, method="bound", tolerance=1.0).fit(X, Y)
    for params, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        found = mercer.bounds.report(SVR(**params).fit(X, Y), X, Y, tolerance=1.0, candidates=2)
        assert np.isfinite(score)
        assert score == pytest.approx(1.0 - found.lines[0].value)


def test_a_tolerance_that_a_constant_keeps_is_refused_before_any_fit():
    half = 0.5 * np.ptp(Y)
    with pytest.raises(ValueError, match=r"tolerance=.* is too large .* a constant is off by at most"):
        SVRSearch(param_grid=GRID, method="bound", tolerance=half).fit(X, Y)
    assert np.isfinite(
        SVRSearch(param_grid=GRID, method="bound", tolerance=0.99 * half).fit(X, Y).best_score_
    )


def test_norms_beyond_every_grid_are_told_of():
    """A norm of more than 2^20 is on no grid that was fixed beforehand."""
    steep = {"kernel": ["linear"], "C": [1e12]}
    with pytest.warns(UserWarning, match="the bound of every setting is infinite"):
        SVRSearch(param_grid=steep, method="bound", tolerance=1e6).fit(1e-3 * X, 1e7 * Y)
