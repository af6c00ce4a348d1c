"""Pictures of searches show what the searches found."""

import numpy as np
import pytest

from clouds import blobs
from mercer import SVCSearch, SVRSearch

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

from mercer import plots  # noqa: E402

GRID = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.01, 0.1, 1.0]}


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def search():
    X, y = blobs(60, 3, 2, seed=0)
    return SVCSearch(param_grid=GRID, cv=3).fit(X, y)


def test_a_map_of_two_parameters(search):
    ax = plots.search(search)
    (mesh,) = [c for c in ax.collections if hasattr(c, "get_coordinates")]
    drawn = np.ma.filled(mesh.get_array(), np.nan).reshape(3, 4)
    np.testing.assert_allclose(drawn.T.ravel(), search.cv_results_["mean_test_score"])
    assert ax.get_xlabel() == "C"
    assert ax.get_ylabel() == "gamma"
    assert [t.get_text() for t in ax.get_xticklabels()] == ["0.1", "1", "10", "100"]
    star = next(c for c in ax.collections if c.get_label() == "best")
    j, i = star.get_offsets()[0]
    best = search.cv_results_["params"][search.best_candidate_index_]
    assert (GRID["C"][int(j)], GRID["gamma"][int(i)]) == (best["C"], best["gamma"])


def test_curves(search):
    ax = plots.search(search, kind="curves")
    lines = [line for line in ax.lines if line.get_label().startswith("gamma")]
    assert len(lines) == 3
    scores = search.cv_results_["mean_test_score"]
    for line, gamma in zip(lines, GRID["gamma"], strict=True):
        mine = [scores[k] for k, p in enumerate(search.cv_results_["params"]) if p["gamma"] == gamma]
        np.testing.assert_allclose(line.get_ydata(), mine)
    assert ax.get_xscale() == "log"
    assert "accuracy" in ax.get_ylabel()
    other = plots.search(search, kind="curves", x="gamma", by="C")
    assert other.get_xlabel() == "gamma"


def test_one_parameter_paths_and_regressions_are_curves():
    X, y = blobs(50, 3, 2, seed=0)
    one = SVCSearch(param_grid={"C": [0.1, 1.0, 10.0]}, method="xi_alpha").fit(X, y)
    assert "xi-alpha" in plots.search(one).get_ylabel()
    path = SVCSearch(param_grid={"C": [0.1, 10.0], "gamma": [0.1, 1.0]}, method="path", cv=2).fit(X, y)
    assert len(plots.search(path).lines) == 2
    with pytest.raises(ValueError, match="kind='curves'"):
        plots.search(path, kind="map")
    three = SVRSearch(param_grid={"C": [1.0, 2.0], "epsilon": [0.1, 0.2], "gamma": [0.1, 0.2]}, cv=2)
    assert "R²" in plots.search(three.fit(X, X[:, 0])).get_ylabel()


def test_given_axes_and_refusals(search):
    _, ax = plt.subplots()
    assert plots.search(search, ax=ax) is ax
    with pytest.raises(ValueError, match="kind='pie'"):
        plots.search(search, kind="pie")
    with pytest.raises(ValueError, match=r"x='nu' was not searched over"):
        plots.search(search, x="nu")
    X, y = blobs(40, 3, 2, seed=0)
    with pytest.raises(ValueError, match="nothing to draw"):
        plots.search(SVCSearch(param_grid={"C": [1.0]}, cv=2).fit(X, y))


def test_large_values_are_written_out():
    X, y = blobs(50, 3, 2, seed=0)
    grid = {"C": [1.0, 10.0**1.5, 10.0**3.5, 1e4, 1e6], "gamma": [1e-3, 1e-2, 0.1]}
    ax = plots.search(SVCSearch(param_grid=grid, cv=2).fit(X, y))
    assert [t.get_text() for t in ax.get_xticklabels()] == ["1", "31.6", "3160", "10000", "1e+06"]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["0.001", "0.01", "0.1"]
