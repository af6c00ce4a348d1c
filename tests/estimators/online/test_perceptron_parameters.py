"""scikit-learn's parameters of the perceptron: what they do here, and what is refused."""

import inspect

import numpy as np
import pytest
import sklearn.linear_model

from clouds import blobs
from mercer import Perceptron

X, y = blobs(80, 3, 2, seed=0)
X = X + 9.0 * (y == 1)[:, None]  # apart


def test_every_parameter_of_scikit_learns_is_there():
    theirs = inspect.signature(sklearn.linear_model.Perceptron).parameters
    assert set(theirs) - set(inspect.signature(Perceptron).parameters) == {"class_weight"}


def test_the_first_pass_is_scikit_learns():
    params = {"max_iter": 1, "shuffle": False, "tol": None}
    with pytest.warns(sklearn.exceptions.ConvergenceWarning):
        ours = Perceptron(radius=1.0, **params).fit(X, y)
    theirs = sklearn.linear_model.Perceptron(**params).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-12)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-12)


def test_step_is_a_unit():
    one, half = (Perceptron(max_iter=50, eta0=eta).fit(X[:20], y[:20]) for eta in (1.0, 0.5))
    np.testing.assert_allclose(half.coef_, 0.5 * one.coef_)
    np.testing.assert_allclose(half.intercept_, 0.5 * one.intercept_)
    for model in (one, half):
        model.partial_fit(X[20:], y[20:])
    np.testing.assert_allclose(half.coef_, 0.5 * one.coef_)


def test_warm_start_begins_where_the_last_fit_ended():
    model = Perceptron(warm_start=True).fit(X[:10], y[:10])
    done = model.coef_.copy()
    assert model.status_ == "no_mistakes"
    assert model.fit(X[:10], y[:10]).mistakes_ == 0
    np.testing.assert_array_equal(model.coef_, done)


@pytest.mark.parametrize("params", [{"penalty": "l2"}, {"early_stopping": True}])
def test_what_the_rule_does_not_have_is_refused(params):
    with pytest.raises(ValueError, match=r"is not Rosenblatt's rule: .*SVC\(kernel='linear'\)"):
        Perceptron(**params).fit(X, y)
