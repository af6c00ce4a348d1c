"""No fit writes to the kernel matrix that it is given, and none to the one that it keeps."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, is_classifier, is_regressor

import mercer
from mercer.gram import MatrixGram
from mercer.problems import soft_margin
from mercer.solvers import SOLVERS, UnsuitableSolverError

N = 36  # so few that the landmarks of Newton's method, in problems of four classes, are all of them


def with_kernels():
    found = {name: getattr(mercer, name) for name in mercer.__all__}
    return sorted(
        name
        for name, cls in found.items()
        if inspect.isclass(cls)
        and issubclass(cls, BaseEstimator)
        and "kernel" in inspect.signature(cls).parameters
    )


def given_matrix():
    X = np.random.default_rng(0).normal(size=(N, 3))
    return np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2)), X


def made(name, **params):
    cls = getattr(mercer, name)
    known = inspect.signature(cls).parameters
    return cls(**{key: value for key, value in params.items() if key in known})


def targets(model, X):
    """Return what a model is fitted to: four classes, whose problems are solved together by some."""
    if is_classifier(model) or type(model).__name__ == "KernelFisherDiscriminant":
        return [np.digitize(X[:, 0], [-0.7, 0.0, 0.7])]
    if is_regressor(model):
        return [X[:, 0] + X[:, 1] ** 2]
    return [X[:, :2]] if type(model).__name__ == "KernelCCA" else []


@pytest.mark.parametrize("name", with_kernels())
def test_a_given_matrix_is_left_as_it_is(name):
    K, X = given_matrix()
    before = K.copy()
    model = made(name, kernel="precomputed", n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(K, *targets(model, X))
        except (ValueError, TypeError):
            assert (before == K).all()  # a refusal, of precomputed kernels for example
            return
    assert (before == K).all()


@pytest.mark.parametrize("name", ["KernelLogisticRegression", "KernelClassifier"])
def test_certify_agrees_where_all_classes_are_one_problem(name):
    """Landmarks that are all points were once written into the matrix that the solver went on with."""
    K, X = given_matrix()
    y = np.digitize(X[:, 0], [-0.7, 0.0, 0.7])

    @mercer.kernel(psd=True)
    def between(a, b):
        return float(K[a, b])

    items = list(range(N))
    model = made(name, kernel=between, loss="multinomial_deviance", n_jobs=1).fit(items, y)
    again = model.certify(items, y)
    assert again.primal == pytest.approx(model.certificate_.primal, rel=1e-9)
    assert again.gap <= 2.0 * model.certificate_.gap + 1e-9 * again.primal


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_a_solver_leaves_its_matrix_as_it_is(name, fit_intercept):
    K, X = given_matrix()
    before, y = K.copy(), np.where(X[:, 0] > 0, 1.0, -1.0)
    problem = soft_margin(y, np.full(N, 5.0), fit_intercept=fit_intercept)
    try:
        SOLVERS[name]().solve(MatrixGram(K, True), problem)
    except UnsuitableSolverError:
        pytest.skip("not a solver of duals like this one")
    assert (before == K).all()
