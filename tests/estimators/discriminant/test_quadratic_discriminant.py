"""Quadratic discriminant analysis."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import LinAlgWarning
from scipy.stats import multivariate_normal
from sklearn import discriminant_analysis as reference
from sklearn.covariance import OAS

from mercer.estimators.discriminant import QuadraticDiscriminantAnalysis


@pytest.mark.parametrize("given", [False, True], ids=["proportions", "priors"])
def test_equals_scikit_learn(data, given):
    X, y = data
    K = len(np.unique(y))
    priors = np.arange(1.0, K + 1.0) / (K * (K + 1) / 2) if given else None
    ours = QuadraticDiscriminantAnalysis(priors=priors, store_covariance=True).fit(X, y)
    theirs = reference.QuadraticDiscriminantAnalysis(priors=priors, store_covariance=True).fit(X, y)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    for method in ("predict_proba", "predict_log_proba", "decision_function"):
        assert_allclose(getattr(ours, method)(X), getattr(theirs, method)(X), rtol=1e-8, atol=1e-10)
    for name in ("means_", "priors_", "covariance_", "scalings_"):
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-8, atol=1e-10)
    assert_allclose(np.abs(ours.rotations_), np.abs(theirs.rotations_), rtol=1e-7, atol=1e-9)


def test_posterior_is_bayes_rule(three_classes):
    X, y = three_classes
    model = QuadraticDiscriminantAnalysis().fit(X, y)
    density = np.column_stack(
        [
            (y == k).mean() * multivariate_normal(X[y == k].mean(0), np.cov(X[y == k].T, bias=True)).pdf(X)
            for k in range(3)
        ]
    )
    assert_allclose(model.predict_proba(X), density / density.sum(axis=1, keepdims=True), rtol=1e-8)


def test_affine_invariance(three_classes):
    X, y = three_classes
    rng = np.random.default_rng(0)
    mapped = X @ rng.normal(size=(5, 5)) + 10.0
    before = QuadraticDiscriminantAnalysis().fit(X, y).predict_proba(X)
    assert_allclose(QuadraticDiscriminantAnalysis().fit(mapped, y).predict_proba(mapped), before, rtol=1e-6)


@pytest.mark.parametrize("rows", [1, 4])
def test_class_with_too_few_rows_is_refused(three_classes, rows):
    X, y = three_classes
    X, y = np.vstack([X, X[:rows]]), np.append(y, np.full(rows, 9))
    few = rf"covariance of class 9 \({rows} row\(s\)\) has rank {rows - 1}"
    with pytest.raises(ValueError, match=few if rows > 1 else "y has only 1 sample in class 9"):
        QuadraticDiscriminantAnalysis().fit(X, y)


def test_direction_in_which_no_class_varies_is_left_out(three_classes):
    X, y = three_classes
    constant = np.hstack([X, np.full((len(X), 1), 7.0)])
    with pytest.warns(LinAlgWarning, match="pooled covariance is singular: rank 5 for 6"):
        model = QuadraticDiscriminantAnalysis().fit(constant, y)
    expected = QuadraticDiscriminantAnalysis().fit(X, y).predict_proba(X)
    assert_allclose(model.predict_proba(constant), expected, rtol=1e-8)


def test_more_features_than_rows_is_refused(wide):
    with pytest.raises(ValueError, match="has no inverse and no density"):
        QuadraticDiscriminantAnalysis().fit(*wide)


@pytest.mark.parametrize(
    "params", [{"shrinkage": "auto"}, {"shrinkage": 0.3}, {}, {"covariance_estimator": OAS()}], ids=str
)
def test_eigen_solver_equals_scikit_learn(three_classes, params):
    X, y = three_classes
    assert_same_as_theirs({"solver": "eigen", "store_covariance": True, **params}, X, y)


@pytest.mark.parametrize("reg_param", [0.01, 0.5, 1.0])
def test_reg_param_equals_scikit_learn(three_classes, reg_param):
    X, y = three_classes
    assert_same_as_theirs({"reg_param": reg_param, "store_covariance": True}, X, y)


def assert_same_as_theirs(params, X, y):
    ours = QuadraticDiscriminantAnalysis(**params).fit(X, y)
    theirs = reference.QuadraticDiscriminantAnalysis(**params).fit(X, y)
    for method in ("predict_proba", "decision_function"):
        assert_allclose(getattr(ours, method)(X), getattr(theirs, method)(X), rtol=1e-7, atol=1e-9)
    for name in ("means_", "priors_", "scalings_"):
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-8, atol=1e-10)
    r = params.get("reg_param", 0.0)
    if r < 1.0:
        assert_allclose(np.abs(ours.rotations_), np.abs(theirs.rotations_), rtol=1e-7, atol=1e-9)
    plain = np.array([np.cov(X[y == k].T, bias=True) for k in range(3)])
    wanted = theirs.covariance_ if r == 0.0 else (1 - r) * plain + r * np.eye(X.shape[1])
    assert_allclose(ours.covariance_, wanted, rtol=1e-8, atol=1e-10)


def test_reg_param_makes_classes_of_few_rows_fit(wide):
    X, y = wide
    model = QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X, y)
    p = X.shape[1]
    densities = [
        multivariate_normal(X[y == k].mean(0), 0.9 * np.cov(X[y == k].T, bias=True) + 0.1 * np.eye(p)).logpdf(
            X
        )
        for k in np.unique(y)
    ]
    wanted = np.column_stack(densities) + np.log(model.priors_)
    ours = model._validated_discriminants(X)
    assert_allclose(ours[:, 1:] - ours[:, :1], wanted[:, 1:] - wanted[:, :1], rtol=1e-6, atol=1e-6)


def test_refit_forgets(three_classes):
    X, y = three_classes
    model = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y)
    assert len(model.covariance_) == 3
    model.set_params(store_covariance=False).fit(X, y)
    assert not hasattr(model, "covariance_")
