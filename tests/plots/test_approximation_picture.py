"""The picture of what features in the place of a kernel cost."""

import numpy as np
import pytest

from mercer import SVC, plots
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


def test_scores_and_distances_are_those_of_the_machines():
    X, y = clouds(60, 5)
    models = [SVC(approximation="nystroem", n_components=m).fit(X, y) for m in (40, 5, 15)]
    exact = SVC().fit(X, y)
    score, distance = plots.approximation(models, X, y, exact=exact)
    m, drawn = score.lines[0].get_data()
    assert m.tolist() == [5, 15, 40]
    np.testing.assert_allclose(drawn, [models[k].score(X, y) for k in (1, 2, 0)])
    np.testing.assert_allclose(score.lines[1].get_ydata()[0], exact.score(X, y))
    gaps = distance.lines[0].get_ydata()
    np.testing.assert_allclose(gaps, [models[k].distance_from_exact_.relative_gap for k in (1, 2, 0)])
    assert distance.get_yscale() == "log"
    distance.figure.canvas.draw()


def test_refusals():
    X, y = clouds(30, 5)
    with pytest.raises(ValueError, match="exact machine"):
        plots.approximation([SVC().fit(X, y)])
    with pytest.raises(ValueError, match="empty"):
        plots.approximation([])
    model = SVC(approximation="features", n_components=5).fit(X, y)
    with pytest.raises(ValueError, match="belong together"):
        plots.approximation([model], X)
