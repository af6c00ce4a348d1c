"""A kernel that claims a bound on k(x, x) keeps to it, and tight ones are reached."""

import numpy as np
import pytest

from mercer.kernels import RBF, Chi2, Laplacian, Linear, Matern, Polynomial, RationalQuadratic

X = np.abs(np.random.default_rng(0).standard_normal((20, 3))) * 50


@pytest.mark.parametrize(
    "kernel",
    [
        RBF(0.3),
        RBF([0.1, 0.2, 0.3]),
        Matern(2.0, 2.5),
        RationalQuadratic(),
        Laplacian(0.1),
        Chi2(0.2),
        Linear().normalized(),
        2 * RBF(0.1) + 3,
        RBF(0.1) * (2 * Laplacian(0.2)),
        (3 * RBF(0.1)) ** 2,
        RBF(0.1).on([0, 2]),
    ],
    ids=str,
)
def test_the_bound_holds_and_is_reached(kernel):
    np.testing.assert_allclose(kernel.diag(X), kernel.diagonal_bound, rtol=1e-6)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(), Linear() + RBF(), Linear() * RBF()], ids=str)
def test_no_bound_is_claimed_where_there_is_none(kernel):
    assert kernel.diagonal_bound is None
