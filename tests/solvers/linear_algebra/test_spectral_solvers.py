"""Eigensolvers on matrices with known answers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer.solvers.linear_algebra.spectral import dense_eigenpairs, fixed_signs, leading_eigenpairs

pytestmark = pytest.mark.core


def matrix(values, seed=0):
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values), len(values))))[0]
    return (Q * values) @ Q.T, Q


SPECTRA = {
    "decay": 0.8 ** np.arange(200),
    "slow": 1.0 / np.arange(1, 201),
    "negative": np.concatenate([[3.0, 2.0, 1.0], -np.linspace(0.1, 5.0, 197)]),
    "multiple": np.repeat([5.0, 4.0, 1.0, 0.5], 50),
    "low rank": np.concatenate([[3.0, 2.0, 1.0, 0.5, 0.2, 0.1], np.zeros(194)]),
}


# Lanczos on a single vector sees a multiple eigenvalue once, until rounding helps: it is not asked for those.
@pytest.mark.parametrize(
    ("name", "method"),
    [
        (name, method)
        for name in SPECTRA
        for method in ("dense", "arpack", "randomized")
        if (name, method) != ("multiple", "arpack")
    ],
)
def test_known_spectra(name, method):
    values = SPECTRA[name]
    A, _ = matrix(values)
    if method == "dense":
        found = dense_eigenpairs(A.copy(), 6)
    else:
        found = leading_eigenpairs(
            lambda V: A @ V, 200, 6, method=method, tol=1e-12, max_iter=None, seed=np.random.default_rng(1)
        )
    assert found.converged
    scale = np.abs(values).max()
    assert_allclose(found.values, np.sort(values)[::-1][:6], atol=1e-9 * scale)
    assert_allclose(found.vectors.T @ found.vectors, np.eye(6), atol=1e-9)
    assert_allclose(
        np.linalg.norm(A @ found.vectors - found.vectors * found.values, axis=0), found.residuals, atol=1e-12
    )
    assert found.residuals.max() < 1e-9 * scale


def test_signs_do_not_hang_on_rounding():
    v = np.array([[0.5, -0.5 - 1e-12, 0.5, -0.5]]).T
    assert fixed_signs(v) == fixed_signs(v + 1e-11) == 1.0
    assert fixed_signs(-v) == -1.0
