"""Flexible discriminant analysis by optimal scoring."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import LinAlgWarning
from sklearn.datasets import make_circles
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from mercer import KernelRidge
from mercer.estimators.discriminant import (
    FlexibleDiscriminantAnalysis,
    LinearDiscriminantAnalysis,
    PenalizedDiscriminantAnalysis,
)


class OneOutput(LinearRegression):
    """A linear regression that says it can take one output only."""

    def fit(self, X, y):
        assert np.ndim(y) == 1
        return super().fit(X, y)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags


@pytest.mark.parametrize("regressor", [LinearRegression(), OneOutput()], ids=["multi", "single"])
@pytest.mark.parametrize("given", [False, True], ids=["proportions", "priors"])
def test_linear_regression_is_linear_discriminant_analysis(data, regressor, given):
    X, y = data
    K = len(np.unique(y))
    priors = np.arange(1.0, K + 1.0) / (K * (K + 1) / 2) if given else None
    flexible = FlexibleDiscriminantAnalysis(regressor=regressor, priors=priors).fit(X, y)
    linear = LinearDiscriminantAnalysis(priors=priors).fit(X, y)
    assert_array_equal(flexible.predict(X), linear.predict(X))
    assert_allclose(flexible.predict_proba(X), linear.predict_proba(X), rtol=1e-7, atol=1e-12)


def test_canonical_variates_of_linear_regression(data):
    X, y = data
    flexible = FlexibleDiscriminantAnalysis(regressor=LinearRegression()).fit(X, y)
    linear = LinearDiscriminantAnalysis().fit(X, y)
    assert_allclose(flexible.transform(X), linear.transform(X), rtol=1e-7, atol=1e-8)
    assert_allclose(flexible.centroids_, linear.centroids_, rtol=1e-7, atol=1e-8)
    assert_allclose(flexible.explained_variance_ratio_, linear.explained_variance_ratio_, rtol=1e-8)
    # The squared correlations of the scores with the data are those of canonical correlation analysis.
    between = linear.centroids_.T @ np.diag(linear.priors_) @ linear.centroids_
    assert_allclose(flexible.squared_correlations_, np.diag(between) / (1.0 + np.diag(between)), rtol=1e-8)


def test_reduced_rank_is_that_of_linear_discriminant_analysis(three_classes):
    X, y = three_classes
    flexible = FlexibleDiscriminantAnalysis(regressor=LinearRegression(), n_components=1).fit(X, y)
    linear = LinearDiscriminantAnalysis(n_components=1, reduced_rank=True).fit(X, y)
    assert_allclose(flexible.predict_proba(X), linear.predict_proba(X), rtol=1e-7)


def test_scores_are_normalised_and_predicted(three_classes):
    X, y = three_classes
    model = FlexibleDiscriminantAnalysis(regressor=LinearRegression()).fit(X, y)
    D = np.diag(np.bincount(y) / len(y))
    assert_allclose(model.scores_.T @ D @ model.scores_, np.eye(2), atol=1e-10)
    assert_allclose(np.ones(3) @ D @ model.scores_, 0.0, atol=1e-10)
    for l in range(2):  # noqa: E741
        target = model.scores_[y, l]
        assert LinearRegression().fit(X, target).score(X, target) == pytest.approx(
            model.squared_correlations_[l]
        )


@pytest.mark.parametrize("penalty", [0.01, 0.5, 20.0])
def test_ridge_regression_is_penalized_discriminant_analysis(data, penalty):
    X, y = data
    flexible = FlexibleDiscriminantAnalysis(regressor=Ridge(alpha=penalty * len(X))).fit(X, y)
    penalized = PenalizedDiscriminantAnalysis(alpha=penalty).fit(X, y)
    assert_array_equal(flexible.predict(X), penalized.predict(X))
    assert_allclose(flexible.predict_proba(X), penalized.predict_proba(X), rtol=1e-7, atol=1e-12)
    assert_allclose(flexible.transform(X), penalized.transform(X), rtol=1e-6, atol=1e-8)


def test_polynomial_regression_is_linear_in_the_enlarged_space(three_classes):
    X, y = three_classes
    regressor = make_pipeline(PolynomialFeatures(2, include_bias=False), LinearRegression())
    flexible = FlexibleDiscriminantAnalysis(regressor=regressor).fit(X, y)
    enlarged = PolynomialFeatures(2, include_bias=False).fit_transform(X)
    linear = LinearDiscriminantAnalysis().fit(enlarged, y)
    assert_allclose(flexible.predict_proba(X), linear.predict_proba(enlarged), rtol=1e-6, atol=1e-10)


def test_default_bends_the_boundary():
    X, y = make_circles(200, noise=0.1, factor=0.4, random_state=0)
    X_new, y_new = make_circles(200, noise=0.1, factor=0.4, random_state=1)
    assert LinearDiscriminantAnalysis().fit(X, y).score(X_new, y_new) < 0.7
    model = FlexibleDiscriminantAnalysis().fit(X, y)
    assert isinstance(model.regressor_, KernelRidge)
    assert model.score(X_new, y_new) > 0.97


def test_regressor_is_cloned_and_nested_parameters_work(three_classes):
    regressor = KernelRidge(kernel="rbf")
    model = FlexibleDiscriminantAnalysis(regressor=regressor).set_params(regressor__gamma=0.3)
    model.fit(*three_classes)
    assert not hasattr(regressor, "dual_coef_")
    assert model.regressor_.gamma == 0.3


def test_regressor_of_one_output(three_classes):
    X, y = three_classes
    model = FlexibleDiscriminantAnalysis(regressor=SVR(gamma=0.1)).fit(X, y)
    assert model.transform(X).shape == (len(X), 2)
    assert model.score(X, y) > 0.8


def test_regressor_that_reproduces_the_labels_warns(three_classes):
    X, y = three_classes
    with pytest.warns(LinAlgWarning, match="reproduces the training labels"):
        model = FlexibleDiscriminantAnalysis(regressor=DecisionTreeRegressor(random_state=0)).fit(X, y)
    assert_array_equal(model.predict(X), y)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize(
    "regressor", [LogisticRegression(), "ridge", Ridge], ids=["classifier", "name", "class"]
)
def test_other_things_are_refused(three_classes, regressor):
    with pytest.raises(TypeError, match="must be"):
        FlexibleDiscriminantAnalysis(regressor=regressor).fit(*three_classes)
