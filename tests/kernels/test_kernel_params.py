"""Parameters: gamma from the data, bad values, kernels by name."""

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_examples import concrete_kernels, data_for, shared_letters
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

import mercer.kernels
from mercer.kernels import (
    ANOVA,
    KERNEL_NAMES,
    RBF,
    Chi2,
    Constant,
    FromFunction,
    ItemKernel,
    Laplacian,
    Linear,
    Matern,
    OnColumns,
    Polynomial,
    Power,
    RationalQuadratic,
    Scaled,
    Sigmoid,
    Spline,
    as_kernel,
    names,
)

pytestmark = pytest.mark.core

X = data_for("real", n=20)


@pytest.mark.parametrize("cls", [RBF, Polynomial, Sigmoid, ANOVA])
def test_gamma_from_the_data(cls):
    assert cls().resolve(X).gamma == pytest.approx(1 / (5 * X.var()), rel=1e-14)
    assert cls(gamma="auto").resolve(X).gamma == 0.2
    assert cls(gamma=7).resolve(X).gamma == 7
    assert cls().resolve(sp.csr_matrix(X)).gamma == pytest.approx(1 / (5 * X.var()), rel=1e-13)
    assert cls().gamma == "scale"
    np.testing.assert_array_equal(cls()(X), cls().resolve(X)(X))


def test_gamma_of_kernels_that_grow_linearly():
    assert Laplacian().resolve(X).gamma == pytest.approx(1 / (5 * X.std()), rel=1e-14)
    assert Chi2("scale").resolve(np.abs(X)).gamma == pytest.approx(1 / (5 * np.abs(X).std()), rel=1e-14)
    assert Chi2().gamma == 1.0


def test_gamma_is_scikit_learns():
    y = np.arange(20) % 2
    assert RBF().resolve(X).gamma == pytest.approx(SVC().fit(X, y)._gamma, rel=1e-13)


@pytest.mark.parametrize("container", [np.array, sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_weights_are_repetitions(container, shift):
    w = np.arange(20) % 4
    A = np.array(X) + shift
    weighted = RBF().resolve(container(A), w).gamma
    repeated = RBF().resolve(container(np.repeat(A, w, axis=0))).gamma
    assert weighted == pytest.approx(repeated, rel=1e-11)
    assert weighted == pytest.approx(1 / (5 * np.repeat(A, w, axis=0).var()), rel=1e-9)
    assert RBF().resolve(container(A), 2.5 * w).gamma == pytest.approx(weighted, rel=1e-11)
    composite = (RBF() * Linear().on([1]) + RBF().on([0, 1])).resolve(container(A), w)
    assert composite.k1.k1.gamma == weighted


def test_single_precision_far_from_the_origin():
    A = (np.array(X) + 1e4).astype(np.float32)
    assert RBF().resolve(A).gamma == pytest.approx(1 / (5 * A.astype(float).var()), rel=1e-9)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e5 / 3])
def test_constant_data(value):
    A = np.full((7, 3), value)
    assert RBF().resolve(A).gamma == 1.0
    assert RBF().resolve(A.astype(np.float32)).gamma == 1.0
    assert RBF().resolve(sp.csr_matrix(A)).gamma == 1.0
    assert Laplacian().resolve(A, np.arange(7.0)).gamma == 1.0


def test_weights_are_checked():
    with pytest.raises(ValueError, match=r"sample_weight has shape \(3,\); for 20 items"):
        RBF().resolve(X, np.ones(3))
    with pytest.raises(ValueError, match="sum to more than 0"):
        RBF().resolve(X, np.zeros(20))


BAD = [
    (RBF(-1.0), "RBF: gamma=-1.0"),
    (RBF("big"), "RBF: gamma='big' .* 'scale' or 'auto'"),
    (RBF(np.nan), "RBF: gamma=nan"),
    (RBF(np.inf), "RBF: gamma=inf"),
    (RBF(None), "RBF: gamma=None"),
    (RBF(True), "RBF: gamma=True"),
    (RBF([1.0, -1.0, 1, 1, 1]), "RBF: gamma=.* one per feature"),
    (RBF([]), "RBF: gamma="),
    (RBF(np.ones((2, 2))), "RBF: gamma="),
    (RBF([1.0, 2.0]), "2 features; the data have 5"),
    (Polynomial(degree=-1), "Polynomial: degree=-1 .* >= 0"),
    (Polynomial(degree="3"), "Polynomial: degree='3'"),
    (Polynomial(coef0=np.inf), "Polynomial: coef0=inf"),
    (Polynomial(gamma=-1), "Polynomial: gamma=-1"),
    (Polynomial(degree=2.5, gamma=1.0), "degree=2.5 is not an integer"),
    (Sigmoid(coef0="x"), "Sigmoid: coef0='x'"),
    (Laplacian(-2), "Laplacian: gamma=-2"),
    (Matern(0.0), "Matern: length_scale=0.0 .* > 0"),
    (Matern("scale"), "Matern: length_scale='scale'"),
    (Matern(nu=2), "Matern: nu=2 .* 0.5, 1.5, 2.5 or inf"),
    (Matern(nu="x"), "Matern: nu='x'"),
    (Matern([1.0] * 4), "4 features; the data have 5"),
    (RationalQuadratic(alpha=0), "RationalQuadratic: alpha=0 .* > 0"),
    (ANOVA(degree=0), "ANOVA: degree=0 .* integer >= 1"),
    (ANOVA(degree=1.5), "ANOVA: degree=1.5"),
    (Spline("max"), "Spline: anchor='max' .* 'min'"),
    (Spline([0.0, 1.0]), "anchor has 2 values, but the data have 5"),
    (Constant(-1), "Constant: value=-1 .* >= 0"),
    (Scaled(RBF(), -1), "Scaled: scale=-1 .* >= 0"),
    (Power(RBF(), -2), "Power: exponent=-2 .* >= 0"),
    (Power(Linear(), 0.5), "Power: exponent=0.5 is not an integer"),
    (OnColumns(RBF(), [9]), "OnColumns: columns=.9. .* from -5 to 4"),
    (OnColumns(RBF(-1.0), [0]), "RBF: gamma=-1.0"),
    (2 * RBF(-1.0) + Linear(), "RBF: gamma=-1.0"),
    (FromFunction(3), "FromFunction: function=3"),
    (ItemKernel(3), "ItemKernel: function=3"),
    (shared_letters.replaced(psd="yes"), "ItemKernel: psd='yes'"),
    (shared_letters.replaced(symmetric="yes"), "ItemKernel: symmetric='yes'"),
]


@pytest.mark.parametrize(("kernel", "message"), BAD, ids=[f"{m[:30]}-{i}" for i, (_, m) in enumerate(BAD)])
def test_bad_parameters_are_named_when_the_kernel_is_used(kernel, message):
    for use in (kernel, lambda X: kernel.resolve(X)(X)):
        with pytest.raises(ValueError, match=message):
            use(X)


def test_gamma_zero_is_allowed_as_in_scikit_learn():
    np.testing.assert_array_equal(RBF(0.0)(X), 1.0)


def test_equality_is_by_content():
    assert RBF(1) == RBF(1.0) == RBF(np.float64(1.0))
    assert hash(RBF(1)) == hash(RBF(np.float32(1.0)))
    assert RBF(np.array([1.0, 2.0])) == RBF([1, 2])
    assert RBF([1, 2]) != RBF([1, 3])
    assert RBF([1.0]) != RBF(1.0)
    assert RBF(1.0) != Laplacian(1.0)
    assert Linear().on(slice(0, 2)) == Linear().on(slice(0, 2)) != Linear().on(slice(0, 3))
    assert len({RBF(1), RBF(1.0), RBF([1, 2]), RBF(np.array([1, 2]))}) == 2


@pytest.mark.parametrize(
    "value",
    [
        1,
        0.1,
        np.float32(0.1),
        np.array([0.1, 1 / 3]),
        np.array([0.1, 0.2], dtype=np.float32),
        np.array([1, 2]),
        [1, 2.5],
        (1, 2),
        (1,),
        "auto",
        np.inf,
        np.array([1.0, -np.inf]),
    ],
)
def test_repr_of_any_value(value):
    k = RBF(value)
    scope = {"np": np, **{name: getattr(mercer.kernels, name) for name in mercer.kernels.__all__}}
    assert eval(repr(k), scope) == k
    assert "\n" not in repr(k)


def test_names():
    for name in KERNEL_NAMES:
        k = as_kernel(name)
        assert k == as_kernel(name, gamma="scale", degree=3, coef0=0.0)
        assert k == (Chi2("scale") if name == "chi2" else type(k)())
    assert set(KERNEL_NAMES) >= {"linear", "poly", "rbf", "sigmoid", "precomputed", "laplacian", "chi2"}
    assert as_kernel("poly", gamma=2, degree=4, coef0=1) == Polynomial(4, 2, 1)
    assert as_kernel("linear", gamma=2.0, degree=4, coef0=1) == Linear()  # as in scikit-learn
    assert as_kernel("anova", gamma=2.0, degree=4) == ANOVA(2.0, 4)


def test_every_kernel_with_a_name_is_found_by_it():
    named = {vars(cls)["name"]: cls for cls in concrete_kernels() if vars(cls).get("name")}
    assert set(KERNEL_NAMES) == set(named)
    assert all(type(as_kernel(name)) is cls for name, cls in named.items())


def test_a_name_is_not_inherited_and_belongs_to_one_kernel(monkeypatch):
    class Own(RBF):
        pass

    assert set(names.learn_names()) >= set(KERNEL_NAMES)  # other tests may have made kernels of their own
    before = dict(names._by_name)
    monkeypatch.setattr(Own, "name", "rbf", raising=False)
    with pytest.raises(TypeError, match="Own and RBF have one name: 'rbf'"):
        names.learn_names()
    assert names._by_name == before


def test_kernels_and_functions():
    k = RBF(0.5)
    assert as_kernel(k) is k
    assert as_kernel(rbf_kernel) == FromFunction(rbf_kernel)
    assert as_kernel(shared_letters) is shared_letters
    assert as_kernel(k, gamma="scale", degree=3.0, coef0=0) is k


@pytest.mark.parametrize(
    "given", [{"gamma": 0.5}, {"gamma": "auto"}, {"degree": 2}, {"coef0": 1.0}, {"gamma": [1.0]}]
)
def test_parameters_beside_a_kernel(given):
    name = next(iter(given))
    with pytest.raises(ValueError, match=f"{name}=.*kernel=RBF.*kernel__{name}"):
        as_kernel(RBF(), **given)


def test_unknown_kernels():
    with pytest.raises(ValueError, match=r"kernel='rfb' is not allowed.*'linear', 'poly', 'rbf'"):
        as_kernel("rfb")
    with pytest.raises(ValueError, match="kernel=3"):
        as_kernel(3)
    with pytest.raises(TypeError, match=r"RBF is a class; pass an instance: RBF\(\)"):
        as_kernel(RBF)


def test_inside_a_scikit_learn_estimator():
    """get_params and set_params of an estimator reach the kernel's parameters."""
    from sklearn.base import BaseEstimator, clone

    class Model(BaseEstimator):
        def __init__(self, kernel=None):
            self.kernel = kernel

    model = Model(RBF(1.0) + 2 * Linear())
    assert model.get_params()["kernel__k1__gamma"] == 1.0
    copy = clone(model).set_params(kernel__k1__gamma=3.0)
    assert copy.kernel == RBF(3.0) + 2 * Linear()
    assert model.kernel == RBF(1.0) + 2 * Linear()
    assert "RBF(gamma=1.0) + 2 * Linear()" in repr(model)
