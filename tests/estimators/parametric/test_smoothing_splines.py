"""Kernels whose polynomials cost nothing: smoothing splines, against SciPy's."""

import numpy as np
import pytest
from scipy.interpolate import RBFInterpolator, make_smoothing_spline

import mercer
from mercer import SVR, KernelRegressor, KernelRidge
from mercer.kernels import RBF, Spline, ThinPlate

LAMBDA = 0.1


@pytest.fixture(scope="module")
def curve():
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-1.0, 2.0, 60))
    return x, np.sin(3.0 * x) + 0.2 * rng.normal(size=x.size), rng.uniform(0.5, 2.0, x.size)


def smoother(kernel, lam=LAMBDA):
    # sum w (y - f)^2 + lam J(f)  is  C sum w (y - f)^2 + J(f) / 2  with C = 1 / (2 lam)
    return KernelRegressor(loss="squared_error", kernel=kernel, C=0.5 / lam, tol=1e-13)


@pytest.mark.parametrize("kernel", [Spline(), Spline(anchor="min"), Spline(anchor=0.7), ThinPlate()], ids=str)
def test_is_scipys_smoothing_spline(curve, kernel):
    x, y, w = curve
    model = smoother(kernel).fit(x[:, None], y, sample_weight=w)
    expected = make_smoothing_spline(x, y, w=w, lam=LAMBDA)
    inside = np.linspace(x[0], x[-1], 300)
    np.testing.assert_allclose(model.predict(inside[:, None]), expected(inside), rtol=0, atol=1e-8)
    assert model.certificate_.status == "optimal"
    again = model.certify(x[:, None], y, sample_weight=w)
    assert again.status == "optimal"
    assert again.primal == pytest.approx(model.certificate_.primal, rel=1e-9)


def test_the_spline_is_natural(curve):
    """Beyond the data the function is a straight line, wherever the anchor lies."""
    x, y, _ = curve
    model = smoother(Spline()).fit(x[:, None], y)
    for start, step in ((x[0], -1.0), (x[-1], 1.0)):
        f = model.predict((start + step * np.array([0.0, 1.0, 2.0, 3.0]))[:, None])
        np.testing.assert_allclose(np.diff(f, 2), 0.0, atol=1e-9 * np.abs(f).max())


def test_without_the_free_part_value_and_slope_are_penalised(curve):
    x, y, _ = curve
    penalised = KernelRegressor(
        loss="squared_error", kernel=Spline(), C=0.5 / LAMBDA, fit_intercept=False, parametric=None
    ).fit(x[:, None], y)
    K = Spline()(x[:, None])
    a = np.linalg.solve(K + LAMBDA * np.eye(x.size), y)
    np.testing.assert_allclose(penalised.predict(x[:, None]), K @ a, atol=1e-5)
    assert penalised.parametric_ is None


def test_thin_plates_in_the_plane_are_scipys():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1.0, 1.0, (80, 2))
    y = np.cos(2.0 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=80)
    theta = 1.0 / (8.0 * np.pi)  # SciPy's kernel is r^2 log r, ours theta r^2 log r
    model = smoother(ThinPlate(), lam=0.05).fit(X, y)
    expected = RBFInterpolator(X, y, kernel="thin_plate_spline", smoothing=0.05 / theta)
    there = rng.uniform(-1.5, 1.5, (50, 2))
    np.testing.assert_allclose(model.predict(there), expected(there), atol=1e-8)
    assert model.certificate_.relative_gap <= 1e-12


@pytest.mark.parametrize("kernel", [Spline(), ThinPlate(), Spline().on([0]) + RBF(1.0).on([1])], ids=str)
def test_functions_of_the_free_part_cost_nothing(kernel):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 2))
    y = np.sin(2.0 * X[:, 0]) + 0.1 * rng.normal(size=40)
    line = 3.0 - 50.0 * X[:, 0]
    model = SVR(kernel=kernel, C=2.0, epsilon=0.1, tol=1e-8)
    plain, tilted = model.fit(X, y).predict(X), model.fit(X, y + line).predict(X)
    np.testing.assert_allclose(tilted - line, plain, atol=1e-6)


def test_thin_plates_refuse_too_many_features():
    with pytest.raises(ValueError, match="above half the number of features"):
        SVR(kernel=ThinPlate(order=1)).fit(np.eye(4), np.arange(4.0))


@pytest.mark.parametrize("solver", ["cholesky", "eigen", "cg"])
@pytest.mark.parametrize("kernel", [Spline(), ThinPlate()], ids=str)
def test_kernel_ridge_is_scipys_smoothing_spline(curve, kernel, solver):
    x, y, w = curve
    model = KernelRidge(kernel=kernel, alpha=LAMBDA, solver=solver, tol=1e-18)
    model.fit(x[:, None], np.column_stack([y, y - 5.0 * x]), sample_weight=w)
    expected = make_smoothing_spline(x, y, w=w, lam=LAMBDA)(x)
    np.testing.assert_allclose(model.predict(x[:, None])[:, 0], expected, rtol=0, atol=1e-8)
    np.testing.assert_allclose(model.predict(x[:, None])[:, 1], expected - 5.0 * x, rtol=0, atol=1e-8)
    again = model.certify(x[:, None], np.column_stack([y, y - 5.0 * x]), sample_weight=w)
    assert again.relative_gap <= 1e-12
    assert again.primal == pytest.approx(model.certificate_.primal, rel=1e-9)


def test_leaving_one_out_is_leaving_one_out(curve):
    x, y, w = curve
    model = KernelRidge(kernel=Spline(), alpha=LAMBDA).fit(x[:, None], y, sample_weight=w)
    loo = model.loo_predict(x[:, None], y, sample_weight=w)
    path = model.path(x[:, None], y, sample_weight=w, alphas=[LAMBDA])
    np.testing.assert_allclose(path.parametric[0, 0], model.parametric_coef_[0], rtol=1e-8)
    np.testing.assert_allclose(path.intercept[0, 0], model.intercept_, rtol=1e-8)
    for i in (0, 17, 59):
        kept = np.arange(x.size) != i
        without = KernelRidge(kernel=Spline(), alpha=LAMBDA).fit(
            x[kept, None], y[kept], sample_weight=w[kept]
        )
        assert loo[i] == pytest.approx(without.predict(x[[i], None])[0], abs=1e-8)


def test_the_penalty_is_chosen_beside_the_free_part(curve):
    x, y, _ = curve
    model = KernelRidge(kernel=Spline(), alpha="loo").fit(x[:, None], y - 40.0 * x)
    level = KernelRidge(kernel=Spline(), alpha="loo").fit(x[:, None], y)
    assert model.alpha_ == pytest.approx(level.alpha_)
    np.testing.assert_allclose(model.predict(x[:, None]) + 40.0 * x, level.predict(x[:, None]), atol=1e-7)


def test_ridge_files_keep_the_columns(curve, tmp_path):
    x, y, _ = curve
    model = KernelRidge(kernel=Spline()).fit(x[:, None], y)
    mercer.save(model, tmp_path / "spline.mercer")
    again = mercer.load(tmp_path / "spline.mercer")
    np.testing.assert_array_equal(again.predict(x[:, None]), model.predict(x[:, None]))
