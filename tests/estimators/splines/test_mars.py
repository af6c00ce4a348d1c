"""Multivariate adaptive regression splines against published fits and against searches by brute force."""

import itertools

import numpy as np
import pytest

from mercer import MARS, FlexibleDiscriminantAnalysis
from mercer.problems.splines.hinges import HingeTerms
from mercer.solvers.splines.hinge_passes import backward_pass, forward_pass
from trees import TREES, VOLUME

pytestmark = pytest.mark.core


def least_squares(B, Y):
    coef = np.linalg.lstsq(B, Y, rcond=None)[0]
    return coef, float(((Y - B @ coef) ** 2).sum())


def test_the_published_fit_of_the_trees():
    """The summary that the documentation of R's earth prints for earth(Volume ~ ., data = trees)."""
    model = MARS().fit(TREES, VOLUME)
    found = dict(zip(model.term_names(["Girth", "Height"]), model.coef_, strict=True))
    published = {
        "(Intercept)": 29.0599535, "h(14.2-Girth)": -3.4198062, "h(Girth-14.2)": 6.2295143,
        "h(Height-75)": 0.5813644,
    }  # fmt: skip
    assert found == pytest.approx(published, abs=5e-8)
    assert model.rss_ == pytest.approx(209.1139, abs=5e-5)
    assert model.gcv_ == pytest.approx(11.25439, abs=5e-6)
    assert model.score(TREES, VOLUME) == pytest.approx(0.9742029, abs=5e-8)


def test_the_published_model_of_mda():
    """mda's mars on the trees, as earth's documentation prints it: 19.76 + 5.40 h(Girth-12) - ..., GCV 13."""
    terms = HingeTerms.constant(1)
    for variable, knot, sign in ((0, 12.0, 1), (0, 12.0, -1), (1, 76.0, 1)):
        terms = terms.child(0, variable, knot, sign)
    fit = backward_pass(terms, TREES, VOLUME[:, None], penalty=2.0, prune=False)
    np.testing.assert_allclose(fit.coef[:, 0], [19.76, 5.40, -2.56, 0.72], atol=0.005)
    assert round(fit.squared_error) == 251
    assert round(fit.gcv) == 13


@pytest.mark.parametrize(("degree", "outputs"), [(1, 1), (2, 1), (2, 3)])
def test_each_step_is_the_best_of_all_pairs(degree, outputs):
    """Every parent, variable and knot by brute force: the error after each step is the least possible."""
    rng = np.random.default_rng(degree + outputs)
    X = rng.normal(size=(35, 3))
    X[:, 2] = np.round(X[:, 2])  # ties
    truth = np.maximum(X[:, 0] - 0.3, 0) * np.maximum(X[:, 1], 0) + np.abs(X[:, 2])
    Y = truth[:, None] * np.arange(1, outputs + 1) + 0.1 * rng.normal(size=(35, outputs))
    options = {"degree": degree, "threshold": 0.0, "minspan": 1, "endspan": 0}
    for most in (3, 5, 7):
        before = forward_pass(X, Y, most=most - 2, **options)
        after = forward_pass(X, Y, most=most, **options)
        B = before.design(X)
        best = np.inf
        for m, v in itertools.product(range(B.shape[1]), range(3)):
            if v in before.variables[m] or before.degrees[m] >= degree:
                continue
            for t in X[B[:, m] > 0, v]:
                pair = [B[:, m] * np.maximum(X[:, v] - t, 0), B[:, m] * np.maximum(t - X[:, v], 0)]
                best = min(best, least_squares(np.column_stack([B, *pair]), Y)[1])
        assert least_squares(after.design(X), Y)[1] == pytest.approx(best, rel=1e-7)


def test_pruning_drops_what_is_missed_least_and_keeps_the_best_by_cross_validation():
    rng = np.random.default_rng(3)
    X, n = rng.normal(size=(60, 2)), 60
    y = np.maximum(X[:, 0], 0) + 0.3 * rng.normal(size=n)
    terms = forward_pass(X, y[:, None], degree=1, most=11, threshold=0.0, minspan=3, endspan=3)
    kept = list(range(terms.variables.shape[0]))
    best = None
    while True:
        coef, error = least_squares(terms.design(X)[:, kept], y)
        charge = len(kept) + 2.0 * (len(kept) - 1) / 2
        gcv = error / (n * (1 - charge / n) ** 2)
        if best is None or gcv <= best[0]:
            best = (gcv, kept.copy(), coef, error)
        if len(kept) == 1:
            break
        losses = [least_squares(terms.design(X)[:, [k for k in kept if k != j]], y)[1] for j in kept[1:]]
        del kept[1 + int(np.argmin(losses))]
    fit = backward_pass(terms, X, y[:, None], penalty=2.0, prune=True)
    assert fit.gcv == pytest.approx(best[0], rel=1e-9)
    np.testing.assert_array_equal(fit.terms.knots, terms.knots[best[1]])
    np.testing.assert_allclose(fit.coef[:, 0], best[2], rtol=1e-7, atol=1e-9)


def test_an_interaction_is_found_and_noise_left_out():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(400, 6))
    y = 3.0 * np.maximum(X[:, 0], 0) * np.maximum(0.2 - X[:, 3], 0) + 0.02 * rng.normal(size=400)
    model, additive = MARS(degree=2).fit(X, y), MARS(degree=1).fit(X, y)
    assert set(model.features_used_) == {0, 3}
    assert model.score(X, y) > 0.97 > additive.score(X, y)
    assert model.n_terms_ <= model.n_forward_terms_
    assert all(name.count("h(") <= 2 for name in model.term_names())


def test_several_targets_share_their_terms():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 2))
    Y = np.column_stack([np.abs(X[:, 0]), np.abs(X[:, 0]) + X[:, 1]])
    model = MARS().fit(X, Y)
    assert model.predict(X).shape == (80, 2)
    assert model.coef_.shape == (model.n_terms_, 2)
    B = model._terms().design(X)
    np.testing.assert_allclose(model.coef_, least_squares(B, Y)[0], atol=1e-8)
    twice = MARS().fit(X, np.column_stack([Y[:, 0], Y[:, 0]]))
    np.testing.assert_allclose(twice.predict(X)[:, 0], MARS().fit(X, Y[:, 0]).predict(X), atol=1e-9)


def test_nothing_to_learn_gives_the_mean():
    X = np.arange(20.0)[:, None]
    assert MARS().fit(X, np.full(20, 3.0)).predict([[50.0]]) == pytest.approx([3.0])
    assert MARS().fit(np.ones((20, 2)), np.arange(20.0)).n_terms_ == 1


def test_flexible_discriminants_with_hinges():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 2))
    y = np.digitize((X**2).sum(axis=1), [1.0, 3.0])
    model = FlexibleDiscriminantAnalysis(regressor=MARS(degree=2)).fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.85
    assert FlexibleDiscriminantAnalysis(regressor=MARS()).fit(X, y).regressor_.coef_.shape[1] == 2
