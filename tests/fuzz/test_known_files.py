"""Fitted models that could not be written to a file once."""

import numpy as np
import pytest

import mercer

pytestmark = pytest.mark.core


@pytest.mark.filterwarnings("ignore:method='bound'")
def test_a_search_by_bound_is_saved_with_its_reports(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    grid = {"C": [1.0, 10.0], "gamma": [0.1]}
    search = mercer.SVCSearch(method="bound", param_grid=grid).fit(X, (X[:, 0] > 0).astype(int))
    again = mercer.load(mercer.save(search, tmp_path / "search.mercer"))
    assert [str(one) for one in again.bound_reports_] == [str(one) for one in search.bound_reports_]
    assert (again.predict(X) == search.predict(X)).all()


def test_a_process_with_a_trend_is_saved(tmp_path):
    X = np.linspace(0.0, 1.0, 9)[:, None]
    process = mercer.GaussianProcessRegressor(kernel="spline").fit(X, np.sin(3.0 * X[:, 0]))
    again = mercer.load(mercer.save(process, tmp_path / "process.mercer"))
    np.testing.assert_allclose(again.predict(X), process.predict(X), rtol=1e-12)
