"""Mixture discriminant analysis and its EM algorithm."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import LinAlgWarning
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning

import gaussian_classes
from mercer.estimators.discriminant import LinearDiscriminantAnalysis, MixtureDiscriminantAnalysis


@pytest.fixture(scope="module")
def checkerboard():
    return gaussian_classes.checkerboard()


def log_joint(model, X, y, means, covariance):
    """log of the share times the density of every subclass of the row's class, by scipy."""
    density = np.column_stack([multivariate_normal(mean, covariance).logpdf(X) for mean in means])
    density = density + np.log(model.subclass_weights_)
    return np.where(model.subclass_owner_ == y[:, None], density, -np.inf)


@pytest.mark.parametrize("given", [False, True], ids=["proportions", "priors"])
def test_one_subclass_is_linear_discriminant_analysis(data, given):
    X, y = data
    K = len(np.unique(y))
    priors = np.arange(1.0, K + 1.0) / (K * (K + 1) / 2) if given else None
    mixture = MixtureDiscriminantAnalysis(n_subclasses=1, priors=priors).fit(X, y)
    linear = LinearDiscriminantAnalysis(priors=priors).fit(X, y)
    assert_array_equal(mixture.predict(X), linear.predict(X))
    assert_allclose(mixture.predict_proba(X), linear.predict_proba(X), rtol=1e-7, atol=1e-12)
    assert_allclose(mixture.subclass_means_, mixture.means_, rtol=1e-9, atol=1e-10)
    if not given:
        assert_allclose(mixture.transform(X), linear.transform(X), rtol=1e-7, atol=1e-8)
        assert_allclose(mixture.explained_variance_ratio_, linear.explained_variance_ratio_, rtol=1e-8)


@pytest.mark.parametrize("n_components", [1, 2])
def test_one_subclass_of_reduced_rank(three_classes, n_components):
    X, y = three_classes
    mixture = MixtureDiscriminantAnalysis(n_subclasses=1, n_components=n_components).fit(X, y)
    linear = LinearDiscriminantAnalysis(n_components=n_components, reduced_rank=True).fit(X, y)
    assert_array_equal(mixture.predict(X), linear.predict(X))
    assert_allclose(mixture.predict_proba(X), linear.predict_proba(X), rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("n_components", [None, 1, 2])
def test_log_likelihood_is_that_of_the_parameters_and_never_falls(checkerboard, n_components):
    X, y = checkerboard
    model = MixtureDiscriminantAnalysis(
        n_components=n_components, random_state=0, tol=1e-9, max_iter=2000, store_covariance=True
    ).fit(X, y)
    joint = log_joint(model, X, y, model.subclass_means_, model.covariance_)
    assert model.log_likelihood_ == pytest.approx(logsumexp(joint, axis=1).sum(), rel=1e-10)
    history = model.log_likelihood_history_
    assert len(history) == model.n_iter_
    assert history[-1] == model.log_likelihood_
    assert (np.diff(history) >= 0.0).all()
    if n_components is not None:
        singular = np.linalg.svd(model.subclass_means_ - model.xbar_, compute_uv=False)
        assert (singular > 1e-8 * singular[0]).sum() == n_components


@pytest.mark.parametrize("rank", [1, 2])
def test_reduced_rank_step_is_a_maximum(three_classes, rank):
    """No other means of that rank and covariance near them are more likely."""
    X, y = three_classes
    model = MixtureDiscriminantAnalysis(n_subclasses=1, n_components=rank, store_covariance=True).fit(X, y)

    def likelihood(means, covariance):
        return logsumexp(log_joint(model, X, y, means, covariance), axis=1).sum()

    best = likelihood(model.subclass_means_, model.covariance_)
    assert best == pytest.approx(model.log_likelihood_)
    rng = np.random.default_rng(0)
    left, values, right = np.linalg.svd(model.subclass_means_ - model.xbar_, full_matrices=False)
    for _ in range(50):
        size = 10.0 ** rng.uniform(-4, -1)
        factors = (left[:, :rank] * values[:rank]) + size * rng.normal(size=(3, rank))
        axes = right[:rank] + size * rng.normal(size=(rank, 5))
        shift = model.xbar_ + size * rng.normal(size=5)
        root = np.linalg.cholesky(model.covariance_) @ (np.eye(5) + size * rng.normal(size=(5, 5)))
        assert likelihood(shift + factors @ axes, root @ root.T) < best


def test_posterior_is_bayes_rule(checkerboard):
    X, y = checkerboard
    model = MixtureDiscriminantAnalysis(random_state=0, store_covariance=True, priors=[0.3, 0.7]).fit(X, y)
    joint = np.column_stack(
        [
            logsumexp(
                log_joint(model, X, np.full(len(X), k), model.subclass_means_, model.covariance_), axis=1
            )
            for k in range(2)
        ]
    ) + np.log([0.3, 0.7])
    expected = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    assert_allclose(model.predict_proba(X), expected, rtol=1e-6, atol=1e-10)


def test_several_prototypes_solve_what_one_cannot(checkerboard):
    X, y = checkerboard
    assert LinearDiscriminantAnalysis().fit(X, y).score(X, y) < 0.7
    full = MixtureDiscriminantAnalysis(random_state=0).fit(X, y)
    assert full.score(X, y) > 0.95
    # The clusters lie on a line.
    line = MixtureDiscriminantAnalysis(random_state=0, n_components=1).fit(X, y)
    assert line.score(X, y) > 0.95
    assert line.transform(X).shape == (len(X), 1)


def test_more_starts_are_no_worse_and_seeds_reproduce(checkerboard):
    X, y = checkerboard
    one = MixtureDiscriminantAnalysis(n_subclasses=5, n_init=1, random_state=0).fit(X, y)
    many = MixtureDiscriminantAnalysis(n_subclasses=5, n_init=8, random_state=0).fit(X, y)
    again = MixtureDiscriminantAnalysis(n_subclasses=5, n_init=8, random_state=0).fit(X, y)
    assert many.log_likelihood_ >= one.log_likelihood_
    assert_array_equal(many.subclass_means_, again.subclass_means_)


def test_affine_invariance(checkerboard):
    X, y = checkerboard
    mapped = X @ np.random.default_rng(1).normal(size=(4, 4)) + 10.0
    before = MixtureDiscriminantAnalysis(n_subclasses=3, random_state=0, tol=1e-8, max_iter=1000).fit(X, y)
    after = MixtureDiscriminantAnalysis(n_subclasses=3, random_state=0, tol=1e-8, max_iter=1000).fit(
        mapped, y
    )
    assert_allclose(after.predict_proba(mapped), before.predict_proba(X), atol=1e-3)


def test_number_of_subclasses(checkerboard):
    X, y = checkerboard
    X, y = np.vstack([X, X[:1] + 1.0, X[:2] + 2.0]), np.concatenate([y, [2, 3, 3]])
    model = MixtureDiscriminantAnalysis(n_subclasses=3, random_state=0).fit(X, y)
    assert_array_equal(model.n_subclasses_, [3, 3, 1, 2])
    model = MixtureDiscriminantAnalysis(n_subclasses=[2, 4, 1, 1], random_state=0).fit(X, y)
    assert_array_equal(model.subclass_owner_, [0, 0, 1, 1, 1, 1, 2, 3])
    assert_allclose(np.bincount(model.subclass_owner_, model.subclass_weights_), 1.0)
    with pytest.raises(
        ValueError, match=r"n_subclasses=2 must be an integer from 1 to 1 \(the distinct rows of class 2\)"
    ):
        MixtureDiscriminantAnalysis(n_subclasses=[2, 2, 2, 2]).fit(X, y)
    with pytest.raises(ValueError, match="must be one integer, or 4"):
        MixtureDiscriminantAnalysis(n_subclasses=[2, 2]).fit(X, y)


def test_repeated_rows_make_no_subclasses(two_classes):
    X, y = two_classes
    X, y = np.vstack([X, np.tile([[8.0, 8.0, 8.0, 8.0]], (5, 1))]), np.append(y, np.full(5, 2))
    model = MixtureDiscriminantAnalysis(n_subclasses=2, random_state=0).fit(X, y)
    assert_array_equal(model.n_subclasses_, [2, 2, 1])


def test_collapsing_covariance_is_floored_with_a_warning():
    rng = np.random.default_rng(0)
    # Rows on three parallel lines in each class: three subclasses leave no variance across them.
    X = np.column_stack([rng.integers(3, size=90), rng.normal(size=90)])
    y = np.repeat([0, 1], 45)
    with pytest.warns(LinAlgWarning, match="covariance_floor=1e-06"):
        model = MixtureDiscriminantAnalysis(random_state=0).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert (np.diff(model.log_likelihood_history_) >= 0.0).all()


def test_iteration_limit_warns(checkerboard):
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model = MixtureDiscriminantAnalysis(n_subclasses=5, max_iter=2, tol=0.0, random_state=0).fit(
            *checkerboard
        )
    assert not model.converged_
    assert model.n_iter_ == 2


def test_singular_covariance_warns(three_classes):
    X, y = three_classes
    doubled = np.hstack([X, X[:, :1]])
    with pytest.warns(LinAlgWarning, match="within-class covariance is singular: rank 5 for 6"):
        model = MixtureDiscriminantAnalysis(n_subclasses=1).fit(doubled, y)
    assert_allclose(
        model.predict_proba(doubled), LinearDiscriminantAnalysis().fit(X, y).predict_proba(X), rtol=1e-7
    )
