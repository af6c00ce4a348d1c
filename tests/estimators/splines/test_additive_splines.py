"""Adaptive additive splines against SciPy's smoothing spline and the conditions of the minimum."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, make_smoothing_spline

from mercer import AdaptiveAdditiveSplines, FlexibleDiscriminantAnalysis
from mercer._jit import smoothing_spline
from mercer.problems.splines.natural_cubic import natural_spline
from trees import TREES, VOLUME

pytestmark = pytest.mark.core


def data(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 4))
    X[:, 1] = np.round(X[:, 1], 1)  # ties
    return X, np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.3 * rng.normal(size=n)


def penalty_matrix(knots):
    """Return the integral of the product of second derivatives of the cardinal natural splines."""
    C = CubicSpline(knots, np.eye(knots.size), bc_type="natural")(knots, 2)
    h = np.diff(knots)
    a, b = C[:-1], C[1:]
    return sum(
        h[i] / 6 * (np.outer(2 * a[i] + b[i], a[i]) + np.outer(a[i] + 2 * b[i], b[i])) for i in range(h.size)
    )


@pytest.mark.parametrize("lam", [1e-6, 1e-3, 0.5, 5.0])
def test_one_spline_is_scipys(lam):
    rng = np.random.default_rng(1)
    x = np.sort(rng.uniform(size=40))
    w, Y = rng.uniform(0.5, 2.0, size=40), rng.normal(size=(40, 2))
    G, C = np.empty((40, 2)), np.empty((40, 2))
    trace = smoothing_spline.smooth(np.diff(x), w, Y, lam, G, C)
    for k in range(2):
        theirs = make_smoothing_spline(x, Y[:, k], w=w, lam=lam)
        np.testing.assert_allclose(G[:, k], theirs(x), atol=1e-8)
        np.testing.assert_allclose(C[1:-1, k], theirs(x, 2)[1:-1], atol=1e-5 * max(1.0, np.abs(C).max()))
    S = np.linalg.solve(np.diag(w) + lam * penalty_matrix(x), np.diag(w))
    assert trace == pytest.approx(np.trace(S), rel=1e-6)  # to what the dense system can tell
    at = np.linspace(-0.5, 1.5, 60)
    inside = (at > x[0]) & (at < x[-1])
    theirs = make_smoothing_spline(x, Y[:, 0], w=w, lam=lam)(at[inside])
    np.testing.assert_allclose(natural_spline(at, x, G, C)[inside, 0], theirs, atol=1e-7)
    line = natural_spline(np.array([1.2, 1.3, 1.4]), x, G, C)
    np.testing.assert_allclose(line[2] - line[1], line[1] - line[0], atol=1e-9)  # straight beyond the points


@pytest.mark.parametrize("outputs", [1, 2])
def test_the_model_is_the_minimum_of_its_criterion(outputs):
    """Each term is SciPy's smoothing spline of what the others leave: the criterion is convex."""
    X, y = data()
    Y = np.column_stack([y, np.cos(X[:, 0]) + y])[:, :outputs]
    w = np.random.default_rng(5).uniform(0.5, 2.0, size=len(X))
    model = AdaptiveAdditiveSplines(cost=1.2).fit(X, Y if outputs > 1 else Y[:, 0], sample_weight=w)
    assert "smooth" in model.kinds_
    residual = Y - model.predict(X).reshape(len(X), -1)
    np.testing.assert_allclose(w @ residual, 0.0, atol=1e-7)
    for j, kind in enumerate(model.kinds_):
        ours = model.term(j, X[:, j])
        np.testing.assert_allclose(w @ ours, 0.0, atol=1e-7)
        if kind == "linear":
            np.testing.assert_allclose((w * X[:, j]) @ residual, 0.0, atol=1e-6)
        elif kind == "smooth":
            knots, places = np.unique(X[:, j], return_inverse=True)
            total = np.bincount(places, weights=w)
            for k in range(outputs):
                means = np.bincount(places, weights=w * (residual + ours)[:, k]) / total
                spline = make_smoothing_spline(knots, means, w=total, lam=model.penalties_[j])
                theirs = spline(X[:, j])
                np.testing.assert_allclose(ours[:, k], theirs - w @ theirs / w.sum(), atol=1e-6)


def test_degrees_of_freedom_and_cross_validation():
    X, y = data()
    n = len(y)
    model = AdaptiveAdditiveSplines(cost=2.0).fit(X, y)
    for j, kind in enumerate(model.kinds_):
        if kind == "smooth":
            knots, counts = np.unique(X[:, j], return_counts=True)
            S = np.linalg.solve(
                np.diag(counts) + model.penalties_[j] * penalty_matrix(knots), np.diag(counts)
            )
            assert model.df_[j] == pytest.approx(np.trace(S) - 1.0, rel=1e-5)
        else:
            assert model.df_[j] == (kind == "linear")
    error = ((y - model.predict(X)) ** 2).sum()
    charge = 1 + 2.0 * model.df_.sum()
    assert model.gcv_ == pytest.approx(error / (n * (1 - charge / n) ** 2), rel=1e-9)
    assert np.all(np.diff(model.gcv_path_) < 0)


def test_the_penalty_of_one_smooth_term_is_the_best_there_is():
    """With one variable the search is plain generalised cross-validation, here on a fine grid."""
    X, y = data()
    x = np.sort(X[:, 0])
    target = y[np.argsort(X[:, 0])]
    model = AdaptiveAdditiveSplines(cost=1.0, max_df=20).fit(x[:, None], target)
    Omega = penalty_matrix(x)

    def gcv(lam):
        S = np.linalg.solve(np.eye(x.size) + lam * Omega, np.eye(x.size))
        return ((target - S @ target) ** 2).sum() / (x.size * (1 - np.trace(S) / x.size) ** 2)

    grid = min(gcv(lam) for lam in model.penalties_[0] * np.logspace(-2, 2, 81))
    assert model.gcv_ == pytest.approx(gcv(model.penalties_[0]), rel=1e-6)
    assert model.gcv_ <= grid * (1 + 1e-6)


def test_terms_are_left_out_straight_or_smooth():
    X, y = data(n=300, seed=1)
    model = AdaptiveAdditiveSplines().fit(X, y)
    assert model.kinds_.tolist() == ["smooth", "linear", "excluded", "excluded"]
    np.testing.assert_array_equal(model.term(2, [0.3, 1.0]), 0.0)
    total = model.intercept_ + sum(model.term(j, X[:, j])[:, 0] for j in range(4))
    np.testing.assert_allclose(model.predict(X), total, atol=1e-12)
    from_nothing = AdaptiveAdditiveSplines(start_linear=False).fit(X, y)
    assert from_nothing.kinds_.tolist() == model.kinds_.tolist()
    np.testing.assert_allclose(from_nothing.predict(X), model.predict(X), atol=0.02)


def test_a_weight_of_two_is_the_row_twice():
    X, y = data()
    weight = np.ones(len(y))
    weight[:10], weight[20] = 2.0, 0.0
    kept = np.flatnonzero(weight > 0)
    twice = AdaptiveAdditiveSplines().fit(np.vstack([X[kept], X[:10]]), np.concatenate([y[kept], y[:10]]))
    weighed = AdaptiveAdditiveSplines().fit(X, y, weight)
    np.testing.assert_allclose(weighed.predict(X), twice.predict(X), atol=1e-6)


def test_the_trees():
    """R's bruto on its own example: both variables stay, with few degrees of freedom."""
    model = AdaptiveAdditiveSplines().fit(TREES, VOLUME)
    assert "excluded" not in model.kinds_
    assert model.score(TREES, VOLUME) > 0.97
    assert model.df_.max() <= 6.0


def test_flexible_discriminants_with_additive_splines():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 4))
    y = np.digitize((X[:, :2] ** 2).sum(axis=1), [1.0, 3.0])
    model = FlexibleDiscriminantAnalysis(regressor=AdaptiveAdditiveSplines()).fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.85
    assert model.regressor_.kinds_[:2].tolist() == ["smooth", "smooth"]
