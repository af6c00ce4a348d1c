"""Promises about balls with a gap, and about a ball cut down to a slab."""

import numpy as np
import pytest

from mercer import SVDD, SphereAndSlab, bounds
from mercer.estimators.svm.ball import EmptyPromiseWarning
from mercer.kernels import RBF

pytestmark = pytest.mark.core


def test_the_test_of_a_ball_with_a_gap():
    """Algorithms 7.8 and 7.11: the same ball, and a point is novel beyond r^2 + gamma."""
    X = np.random.default_rng(0).normal(size=(300, 2))
    plain, wide = (SVDD(nu=0.2, kernel=RBF(0.5), gap=gap, tol=1e-8).fit(X) for gap in (0.0, 0.15))
    assert wide.radius_ == pytest.approx(plain.radius_, rel=1e-9)
    squares = wide.distance(X) ** 2
    np.testing.assert_allclose(wide.decision_function(X), wide.radius_**2 + 0.15 - squares, atol=1e-12)
    np.testing.assert_array_equal(wide.predict(X) < 0, squares > wide.radius_**2 + 0.15)
    assert (wide.predict(X) < 0).sum() < (plain.predict(X) < 0).sum()
    np.testing.assert_allclose(wide.slacks(X), np.maximum(squares - wide.radius_**2, 0.0), atol=1e-12)
    with pytest.raises(ValueError, match="gap"):
        SVDD(gap=-0.1).fit(X)


def test_the_theorem_is_about_the_test_that_predict_makes():
    n, delta, gap = 2000, 0.05, 0.5
    X = np.random.default_rng(1).normal(size=(n, 2))
    model = SVDD(nu=0.2, kernel=RBF(0.05), gap=gap).fit(X)
    line = bounds.report(model, X, delta=delta)["false alarms"]
    slack = np.maximum(model.distance(X) ** 2 - model.radius_**2, 0.0).mean()
    expected = slack / gap + 6.0 / (gap * np.sqrt(n)) + 3.0 * np.sqrt(np.log(2.0 / delta) / (2 * n))
    assert line.value == pytest.approx(expected, rel=1e-6)
    assert line.seen == pytest.approx((model.predict(X) < 0).mean())
    assert any("gap=0.5" in a.text and a.status == "yours" for a in line.assumptions)
    new = np.random.default_rng(2).normal(size=(5000, 2))
    assert (model.predict(new) < 0).mean() <= line.value


def test_a_radius_read_off_the_slacks_pays_for_the_union():
    """Remark 7.13: the smallest of k gaps, each at delta / k. A radius that no item exceeds is empty."""
    n, delta, q = 2000, 0.05, 0.4
    X = np.random.default_rng(0).normal(size=(n, 2))
    ball = SVDD(nu=0.1, tol=1e-6).fit(X)
    slack = np.maximum(ball.distance(X) ** 2 - ball.radius_**2, 0.0).mean()
    grid = [4.0]
    while grid[-1] > 6.0 / np.sqrt(n):
        grid.append(grid[-1] / np.sqrt(2.0))
    sampling = 3.0 * np.sqrt(np.log(2.0 * len(grid) / delta) / (2 * n))
    gap = min(g for g in grid if (slack + 6.0 / np.sqrt(n)) / g + sampling <= q)
    farthest = np.sqrt(1.0 + ball.center_squared_norm_)  # no value of this kernel is negative
    promised = np.sqrt(ball.radius_**2 + gap)
    assert promised > farthest
    with pytest.warns(EmptyPromiseWarning, match=f"no item lies farther than {farthest:.4g}"):
        assert ball.radius_for(q, delta) == pytest.approx(promised, rel=1e-6)
    # Where all points lie inside, the gap depends on n and R alone and needs no union.
    hard = SVDD(nu=0.0, kernel=RBF(0.001)).fit(X)
    p = q - 3.0 * np.sqrt(np.log(2.0 / delta) / (2 * n))
    assert hard.radius_for(q, delta) == pytest.approx(
        np.sqrt(hard.radius_**2 + 6.0 / np.sqrt(n) / p), rel=1e-6
    )


def test_a_promise_beyond_no_item_needs_no_warning():
    X = np.random.default_rng(3).uniform(-1, 1, size=(4000, 2))
    model = SVDD(nu=0.1, kernel="linear").fit(X)
    found = model.radius_for(0.9, support_radius=np.sqrt(2.0))
    assert (model.distance(X) > found).mean() <= 0.9
    assert (
        found
        < np.sqrt(2.0 + model.center_squared_norm_ + 2 * np.sqrt(2.0 * model.center_squared_norm_)) + 1e-9
    )


def test_the_promise_for_ball_and_slab_is_the_sum_of_two_at_half_of_delta():
    n, delta = 3000, 0.04
    rng = np.random.default_rng(4)
    X = rng.uniform(-1.0, 1.0, size=(n, 1)) * [1.0, 0.5] + 0.02 * rng.uniform(-1, 1, size=(n, 2))
    R = float(np.hypot(1.02, 0.52))
    model = SphereAndSlab(nu=0.1, n_components=1, kernel="linear").fit(X)
    line = bounds.report(model, X, radius=R, delta=delta)["false alarms"]
    mean = X.mean(axis=0)
    axis = np.linalg.svd(X - mean, full_matrices=False)[2][0]
    rest = ((X - mean) ** 2).sum(axis=1) - ((X - mean) @ axis) ** 2
    np.testing.assert_allclose(model.residual(X) ** 2, rest, atol=1e-8)
    out = np.maximum(model.distance(X) ** 2 - model.radius_**2, 0.0).mean()
    off = np.maximum(rest - model.width_**2, 0.0).mean()
    grid = bounds.gap_grid(n=n, radius=R)
    sampling = 3.0 * np.sqrt(np.log(2.0 * len(grid) / (delta / 2)) / (2 * n))
    centre = np.sqrt(model.center_squared_norm_)
    far, away = (R + centre) ** 2, (R + np.linalg.norm(mean)) ** 2
    capacity = 2.0 * np.sqrt(((X**2).sum(axis=1) ** 2).sum()) / n + 6.0 * R**2 / np.sqrt(n)
    ball = min((out + 6.0 * R**2 / np.sqrt(n)) / g + sampling for g in grid if model.radius_**2 + g < far)
    slab = min((off + capacity) / g + sampling for g in grid if model.width_**2 + g < away)
    assert line.value == pytest.approx(ball + slab, rel=1e-5)
    assert "Remark 7.15" in line.source


def test_the_slab_bound_holds_for_fresh_points():
    """With many training sets the share of new points beyond the widened slab stays below the bound."""
    n, gap, kept = 400, 0.6, 0
    rng = np.random.default_rng(5)
    for _ in range(20):
        X, new = (rng.uniform(-1, 1, size=(m, 3)) * [1.0, 1.0, 0.1] for m in (n, 4000))
        model = SphereAndSlab(nu=0.2, n_components=1, kernel="linear").fit(X)
        rest = model.residual(X) ** 2
        bound = bounds.slab_false_positive_rate(
            slack_sum=np.maximum(rest - model.width_**2, 0.0).sum(), gap=gap, axes=1, radius=np.sqrt(2.01),
            squared_trace=((X**2).sum(axis=1) ** 2).sum(), n=n, delta=0.05,
        )  # fmt: skip
        kept += (model.residual(new) ** 2 > model.width_**2 + gap).mean() <= bound
    assert kept == 20
    for k in (1, 4, 9):  # in closed form: sums of k(x, x)^2 that are n give 2 sqrt(k) / sqrt(n)
        value = bounds.slab_false_positive_rate(
            slack_sum=10.0, gap=0.5, axes=k, radius=1.0, squared_trace=100.0, n=100, delta=2.0 * np.exp(-2.0)
        )
        assert value == pytest.approx((0.1 + 0.2 * np.sqrt(k) + 0.6) / 0.5 + 0.3)
