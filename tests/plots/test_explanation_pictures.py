"""Pictures of explanations show the numbers that they are given."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from mercer import SVR, inspect, plots

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
MODEL = SVR(C=10.0).fit(X, np.sin(X[:, 0]) + 0.5 * X[:, 1])


def widths(ax):
    return [bar.get_width() for bar in ax.patches]


def labels(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def test_importance_with_intervals():
    found = inspect.permutation_importance(MODEL, X, np.sin(X[:, 0]) + 0.5 * X[:, 1])
    ax = plots.importance(found, title="importance")
    order = found.order()
    np.testing.assert_allclose(widths(ax), found.mean[order])
    assert labels(ax) == [found.names[j] for j in order]
    ends = np.array([segment[:, 0] for segment in ax.collections[0].get_segments()])
    np.testing.assert_allclose(ends, np.column_stack([found.low, found.high])[order])
    assert "95 %" in ax.get_xlabel()
    assert len(widths(plots.importance(found, top=2))) == 2
    low, high = ax.get_ylim()
    assert low > high  # the most important on top


def test_shares_of_a_row():
    found = inspect.shapley(MODEL, X[:3], X[:20], orders=8)  # sampled
    ax = plots.shapley(found, 1, values=X[1])
    share = found.values[1, 0]
    order = np.argsort(-np.abs(share))
    np.testing.assert_allclose(widths(ax), share[order])
    assert labels(ax)[0] == f"x{order[0]} = {X[1, order[0]]:.4g}"
    assert f"f = {MODEL.predict(X[1:2])[0]:.4g}" in ax.get_xlabel()
    assert "standard errors" in ax.get_xlabel()
    few = plots.shapley(found, top=3)
    assert labels(few)[-1] == "2 others"
    assert sum(widths(few)) == pytest.approx(found.values[0, 0].sum())
    exact = inspect.shapley(MODEL, X[:1], X[:20], orders=24)
    assert "standard errors" not in plots.shapley(exact).get_xlabel()


def test_partial_dependence_of_numbers_and_of_texts():
    found = inspect.partial_dependence(MODEL, X, 0, points=20)
    ax = plots.partial_dependence(found)
    assert len(ax.lines) == 61
    np.testing.assert_allclose(ax.lines[-1].get_ydata(), found.mean[:, 0])
    assert len(plots.partial_dependence(found, single=False).lines) == 1
    texts = inspect.PartialDependence("city", np.array(["Lima", "Rome"]), np.ones((2, 1)), np.ones((3, 2, 1)))
    ax = plots.partial_dependence(texts)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["Lima", "Rome"]
    many = inspect.PartialDependence("a", np.arange(3.0), np.ones((3, 1)), np.ones((950, 3, 1)))
    assert len(plots.partial_dependence(many).lines) <= 101


def test_names_are_not_formulas():
    found = inspect.Importance(["$a$", "b" * 60], *np.zeros((3, 2)), 0.0, 0.95)
    ax = plots.importance(found)
    assert labels(ax)[0] == r"\$a\$"
    assert labels(ax)[1].endswith("…")
    ax.figure.canvas.draw()


def test_what_cannot_be_drawn_is_refused():
    found = inspect.shapley(MODEL, X[:1], X[:5], orders=4)
    with pytest.raises(TypeError, match=r"inspect\.permutation_importance, not Shapley"):
        plots.importance(found)
    with pytest.raises(TypeError, match=r"inspect\.shapley"):
        plots.shapley(MODEL)
    with pytest.raises(TypeError, match=r"inspect\.partial_dependence"):
        plots.partial_dependence(found)
    with pytest.raises(ValueError, match="row=1 does not exist"):
        plots.shapley(found, 1)
    with pytest.raises(ValueError, match="output=2"):
        plots.shapley(found, output=2)
    with pytest.raises(ValueError, match="values has 2 entries"):
        plots.shapley(found, values=[1, 2])
    with pytest.raises(ValueError, match="top=1"):
        plots.shapley(found, top=1)
