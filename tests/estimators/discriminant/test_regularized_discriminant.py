"""Regularized discriminant analysis and its cross-validation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import LinAlgWarning
from scipy.special import softmax
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import NearestCentroid

from mercer.estimators.discriminant import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
)


def posterior_as_written(X, y, X_new, alpha, gamma):
    """Dense matrices, straight from the definition."""
    p = X.shape[1]
    labels = np.unique(y)
    own = [np.cov(X[y == k].T, bias=True) if (y == k).sum() > 1 else np.zeros((p, p)) for k in labels]
    pooled = sum((y == k).mean() * S for k, S in zip(labels, own, strict=True))
    pooled = gamma * pooled + (1.0 - gamma) * np.trace(pooled) / p * np.eye(p)
    scores = []
    for k, S in zip(labels, own, strict=True):
        mixed = alpha * S + (1.0 - alpha) * pooled
        offset = X_new - X[y == k].mean(axis=0)
        distance = np.einsum("ij,ij->i", offset, np.linalg.solve(mixed, offset.T).T)
        scores.append(np.log((y == k).mean()) - 0.5 * (distance + np.linalg.slogdet(mixed)[1]))
    return softmax(np.column_stack(scores), axis=1)


def test_corner_is_linear(data):
    X, y = data
    ours = RegularizedDiscriminantAnalysis(alpha=0.0, gamma=1.0).fit(X, y)
    linear = LinearDiscriminantAnalysis().fit(X, y)
    assert_array_equal(ours.predict(X), linear.predict(X))
    assert_allclose(ours.predict_proba(X), linear.predict_proba(X), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("gamma", [0.0, 0.4, 1.0])
def test_side_is_quadratic(data, gamma):
    X, y = data
    ours = RegularizedDiscriminantAnalysis(alpha=1.0, gamma=gamma).fit(X, y)
    quadratic = QuadraticDiscriminantAnalysis().fit(X, y)
    assert_array_equal(ours.predict(X), quadratic.predict(X))
    assert_allclose(ours.predict_proba(X), quadratic.predict_proba(X), rtol=1e-8, atol=1e-12)


def test_other_corner_is_the_nearest_centroid(data):
    X, y = data
    K = len(np.unique(y))
    ours = RegularizedDiscriminantAnalysis(alpha=0.0, gamma=0.0, priors=np.full(K, 1.0 / K)).fit(X, y)
    assert_array_equal(ours.predict(X), NearestCentroid().fit(X, y).predict(X))


@pytest.mark.parametrize(("alpha", "gamma"), [(0.3, 1.0), (0.7, 0.5), (0.0, 0.2), (0.9, 0.0), (0.5, 0.99)])
def test_formula(data, alpha, gamma):
    X, y = data
    model = RegularizedDiscriminantAnalysis(alpha=alpha, gamma=gamma).fit(X, y)
    expected = posterior_as_written(X, y, X, alpha, gamma)
    assert_allclose(model.predict_proba(X), expected, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize(("alpha", "gamma"), [(0.0, 0.5), (0.6, 0.3), (0.9, 0.0)])
def test_more_features_than_rows(wide, alpha, gamma):
    X, y = wide
    X_new = np.random.default_rng(1).normal(size=(20, X.shape[1]))
    model = RegularizedDiscriminantAnalysis(alpha=alpha, gamma=gamma).fit(X, y)
    assert_allclose(
        model.predict_proba(X_new), posterior_as_written(X, y, X_new, alpha, gamma), rtol=1e-6, atol=1e-12
    )


def test_more_features_than_rows_unshrunk(wide):
    X, y = wide
    with pytest.warns(LinAlgWarning, match="pooled covariance is singular: rank 25 for 40"):
        model = RegularizedDiscriminantAnalysis(alpha=0.0, gamma=1.0).fit(X, y)
    with pytest.warns(LinAlgWarning, match="within-class"):
        linear = LinearDiscriminantAnalysis().fit(X, y)
    assert_allclose(model.predict_proba(X), linear.predict_proba(X), rtol=1e-6, atol=1e-12)


def test_class_with_one_row(two_classes):
    X, y = two_classes
    X, y = np.vstack([X, [[5.0, 5.0, 5.0, 5.0]]]), np.append(y, 2)
    model = RegularizedDiscriminantAnalysis(alpha=0.5, gamma=0.9).fit(X, y)
    assert_allclose(model.predict_proba(X), posterior_as_written(X, y, X, 0.5, 0.9), rtol=1e-7, atol=1e-12)
    with pytest.raises(ValueError, match=r"class 2 \(1 row\(s\)\)"):
        RegularizedDiscriminantAnalysis(alpha=1.0).fit(X, y)


def test_stored_covariances(three_classes):
    X, y = three_classes
    model = RegularizedDiscriminantAnalysis(alpha=0.3, gamma=0.6, store_covariance=True).fit(X, y)
    linear = LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    W = linear.covariance_
    common = 0.6 * W + 0.4 * np.trace(W) / 5 * np.eye(5)
    for k in range(3):
        own = np.cov(X[y == k].T, bias=True)
        assert_allclose(model.covariance_[k], 0.3 * own + 0.7 * common, rtol=1e-9)


class TestCrossValidation:
    @pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss"])
    def test_surface_equals_the_slow_loop(self, three_classes, scoring):
        X, y = three_classes
        alphas, gammas = [0.0, 0.35, 0.8, 1.0], [0.0, 0.5, 1.0]
        cv = StratifiedKFold(3)
        model = RegularizedDiscriminantAnalysis(
            alpha="cv", gamma="cv", alphas=alphas, gammas=gammas, cv=cv, scoring=scoring
        ).fit(X, y)
        for i, alpha in enumerate(alphas):
            for j, gamma in enumerate(gammas):
                plain = RegularizedDiscriminantAnalysis(alpha=alpha, gamma=gamma)
                scores = cross_val_score(plain, X, y, cv=cv, scoring=scoring)
                assert_allclose(model.cv_results_["split_test_scores"][:, i, j], scores, rtol=1e-8)
        mean = model.cv_results_["mean_test_score"]
        assert model.best_score_ == pytest.approx(mean.max())
        assert mean[alphas.index(model.alpha_), gammas.index(model.gamma_)] == pytest.approx(mean.max())
        chosen = RegularizedDiscriminantAnalysis(alpha=model.alpha_, gamma=model.gamma_).fit(X, y)
        assert_allclose(model.predict_proba(X), chosen.predict_proba(X))

    def test_equals_are_settled_by_regularization(self):
        # Classes so far apart that every pair is right.
        rng = np.random.default_rng(0)
        X = np.vstack([rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 50.0])
        model = RegularizedDiscriminantAnalysis(alpha="cv", gamma="cv").fit(X, np.repeat([0, 1], 20))
        assert (model.alpha_, model.gamma_, model.best_score_) == (0.0, 0.0, 1.0)

    def test_one_parameter_alone(self, three_classes):
        X, y = three_classes
        model = RegularizedDiscriminantAnalysis(alpha="cv", gamma=0.7).fit(X, y)
        assert model.gamma_ == 0.7
        assert model.cv_results_["mean_test_score"].shape == (11, 1)
        assert model.cv_results_["split_test_scores"].shape == (5, 11, 1)
        model = RegularizedDiscriminantAnalysis(alpha=0.2, gamma="cv", gammas=[1.0, 0.5]).fit(X, y)
        assert model.alpha_ == 0.2
        assert_array_equal(model.cv_results_["gammas"], [0.5, 1.0])

    def test_points_without_a_density_are_not_chosen(self, wide):
        X, y = wide
        model = RegularizedDiscriminantAnalysis(
            alpha="cv", gamma="cv", alphas=[0.5, 1.0], gammas=[0.5], cv=3
        ).fit(X, y)
        assert_array_equal(np.isnan(model.cv_results_["mean_test_score"]), [[False], [True]])
        assert model.alpha_ == 0.5
        with pytest.raises(ValueError, match="Include alphas below 1"):
            RegularizedDiscriminantAnalysis(alpha="cv", alphas=[1.0], gamma=0.5, cv=3).fit(X, y)

    def test_class_absent_from_a_split(self, two_classes):
        X, y = two_classes
        X, y = np.vstack([X, [[5.0, 5.0, 5.0, 5.0]]]), np.append(y, 2)
        rows = np.arange(len(y))
        splits = [(rows[:-10], rows[-10:]), (rows[10:], rows[:10])]
        model = RegularizedDiscriminantAnalysis(alpha="cv", cv=splits, alphas=[0.0, 0.5]).fit(X, y)
        assert model.cv_results_["split_test_scores"][0].max() <= 0.9
        with pytest.raises(ValueError, match="needs every class in every training split"):
            RegularizedDiscriminantAnalysis(alpha="cv", cv=splits, scoring="neg_log_loss").fit(X, y)

    def test_split_of_one_class(self, two_classes):
        X, y = two_classes
        splits = [(np.flatnonzero(y == 0), np.flatnonzero(y == 1))]
        with pytest.raises(ValueError, match="fewer than two classes"):
            RegularizedDiscriminantAnalysis(alpha="cv", cv=splits).fit(X, y)

    def test_priors_are_used(self, three_classes):
        X, y = three_classes
        priors = [0.8, 0.1, 0.1]
        model = RegularizedDiscriminantAnalysis(
            alpha="cv", alphas=[0.5], cv=3, priors=priors, scoring="neg_log_loss"
        ).fit(X, y)
        expected = []
        for train, test in StratifiedKFold(3).split(X, y):
            plain = RegularizedDiscriminantAnalysis(alpha=0.5, priors=priors).fit(X[train], y[train])
            expected.append(-log_loss(y[test], plain.predict_proba(X[test])))
        assert model.best_score_ == pytest.approx(np.mean(expected))

    def test_refit_forgets(self, three_classes):
        X, y = three_classes
        model = RegularizedDiscriminantAnalysis(alpha="cv").fit(X, y)
        model.set_params(alpha=0.5).fit(X, y)
        assert not hasattr(model, "cv_results_")

    def test_grid_without_search_is_refused(self, three_classes):
        with pytest.raises(ValueError, match=r"alphas=\[0.1\] is the grid of alpha='cv', but alpha=0.5"):
            RegularizedDiscriminantAnalysis(alphas=[0.1]).fit(*three_classes)
