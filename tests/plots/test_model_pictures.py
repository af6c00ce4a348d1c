"""What is in the pictures of fitted models, and that drawing leaves no trace."""

import builtins
import io
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import mercer
from clouds import blobs
from mercer import plots


@pytest.fixture
def moons():
    return blobs(60, 2, 2, seed=0)


@pytest.fixture
def three():
    return blobs(90, 2, 3, seed=1)


@pytest.fixture
def curve():
    t = np.linspace(0.0, 6.0, 40)
    return t[:, None], np.sin(t) + 0.1 * np.random.default_rng(0).standard_normal(40)


def labels(ax):
    return ax.get_legend_handles_labels()[1]


def scattered(ax, label):
    handles, names = ax.get_legend_handles_labels()
    return np.asarray(handles[names.index(label)].get_offsets())


def png(ax):
    target = io.BytesIO()
    ax.figure.savefig(target, format="png")
    return target.getbuffer().nbytes


class TestDecisionRegions:
    def test_svc_has_margins_and_support_vectors(self, moons):
        X, y = moons
        model = mercer.SVC().fit(X, y)
        ax = plots.decision_regions(model, X, y, title="two clouds")
        assert labels(ax) == ["0", "1", "decision boundary", "margin", "support vector"]
        assert_allclose(scattered(ax, "support vector"), model.support_vectors_)
        assert_allclose(scattered(ax, "1"), X[y == 1])
        assert ax.get_title() == "two clouds"
        assert png(ax) > 10_000

    @pytest.mark.parametrize(
        "model",
        [
            mercer.LinearDiscriminantAnalysis(),
            mercer.QuadraticDiscriminantAnalysis(),
            mercer.KernelFisherDiscriminant(),
            mercer.SVC(),
            KNeighborsClassifier(),  # no decision function
            DecisionTreeClassifier(random_state=0),
        ],
        ids=lambda model: type(model).__name__,
    )
    @pytest.mark.parametrize("classes", [2, 3])
    def test_any_classifier(self, model, classes):
        X, y = blobs(60, 2, classes, seed=2)
        names = np.array(["ant", "bee", "cow"])[y]
        ax = plots.decision_regions(model.fit(X, names), X, names, resolution=60)
        assert labels(ax)[:classes] == ["ant", "bee", "cow"][:classes]
        left, right = ax.get_xlim()
        assert left < X[:, 0].min()
        assert right > X[:, 0].max()

    def test_regions_are_the_predictions(self, three):
        X, y = three
        model = mercer.LinearDiscriminantAnalysis().fit(X, y)
        ax = plots.decision_regions(model, X, y, resolution=80)
        filled = next(c for c in ax.collections if hasattr(c, "levels") and len(c.levels) == 4)
        inside = [
            [path.contains_point(x) for path in filled.get_paths()].index(True)
            for x in X
            if sum(path.contains_point(x) for path in filled.get_paths()) == 1
        ]
        agree = np.array(inside) == model.predict(X)[: len(inside)] if len(inside) == len(X) else [False]
        assert np.mean(agree) > 0.97  # the grid is coarse

    def test_options(self, moons):
        X, y = moons
        model = mercer.SVC().fit(X, y)
        ax = plots.decision_regions(model, X, y, margins=False, support=False)
        assert labels(ax) == ["0", "1", "decision boundary"]
        lda = mercer.LinearDiscriminantAnalysis().fit(X, y)
        with pytest.raises(ValueError, match="has no support vectors in the plane"):
            plots.decision_regions(lda, X, y, support=True)

    def test_one_class_wins_everywhere(self, moons):
        X, y = moons
        model = mercer.LinearDiscriminantAnalysis(priors=[1.0, 0.0]).fit(X, y)
        assert "0" in labels(plots.decision_regions(model, X, y, resolution=30))

    def test_frames_keep_their_names(self, moons):
        pandas = pytest.importorskip("pandas")
        X, y = moons
        frame = pandas.DataFrame(X, columns=["length", "width"])
        ax = plots.decision_regions(mercer.SVC().fit(frame, y), frame, y, resolution=30)
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("length", "width")

    def test_refusals(self, moons):
        X, y = moons
        model = mercer.SVC().fit(X, y)
        with pytest.raises(ValueError, match=r"2 features to be drawn in a plane, its shape is \(60, 1\)"):
            plots.decision_regions(model, X[:, :1], y)
        with pytest.raises(ValueError, match=r"y has shape \(59,\); for 60 rows"):
            plots.decision_regions(model, X, y[:-1])


class TestCanonicalVariates:
    @pytest.mark.parametrize(
        "model",
        [
            mercer.LinearDiscriminantAnalysis(),
            mercer.FlexibleDiscriminantAnalysis(),
            mercer.PenalizedDiscriminantAnalysis(),
            mercer.KernelFisherDiscriminant(),
            mercer.MixtureDiscriminantAnalysis(random_state=0),
        ],
        ids=lambda model: type(model).__name__,
    )
    def test_points_and_centroids(self, model):
        X, y = blobs(120, 5, 4, seed=3)
        Z = np.asarray(model.fit(X, y).transform(X))
        ax = plots.canonical_variates(model, X, y)
        assert labels(ax) == ["0", "1", "2", "3", "centroid"]
        assert_allclose(scattered(ax, "2"), Z[y == 2][:, :2])
        drawn = np.vstack([c.get_offsets() for c in ax.collections if len(c.get_offsets()) == 1])
        for k in range(4):
            assert np.isclose(drawn, Z[y == k][:, :2].mean(axis=0)).all(axis=1).any()
        assert ax.get_xlabel() == "canonical variate 1"
        assert ax.get_aspect() == 1.0
        assert png(ax) > 10_000

    def test_other_components(self):
        X, y = blobs(120, 5, 4, seed=3)
        model = mercer.LinearDiscriminantAnalysis().fit(X, y)
        ax = plots.canonical_variates(model, X, y, components=(2, 0))
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("canonical variate 3", "canonical variate 1")
        with pytest.raises(ValueError, match=r"components=\(0, 3\): this model has 3 canonical variate"):
            plots.canonical_variates(model, X, y, components=(0, 3))

    def test_more_classes_than_colours_stay_apart(self):
        X, y = blobs(220, 5, 11, seed=3)
        ax = plots.canonical_variates(mercer.LinearDiscriminantAnalysis().fit(X, y), X, y)
        points = [c for c in ax.collections if len(c.get_offsets()) == 20]
        looks = {(tuple(c.get_facecolor()[0]), c.get_paths()[0].vertices.tobytes()) for c in points}
        assert len(looks) == 11


class TestRDAError:
    def test_cross_validated(self, three):
        X, y = three
        model = mercer.RegularizedDiscriminantAnalysis(alpha="cv").fit(X, y)
        ax = plots.rda_error(model)
        line = next(line for line in ax.lines if line.get_label() == "cross-validated error")
        assert_allclose(line.get_ydata(), 1.0 - model.cv_results_["mean_test_score"][:, 0])
        assert f"chosen $\\alpha$ = {model.alpha_:g}" in labels(ax)

    def test_training_and_test(self, three):
        X, y = three
        model = mercer.RegularizedDiscriminantAnalysis(alpha=0.5).fit(X[:60], y[:60])
        ax = plots.rda_error(model, train=(X[:60], y[:60]), test=(X[60:], y[60:]), alphas=[0.0, 0.5, 1.0])
        drawn = {line.get_label(): line.get_ydata() for line in ax.lines}
        assert set(drawn) == {"test error", "training error"}
        assert drawn["training error"][1] == pytest.approx(1.0 - model.score(X[:60], y[:60]))
        assert drawn["test error"][1] == pytest.approx(1.0 - model.score(X[60:], y[60:]))
        lda = mercer.LinearDiscriminantAnalysis().fit(X[:60], y[:60])
        assert drawn["test error"][0] == pytest.approx(1.0 - lda.score(X[60:], y[60:]))

    def test_an_alpha_without_a_fit_is_a_gap(self):
        X, y = blobs(30, 2, 3, seed=1)
        keep = np.concatenate([np.flatnonzero(y != 2), np.flatnonzero(y == 2)[:1]])
        X, y = X[keep], y[keep]  # a class with one row has no covariance of its own
        model = mercer.RegularizedDiscriminantAnalysis(alpha=0.5).fit(X, y)
        ax = plots.rda_error(model, train=(X, y), alphas=[0.0, 0.5, 1.0])
        assert np.isnan(ax.lines[0].get_ydata()).tolist() == [False, False, True]

    def test_refusals(self, three):
        X, y = three
        model = mercer.RegularizedDiscriminantAnalysis(alpha=0.5).fit(X, y)
        with pytest.raises(ValueError, match="nothing to draw"):
            plots.rda_error(model)
        model = mercer.RegularizedDiscriminantAnalysis(alpha="cv").fit(X, y)
        with pytest.raises(ValueError, match="needs train"):
            plots.rda_error(model, test=(X, y))
        model = mercer.RegularizedDiscriminantAnalysis(alpha="cv", scoring="neg_log_loss").fit(X, y)
        with pytest.raises(ValueError, match="is no error rate"):
            plots.rda_error(model)


class TestTube:
    @pytest.mark.parametrize("model", [mercer.SVR(epsilon=0.2), mercer.NuSVR()], ids=["SVR", "NuSVR"])
    def test_function_and_edges(self, model, curve):
        X, y = curve
        model.fit(X, y)
        width = getattr(model, "epsilon_", 0.2)
        ax = plots.tube(model, X, y)
        assert labels(ax)[0] == rf"tube, $\varepsilon$ = {width:.3g}"
        assert labels(ax)[1:] == ["prediction", "data", "support vector"]
        lower, upper, middle = (line.get_ydata() for line in ax.lines[:3])
        assert_allclose(upper - middle, width)
        assert_allclose(middle - lower, width)
        assert_allclose(middle, model.predict(ax.lines[2].get_xdata()[:, None]))
        assert_allclose(scattered(ax, "support vector")[:, 1], y[model.support_])
        assert png(ax) > 10_000

    def test_refusals(self, curve):
        X, y = curve
        model = mercer.SVR().fit(X, y)
        with pytest.raises(ValueError, match="must have 1 feature"):
            plots.tube(model, np.hstack([X, X]), y)
        with pytest.raises(ValueError, match="y has shape"):
            plots.tube(model, X, y[:-1])
        with pytest.raises(ValueError, match="KNeighborsClassifier has no epsilon"):
            plots.tube(KNeighborsClassifier().fit(X, y > 0), X, y)


class TestIntervals:
    @pytest.fixture
    def process(self):
        rng = np.random.default_rng(0)
        X = rng.uniform(0.0, 6.0, size=(40, 1))
        y = np.sin(X[:, 0]) + 0.2 * rng.normal(size=40)
        return mercer.GaussianProcessRegressor(noise="auto", random_state=0).fit(X, y), X, y

    def test_the_band_includes_the_noise(self, process):
        model, X, y = process
        ax = plots.intervals(model, X, y)
        mean, std = model.predict(X, return_std=True, noise=True)
        inside = np.abs(y - mean) <= 1.6448536 * std
        assert labels(ax)[0] == f"90 % interval (holds {100 * inside.mean():.0f} %)"
        assert_allclose(scattered(ax, "outside"), np.c_[X[~inside], y[~inside]])
        grid = ax.lines[0].get_xdata()
        middle, wide = model.predict(grid[:, None], return_std=True, noise=True)
        top = ax.collections[0].get_paths()[0].vertices[:, 1].max()
        assert_allclose(top, (middle + 1.6448536 * wide).max(), rtol=1e-6)
        assert png(ax) > 10_000

    def test_rows_of_several_features_are_ordered(self, process):
        _, X, y = process
        wide = np.hstack([X, np.cos(X)])
        model = mercer.GaussianProcessRegressor(noise=0.04, optimizer=None).fit(wide, y)
        ax = plots.intervals(model, wide, y, level=0.5)
        assert (np.diff(ax.lines[0].get_ydata()) >= 0).all()
        assert labels(ax)[0].startswith("50 % interval")

    def test_refusals(self, process):
        model, X, y = process
        with pytest.raises(ValueError, match="between 0 and 1"):
            plots.intervals(model, X, y, level=90)
        with pytest.raises(ValueError, match="y has shape"):
            plots.intervals(model, X, y[:-1])
        with pytest.raises(TypeError, match="SVR has no prediction intervals"):
            plots.intervals(mercer.SVR().fit(X, y), X, y)


class TestLevelSets:
    @pytest.mark.parametrize(
        "model",
        [mercer.SVDD(nu=0.2), mercer.OneClassSVM(nu=0.2), mercer.SphereAndSlab()],
        ids=lambda model: type(model).__name__,
    )
    def test_points_and_boundary(self, model, moons):
        X, _ = moons
        inside = model.fit(X).predict(X) > 0
        ax = plots.level_sets(model, X, resolution=80)
        assert "boundary" in labels(ax)
        assert_allclose(scattered(ax, "inside"), X[inside])
        if not inside.all():
            assert_allclose(scattered(ax, "novelty"), X[~inside])
        border = [c for c in ax.collections if hasattr(c, "levels") and len(c.levels) == 1]
        assert len(border) == 1
        vertices = np.vstack([path.vertices for path in border[0].get_paths()])
        values = model.decision_function(np.array(X))
        assert np.abs(model.decision_function(vertices)).max() < 0.05 * np.abs(values).max() + 1e-3
        assert png(ax) > 10_000


def all_pictures(moons, curve):
    X, y = moons
    yield lambda ax: plots.decision_regions(mercer.SVC().fit(X, y), X, y, ax=ax, resolution=30)
    yield lambda ax: plots.level_sets(mercer.SVDD().fit(X), X, ax=ax, resolution=30)
    yield lambda ax: plots.tube(mercer.SVR().fit(*curve), *curve, ax=ax)
    three = blobs(60, 3, 3, seed=0)
    lda = mercer.LinearDiscriminantAnalysis().fit(*three)
    yield lambda ax: plots.canonical_variates(lda, *three, ax=ax)
    rda = mercer.RegularizedDiscriminantAnalysis(alpha="cv", cv=2).fit(*three)
    yield lambda ax: plots.rda_error(rda, ax=ax)


def test_given_axes_are_used_and_nothing_else_changes(moons, curve):
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    before = dict(mpl.rcParams)
    for draw in all_pictures(moons, curve):
        figure, (left, right) = plt.subplots(1, 2)
        assert draw(right) is right
        assert not left.has_data()
        assert plt.get_fignums() == [figure.number]
        plt.close(figure)
    assert dict(mpl.rcParams) == before


def test_nothing_is_cut_off(moons, curve):
    for draw in all_pictures(moons, curve):
        ax = draw(None)
        ax.set_title("A title")
        figure = ax.figure
        figure.canvas.draw()
        for artist in (ax.get_legend(), ax.title, ax.xaxis.label, ax.yaxis.label):
            box = artist.get_window_extent()
            assert box.x0 >= -1
            assert box.y0 >= -1
            assert box.x1 <= figure.bbox.x1 + 1
            assert box.y1 <= figure.bbox.y1 + 1


def test_matplotlib_is_imported_late():
    code = "import sys, mercer, mercer.plots; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib_the_extra_is_named(monkeypatch, moons):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    X, y = moons
    model = mercer.SVC().fit(X, y)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r'pip install "mercer\[plots\]"'):
        plots.decision_regions(model, X, y)
