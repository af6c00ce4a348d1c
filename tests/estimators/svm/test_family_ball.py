"""Balls with a known answer, the promise of their radius, and what lies inside."""

import numpy as np
import pytest
from oracle import bank, named

from mercer import SVDD, OneClassSVM, SphereAndSlab
from mercer.kernels import RBF, Linear

BALL = {"nu": 0.0, "kernel": "linear"}


def circle(n, radius, centre):
    angle = np.linspace(0, 2 * np.pi, n, endpoint=False)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1) * radius + centre


def simplex(d):
    return np.eye(d)


CASES = {
    "circle": (circle(40, 2.5, [3.0, -1.0]), 2.5, [3.0, -1.0]),
    "circle and inside": (np.vstack([circle(12, 2.0, [0, 0]), circle(50, 1.5, [0.3, 0.1])]), 2.0, [0, 0]),
    "simplex": (simplex(7), np.sqrt(6 / 7), np.full(7, 1 / 7)),
    "triangle": (
        np.array([[0.0, 0], [1, 0], [0.5, np.sqrt(0.75)]]),
        1 / np.sqrt(3),
        [0.5, np.sqrt(0.75) / 3],
    ),
    "obtuse triangle": (np.array([[0.0, 0], [4, 0], [2, 0.5]]), 2.0, [2, 0]),
    "line": (np.linspace(-1, 4, 30)[:, None] * [3.0, 4.0], 12.5, [4.5, 6.0]),
    "duplicates": (np.repeat([[0.0, 0], [2, 0], [1, 0.3]], 15, axis=0), 1.0, [1, 0]),
    "one point": (np.array([[5.0, 5.0]]), 0.0, [5, 5]),
    "one point many times": (np.tile([5.0, 5.0], (20, 1)), 0.0, [5, 5]),
    "two points": (np.array([[0.0, 0, 0], [0, 0, 8]]), 4.0, [0, 0, 4]),
    "cube": (np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, -1).T * 2.0, np.sqrt(3), [1, 1, 1]),
    "tiny": (circle(9, 1e-4, [1e-3, 0]), 1e-4, [1e-3, 0]),
    "huge": (circle(9, 1e5, [0, 2e5]), 1e5, [0, 2e5]),
}


@pytest.mark.core
@pytest.mark.parametrize("name", CASES)
def test_the_radius_is_the_exact_one(name):
    X, radius, centre = CASES[name]
    ball = SVDD(**BALL).fit(X)
    size = np.abs(X).max()
    assert ball.radius_ == pytest.approx(radius, rel=1e-6, abs=1e-6 * size)
    np.testing.assert_allclose(ball.coef_[0], centre, atol=2e-3 * max(radius, 1e-3 * size))
    assert (ball.predict(X) == 1).all()
    assert (ball.fit_predict(X) == 1).all()
    assert ball.slack_sum_ == 0
    assert ball.outside_fraction_ == 0


@pytest.mark.core
def test_nothing_inside_a_ball_matters():
    """Points inside may be moved, removed or doubled: the ball stays."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    ball = SVDD(**BALL, tol=1e-9).fit(X)
    edge = ball.support_
    again = SVDD(**BALL, tol=1e-9).fit(X[edge])
    assert ball.radius_ == pytest.approx(again.radius_, rel=1e-9)
    assert len(edge) <= 4  # in 3 dimensions
    assert SVDD(**BALL, C=np.inf).set_params(nu=0.1).fit(X).radius_ == pytest.approx(ball.radius_, rel=1e-6)


@pytest.mark.core
def test_a_soft_ball_tells_its_slacks():
    """The dual value is r^2 + C times the sum of the slacks (the last lines of the soft ball's algorithm)."""
    X = np.random.default_rng(0).normal(size=(80, 2))
    for nu in (0.05, 0.2, 0.6):
        ball = SVDD(nu=nu, tol=1e-8).fit(X)
        C = 1 / (nu * len(X))
        assert ball.slacks(X).sum() == pytest.approx(ball.slack_sum_, abs=1e-9)
        assert ball.certificate_.dual == pytest.approx(ball.radius_**2 + C * ball.slack_sum_, rel=1e-7)
        np.testing.assert_allclose(
            ball.slacks(X), np.maximum(0, ball.distance(X) ** 2 - ball.radius_**2), atol=1e-12
        )
        same = SVDD(C=C, tol=1e-8).fit(X)
        assert same.radius_ == pytest.approx(ball.radius_, rel=1e-7)


@pytest.mark.core
def test_scores_distances_and_decisions_are_one_thing():
    X = np.random.default_rng(0).normal(size=(50, 2))
    new = np.random.default_rng(1).normal(size=(30, 2)) * 2
    ball = SVDD(nu=0.2).fit(X)
    np.testing.assert_allclose(ball.score_samples(new), -(ball.distance(new) ** 2))
    np.testing.assert_allclose(ball.decision_function(new), ball.radius_**2 - ball.distance(new) ** 2)
    assert ball.offset_ == pytest.approx(-(ball.radius_**2))
    np.testing.assert_array_equal(ball.predict(new), np.where(ball.distance(new) <= ball.radius_, 1, -1))


@pytest.mark.parametrize("machine", [SVDD, OneClassSVM, SphereAndSlab], ids=lambda m: m.__name__)
@pytest.mark.parametrize("case", [c for c in bank() if c.kernel == "rbf"], ids=named)
def test_at_most_a_share_nu_is_called_novel(machine, case):
    """At any tolerance, and counted by ``predict`` itself."""
    w = case.weight
    for tol in (1e-1, 1e-3):
        model = machine(nu=case.rank, tol=tol, kernel=RBF(case.gamma)).fit(case.X, sample_weight=w)
        assert w[model.predict(case.X) < 0].sum() <= case.rank * w.sum() * (1 + 1e-9)
        assert model.outside_fraction_ <= case.rank * (1 + 1e-9)
    if machine is not SphereAndSlab:
        assert model.support_fraction_ >= case.rank * (1 - 1e-9)


# -- the promised radius ---------------------------------------------------------------------------------


@pytest.mark.core
@pytest.mark.filterwarnings("ignore::mercer.estimators.svm.ball.EmptyPromiseWarning")
def test_the_promised_radius_is_that_of_the_corollary():
    X = np.random.default_rng(0).normal(size=(2000, 2))
    ball = SVDD(nu=0, tol=1e-6).fit(X)  # no slacks, so that the gap depends on no data
    q, delta, n = 0.4, 0.05, len(X)
    p = q - 3 * np.sqrt(np.log(2 / delta) / (2 * n))
    gamma = (ball.slack_sum_ / n + 6 * 1.0 / np.sqrt(n)) / p  # k(x, x) = 1, so R = 1
    assert ball.radius_for(q, delta) == pytest.approx(np.sqrt(ball.radius_**2 + gamma), rel=1e-9)
    assert ball.radius_for(q, delta, support_radius=1.0) == ball.radius_for(q, delta)
    assert ball.radius_for(0.5, delta) < ball.radius_for(q, delta) < ball.radius_for(q, 0.01)
    # The bound of the theorem, at this gamma, is q.
    assert (ball.slack_sum_ / n + 6 / np.sqrt(n)) / gamma + (q - p) == pytest.approx(q)


@pytest.mark.core
@pytest.mark.filterwarnings("ignore::mercer.estimators.svm.ball.EmptyPromiseWarning")
def test_the_promise_is_kept():
    rng = np.random.default_rng(1)
    ball = SVDD(nu=0.2, tol=1e-4).fit(rng.normal(size=(1500, 2)))
    new = rng.normal(size=(5000, 2))
    for q in (0.2, 0.4):
        assert (ball.distance(new) > ball.radius_for(q)).mean() <= q


@pytest.mark.core
@pytest.mark.filterwarnings("ignore::mercer.estimators.svm.ball.EmptyPromiseWarning")
def test_a_promise_that_cannot_be_made_is_refused_in_words():
    X = np.random.default_rng(0).normal(size=(100, 2))
    ball = SVDD(nu=0.1).fit(X)
    with pytest.raises(ValueError, match=r"q=0.1 cannot be guaranteed from n=100 points.*n at least 1661"):
        SVDD(nu=0).fit(X).radius_for(0.1)
    SVDD(nu=0).fit(np.random.default_rng(0).normal(size=(1661, 2))).radius_for(0.1)
    with pytest.raises(
        ValueError, match=r"q=0.1 cannot be guaranteed from n=100 points.*7 gaps.*at least 2780"
    ):
        ball.radius_for(0.1)  # which gap suffices depends on the slacks: it pays for all of them
    with pytest.raises(ValueError, match="support_radius"):
        SVDD(kernel="linear").fit(X).radius_for(0.9)
    for q, delta in ((0.0, 0.1), (1.0, 0.1), (0.5, 0.0), (0.5, 1.0)):
        with pytest.raises(ValueError, match="strictly between 0 and 1"):
            ball.radius_for(q, delta)
    with pytest.raises(ValueError, match="support_radius=0 must be greater"):
        ball.radius_for(0.9, support_radius=0)


# -- the slab --------------------------------------------------------------------------------------------


@pytest.mark.core
def test_the_slab_is_that_of_principal_components():
    """Against the singular value decomposition of centred data."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5)) * [5, 3, 1, 0.5, 0.1] + 2.0
    model = SphereAndSlab(nu=0.2, n_components=2, kernel="linear").fit(X)
    mean = X.mean(axis=0)
    _, s, V = np.linalg.svd(X - mean, full_matrices=False)
    np.testing.assert_allclose(model.explained_variance_, s[:2] ** 2 / 120, rtol=1e-9)
    new = rng.normal(size=(20, 5))
    off = (new - mean) - (new - mean) @ V[:2].T @ V[:2]
    np.testing.assert_allclose(model.residual(new), np.linalg.norm(off, axis=1), atol=1e-9)
    inside = np.linalg.norm((X - mean) - (X - mean) @ V[:2].T @ V[:2], axis=1)
    assert model.width_ == pytest.approx(np.sort(inside)[-13])  # 12 of 120 may be outside
    np.testing.assert_array_equal(
        model.predict(new) == 1,
        (model.distance(new) <= model.radius_) & (model.residual(new) <= model.width_),
    )


@pytest.mark.core
def test_the_slab_of_many_points_agrees_with_the_slab_of_few():
    """Beyond some size the axes come from an iterative method."""
    import mercer.solvers.linear_algebra.principal_axes as axes

    X = np.random.default_rng(0).normal(size=(300, 3)) * [3, 2, 0.5]
    few = SphereAndSlab(n_components=3, kernel=RBF(0.1)).fit(X)
    whole, axes.DENSE = axes.DENSE, 10
    try:
        many = SphereAndSlab(n_components=3, kernel=RBF(0.1)).fit(X)
    finally:
        axes.DENSE = whole
    np.testing.assert_allclose(many.explained_variance_, few.explained_variance_, rtol=1e-9)
    np.testing.assert_allclose(many.residual(X), few.residual(X), atol=1e-7)


@pytest.mark.core
def test_a_slab_sees_what_a_ball_does_not():
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 6))
    X = plane + 0.01 * rng.normal(size=(300, 6))
    off = plane[:50] * 0.2 + 0.5 * rng.normal(size=(50, 6))
    model = SphereAndSlab(nu=0.05, n_components=2, kernel=Linear()).fit(X)
    assert (SVDD(nu=0.05, kernel=Linear()).fit(X).predict(off) == 1).all()
    assert (model.predict(off) == -1).mean() > 0.9
    assert (model.predict(X) == 1).mean() >= 0.95


@pytest.mark.core
def test_no_more_axes_than_the_data_have():
    X = np.random.default_rng(0).normal(size=(30, 1)) * [1.0, 2.0, 3.0]
    model = SphereAndSlab(n_components=3, kernel="linear").fit(X)
    assert model.n_components_ == 1
    assert (model.predict(X) == 1).mean() >= 0.9
    alone = SphereAndSlab(n_components=3, kernel="linear").fit(X[:1])
    assert alone.n_components_ == 0
    assert alone.predict(X[:1]) == 1
