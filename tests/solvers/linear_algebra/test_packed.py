"""The factor in half the memory is the factor, for odd and even numbers of rows."""

import numpy as np
import pytest
from scipy.linalg import LinAlgError

import mercer
from mercer import GaussianProcessRegressor
from mercer.estimators.gaussian import _regression
from mercer.gram import Workers, gram
from mercer.kernels import RBF
from mercer.solvers.linear_algebra.factored import Factored
from mercer.solvers.linear_algebra.packed import PackedFactored

pytestmark = pytest.mark.core


def packed(X, shift):
    return PackedFactored(
        gram(RBF(0.3), X, precision="double", workers=Workers(1), cache_bytes=0), shift, Workers(2)
    )


@pytest.mark.parametrize("n", [1, 2, 3, 8, 131])
def test_packed_and_whole_factors_agree(n):
    rng = np.random.default_rng(n)
    X, shift, B = rng.normal(size=(n, 3)), np.linspace(0.1, 0.2, n), rng.normal(size=(n, 4))
    one, two = Factored(RBF(0.3)(X), shift), packed(X, shift)
    assert one.log_determinant == pytest.approx(two.log_determinant, abs=1e-9)
    assert two.condition == pytest.approx(one.condition, rel=0.5)
    np.testing.assert_allclose(one.solve(B), two.solve(B), atol=1e-9)
    np.testing.assert_allclose(one.half_solve(B), two.half_solve(B), atol=1e-9)
    np.testing.assert_allclose(one.triangle(), two.triangle(), atol=1e-11)
    np.testing.assert_allclose(one.times(B), two.times(B), atol=1e-11)


def test_what_has_no_factor_is_told():
    with pytest.raises(LinAlgError, match="leading minor"):
        packed(np.zeros((4, 3)), -0.5)


def test_processes_do_not_notice(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(61, 2))
    y, new = np.sin(X[:, 0]), rng.normal(size=(5, 2))
    model = GaussianProcessRegressor(1.0 * RBF(0.5), noise=0.1, optimizer=None)
    expected = model.fit(X, y).predict(new, return_std=True)
    monkeypatch.setattr(_regression, "PACKED", 10)
    model.fit(X, y)
    assert isinstance(model._posterior.system, PackedFactored)
    np.testing.assert_allclose(model.predict(new, return_std=True), expected, atol=1e-9)
    assert model.certificate_.relative_gap < 1e-12
    mercer.save(model, tmp_path / "model.mercer")
    back = mercer.load(tmp_path / "model.mercer")
    np.testing.assert_array_equal(back.predict(new, return_std=True), model.predict(new, return_std=True))
