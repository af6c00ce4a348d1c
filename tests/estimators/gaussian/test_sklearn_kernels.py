"""scikit-learn's kernels wherever a kernel is taken: values, parameters, bounds, white noise."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor as Reference
from sklearn.gaussian_process.kernels import (
    RBF,
    CompoundKernel,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    PairwiseKernel,
    RationalQuadratic,
    WhiteKernel,
)

import mercer
from mercer import GaussianProcessRegressor
from mercer.kernels import SklearnKernel, as_kernel

pytestmark = pytest.mark.core

COUNTERPARTS = [
    ConstantKernel(1.3) * RBF([1.0, 2.0, 3.0]),
    RBF(1.5, length_scale_bounds="fixed") + WhiteKernel(0.3),
    Matern(2.0, nu=2.5) * ConstantKernel(0.5) + WhiteKernel(0.2) + WhiteKernel(0.1, "fixed"),
    RationalQuadratic(1.5, 0.7) + DotProduct(2.0) + 1.0,
    (ConstantKernel(0.5) * DotProduct(0.7)) ** 2 + WhiteKernel(0.1),
    RBF(1.0) * Matern(1.0, nu=0.5) + WhiteKernel(0.1),
]
WRAPPED = [
    ExpSineSquared(1.0, 9.0) + WhiteKernel(0.5),
    ConstantKernel(2.0) * (RBF(1.0) + WhiteKernel(0.4)),
    Matern(1.0, nu=1.1) + WhiteKernel(0.1),
    PairwiseKernel(metric="rbf", gamma=0.3) + WhiteKernel(0.1),
]


@pytest.mark.parametrize("kernel", COUNTERPARTS + WRAPPED, ids=str)
def test_processes_agree_with_scikit_learn(data, kernel):
    X, Y, new = data
    if "ExpSine" in str(kernel):  # a kernel for one feature only
        X, new = X[:, :1], new[:, :1]
    model = GaussianProcessRegressor(kernel, alpha=0.01, optimizer=None).fit(X, Y)
    other = Reference(kernel, alpha=0.01, optimizer=None).fit(X, Y)
    assert model.kernel_ == kernel
    for option in ("return_std", "return_cov"):
        for ours, theirs in zip(
            model.predict(new, **{option: True}), other.predict(new, **{option: True}), strict=True
        ):
            np.testing.assert_allclose(ours, theirs, atol=1e-7)
    theta = kernel.theta + 0.1
    value, gradient = model.log_marginal_likelihood(theta, eval_gradient=True)
    evidence, slopes = other.log_marginal_likelihood(theta, eval_gradient=True)
    assert value == pytest.approx(evidence, rel=1e-8)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-6)
    assert model.certify(X, Y).relative_gap < 1e-9
    np.testing.assert_allclose(model.L_, other.L_, atol=1e-8)
    np.testing.assert_allclose(model.alpha_, other.alpha_, atol=1e-6)


def test_nothing_is_frozen_silently():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:200] / X.std(axis=0), y[:200]
    kernel = ConstantKernel(1.0) * RBF(1.0) + WhiteKernel(1.0)
    model = GaussianProcessRegressor(kernel, normalize_y=True).fit(X, y)
    other = Reference(kernel, normalize_y=True).fit(X, y)
    assert model.log_marginal_likelihood_value_ == pytest.approx(
        other.log_marginal_likelihood_value_, abs=1e-3
    )
    np.testing.assert_allclose(model.kernel_.theta, other.kernel_.theta, atol=0.05)


@pytest.mark.parametrize(
    "kernel", [ConstantKernel(0.7) * RBF(1.5) + WhiteKernel(0.3), ExpSineSquared(2.0, 40.0)]
)
@pytest.mark.filterwarnings("ignore:the kernel matrix is")
def test_other_machines_take_them(data, kernel):
    X, Y, new = data
    K, cross = kernel(X, X), kernel(new, X)  # between two sets there is no white noise
    for machine, target in (
        (mercer.SVC(), Y[:, 0] > 2),
        (mercer.SVR(), Y[:, 0]),
        (mercer.KernelRidge(), Y[:, 0]),
        (mercer.KernelPCA(n_components=2), None),
    ):
        one = clone(machine).set_params(kernel=kernel).fit(X, target)
        two = clone(machine).set_params(kernel="precomputed").fit(K, target)
        use = "transform" if target is None else "predict"
        ours, theirs = getattr(one, use)(new), getattr(two, use)(cross)
        if ours.dtype == bool:
            np.testing.assert_array_equal(ours, theirs)
        else:
            np.testing.assert_allclose(np.abs(ours), np.abs(theirs), atol=1e-3)


def test_which_are_computed_by_ours():
    assert not isinstance(as_kernel(ConstantKernel(2.0) * RBF(1.0)), SklearnKernel)
    assert isinstance(as_kernel(ExpSineSquared()), SklearnKernel)

    class Own(RBF):
        def __call__(self, X, Y=None, eval_gradient=False):
            return 2.0 * super().__call__(X, Y)

    assert isinstance(as_kernel(Own()), SklearnKernel)
    assert as_kernel(Own())(np.eye(2))[0, 0] == 2.0
    with pytest.raises(ValueError, match="CompoundKernel"):
        as_kernel(CompoundKernel([RBF(), RBF()]))
    assert SklearnKernel(ExpSineSquared(1.0)) == SklearnKernel(ExpSineSquared(1.0))
    assert SklearnKernel(ExpSineSquared(1.0)) != SklearnKernel(ExpSineSquared(2.0))


def test_bounds_decide_in_their_words(data):
    X, Y, _ = data
    kernel = RBF(1.0, (1e-3, 1.0)) + WhiteKernel(0.1, (1e-5, 1e2))
    with pytest.warns(ConvergenceWarning, match="parameter k1__length_scale is close to the specified upper"):
        GaussianProcessRegressor(kernel, normalize_y=True).fit(X[:, :1], X[:, 0] + 0.1 * Y[:, 1])


def test_the_prior(data):
    X, _, _ = data
    kernel = ConstantKernel(2.0) * RBF(1.0) + WhiteKernel(0.5)
    ours, theirs = GaussianProcessRegressor(kernel), Reference(kernel)
    for option in ("return_std", "return_cov"):
        mean, spread = ours.predict(X, **{option: True})
        assert not mean.any()
        np.testing.assert_allclose(spread, theirs.predict(X, **{option: True})[1], atol=1e-12)
    several = GaussianProcessRegressor(kernel, n_targets=3)
    assert several.predict(X, return_cov=True)[1].shape == (60, 60, 3)
    assert several.sample_y(X, 4).shape == (60, 3, 4)
    far = GaussianProcessRegressor(noise=0.1).predict(X, return_std=True)[1]
    np.testing.assert_allclose(far, 1.0)
