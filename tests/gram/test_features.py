"""Products with explicit features: every layout, precision and number of threads gives the same numbers."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.gram import Features, Workers

RNG = np.random.default_rng(0)
Z = np.where(RNG.random((700, 9)) < 0.5, RNG.normal(size=(700, 9)), 0.0).astype(np.float32).astype(np.float64)
D, V, W = np.where(RNG.random(700) < 0.3, 0.0, RNG.random(700)), RNG.normal(size=700), RNG.normal(size=9)


def wide_indices(A):
    A = sp.csr_array(A)
    A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    return A


LAYOUTS = {
    "dense": Z,
    "single": Z.astype(np.float32),
    "columns": np.asfortranarray(Z),
    "csr": sp.csr_matrix(Z),
    "csr single": sp.csr_array(Z.astype(np.float32)),
    "csr int64": wide_indices(Z),
}


@pytest.fixture(params=[(name, threads) for name in LAYOUTS for threads in (1, 3)], ids=str)
def features(request):
    name, threads = request.param
    return Features(LAYOUTS[name], Workers(threads))


def test_products_are_those_of_the_matrix(features, monkeypatch):
    monkeypatch.setattr("mercer.gram.features.BLOCK", 9 * 50)  # several blocks for each thread
    rows = np.flatnonzero(RNG.random(700) < 0.1)
    few = np.zeros(700)
    few[rows] = D[rows]
    both = np.stack([W, 2.0 * W], axis=1)
    u = D * (Z @ W + 0.5)
    H, line, product = features.gram_of_columns(D, V)
    found = [
        (features.times(W), Z @ W),
        (features.times(both), Z @ both),
        (features.transposed_times(V), Z.T @ V),
        (features.curved_times(D, W, 0.5)[0], Z.T @ u),
        (features.curved_times(D, W, 0.5)[1], u.sum()),
        (H, Z.T @ (D[:, None] * Z)),
        (line, Z.T @ D),
        (product, Z.T @ V),
        (features.gram_of_columns(few, rows=rows)[0], Z.T @ (few[:, None] * Z)),
        (features.gram_of_columns(0.0 * D, rows=rows[:0])[0], np.zeros((9, 9))),
        (features.column_squares(D), D @ Z**2),
        (features.norms, np.linalg.norm(Z, axis=1)),
        (features.diag(), (Z**2).sum(axis=1)),
        (features.block(rows, rows[:3]), Z[rows] @ Z[rows[:3]].T),
        (features.matvec(V), Z @ (Z.T @ V)),
        (features.subset(rows).times(W), Z[rows] @ W),
    ]
    for ours, theirs in found:
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-11)


def test_the_noise_of_products_bounds_their_error():
    single = Features(Z.astype(np.float32), Workers(2))
    exact = (Z.astype(np.longdouble) @ W.astype(np.longdouble)).astype(np.float64)
    assert (np.abs(single.times(W) - exact) <= single.weight_noise(W)).all()
