"""The picture of traces."""

import numpy as np
import pytest

from clouds import blobs
from mercer import SVC, SVR

plt = pytest.importorskip("matplotlib.pyplot")
plots = pytest.importorskip("mercer.plots")

X, y = blobs(60, 3, 2, seed=0)


@pytest.fixture(scope="module")
def models():
    return {name: SVC(solver=name, trace=True).fit(X, y) for name in ("decomposition", "smo", "ascent")}


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.mark.parametrize(
    ("axis", "key"), [("iteration", "n_iter"), ("time", "seconds"), ("evaluations", "kernel_evaluations")]
)
def test_lines_are_the_traces(models, axis, key):
    ax = plots.convergence(models, axis=axis, value="dual")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(models)
    for line, model in zip(ax.get_lines(), models.values(), strict=True):
        history = model.history_[0]
        np.testing.assert_allclose(line.get_ydata(), [row["dual"] for row in history])
        x = np.array([row[key] for row in history])
        shown = np.maximum(x, 1.0) if axis == "iteration" else np.where(x > 0, x, np.nan)
        np.testing.assert_allclose(line.get_xdata(), shown)


@pytest.mark.parametrize("value", ["gap", "relative_gap", "kkt_violation", "primal", "margin", "n_support"])
def test_every_value_can_be_drawn(models, value):
    ax = plots.convergence(models, value=value)
    assert all(np.isfinite(line.get_ydata()).any() for line in ax.get_lines())
    assert ax.get_yscale() == ("log" if value in ("gap", "relative_gap", "kkt_violation") else "linear")


def test_one_machine_several_problems_and_given_axes():
    Z, labels = blobs(60, 3, 3, seed=0)
    own = plt.subplots()[1]
    ax = plots.convergence(SVC(trace=True).fit(Z, labels), ax=own, title="three pairs")
    assert ax is own
    assert len(ax.get_lines()) == 3
    assert len({line.get_color() for line in ax.get_lines()}) == 1
    assert len(plots.convergence({"a": SVR(trace=True).fit(X, X[:, 0])}).get_lines()) == 1


def test_what_cannot_be_drawn_is_said(models):
    with pytest.raises(ValueError, match="axis='steps' must be one of"):
        plots.convergence(models, axis="steps")
    with pytest.raises(ValueError, match="value='loss' must be one of"):
        plots.convergence(models, value="loss")
    with pytest.raises(ValueError, match="models is empty"):
        plots.convergence({})
    with pytest.raises(ValueError, match="plain has no history_: fit it with trace=True"):
        plots.convergence({"plain": SVC().fit(X, y)})
