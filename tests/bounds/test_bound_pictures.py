"""Pictures of margins and of bounds against the number of training points."""

import numpy as np
import pytest
from sklearn import svm
from sklearn.datasets import load_breast_cancer, load_iris

from mercer import SVC, SVDD, SVR, bounds, plots

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_margins_are_counted_by_where_they_lie(n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y >= 3 - n_classes], y[y >= 3 - n_classes]
    model = SVC(C=0.3, gamma=0.2).fit(X, y)
    ax = plots.margins(model, X, y)
    values = model.margins(X, y)
    wrong, inside = (values < 0).sum(), ((values >= 0) & (values < 1 - 1e-3)).sum()
    counts = [int(text.split(": ")[1].split(" ")[0]) for text in labels(ax)]
    assert counts == [wrong, inside, len(y) - wrong - inside]
    bars = sum(patch.get_height() for group in ax.containers for patch in group)
    assert bars == len(y)
    assert all(tick == round(tick) for tick in ax.get_yticks())
    figure = ax.figure
    assert plots.margins(model, X, y, ax=figure.add_subplot()).figure is figure
    figure.canvas.draw()


def test_margins_of_another_library_and_without_errors():
    X, y = load_iris(return_X_y=True)
    X, y = X[:100], y[:100]
    ax = plots.margins(svm.SVC(gamma=0.2).fit(X, y), X, y)
    assert labels(ax)[0].startswith("on the wrong side: 0")
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="two are needed"):
        plots.margins(svm.SVC().fit(X, y), X, y)


def test_bounds_against_n():
    X, y = load_breast_cancer(return_X_y=True)
    X = X / X.max(axis=0)
    ax = plots.bound_against_n(SVC(gamma=1.0), X, y, sizes=[60, 200, 400], delta=0.1)
    drawn = {line.get_label(): line.get_xydata() for line in ax.get_lines()}
    assert {"margin and slack", "number of support vectors", "error on the other rows"} <= set(drawn)
    assert drawn["margin and slack"][:, 0].tolist() == [60, 200, 400]
    assert (np.diff(drawn["margin and slack"][:, 1]) < 0).all()
    rows = np.random.default_rng(0).permutation(len(y))[:400]
    found = bounds.report(SVC(gamma=1.0).fit(X[rows], y[rows]), X[rows], y[rows], 0.1)
    assert drawn["margin and slack"][-1, 1] == pytest.approx(found["margin and slack"].value)
    assert "0.9" in ax.get_title(loc="left")
    ax.figure.canvas.draw()


def test_bounds_against_n_of_other_machines():
    X, y = load_breast_cancer(return_X_y=True)
    X = X / X.max(axis=0)
    ax = plots.bound_against_n(SVDD(nu=0.1, gamma=0.05), X, sizes=[100, 300])
    assert "false alarms" in labels(ax)
    ax = plots.bound_against_n(SVC(gamma="scale"), X, y, sizes=[100, 300])
    assert "margin and slack (assumption broken)" in labels(ax)
    ax = plots.bound_against_n(SVR(C=0.1, gamma=0.5), X, X[:, 0], sizes=[100, 300], tolerance=0.3)
    assert "errors beyond 0.3" in labels(ax)
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="two classes"):
        plots.bound_against_n(SVC(gamma=1.0), X, y)
    with pytest.raises(ValueError, match="between 8 and"):
        plots.bound_against_n(SVC(gamma=1.0), X, y, sizes=[4])
