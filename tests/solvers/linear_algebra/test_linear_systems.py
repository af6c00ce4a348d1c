"""The parts that large and small systems are solved with, against plain linear algebra."""

import numpy as np
import pytest
from scipy.linalg import LinAlgError

from mercer._jit import tridiagonal
from mercer.gram import Workers, gram
from mercer.gram.nystrom import sampled_cholesky
from mercer.gram.tiled import TILE, TiledProduct
from mercer.kernels import RBF, Linear, Matern, Precomputed
from mercer.problems.ridge import Ridge
from mercer.solvers.gaussian.evidence import log_quadrature
from mercer.solvers.linear_algebra.conjugate_gradients import ConjugateGradients, LowRankPreconditioner
from mercer.solvers.linear_algebra.factored import Factored
from mercer.solvers.linear_algebra.tridiagonal import Tridiagonal
from mercer.solvers.ridge.direct import Spectrum, path, reduced
from mercer.solvers.ridge.iterative import IterativeRidge

pytestmark = pytest.mark.core


def spd(n, condition, seed=0):
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    return (Q * np.geomspace(1.0, 1.0 / condition, n)) @ Q.T


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_factor_and_its_matrix_share_their_memory(order):
    S = spd(40, 1e6)
    S = 0.5 * (S + S.T)
    shift = np.linspace(0.1, 0.2, 40)
    whole = S + np.diag(shift)
    system = Factored(np.array(S, order=order), shift)
    B = np.random.default_rng(1).normal(size=(40, 3))
    np.testing.assert_allclose(system.times(B), whole @ B, atol=1e-13)
    np.testing.assert_allclose(system.solve(B), np.linalg.solve(whole, B), rtol=1e-9)
    np.testing.assert_allclose(system.log_determinant, np.linalg.slogdet(whole)[1])
    V = system.half_solve(B)
    np.testing.assert_allclose(V.T @ V, B.T @ np.linalg.solve(whole, B), rtol=1e-9)
    np.testing.assert_allclose(system.inverse_diagonal(), np.diag(np.linalg.inv(whole)), rtol=1e-9)
    np.testing.assert_allclose(
        np.tril(system.inverse_triangle(overwrite=True)), np.tril(np.linalg.inv(whole)), atol=1e-9
    )
    assert 0.2 < system.condition / np.linalg.cond(whole, 1) <= 1.0 + 1e-9


def test_what_has_no_factor_says_so():
    with pytest.raises(LinAlgError):
        Factored(-np.eye(3), 0.5)
    with pytest.raises(ValueError, match="NaN or infinity"):
        Factored(np.full((3, 3), np.nan), 0.5)


def naive_conjugate_gradients(S, b, steps):
    """The method as textbooks print it."""
    x, g = np.zeros_like(b), b.copy()
    h = g.copy()
    for _ in range(steps):
        step = (g @ g) / (h @ S @ h)
        x = x + step * h
        new = g - step * (S @ h)
        h = new + (new @ new) / (g @ g) * h
        g = new
    return x


def test_conjugate_gradients_take_the_textbook_steps():
    S = spd(30, 1e3)
    B = np.random.default_rng(2).normal(size=(30, 4))
    B[:, 3] = 0.0
    steps = ConjugateGradients(lambda V: S @ V, B, lambda V: V.copy())
    for _ in range(7):
        steps.step()
    for j in range(3):
        np.testing.assert_allclose(steps.X[:, j], naive_conjugate_gradients(S, B[:, j], 7), atol=1e-9)
    assert (steps.X[:, 3] == 0).all()
    np.testing.assert_allclose(steps.R, B - S @ steps.X, atol=1e-10)


def test_the_preconditioner_is_an_inverse():
    rng = np.random.default_rng(0)
    L = rng.normal(size=(20, 5))
    P = LowRankPreconditioner(L, 0.3)
    whole = L @ L.T + 0.3 * np.eye(20)
    V = rng.normal(size=(20, 2))
    np.testing.assert_allclose(P(V), np.linalg.solve(whole, V), atol=1e-10)
    np.testing.assert_allclose(P.log_determinant, np.linalg.slogdet(whole)[1])
    empty = LowRankPreconditioner(np.zeros((20, 0)), 0.3)
    np.testing.assert_allclose(empty(V), V / 0.3)
    assert empty.log_determinant == pytest.approx(20 * np.log(0.3))


def test_quadrature_of_the_logarithm_is_exact_in_the_end():
    S = spd(12, 50.0)
    b = np.random.default_rng(0).normal(size=(12, 2))
    steps = ConjugateGradients(lambda V: S @ V, b, lambda V: V.copy())
    lengths = steps.power.copy()
    for _ in range(12):
        steps.step()
    values, vectors = np.linalg.eigh(S)
    expected = np.einsum("ij,i,ij->j", vectors.T @ b, np.log(values), vectors.T @ b)
    found = lengths * log_quadrature(np.array(steps.alphas), np.array(steps.betas))
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("dtype", ["single", "double"])
@pytest.mark.parametrize("kept", [0, 1, 10**9])
def test_tiled_products(dtype, kept):
    X = np.random.default_rng(0).normal(size=(TILE + 300, 3))
    K = gram(RBF(0.5), X, precision=dtype)
    V = np.random.default_rng(1).normal(size=(X.shape[0], 2))
    whole = RBF(0.5)(X)
    product = TiledProduct(K, Workers(2), kept * TILE * TILE * 8)
    for _ in range(2):
        np.testing.assert_allclose(product(V), whole @ V, atol=1e-3 if dtype == "single" else 1e-10)
    size = len(product._kept)
    assert size == min(len(product.tiles), kept * (2 if dtype == "single" else 1))


def test_sampled_factors_leave_something_positive():
    X = np.random.default_rng(0).normal(size=(200, 2))
    X[100:150] = X[:50]  # landmarks that explain each other
    K = RBF(0.5)(X)
    factor = sampled_cholesky(gram(RBF(0.5), X), 60, 0.0, np.random.default_rng(1))
    left = K - factor.L @ factor.L.T
    assert np.linalg.eigvalsh(left)[0] > -1e-8
    assert np.trace(left) / 200 == pytest.approx(factor.residual, abs=1e-8)
    assert factor.residual < 1e-3
    assert np.abs(left[factor.pivots]).max() < 1e-6
    linear = sampled_cholesky(gram(Linear(), X), 60, 1e-10, np.random.default_rng(1), Workers(2))
    np.testing.assert_allclose(linear.L @ linear.L.T, X @ X.T, atol=1e-8)
    nothing = sampled_cholesky(gram(Precomputed(), np.zeros((5, 5))), 3, 0.0, np.random.default_rng(1))
    assert nothing.L.shape == (5, 0)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_single_precision_is_refined(fit_intercept):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    Y = np.c_[np.sin(X[:, 0]), X[:, 1]]
    weight = rng.uniform(0.2, 4.0, size=300)
    problem = Ridge(Y, weight, np.array([0.01, 0.5]), fit_intercept)
    K = gram(Matern(1.5, nu=2.5), X, precision="single")
    assert K.dtype == np.float32
    solution = IterativeRidge(tol=1e-12, rank=20).solve(K, problem, Workers(2))
    exact = Matern(1.5, nu=2.5)(X)
    np.testing.assert_allclose(solution.F, exact @ solution.A, atol=1e-8)
    for t, output in enumerate(problem.outputs()):
        a, bias = solution.A[:, t], solution.intercept[t : t + 1]
        values = output.evaluate(a, exact @ a, bias)
        assert 0 <= values.gap <= 1.5e-12 * values.primal
    assert solution.status == "optimal"


def test_bounds_of_the_quadratic_form_hold_at_every_step():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    K = RBF(0.4)(X)
    y = rng.normal(size=(80, 1))
    problem = Ridge(y, np.ones(80), np.array([0.05]))
    S = K + 0.05 * np.eye(80)
    truth = float(y[:, 0] @ np.linalg.solve(S, y[:, 0]))
    steps = ConjugateGradients(lambda V: S @ V, y, lambda V: V.copy())
    widths = []
    for _ in range(40):
        gaps, duals = problem.gaps(steps.X, steps.R)
        lower, upper = duals[0] / 0.05, (duals[0] + gaps[0]) / 0.05
        assert lower <= truth * (1 + 1e-10)
        assert upper >= truth * (1 - 1e-10)
        widths.append(upper - lower)
        steps.step()
    assert widths[-1] < 1e-4 * widths[0]


@pytest.mark.parametrize("n", [1, 2, 3, 50, 300])
def test_tridiagonal_form(n):
    rng = np.random.default_rng(n)
    A = rng.normal(size=(n, n))
    M = A @ A.T / n
    form = Tridiagonal.of(M.copy())
    T = np.diag(form.diagonal) + np.diag(form.off, 1) + np.diag(form.off, -1)
    np.testing.assert_allclose(form.Q @ T @ form.Q.T, M, atol=1e-12)
    np.testing.assert_allclose(form.Q.T @ form.Q, np.eye(n), atol=1e-12)
    shifts = np.array([0.01, 0.5, 7.0])
    B = rng.normal(size=(n, 2))
    solved, diagonals = form.solve(B, shifts), form.inverse_diagonals(shifts, Workers(2))
    for k, shift in enumerate(shifts):
        inverse = np.linalg.inv(M + shift * np.eye(n))
        np.testing.assert_allclose(solved[:, :, k], inverse @ B, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(diagonals[:, k], np.diag(inverse), rtol=1e-9)
    values = np.linalg.eigvalsh(M)
    np.testing.assert_allclose(form.ends, (values[0], values[-1]), atol=1e-12)


def naive_squares(Qt, ratio, weight):
    """The loop without stripes and threads."""
    shifts, n = ratio.shape
    out = np.zeros((shifts, Qt.shape[1]))
    for a in range(shifts):
        z = np.zeros(Qt.shape[1])
        for j in range(n):
            z = Qt[j] - ratio[a, j] * z
            out[a] += weight[a, j] * z**2
    return out


def test_the_compiled_loop_is_its_naive_twin():
    rng = np.random.default_rng(0)
    Qt = rng.normal(size=(20, 290))
    ratio, weight = 0.3 * rng.normal(size=(4, 20)), rng.uniform(size=(4, 20))
    expected = naive_squares(Qt, ratio, weight)
    out = np.zeros((4, 290))
    for start, stop in ((0, 150), (150, 290)):
        tridiagonal.add_squares(Qt, ratio, weight, start, stop, out)
    np.testing.assert_allclose(out, expected, rtol=1e-12)


def test_both_forms_give_the_same_path():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    problem = Ridge(rng.normal(size=(60, 2)), rng.uniform(0.5, 2.0, size=60), np.ones(2), True)
    K = RBF(0.5)(X)
    form, alphas = reduced(K, problem)
    assert isinstance(form, Tridiagonal)
    one = path(form, problem, alphas)
    other = path(Spectrum.of(K, problem), problem, alphas)
    np.testing.assert_allclose(one.errors, other.errors, rtol=1e-6)
    np.testing.assert_allclose(one.dual_coef[10:], other.dual_coef[10:], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(one.left_out[10:], other.left_out[10:], rtol=1e-6, atol=1e-9)
    tiny, _ = reduced(K, problem, np.array([1e-20, 1.0]))
    assert isinstance(tiny, Spectrum)
