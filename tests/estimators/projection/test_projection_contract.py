"""scikit-learn's own checks, output containers and feature names of every projection."""

import doctest
import importlib
import pkgutil

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer.estimators import projection as package

CLASSES = [mercer.KernelPCA, mercer.KernelCCA, mercer.KernelFisherDiscriminant, mercer.MercerFeatures]

pytestmark = pytest.mark.core


@parametrize_with_checks(
    [
        *(cls() for cls in CLASSES),
        mercer.KernelPCA(kernel="rbf", eigen_solver="randomized"),
        mercer.KernelPCA(kernel="rbf", eigen_solver="arpack", n_components=1),
        mercer.KernelCCA(method="cholesky", ridge="cv", cv=2),
        mercer.KernelFisherDiscriminant(method="cholesky"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_all_are_here():
    assert {getattr(package, name) for name in package.__all__} == set(CLASSES)
    assert all(name in mercer.__all__ for name in package.__all__)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    return X, y


@pytest.mark.parametrize("cls", CLASSES)
def test_set_output_and_names(cls, table):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    X, y = table
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = cls(n_components=2).fit(frame, y)
    assert_array_equal(model.feature_names_in_, list("abcd"))
    names = [f"{cls.__name__.lower()}{i}" for i in range(2)]
    assert_array_equal(model.get_feature_names_out(), names)
    expected = model.transform(frame)
    out = model.set_output(transform="pandas").transform(frame)
    assert list(out.columns) == names
    assert_array_equal(out.to_numpy(), expected)
    assert isinstance(model.set_output(transform="polars").transform(frame), polars.DataFrame)
    fresh = clone(model).set_output(transform="pandas").fit_transform(frame, y)
    assert list(fresh.columns) == names
    assert_allclose(fresh.to_numpy(), expected, atol=1e-10)


@pytest.mark.parametrize("cls", CLASSES)
def test_parameters_are_keyword_only(cls):
    one = cls is mercer.KernelPCA  # whose first parameter is positional in scikit-learn, too
    with pytest.raises(TypeError, match="positional"):
        cls(2, "rbf") if one else cls(2)


@pytest.mark.parametrize("cls", CLASSES)
def test_too_many_components_are_refused(cls, table):
    if cls is mercer.KernelPCA:  # as in scikit-learn, it has as many as there are
        assert cls(n_components=99).fit(table[0]).eigenvalues_.size == len(table[0])
        return
    with pytest.raises(ValueError, match="n_components=99 must be an integer from 1 to"):
        cls(n_components=99).fit(*table)


@pytest.mark.parametrize("cls", CLASSES)
def test_an_asymmetric_matrix_is_refused(cls, table):
    K = np.eye(60)
    K[0, 1] = 1.0
    with pytest.raises(ValueError, match="kernel matrix of X is not symmetric"):
        cls(kernel="precomputed", n_components=1).fit(K, K if cls is mercer.KernelCCA else table[1])


@pytest.mark.parametrize("cls", CLASSES)
def test_an_indefinite_kernel_is_named(cls, table):
    X, y = table
    kernel = mercer.kernels.Sigmoid(gamma=1.0, coef0=1.0)
    params = {"kernel_y": "rbf"} if cls is mercer.KernelCCA else {}
    with pytest.warns(UserWarning, match="kernel matrix of X is not positive semi-definite"):
        model = cls(kernel=kernel, n_components=1, **params).fit(X, y)
    assert np.isfinite(model.transform(X)).all()


@pytest.mark.parametrize("cls", CLASSES)
def test_scale_of_the_kernel_does_not_matter(cls, table):
    X, y = table
    before = cls(kernel=mercer.kernels.RBF(gamma=0.2), n_components=2).fit(X, y)
    after = cls(kernel=9.0 * mercer.kernels.RBF(gamma=0.2), n_components=2).fit(X, y)
    factor = 3.0 if cls in (mercer.KernelPCA, mercer.MercerFeatures) else 1.0
    assert_allclose(after.transform(X), factor * before.transform(X), atol=1e-8)


@pytest.mark.parametrize("module", sorted(m.name for m in pkgutil.iter_modules(package.__path__)))
def test_docstring_examples_run(module):
    assert doctest.testmod(importlib.import_module(f"{package.__name__}.{module}")).failed == 0
