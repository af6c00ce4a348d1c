"""Compiled loops against their naive twins; also run without the compiler, so that coverage sees inside."""

import math
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import naive_loops as naive
import numpy as np
import pytest
import scipy.sparse as sp

from clouds import blobs
from mercer import SVC, _jit
from mercer._jit import fused_codes as codes

pytestmark = pytest.mark.core

LINES = [
    (codes.LINEAR, 0.7, 0.0, 0.0),
    (codes.POLYNOMIAL, 0.5, 1.0, 1.0),
    (codes.POLYNOMIAL, 0.5, 1.0, 2.0),
    (codes.POLYNOMIAL, 0.5, -0.3, 3.0),
    (codes.POLYNOMIAL, 0.2, 1.0, 5.0),
    (codes.SIGMOID, 0.4, -0.2, 0.0),
    (codes.RBF, 0.3, 0.0, 0.0),
    (codes.MATERN32, 0.8, 0.0, 0.0),
    (codes.MATERN52, 0.8, 0.0, 0.0),
]
IDS = ["linear", "poly1", "poly2", "poly3", "poly5", "sigmoid", "rbf", "matern32", "matern52"]
DOTS = (codes.LINEAR, codes.POLYNOMIAL, codes.SIGMOID)


def points(n, d, dtype):
    rng = np.random.default_rng(d)
    return rng.normal(size=(n, d)).astype(dtype)


def typed(line, dtype):
    """The line as the loops take it: of the Gaussian, its one constant only."""
    code, a, b, c = line
    return (dtype(a),) if code == codes.RBF else (code not in DOTS, code, dtype(a), dtype(b), dtype(c))


def tolerance(dtype):
    return {"rtol": 2e-5, "atol": 2e-6} if dtype == np.float32 else {"rtol": 1e-12, "atol": 1e-13}


# -- values ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("line", LINES, ids=IDS)
@pytest.mark.parametrize("d", [1, 3, 4, 9])
def test_dense_panels_and_products(line, dtype, d):
    code, *constants = line
    squared = code not in DOTS
    line = typed(line, dtype)
    X, Z = points(37, d, dtype), points(19, d, dtype)
    expected = naive.panel(X.astype(float), Z.astype(float), squared, code, *constants)
    XT = np.ascontiguousarray(X.T)
    out = np.zeros((19, 37), dtype=dtype)
    _jit.panels.dense_panel(XT, 5, 37, Z, line, out)
    assert not out[:, :5].any()  # only the range that was asked for
    np.testing.assert_allclose(out[:, 5:], expected[:, 5:], **tolerance(dtype))
    coef, product = np.linspace(-1, 1, 19), np.ones(37)
    _jit.panels.dense_product(XT, 0, 30, Z, line, coef, product)
    wanted = np.ones(37)
    wanted[:30] += coef @ expected[:, :30]
    np.testing.assert_allclose(product, wanted, **tolerance(dtype))


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("line", [LINES[0], LINES[2], LINES[6]], ids=["linear", "poly2", "rbf"])
def test_sparse_panels_and_products(line, dtype, index):
    code, *constants = line
    squared = code not in DOTS
    line = typed(line, dtype)
    X, Z = points(23, 11, dtype), points(6, 11, dtype)
    X[np.abs(X) < 0.9] = 0.0
    X[4] = 0.0  # an empty row
    S = sp.csr_matrix(X)
    indptr, indices = S.indptr.astype(index), S.indices.astype(index)
    expected = naive.panel(X.astype(float), Z.astype(float), squared, code, *constants)
    norms, z_norms = (X**2).sum(axis=1), (Z**2).sum(axis=1)
    ZT = np.ascontiguousarray(Z.T)
    out = np.zeros((23, 6), dtype=dtype)
    _jit.panels.sparse_panel(indptr, indices, S.data, norms, 2, 23, ZT, z_norms, line, out)
    assert not out[:2].any()
    np.testing.assert_allclose(out[2:], expected.T[2:], **tolerance(dtype))
    coef, product = np.linspace(-1, 1, 6), np.ones(23)
    _jit.panels.sparse_product(indptr, indices, S.data, norms, 0, 23, ZT, z_norms, line, coef, product)
    np.testing.assert_allclose(product, 1.0 + coef @ expected, **tolerance(dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tiles_of_a_matrix_product(dtype):
    X, Z = points(13, 30, dtype), points(5, 30, dtype)
    tile = Z @ X.T
    norms, z_norms = (X**2).sum(axis=1), (Z**2).sum(axis=1)
    _jit.panels.finish_tile(tile, Z, z_norms, X, norms, (dtype(0.05),))
    expected = naive.panel(X.astype(float), Z.astype(float), True, codes.RBF, 0.05, 0.0, 0.0)
    np.testing.assert_allclose(tile, expected, **tolerance(dtype))
    out, coef = np.ones(20), np.linspace(-1, 1, 5)
    _jit.panels.fold_tile(tile, coef, out, 4)
    wanted = np.ones(20)
    wanted[4:17] += coef @ tile.astype(float)
    np.testing.assert_allclose(out, wanted, rtol=1e-12)


def test_distances_of_far_away_points_do_not_cancel():
    X = np.array([[1e6, 1e6], [1e6 + 0.5, 1e6]], dtype=np.float32)
    out = np.zeros((2, 2), dtype=np.float32)
    _jit.panels.dense_panel(np.ascontiguousarray(X.T), 0, 2, X, (np.float32(1),), out)
    np.testing.assert_allclose(out, [[1.0, math.exp(-0.25)], [math.exp(-0.25), 1.0]], rtol=1e-6)


def test_exponential():
    from mercer._jit.exponential import exp32, exp64

    for x in np.concatenate([-np.geomspace(1e-12, 86.0, 400), [0.0]]):
        single = np.float32(x)
        assert exp32(single) == pytest.approx(math.exp(float(single)), rel=4e-7)
        assert exp64(float(x)) == pytest.approx(math.exp(x), rel=2e-15)
    assert exp64(-700.0) == pytest.approx(math.exp(-700.0), rel=2e-15)
    for x in (-100.0, -1e4, -1e30):  # below the smallest normal number: zero for every use
        assert 0.0 <= exp32(np.float32(x)) < 2e-38
    for x in (-800.0, -1e300, -np.inf):
        assert 0.0 <= exp64(x) < 1e-300


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [0, 1, 4, 7])
def test_products_with_kept_rows(dtype, count):
    rng = np.random.default_rng(count)
    store = rng.normal(size=(9, 50)).astype(dtype)
    slots, coef = rng.permutation(9)[:count], rng.normal(size=count)
    out = np.ones(50)
    _jit.row_products.fold_rows(store, slots, coef, 7, 41, out)
    wanted = np.ones(50)
    for slot, weight in zip(slots, coef, strict=True):
        for j in range(7, 41):
            wanted[j] += weight * float(store[slot, j])
    np.testing.assert_allclose(out, wanted, rtol=1e-12)


# -- steps -------------------------------------------------------------------------------------------------


def problem(seed, copies=1, *, shift=False, bounded=True):
    """Return a random convex problem in the variables of a block, at a feasible start."""
    rng = np.random.default_rng(seed)
    w = 12
    A = rng.normal(size=(w, 5))
    K = A @ A.T + 0.1 * np.eye(w)
    m = copies * w
    sign = np.where(rng.random(m) < 0.5, 1.0, -1.0)
    size = rng.uniform(0.5, 2.0, m) if bounded else np.full(m, np.inf)
    lo, hi = np.where(sign > 0, 0.0, -size), np.where(sign > 0, size, 0.0)
    r = rng.uniform(0.5, 1.0, m) if shift or not bounded else np.zeros(m)
    b = np.zeros(m)
    v = sign * rng.uniform(0.5, 1.5, m)  # -(K 0 + p)
    return K, b, v, lo, hi, r


def curvature(K, r):
    return np.tile(np.diagonal(K), r.size // K.shape[0]) + r


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("max_steps", [0, 1, 2, 5, 20, 10_000])
@pytest.mark.parametrize(
    ("copies", "starts", "options"),
    [
        (1, [0, 12], {}),
        (1, [0, 5, 12], {}),
        (1, [0, 0, 12], {}),
        (2, [0, 24], {"shift": True}),
        (2, [0, 12, 24], {}),
        (1, [0, 12], {"bounded": False}),
    ],
    ids=[
        "one group",
        "two groups",
        "an empty group",
        "two copies",
        "two copies in two groups",
        "no upper bound",
    ],
)
def test_pairs(seed, max_steps, copies, starts, options):
    K, b, v, lo, hi, r = problem(seed, copies, **options)
    p = -v.copy()
    b2, v2 = b.copy(), v.copy()
    groups = [range(s, e) for s, e in pairwise(starts)]
    tol, floor = 1e-6, 1e-12
    steps, violation = _jit.smo.pairs(
        K, b, v, lo, hi, r, curvature(K, r), np.array(starts), tol, max_steps, floor
    )
    expected_steps, expected = naive.pairs(K, b2, v2, lo, hi, r, groups, tol, max_steps, floor)
    assert steps == expected_steps
    assert violation == pytest.approx(expected, abs=1e-9)
    np.testing.assert_allclose(b, b2, atol=1e-9)
    np.testing.assert_allclose(v, v2, atol=1e-9)
    # What any correct step must keep: the box, the sums, and v = -gradient.
    assert (lo <= b).all()
    assert (b <= hi).all()
    for group in groups:
        assert abs(b[list(group)].sum()) < 1e-9
    beta = b.reshape(copies, -1).sum(axis=0)
    np.testing.assert_allclose(v, -(np.tile(K @ beta, copies) + r * b + p), atol=1e-9)
    if max_steps == 10_000:
        assert violation <= tol


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("max_steps", [0, 1, 2, 5, 20, 10_000])
@pytest.mark.parametrize(("copies", "options"), [(1, {}), (2, {"shift": True}), (1, {"bounded": False})])
def test_singles(seed, max_steps, copies, options):
    K, b, v, lo, hi, r = problem(seed, copies, **options)
    b2, v2 = b.copy(), v.copy()
    tol, floor = 1e-6, 1e-12
    steps, violation = _jit.smo.singles(K, b, v, lo, hi, r, curvature(K, r), tol, max_steps, floor)
    expected_steps, expected = naive.singles(K, b2, v2, lo, hi, r, tol, max_steps, floor)
    assert steps == expected_steps
    assert violation == pytest.approx(expected, abs=1e-9)
    np.testing.assert_allclose(b, b2, atol=1e-9)
    np.testing.assert_allclose(v, v2, atol=1e-9)
    if max_steps == 10_000:
        assert violation <= tol


@pytest.mark.parametrize("seed", range(3))
def test_pairs_on_a_block_in_single_precision(seed):
    """The order of steps may differ; the optimum may not."""
    K, b, v, lo, hi, r = problem(seed)
    b2, v2 = b.copy(), v.copy()
    single = K.astype(np.float32)
    _jit.smo.pairs(single, b, v, lo, hi, r, curvature(K, r), np.array([0, 12]), 1e-5, 10_000, 1e-6)
    naive.pairs(K, b2, v2, lo, hi, r, [range(12)], 1e-9, 10_000, 1e-12)
    assert b.dtype == v.dtype == np.float64
    np.testing.assert_allclose(K @ b, K @ b2, atol=1e-4)


@pytest.mark.parametrize("max_steps", [3, 10_000])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("squared", [False, True])
def test_coefficients_with_a_kink_are_pairs_of_variables(seed, max_steps, squared):
    """Steps over signed coefficients are the naive steps over both variables of each point, one by one."""
    rng = np.random.default_rng(seed)
    n = 14
    A = rng.normal(size=(n, 4))
    K = A @ A.T + 0.1 * np.eye(n)
    y, epsilon, C = rng.normal(size=n), rng.uniform(0.0, 0.4, size=n), 1.5
    r = np.full(n, 0.3) if squared else np.zeros(n)
    high = np.full(n, np.inf if squared else C)
    high[3] = 0.0  # a point without a price
    beta, s = np.zeros(n), y - epsilon
    tol, floor = 1e-6, 1e-12
    steps, violation = _jit.smo_tube.folded(
        K, beta, s, -high, high, r, 2 * epsilon, np.diag(K) + r, tol, max_steps, floor
    )
    b, v = np.zeros(2 * n), np.concatenate([y - epsilon, y + epsilon])
    lo, hi = np.concatenate([np.zeros(n), -high]), np.concatenate([high, np.zeros(n)])
    expected_steps, expected = naive.pairs(
        K, b, v, lo, hi, np.tile(r, 2), [range(2 * n)], tol, max_steps, floor
    )
    if (
        max_steps < 10_000
    ):  # later, ties after a full step are broken by rounding, on other ways to the optimum
        assert steps == expected_steps
        assert violation == pytest.approx(expected, abs=1e-9)
    accuracy = 1e-9 if max_steps < 10_000 else 1e-5
    np.testing.assert_allclose(beta, b[:n] + b[n:], atol=accuracy)
    moving = high > 0
    np.testing.assert_allclose((s - r * np.maximum(beta, 0))[moving], v[:n][moving], atol=accuracy)
    assert abs(beta.sum()) < 1e-9
    if max_steps == 10_000:
        assert violation <= tol
        assert (np.abs(beta) < 1e-12).any()  # the kink holds some of them


def test_a_step_below_rounding_ends_the_loop():
    K = np.ones((2, 2))
    b, v = np.array([1e20, -1e20]), np.array([1.0, -1.0])
    lo, hi, r = np.full(2, -np.inf), np.full(2, np.inf), np.zeros(2)
    steps, violation = _jit.smo.pairs(K, b, v, lo, hi, r, np.ones(2), np.array([0, 2]), 1e-6, 1000, 1.0)
    assert steps == 0
    assert violation == pytest.approx(2.0)


def test_a_small_fit():
    X, y = blobs(30, 2, 3, seed=0)
    for kernel in ("rbf", "linear"):
        model = SVC(kernel=kernel, tol=1e-6).fit(X, y)
        assert model.certificate_.status == "optimal"
        assert model.certificate_.relative_gap < 1e-5
        assert (model.predict(X) == y).mean() > 0.5
    assert SVC(loss="squared_hinge", fit_intercept=False).fit(X, y).certificate_.status == "optimal"
    sparse = SVC(tol=1e-6).fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(
        sparse.decision_function(X), SVC(tol=1e-6).fit(X, y).decision_function(X), atol=1e-5
    )


@pytest.mark.slow
@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="this is the run without the compiler")
def test_all_of_this_without_the_compiler():
    # Tiles are transformed to their end, also beyond the last point, where they hold anything.
    options = ["-q", "-x", "-p", "no:cacheprovider", "-W", "ignore::RuntimeWarning"]
    command = [sys.executable, "-m", "pytest", *options, str(Path(__file__))]
    run = subprocess.run(
        command, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stdout[-3000:]
    assert " passed" in run.stdout
