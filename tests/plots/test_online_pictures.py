"""Pictures of what was lost."""

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

from mercer import SVC, KernelPerceptron, OnlineSVR, Perceptron, plots  # noqa: E402
from mercer.kernels import RBF  # noqa: E402


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def stream():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def test_the_curves_are_the_tallies(stream):
    X, y = stream
    models = {
        "linear": Perceptron().partial_fit(X, y, classes=[0, 1]),
        "rbf": KernelPerceptron(kernel=RBF(1.0)).partial_fit(X, y, classes=[0, 1]),
    }
    ax = plots.cumulative_loss(models, bound=50.0)
    for line, (name, model) in zip(ax.lines, models.items(), strict=False):
        assert line.get_label() == f"{name}: {model.mistakes_}"
        assert line.get_ydata()[-1] == model.mistakes_
        assert line.get_xdata()[[0, -1]].tolist() == [0.0, 200.0]
    assert len(ax.lines) == 3
    assert ax.get_legend_handles_labels()[1][-1] == "bound: 50"
    again = plots.cumulative_loss(models["rbf"], rate=True, ax=plt.figure().add_subplot())
    np.testing.assert_allclose(again.lines[0].get_ydata()[-1], models["rbf"].mistakes_ / 200)
    assert len(plots.cumulative_loss(models["rbf"], bound=np.inf).lines) == 1


def test_losses_of_a_regressor(stream):
    X, _ = stream
    model = OnlineSVR().partial_fit(X, np.sin(X[:, 0]))
    ax = plots.cumulative_loss(model, what="loss")
    assert ax.lines[0].get_ydata()[-1] == model.loss_
    assert ax.get_ylabel() == "loss so far"


def test_what_cannot_be_drawn_is_named(stream):
    X, y = stream
    with pytest.raises(TypeError, match="SVC, which counts no losses"):
        plots.cumulative_loss(SVC().fit(X, y))
    with pytest.raises(ValueError, match="what='gain'"):
        plots.cumulative_loss(Perceptron(), what="gain")
    with pytest.raises(ValueError, match="empty"):
        plots.cumulative_loss({})
