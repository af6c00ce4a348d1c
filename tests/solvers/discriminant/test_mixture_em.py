"""Expectation-maximisation of class mixtures against the algorithm written plainly."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from gaussian_classes import case, checkerboard
from mercer.problems.discriminant.mixture import MixtureProblem
from mercer.problems.discriminant.summary import ClassSummary
from mercer.solvers.discriminant.mixture_em import expectation_maximisation
from mercer.solvers.discriminant.sphering import sphere


def naive_em(X, y, owner, memberships, n_iter):
    """The algorithm in the original coordinates, as plainly as possible."""
    sizes = np.bincount(y)
    history = []
    for _ in range(n_iter):
        counts = memberships.sum(axis=0)
        means = memberships.T @ X / counts[:, None]
        covariance = np.zeros((X.shape[1], X.shape[1]))
        for r in range(len(owner)):
            offset = X - means[r]
            covariance += (memberships[:, r, None] * offset).T @ offset / len(X)
        density = np.column_stack([multivariate_normal(mean, covariance).logpdf(X) for mean in means])
        joint = np.where(owner == y[:, None], density + np.log(counts / sizes[owner]), -np.inf)
        evidence = logsumexp(joint, axis=1)
        history.append(evidence.sum())
        memberships = np.exp(joint - evidence[:, None])
    return np.array(history)


def test_steps_equal_the_naive_algorithm():
    X, y = checkerboard()
    owner = np.repeat([0, 1], 3)
    rng = np.random.default_rng(3)
    memberships = np.where(owner == y[:, None], rng.random((len(X), 6)), 0.0)
    memberships /= memberships.sum(axis=1, keepdims=True)
    expected = naive_em(X, y, owner, memberships, 25)
    assert (np.diff(expected) > 0.0).all()

    summary = ClassSummary.of(X, y)
    sphering = sphere(summary.residual_rows(X), 1e-4)
    problem = MixtureProblem((X - summary.center) @ sphering.forward, y, owner, rank=4, floor=1e-6)
    fit = expectation_maximisation(problem, memberships, tol=0.0, max_iter=25)
    assert_allclose(np.array(fit.history) - 0.5 * len(X) * sphering.log_det, expected, rtol=1e-9)


def test_lost_subclass_changes_nothing():
    X, y = case("three")
    summary = ClassSummary.of(X, y)
    sphering = sphere(summary.residual_rows(X), 1e-4)
    Z = (X - summary.center) @ sphering.forward
    problem = MixtureProblem(Z, y, np.array([0, 0, 1, 2]), rank=2, floor=1e-6)
    memberships = np.zeros((len(X), 4))
    memberships[np.arange(len(X)), np.array([0, 2, 3])[y]] = 1.0
    fit = expectation_maximisation(problem, memberships, tol=1e-6, max_iter=10)
    without = MixtureProblem(Z, y, np.arange(3), rank=2, floor=1e-6)
    plain = expectation_maximisation(without, memberships[:, [0, 2, 3]], 1e-6, 10)
    assert fit.history[-1] == pytest.approx(plain.history[-1])
    assert fit.mixture.weights[1] == 0.0
