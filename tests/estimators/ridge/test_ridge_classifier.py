"""Kernel ridge classification."""

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier

from clouds import blobs
from mercer import KernelRidge, KernelRidgeClassifier

pytestmark = pytest.mark.core


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 1.0, 1: 3.0, 2: 1.0, 3: 0.5}])
def test_agrees_with_ridge_classification_on_features(four_clouds, class_weight):
    X, y = four_clouds
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=len(y))
    theirs = RidgeClassifier(alpha=0.7, class_weight=class_weight, solver="cholesky").fit(X, y, weight)
    ours = KernelRidgeClassifier(kernel="linear", alpha=0.7, class_weight=class_weight).fit(X, y, weight)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-8)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert len(ours.certificate_.parts) == 4
    assert ours.certify(X, y, weight).relative_gap < 1e-12


def test_two_classes_are_one_regression(two_clouds):
    X, y = two_clouds
    names = np.where(y == y.max(), "yes", "no")
    model = KernelRidgeClassifier(alpha=0.5).fit(X, names)
    sign = np.where(y == y.max(), 1.0, -1.0)
    ridge = KernelRidge(kernel="rbf", gamma="scale", alpha=0.5, fit_intercept=True).fit(X, sign)
    np.testing.assert_allclose(model.decision_function(X), ridge.predict(X))
    np.testing.assert_array_equal(model.predict(X), np.where(ridge.predict(X) > 0, "yes", "no"))
    assert model.classes_.tolist() == ["no", "yes"]


def test_one_penalty_by_leaving_one_out(four_clouds):
    X, y = four_clouds
    alphas = np.geomspace(1e-3, 1e2, 11)
    model = KernelRidgeClassifier(alpha="loo", alphas=alphas).fit(X, y)
    errors = np.zeros(11)
    for k in np.unique(y):
        sign = np.where(y == k, 1.0, -1.0)
        ridge = KernelRidge(kernel="rbf", gamma="scale", fit_intercept=True)
        errors += ridge.path(X, sign, alphas=alphas).errors[:, 0]
    np.testing.assert_allclose(model.loo_errors_, errors)
    assert model.alpha_ == alphas[errors.argmin()]
    assert model.score(X, y) > 0.6


def test_conjugate_gradients(four_clouds):
    X, y = four_clouds
    exact = KernelRidgeClassifier(alpha=0.1).fit(X, y)
    steps = KernelRidgeClassifier(alpha=0.1, solver="cg", tol=1e-14, random_state=0).fit(X, y)
    np.testing.assert_allclose(steps.decision_function(X), exact.decision_function(X), atol=1e-6)


def test_what_cannot_be_is_refused():
    X, y = blobs(30, 2, 3, seed=0)
    with pytest.raises(ValueError, match="alphas"):
        KernelRidgeClassifier(alpha=[1.0, 2.0, 3.0]).fit(X, y)
    with pytest.raises(ValueError, match="greater than one"):
        KernelRidgeClassifier().fit(X, np.zeros(30))
    model = KernelRidgeClassifier().fit(X, y)
    with pytest.raises(ValueError, match="none of the classes"):
        model.certify(X, y + 7)
