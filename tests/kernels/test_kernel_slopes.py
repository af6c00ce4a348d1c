"""Derivatives by the logarithms of parameters, against differences."""

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_examples import EXAMPLES, ITEMS, Example, data_for

from mercer.kernels import ANOVA, RBF, Constant, Linear, Matern, Polynomial, RationalQuadratic, Sigmoid

pytestmark = pytest.mark.core

WIDTHS = np.array([1.0, 2.0, 0.5, 1.0, 3.0])

MORE = [
    Example(RBF(gamma=np.array([0.1, 0.2, 0.4, 1.0, 0.5]))),
    Example(Matern(WIDTHS, nu=0.5)),
    Example(Matern(WIDTHS, nu=1.5)),
    Example(Matern(2.0, nu=2.5)),
    Example(Matern(WIDTHS, nu=np.inf)),
    Example(Sigmoid(0.1, 0.5)),
    Example(Polynomial(0, 0.5, 1.0)),
    Example(ANOVA(0.3, 1)),
    Example(2.0 * RBF(0.3) * Matern(1.5) + 0.5 * RationalQuadratic(1.0, 2.0) + Constant(0.1)),
    Example((RBF(0.2) + Constant(1.0)) ** 3),
    Example((RBF(0.2) + 1.0) ** 1.5),
    Example(RBF(0.2) ** 0),
    Example((RBF(WIDTHS) * Linear()).normalized()),
    Example((2.0 * RBF(0.2) + Linear()).centered()),
    Example(Matern([1.0, 2.0]).on([1, 3]) * RBF(0.1)),
]
ALL = [e for e in [*EXAMPLES, *MORE] if e.kernel.tunable()]


def moved(kernel, name, index, step, X):
    """Return the kernel with the logarithm of one entry of a parameter moved."""
    value = kernel.tunable()[name].copy()
    value[index] *= np.exp(step)
    copy = kernel.replaced().set_params(**{name: float(value) if value.ndim == 0 else value})
    return copy.resolve_on(X, None)


@pytest.mark.parametrize("square", [True, False], ids=["square", "oblong"])
@pytest.mark.parametrize("example", ALL, ids=str)
def test_slopes_are_those_of_differences(example, square):
    X = data_for(example.data)
    Z = None if square else data_for(example.data, n=7, seed=3)
    kernel = example.kernel.resolve_on(X, None)
    m = len(X) if Z is None else len(Z)
    G = np.random.default_rng(1).normal(size=(len(X), m))
    weights = G.copy()
    slopes = kernel.slopes(X, Z, G)
    np.testing.assert_array_equal(G, weights)
    assert {name: s.shape for name, s in slopes.items()} == {
        name: v.shape for name, v in kernel.tunable().items()
    }
    step = 1e-5
    for name, slope in slopes.items():
        for index in np.ndindex(slope.shape):
            up, down = (moved(kernel, name, index, s, X).evaluate(X, Z) for s in (step, -step))
            expected = float((G * (up - down)).sum()) / (2 * step)
            size = float(np.abs(G * (up - down)).sum()) / (2 * step) + np.abs(G * up).sum()
            assert slope[index] == pytest.approx(expected, abs=1e-7 * size)


@pytest.mark.parametrize("example", ALL, ids=str)
def test_slopes_of_the_diagonal(example):
    X = data_for(example.data, n=40)
    kernel = example.kernel.resolve_on(X, None)
    g = np.random.default_rng(1).normal(size=40)
    step = 1e-5
    for name, slope in kernel.slopes_diag(X, g).items():
        for index in np.ndindex(slope.shape):
            up, down = (moved(kernel, name, index, s, X).evaluate_diag(X) for s in (step, -step))
            size = np.abs(g * up).sum()
            assert slope[index] == pytest.approx(float(g @ (up - down)) / (2 * step), abs=1e-7 * size)


@pytest.mark.parametrize("example", ALL, ids=str)
def test_slopes_on_sparse_data(example):
    if example.data in ITEMS or not example.kernel.accepts_sparse:
        return
    X = data_for(example.data)
    G = np.random.default_rng(1).normal(size=(len(X), len(X)))
    dense = example.kernel.resolve_on(X, None).slopes(X, None, G)
    S = sp.csr_matrix(X)
    sparse = example.kernel.resolve_on(S, None).slopes(S, None, G)
    for name, slope in dense.items():
        np.testing.assert_allclose(sparse[name], slope, rtol=1e-9, atol=1e-9)


def test_far_from_the_origin():
    X = data_for("real")
    G = np.random.default_rng(1).normal(size=(len(X), len(X)))
    for kernel in (RBF(WIDTHS), RBF(0.3), Matern(WIDTHS, nu=2.5)):
        near, far = kernel.slopes(X, None, G), kernel.slopes(X + 1e5, None, G)
        for name, slope in near.items():
            np.testing.assert_allclose(far[name], slope, rtol=1e-6, atol=1e-6)


def test_what_has_no_logarithm_is_not_tunable():
    assert Linear().tunable() == {}
    assert RBF().tunable() == {}  # not resolved
    assert set(RBF(0.0).tunable()) == set()
    assert set(Polynomial(2, 0.5, 0.0).tunable()) == {"gamma"}
    assert set((0.0 * RBF(0.5)).tunable()) == {"kernel__gamma"}
