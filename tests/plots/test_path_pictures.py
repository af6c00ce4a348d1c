"""Pictures of a path."""

from itertools import pairwise

import numpy as np
import pytest

from mercer import SVCPath, SVRPath, plots
from naive_path import clouds

matplotlib = pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def _no_screen():
    before = matplotlib.get_backend()
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")
    matplotlib.use(before)


def test_coefficients_margin_and_error_are_those_of_the_machines():
    X, y = clouds(40, 31)
    new, truth = clouds(60, 32)
    path = SVCPath(C_max=100.0).fit(X, y)
    coefficients, margin, error = plots.path(path, new, truth)
    assert coefficients.get_xscale() == "log"
    (line,) = margin.lines
    C, drawn = line.get_data()
    k = C.size // 2
    np.testing.assert_allclose(drawn[k], path.at(C[k]).margin_)
    training, held_out = error.lines
    np.testing.assert_allclose(training.get_ydata()[k], 1 - path.at(C[k]).score(X, y))
    np.testing.assert_allclose(held_out.get_ydata()[k], 1 - path.at(C[k]).score(new, truth))
    table = np.array([one.get_ydata() for one in coefficients.lines])
    assert table.min() >= 0.0
    assert table.max() <= 1.0
    assert len(table) == (np.ptp(path.alphas_, axis=0) > 0).sum()
    np.testing.assert_allclose(C[-1], 100.0)


def test_a_regression_and_given_axes():
    import matplotlib.pyplot as plt

    X, _ = clouds(40, 33)
    target = X[:, 0] + 0.1 * X[:, 1]
    path = SVRPath(C_max=100.0, epsilon=0.2).fit(X, target)
    figure, axes = plt.subplots(3, 1)
    drawn = plots.path(path, axes=tuple(axes))
    assert list(drawn) == list(axes)
    C, values = axes[2].lines[0].get_data()
    k = C.size // 2
    np.testing.assert_allclose(values[k], np.abs(path.at(C[k]).predict(X) - target).mean())
    figure.canvas.draw()


def test_more_classes_and_refusals():
    X, y = clouds(40, 34)
    three = np.where(X[:, 1] > 0.8, 2.0, y)
    path = SVCPath(C_max=10.0).fit(X, three)
    plots.path(path, number=2)
    with pytest.raises(ValueError, match="number=3 must be at least 0 and less than 3"):
        plots.path(path, number=3)
    with pytest.raises(ValueError, match="two classes or a regression only"):
        plots.path(path, X, three)
    with pytest.raises(ValueError, match="X and y belong together"):
        plots.path(path, X)


def test_labels_are_few_and_plain_and_the_legend_leaves_the_panels_their_width():
    X, y = clouds(30, 35)
    coefficients, margin, error = plots.path(SVCPath(C_max=3.0, kernel="linear").fit(X, y), X, y)
    figure = margin.figure
    figure.canvas.draw()
    texts = [text for text in margin.get_yticklabels(which="both") if text.get_text()]
    assert all(float(text.get_text()) > 0 for text in texts)  # 0.5, not 5 times a power of ten
    low, high = margin.get_ylim()
    boxes = sorted(
        (text.get_window_extent() for text in texts if low <= float(text.get_text()) <= high),
        key=lambda box: box.y0,
    )
    assert len(boxes) >= 2
    assert all(below.y1 <= above.y0 for below, above in pairwise(boxes))
    assert error.get_legend().get_window_extent().x1 <= error.bbox.x1 + 1
    assert coefficients.bbox.x1 > 0.95 * figure.bbox.x1
