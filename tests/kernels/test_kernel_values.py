"""Kernels against other people's and against twins that anyone can read."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_examples import EXAMPLES, data_for
from scipy.integrate import quad
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics import pairwise

from mercer import _jit
from mercer.kernels import (
    ANOVA,
    RBF,
    AdditiveChi2,
    Chi2,
    HistogramIntersection,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    Spline,
    fused,
)

pytestmark = pytest.mark.core

X = data_for("real", n=15)
Z = data_for("real", n=8, seed=1)
H = data_for("positive", n=15)
G = data_for("positive", n=8, seed=1)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (Linear(), pairwise.linear_kernel),
        (RBF(0.4), lambda X, Z: pairwise.rbf_kernel(X, Z, gamma=0.4)),
        (Polynomial(3, 0.4, 1.0), lambda X, Z: pairwise.polynomial_kernel(X, Z, 3, 0.4, 1.0)),
        (Polynomial(5, 0.4, -1.0), lambda X, Z: pairwise.polynomial_kernel(X, Z, 5, 0.4, -1.0)),
        (Polynomial(0, 0.4), lambda X, Z: pairwise.polynomial_kernel(X, Z, 2) * 0 + 1),
        (Sigmoid(0.4, -1.0), lambda X, Z: pairwise.sigmoid_kernel(X, Z, 0.4, -1.0)),
        (Laplacian(0.4), lambda X, Z: pairwise.laplacian_kernel(X, Z, gamma=0.4)),
        (Laplacian("auto"), pairwise.laplacian_kernel),
        *((Matern(1.3, nu), gp.Matern(1.3, nu=nu)) for nu in (0.5, 1.5, 2.5, np.inf)),
        (Matern([1, 2, 3, 4, 5], 2.5), gp.Matern([1, 2, 3, 4, 5], nu=2.5)),
        (RationalQuadratic(1.3, 0.6), gp.RationalQuadratic(1.3, 0.6)),
        (RBF([0.5, 2.0, 0.125, 0.02, 8.0]), gp.RBF([1, 0.5, 2, 5, 0.25])),
    ],
    ids=lambda k: str(k) if hasattr(k, "get_params") else "",
)
def test_agrees_with_scikit_learn(ours, theirs):
    np.testing.assert_allclose(ours(X, Z), theirs(X, Z), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(ours(X), theirs(X, X), rtol=1e-10, atol=1e-7)  # theirs has a noisy diagonal


def test_agrees_with_scikit_learn_on_histograms():
    H, G = (
        np.array(data_for("positive", n=15)),
        np.array(data_for("positive", n=8, seed=1)),
    )  # theirs must write
    np.testing.assert_allclose(Chi2(0.7)(H, G), pairwise.chi2_kernel(H, G, gamma=0.7), rtol=1e-12)
    np.testing.assert_allclose(Chi2()(H), pairwise.chi2_kernel(H), rtol=1e-12)
    np.testing.assert_allclose(AdditiveChi2()(H, G), pairwise.additive_chi2_kernel(H, G), rtol=1e-12)


# Twins: the definition of each sum, for one pair of rows.


def twin_l1(x, z):
    return sum(abs(a - b) for a, b in zip(x, z, strict=True))


def twin_chi2(x, z):
    return sum((a - b) ** 2 / (a + b) for a, b in zip(x, z, strict=True) if a + b > 0)


def twin_minimum(x, z):
    return sum(min(a, b) for a, b in zip(x, z, strict=True))


def twin_gaussians(x, z):
    return sum(math.exp(-0.3 * (a - b) ** 2) for a, b in zip(x, z, strict=True))


ANCHOR = np.array([0.0, 1.0, -1.0, 0.5, 0.0])


def twin_splines(x, z):
    total = 0.0
    for s, t in zip(x - ANCHOR, z - ANCHOR, strict=True):
        total += 1 + s * t
        if s * t > 0:
            m = min(abs(s), abs(t))
            total += abs(s) * abs(t) * m - (abs(s) + abs(t)) / 2 * m**2 + m**3 / 3
    return total


TINY = object()  # stands for the smallest number of the type
LOOPS = [
    ("l1", (), twin_l1, X, Z),
    ("chi2", (TINY,), twin_chi2, H, G),
    ("minimum", (), twin_minimum, H, G),
    ("gaussians", (0.3,), twin_gaussians, X, Z),
    ("cubic_splines", (ANCHOR,), twin_splines, X, Z),
]


@pytest.mark.parametrize(("name", "extra", "twin", "A", "B"), LOOPS, ids=[loop[0] for loop in LOOPS])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("compiled", [True, False])
def test_loops_against_their_twins(name, extra, twin, A, B, dtype, compiled):
    loop = getattr(_jit.pairwise, name)
    if not compiled:
        loop = getattr(loop, "py_func", loop)
    A, B = np.array(A, dtype=dtype), np.array(B, dtype=dtype)
    extra = tuple(np.asarray(np.finfo(dtype).tiny if e is TINY else e, dtype=dtype)[()] for e in extra)
    out = np.full((len(A), len(B)), np.nan, dtype=dtype)
    loop(A, np.ascontiguousarray(B.T), *extra, out)
    expected = [[twin(a, b) for b in B.astype(float)] for a in A.astype(float)]
    np.testing.assert_allclose(out, expected, rtol=1e-13 if dtype == np.float64 else 1e-5, atol=1e-6)


def test_loops_over_several_strips():
    many = np.random.default_rng(3).random((2 * _jit.pairwise.STRIP + 17, 3))
    few = many[:4]
    K = HistogramIntersection()(few, many)
    np.testing.assert_allclose(K, np.minimum(few[:, None], many[None]).sum(axis=2), rtol=1e-13)
    K = Laplacian(1.0)(many, few)
    np.testing.assert_allclose(K, np.exp(-np.abs(many[:, None] - few[None]).sum(axis=2)), rtol=1e-13)


def test_sparse_rows_in_several_tiles(monkeypatch):
    monkeypatch.setattr("mercer.kernels.data.TILE_ENTRIES", 20)  # four rows of five
    for k in (Laplacian(0.3), Spline(), ANOVA(0.3, 2)):
        np.testing.assert_allclose(k(sp.csr_matrix(X), sp.csr_matrix(Z)), k(X, Z), rtol=1e-12)
        np.testing.assert_allclose(k(sp.csr_matrix(X), Z), k(X, Z), rtol=1e-12)
        np.testing.assert_allclose(k.diag(sp.csr_matrix(X)), k.diag(X), rtol=1e-12)


def test_a_value_does_not_depend_on_its_block():
    whole = Laplacian(0.3)(X)
    np.testing.assert_array_equal(Laplacian(0.3)(X[3:4], X[5:6]), whole[3:4, 5:6])
    np.testing.assert_array_equal(whole, whole.T)


# The spline kernel from its definition.


@pytest.mark.parametrize(
    ("s", "t"), [(0.3, 1.7), (1.7, 0.3), (2.0, 2.0), (-0.5, -1.5), (-0.5, 0.7), (0.0, 1.0)]
)
def test_spline_is_the_integral_that_defines_it(s, t):
    right = quad(lambda u: max(s - u, 0) * max(t - u, 0), 0, 3, points=[0.3, 1.7, 2.0])[0]
    left = quad(lambda u: max(-s - u, 0) * max(-t - u, 0), 0, 3, points=[0.5, 1.5])[0]
    value = Spline()([[s]], [[t]])[0, 0]
    assert value == pytest.approx(1 + s * t + right + left, rel=1e-8)
    shifted = Spline(anchor=5.0)([[s + 5]], [[t + 5]])[0, 0]
    assert shifted == pytest.approx(value, rel=1e-12)


def test_spline_reproduces_functions():
    """<f, K(., t)> = f(t) under ||f||^2 = f(0)^2 + f'(0)^2 + integral of f''^2, for f = cos."""

    def second_derivative(s, t):  # of K(., t) at s: (|t| - |s|)_+ on the side of t, 0 on the other
        return max(abs(t) - abs(s), 0.0) if s * t > 0 else 0.0

    for t in (1.3, -0.8):
        inner = quad(lambda u, t=t: -math.cos(u) * second_derivative(u, t), -3, 3, points=[0, t])[0]
        K0, slope = Spline()([[0.0]], [[t]])[0, 0], t  # K(0, t) = 1 and K'(0, t) = t
        assert pytest.approx(1.0) == K0
        assert 1.0 * K0 + 0.0 * slope + inner == pytest.approx(math.cos(t), abs=1e-9)


def test_spline_anchored_at_the_smallest_values():
    k = Spline(anchor="min")
    assert not k.is_resolved
    resolved = k.resolve(X)
    np.testing.assert_allclose(resolved.anchor, X.min(axis=0))
    np.testing.assert_allclose(k.resolve(sp.csr_matrix(X)).anchor, X.min(axis=0))
    weights = np.ones(len(X))
    weights[X[:, 0].argmin()] = 0
    assert resolved.anchor[0] < k.resolve(X, weights).anchor[0]
    assert np.linalg.eigvalsh(resolved(Z)).min() > -1e-9  # Z has values below the anchors
    assert Z.min() < X.min() or (Z.min(axis=0) < X.min(axis=0)).any()
    np.testing.assert_allclose(k(X), resolved(X))


# Precision.


def test_data_far_from_the_origin():
    far = (np.array(X) + 1e4).astype(np.float32)
    exact = np.exp(-0.1 * ((far[:, None].astype(float) - far[None].astype(float)) ** 2).sum(axis=2))
    np.testing.assert_allclose(RBF(0.1)(far), exact, rtol=1e-5)
    np.testing.assert_allclose(RBF(0.1)(far[:5], far), exact[:5], rtol=1e-5)
    np.testing.assert_allclose(RBF(0.1)(far.astype(float)), exact, rtol=1e-9)
    one_row = RBF(0.1)(far[:1], far)
    np.testing.assert_allclose(one_row, exact[:1], rtol=2e-6)


def test_the_diagonal_is_exact():
    far = np.array(X) + 1e6
    for k in (RBF(100.0), Matern(0.01, 0.5), RationalQuadratic(0.01)):
        np.testing.assert_array_equal(np.diagonal(k(far)), 1.0)


@pytest.mark.parametrize("container", [np.array, sp.csr_matrix])
def test_a_cusp_at_zero_keeps_its_digits(container):
    """exp(-d) of nearly equal rows in float32: d from the matrix product alone would be off by 1e-3."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(40, 30)).astype(np.float32)
    B = A + rng.normal(scale=1e-4, size=A.shape).astype(np.float32)
    B[::2] = A[::2]
    exact = np.exp(-np.sqrt(((A.astype(float)[:, None] - B.astype(float)[None]) ** 2).sum(axis=2)))
    np.testing.assert_allclose(Matern(1.0, 0.5)(container(A), container(B)), exact, rtol=5e-6, atol=5e-6)


def test_scaling_the_data_scales_the_kernel():
    for scale in (1e-6, 1e6):
        for dtype in (np.float32, np.float64):
            scaled = (np.array(X) * scale).astype(dtype)
            for k in (RBF(), Laplacian(), Polynomial(), ANOVA()):
                np.testing.assert_allclose(k(scaled), k(X), rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(Chi2("scale")(np.abs(scaled)), Chi2("scale")(np.abs(X)), rtol=1e-4)


# What the Gram layer is told.

LINES = {
    fused.LINEAR: lambda s, a, b, c: a * s,
    fused.POLYNOMIAL: lambda s, a, b, c: (a * s + b) ** c,
    fused.SIGMOID: lambda s, a, b, c: np.tanh(a * s + b),
    fused.RBF: lambda s, a, b, c: np.exp(-a * s),
    fused.MATERN32: lambda s, a, b, c: (1 + a * np.sqrt(s)) * np.exp(-a * np.sqrt(s)),
    fused.MATERN52: lambda s, a, b, c: (1 + a * np.sqrt(s) + a**2 * s / 3) * np.exp(-a * np.sqrt(s)),
}


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_the_fused_line_is_the_kernel(example):
    line = example.kernel.fused()
    if line is None:
        return
    s = X @ Z.T if line.statistic == "dot" else ((X[:, None] - Z[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(LINES[line.code](s, line.a, line.b, line.c), example.kernel(X, Z), rtol=1e-10)


def test_which_kernels_are_fused():
    fused_kernels = [
        Linear(),
        Polynomial(2, 1.0),
        RBF(1.0),
        Sigmoid(1.0),
        *(Matern(nu=nu) for nu in (1.5, 2.5, np.inf)),
    ]
    assert {k.fused().code for k in fused_kernels} == set(LINES)
    for k in (
        Matern(nu=0.5),
        RationalQuadratic(),
        RBF(),
        RBF([1.0, 2.0]),
        Matern([1.0, 2.0]),
        Polynomial(2.5, 1.0),
        Laplacian(1.0),
        Spline(),
    ):
        assert k.fused() is None
