"""Kernels and objectives whose values are what is left of much larger numbers."""

import numpy as np
import pytest

import mercer
from mercer.gram import gram
from mercer.kernels import RBF, Linear, Polynomial

from .code import Code
from .given import given
from .judged import judged

pytest.importorskip("clarabel")
pytest.importorskip("psutil")

CENTRED = [
    Linear().centered(),
    Polynomial(degree=2, gamma=1.0, coef0=1.0).centered(),
    (Linear() + RBF(0.5)).centered() * RBF(0.1),
    2 * Linear().centered().normalized(),
    (Linear().on([0]).centered()) ** 2,
]


@pytest.mark.parametrize("kernel", CENTRED, ids=repr)
def test_the_noise_of_a_matrix_bounds_its_error(kernel):
    """Far from the origin most digits of a centred kernel are rounding; the bound must know that."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9, 2)) + 1e6
    wide = X.astype(np.longdouble)
    resolved = kernel.resolve(X)
    coef = rng.normal(size=9)
    exact = _centred_twin(kernel, wide) @ coef
    matrix = gram(resolved, X)
    assert (np.abs(matrix.matvec(coef) - exact) <= matrix.noise(coef)).all()


def _centred_twin(kernel, X):
    """Return the matrix in extended precision, by the definitions."""
    name = type(kernel).__name__
    if name == "Centered":
        K = _centred_twin(kernel.kernel, X)
        H = np.eye(len(K), dtype=K.dtype) - np.longdouble(1) / len(K)
        return H @ K @ H
    if name == "Normalized":
        K = _centred_twin(kernel.kernel, X)
        root = np.sqrt(np.diagonal(K))
        return K / root[:, None] / root
    if name in ("Sum", "Product"):
        one, two = _centred_twin(kernel.k1, X), _centred_twin(kernel.k2, X)
        return one + two if name == "Sum" else one * two
    if name == "Scaled":
        return np.longdouble(kernel.scale) * _centred_twin(kernel.kernel, X)
    if name == "Power":
        return _centred_twin(kernel.kernel, X) ** int(kernel.exponent)
    if name == "OnColumns":
        return _centred_twin(kernel.kernel, X[:, kernel.columns])
    if name == "Linear":
        return X @ X.T
    if name == "Polynomial":
        return (np.longdouble(kernel.gamma) * (X @ X.T) + np.longdouble(kernel.coef0)) ** int(kernel.degree)
    return np.exp(-np.longdouble(kernel.gamma) * ((X[:, None] - X[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("kernel", ["Linear().centered()", "Linear()", "Polynomial(2, gamma=1.0, coef0=1.0)"])
@pytest.mark.parametrize("machine", ["SVDD", "OneClassSVM"])
def test_a_small_cloud_far_from_the_origin(worker, machine, kernel):
    X = np.random.default_rng(3).normal(size=(12, 1)) + 1e8
    judged(worker, given(machine, {"kernel": Code(f"mercer.kernels.{kernel}")}, X), refusable=False)


def test_a_ball_that_rounding_hides_does_not_claim_a_radius():
    X = np.random.default_rng(0).normal(size=(12, 1)) + 1e8
    found = mercer.SVDD(kernel="linear").fit(X).certificate_
    assert found.gap <= found.rounding
    assert "0 within rounding" in str(found)
