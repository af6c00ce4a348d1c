"""Penalized discriminant analysis and its penalties."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax

from mercer.estimators.discriminant import (
    LinearDiscriminantAnalysis,
    PenalizedDiscriminantAnalysis,
    difference_penalty,
)


@pytest.fixture(scope="module")
def signals():
    """Two classes of 60 noisy signals with 80 samples each, that differ by a smooth bump."""
    rng = np.random.default_rng(0)
    time = np.linspace(0.0, 1.0, 80)
    y = np.repeat([0, 1], 30)
    bump = np.exp(-0.5 * ((time - 0.5) / 0.1) ** 2)
    X = rng.normal(size=(60, 80)) + np.outer(y, bump)
    return X, y


@pytest.mark.parametrize("penalty", ["alpha", "matrix"])
@pytest.mark.parametrize("n_components", [None, 1])
def test_no_penalty_is_linear_discriminant_analysis(data, penalty, n_components):
    X, y = data
    p = X.shape[1]
    params = {"alpha": 0.0} if penalty == "alpha" else {"penalty": np.zeros((p, p)), "alpha": 3.0}
    penalized = PenalizedDiscriminantAnalysis(n_components=n_components, **params).fit(X, y)
    linear = LinearDiscriminantAnalysis(n_components=n_components, reduced_rank=True).fit(X, y)
    assert_array_equal(penalized.predict(X), linear.predict(X))
    assert_allclose(penalized.predict_proba(X), linear.predict_proba(X), rtol=1e-9, atol=1e-14)
    assert_allclose(penalized.transform(X), linear.transform(X), rtol=1e-8, atol=1e-10)


def test_distance_as_written(three_classes):
    X, y = three_classes
    omega = difference_penalty(5)
    model = PenalizedDiscriminantAnalysis(penalty=omega, alpha=2.5, store_covariance=True).fit(X, y)
    W = LinearDiscriminantAnalysis(store_covariance=True).fit(X, y).covariance_
    assert_allclose(model.covariance_, W + 2.5 * omega, rtol=1e-9)
    scores = []
    for k in range(3):
        offset = X - X[y == k].mean(axis=0)
        distance = np.einsum("ij,ij->i", offset, np.linalg.solve(W + 2.5 * omega, offset.T).T)
        scores.append(np.log((y == k).mean()) - 0.5 * distance)
    assert_allclose(model.predict_proba(X), softmax(np.column_stack(scores), axis=1), rtol=1e-8)


def test_names_of_penalties(three_classes):
    X, y = three_classes
    for name, matrix in (("ridge", np.eye(5)), ("smooth", difference_penalty(5))):
        named = PenalizedDiscriminantAnalysis(penalty=name, alpha=0.7).fit(X, y)
        given = PenalizedDiscriminantAnalysis(penalty=matrix, alpha=0.7).fit(X, y)
        assert_allclose(named.predict_proba(X), given.predict_proba(X), rtol=1e-8)


def test_coefficients_become_smooth_and_better(signals):
    X, y = signals
    rough = []
    for alpha in (0.01, 1.0, 100.0):
        coef = PenalizedDiscriminantAnalysis(penalty="smooth", alpha=alpha).fit(X, y).coef_[0]
        rough.append(np.sum(np.diff(coef, n=2) ** 2) / np.sum(coef**2))
    assert rough[0] > rough[1] > rough[2]
    rng = np.random.default_rng(1)
    y_new = np.repeat([0, 1], 200)
    X_new = rng.normal(size=(400, 80)) + np.outer(
        y_new, np.exp(-0.5 * ((np.linspace(0, 1, 80) - 0.5) / 0.1) ** 2)
    )
    smooth = PenalizedDiscriminantAnalysis(penalty="smooth", alpha=100.0).fit(X, y)
    ridge = PenalizedDiscriminantAnalysis(alpha=1e-3).fit(X, y)
    assert smooth.score(X_new, y_new) > ridge.score(X_new, y_new) + 0.1


class TestDifferencePenalty:
    @pytest.mark.parametrize("order", [0, 1, 2, 3])
    @pytest.mark.parametrize("shape", [(9,), (5, 7), (4, 5, 6)])
    def test_quadratic_form_is_the_sum_of_squared_differences(self, shape, order):
        beta = np.random.default_rng(0).normal(size=shape)
        expected = sum(np.sum(np.diff(beta, n=order, axis=axis) ** 2) for axis in range(len(shape)))
        omega = difference_penalty(shape, order=order)
        assert beta.ravel() @ omega @ beta.ravel() == pytest.approx(expected)
        assert_array_equal(omega, omega.T)
        assert np.linalg.eigvalsh(omega)[0] > -1e-10

    def test_straight_lines_are_free(self):
        assert_allclose(difference_penalty(6) @ np.arange(6.0), 0.0, atol=1e-12)
        plane = np.add.outer(2.0 * np.arange(4.0), np.arange(5.0))
        assert_allclose(difference_penalty((4, 5)) @ plane.ravel(), 0.0, atol=1e-12)

    def test_short_axis_is_not_penalised(self):
        assert_array_equal(difference_penalty(2), np.zeros((2, 2)))
        assert_array_equal(difference_penalty((1, 6)), difference_penalty(6))

    @pytest.mark.parametrize(
        ("shape", "order", "error", "message"),
        [
            (0, 2, ValueError, r"shape=0 must be an integer of at least 1"),
            ((3, 2.5), 2, TypeError, r"shape=2.5 must be an integer"),
            ((), 2, ValueError, r"at least one axis"),
            (5, -1, ValueError, r"order=-1 must be an integer of at least 0"),
        ],
    )
    def test_refusals(self, shape, order, error, message):
        with pytest.raises(error, match=message):
            difference_penalty(shape, order=order)


@pytest.mark.parametrize(
    ("penalty", "message"),
    [
        ("lasso", "penalty='lasso' must be 'ridge', 'smooth' or a matrix"),
        (np.eye(4), r"penalty of shape \(4, 4\) must be .* of shape \(5, 5\)"),
        (np.eye(5) + np.eye(5, k=1), "finite and symmetric"),
        (np.full((5, 5), np.nan), "finite and symmetric"),
        (-np.eye(5), "positive semi-definite; its smallest eigenvalue is -1"),
    ],
)
def test_penalties_refused(three_classes, penalty, message):
    with pytest.raises(ValueError, match=message):
        PenalizedDiscriminantAnalysis(penalty=penalty).fit(*three_classes)


def test_alpha_refused(three_classes):
    with pytest.raises(ValueError, match=r"alpha=-1.0 must be a real number in \[0, inf\)"):
        PenalizedDiscriminantAnalysis(alpha=-1.0).fit(*three_classes)
