"""Signs from single precision are those of double precision, and its error is within the stated bound."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import SVC
from mercer.gram import Segment, Workers, cross_products
from mercer.kernels import RBF, Linear
from mercer.problems import decisions as rough_module
from mercer.problems.decisions import _Rough, decisions_with_sure_signs

pytestmark = pytest.mark.core


def _problem(d, n=700, m=400, seed=0, scale=1.0, shift=0.0, sparse=False):
    rng = np.random.default_rng(seed)
    X = scale * rng.normal(size=(n, d)) + shift
    Z = scale * rng.normal(size=(m, d)) + shift
    if sparse:
        X, Z = (sp.csr_array(A * (rng.random(A.shape) < 0.2)) for A in (X, Z))
    coef = rng.normal(size=(m, 1))
    return X, Z, coef


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("d", "scale", "shift"), [(3, 1.0, 0.0), (20, 3.0, 50.0), (90, 1.0, 0.0), (500, 1.0, 0.0)]
)
def test_the_error_is_within_its_bound(d, scale, shift, sparse):
    X, Z, coef = _problem(d, scale=scale, shift=0.0 if sparse else shift, sparse=sparse)
    kernel = RBF(gamma=1.0 / (d * scale**2))
    segment = Segment(0, coef.shape[0], coef, np.arange(1))
    workers = Workers(1)
    F, error = _Rough(kernel.fused(), Z, [segment], 1).products(X)
    exact = cross_products(kernel, X, Z, [segment], 1, workers)
    assert np.abs(F - exact).max() > 0  # it is another precision
    assert (np.abs(F - exact) <= error).all()
    assert np.median(error) < 1e-2 * np.abs(exact).max()  # and the bound is worth having


def test_the_error_of_many_outputs_is_within_its_bound():
    X, Z, _ = _problem(12)
    rng = np.random.default_rng(1)
    kernel = RBF(gamma=0.1)
    segments = [
        Segment(0, 150, rng.random((150, 2)) * [1.0, -1.0], np.array([0, 2])),
        Segment(150, 400, -rng.random((250, 2)), np.array([1, 2])),
    ]
    workers = Workers(2)
    F, error = _Rough(kernel.fused(), Z, segments, 3).products(X)
    exact = cross_products(kernel, X, Z, segments, 3, workers)
    assert (np.abs(F - exact) <= error).all()
    assert error.max() < 0.1


def test_doubtful_signs_are_looked_at_again(monkeypatch):
    """With a bias that puts points on the boundary, their decisions come back in double precision."""
    X, Z, coef = _problem(5, n=3000)
    kernel = RBF(gamma=0.2)
    segment = Segment(0, coef.shape[0], coef, np.arange(1))
    workers = Workers(1)
    exact = cross_products(kernel, X, Z, [segment], 1, workers)
    bias = -exact[[7, 2500], 0]
    again = []

    def counted(kernel, rows, *rest):
        again.append(rows.shape[0])
        return cross_products(kernel, rows, *rest)

    monkeypatch.setattr(rough_module, "cross_products", counted)
    for b, on_boundary in zip(bias, (7, 2500), strict=True):
        F = decisions_with_sure_signs(kernel, X, Z, [segment], np.array([b]), workers)
        assert (np.sign(F) == np.sign(exact + b)).all()
        assert F[on_boundary, 0] == pytest.approx(exact[on_boundary, 0] + b, abs=1e-13)
    assert 0 < sum(again) < 300


def test_hopeless_data_is_left_to_double_precision():
    """Distances that overflow float32, or drown in rounding, decide nothing there."""
    X, Z, coef = _problem(4, n=2500)
    X[::2] *= 1e25
    Z[::3] *= 1e25
    kernel = RBF(gamma=1.0)
    segment = Segment(0, coef.shape[0], coef, np.arange(1))
    F = decisions_with_sure_signs(kernel, X, Z, [segment], np.array([1e-9]), Workers(1))
    exact = cross_products(kernel, X, Z, [segment], 1, Workers(1)) + 1e-9
    assert (np.sign(F) == np.sign(exact)).all()


def test_other_kernels_stay_in_double_precision():
    X, Z, coef = _problem(4, n=2500)
    segment = Segment(0, coef.shape[0], coef, np.arange(1))
    F = decisions_with_sure_signs(Linear(), X, Z, [segment], np.zeros(1), Workers(1))
    np.testing.assert_array_equal(F, cross_products(Linear(), X, Z, [segment], 1, Workers(1)))


@pytest.mark.parametrize("classes", [2, 4])
def test_predict_is_the_same_in_every_precision(classes):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(900, 6))
    y = (X[:, 0] + X[:, 1] ** 2 > 0.5) + (classes // 2) * (X[:, 2] > 0) * (classes > 2)
    model = SVC(C=10.0).fit(X, y)
    new = rng.normal(size=(4000, 6))
    labels = model.predict(new)
    np.testing.assert_array_equal(labels, model.set_params(precision="double").predict(new))
    if classes == 2:
        np.testing.assert_array_equal(labels, model.decision_function(new) >= 0)
