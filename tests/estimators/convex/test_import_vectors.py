"""Sparse logistic regression against brute force and against the full model."""

import numpy as np
import pytest
from loss_bank import expansion
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from mercer import KernelLogisticRegression
from mercer.gram import gram
from mercer.kernels import RBF
from mercer.problems.losses import BinomialDeviance
from mercer.problems.risk import Risk
from mercer.solvers.risk.growing_features import FeatureRisk
from mercer.solvers.risk.import_vectors import ImportVectors

pytestmark = pytest.mark.core

X, Y = make_moons(120, noise=0.25, random_state=0)
LABEL = np.where(X[:, 0] > 1.2, 2, Y)
K = RBF(gamma=1.0)(X)


def objective(model, y, C):
    beta = expansion(model, len(y))
    f = beta @ K + model.intercept_[:, None]
    proba = model.predict_proba(X)
    deviance = -np.log(proba[np.arange(len(y)), np.searchsorted(model.classes_, y)])
    return 0.5 * float((beta @ K * beta).sum()) + C * float(deviance.sum()), f


@pytest.mark.parametrize("y", [Y, LABEL], ids=["two", "three"])
def test_few_points_do_almost_as_well_as_all(y):
    full = KernelLogisticRegression(gamma=1.0, C=5.0).fit(X, y)
    sparse = KernelLogisticRegression(gamma=1.0, C=5.0, import_vectors="auto").fit(X, y)
    assert sparse.support_.size < 0.4 * full.support_.size
    path = sparse.import_objectives_
    assert (np.diff(path) <= 1e-9 * path[:-1]).all()
    np.testing.assert_allclose(objective(sparse, y, 5.0)[0], path[-1], rtol=1e-7)
    assert full.certificate_.dual <= path[-1] <= 1.02 * full.certificate_.primal
    assert (sparse.predict(X) == full.predict(X)).mean() > 0.95


@pytest.mark.parametrize("y", [Y, LABEL], ids=["two", "three"])
def test_all_points_are_the_full_model(y):
    full = KernelLogisticRegression(gamma=1.0, C=5.0, tol=1e-12).fit(X, y)
    every = KernelLogisticRegression(gamma=1.0, C=5.0, import_vectors=120, import_tol=0.0).fit(X, y)
    np.testing.assert_allclose(every.import_objectives_[-1], full.certificate_.primal, rtol=1e-6)
    np.testing.assert_allclose(every.predict_proba(X), full.predict_proba(X), atol=1e-3)


def test_the_promise_is_the_fall_of_the_expansion():
    """A naive twin: add the column, take one Newton step of the quadratic model in all coefficients."""
    sign = np.where(Y == 1, 1.0, -1.0)
    loss, C = BinomialDeviance(), 5.0
    fit = FeatureRisk(Risk(loss, sign, np.full(120, C)))
    for column in np.linalg.cholesky(K + 1e-9 * np.eye(120)).T[:3]:
        fit.extend(column)
    candidates = np.linalg.cholesky(K + 1e-9 * np.eye(120))[:, 5:9]
    promised = fit.promises(candidates)
    f = fit.F @ fit.theta[:, 0] + fit.bias[0]
    slope, curvature = C * loss.derivative(sign, f), C * loss.curvature(sign, f)
    for z, claim in zip(candidates.T, promised, strict=True):
        A = np.column_stack([fit.F, np.ones(120), z])
        penalty = np.array([1.0, 1.0, 1.0, 0.0, 1.0])
        theta = np.concatenate([fit.theta[:, 0], fit.bias, [0.0]])
        gradient = A.T @ slope + penalty * theta
        hessian = A.T @ (curvature[:, None] * A) + np.diag(penalty)
        np.testing.assert_allclose(claim, 0.5 * gradient @ np.linalg.solve(hessian, gradient), rtol=1e-3)


def test_the_first_choice_is_as_good_as_the_best():
    sign = np.where(Y == 1, 1.0, -1.0)
    problem = Risk(BinomialDeviance(), sign, np.full(120, 5.0))
    found = ImportVectors(most=1).solve(gram(RBF(gamma=1.0), X), problem)
    every = []
    for j in range(120):
        fit = FeatureRisk(problem)
        every.append(fit.extend(K[:, j] / np.sqrt(K[j, j])))
    assert found.objectives[0] <= np.quantile(every, 0.05)


def test_no_certificate_and_it_says_so():
    model = KernelLogisticRegression(import_vectors=5).fit(X, Y)
    assert model.support_.size <= 5
    assert not hasattr(model, "certificate_")
    with pytest.raises(AttributeError, match="import-vector model"):
        model.certificate_  # noqa: B018
    with pytest.raises(ValueError, match="no certificate"):
        model.certify(X, Y)
    model.set_params(import_vectors=None).fit(X, Y)  # a full model again
    assert model.certificate_.relative_gap < 1e-6
    assert model.certify(X, Y).relative_gap < 1e-6
    with pytest.raises(AttributeError, match="no attribute 'nothing_'"):
        model.nothing_  # noqa: B018


def test_limits_and_randomness():
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        model = KernelLogisticRegression(import_vectors="auto", max_iter=3, trace=True).fit(X, Y)
    assert model.support_.size == 3
    assert [line["n_iter"] for line in model.history_[0]] == [1, 2, 3]
    big, label = make_moons(700, noise=0.25, random_state=0)  # more than are looked at in a step
    one, same = (KernelLogisticRegression(import_vectors=6, random_state=3).fit(big, label) for _ in range(2))
    np.testing.assert_array_equal(one.support_, same.support_)


def test_weight_zero_is_never_imported():
    weight = np.where(np.arange(120) % 2, 1.0, 0.0)
    model = KernelLogisticRegression(import_vectors="auto").fit(X, Y, sample_weight=weight)
    assert (weight[model.support_] > 0).all()
