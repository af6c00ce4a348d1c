"""Each loss against its own definition: derivatives, conjugates and minimisers by numerical means."""

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from sklearn.base import clone

from loss_examples import (
    CLASSES,
    EITHER,
    INNER,
    LIBRARY,
    NUMBERS,
    OWN,
    SIGNS,
    LogCosh,
    concrete_losses,
    targets,
)
from mercer import losses

pytestmark = pytest.mark.core

SCALAR = [*SIGNS, *NUMBERS, *INNER, *OWN]
GRID = np.linspace(-60.0, 60.0, 12_001)


def names(loss):
    return type(loss).__name__


def test_every_class_has_an_example():
    missing = set(concrete_losses()) - {type(loss) for loss in LIBRARY}
    assert not missing, f"add these to loss_examples.CHOSEN: {missing}"
    assert len(SIGNS) + len(NUMBERS) + len(CLASSES) + len(INNER) == len(LIBRARY)


def test_every_class_is_public_or_a_step_of_a_solver():
    assert {type(loss).__name__ for loss in INNER} == {"Envelope"}


def test_every_loss_with_a_name_is_found_by_it():
    named = {vars(cls)["name"]: cls for cls in concrete_losses() if vars(cls).get("name")}
    assert set(losses.CLASSIFICATION) | set(losses.REGRESSION) == set(named)
    assert all(name in named for name in ("hinge", "squared_error", "multinomial_deviance", "pinball"))
    for name, cls in named.items():
        for known, kinds in (
            (losses.CLASSIFICATION, ("signs", "any", "classes")),
            (losses.REGRESSION, ("numbers", "any")),
        ):
            assert (name in known) == (cls.targets in kinds)
            if name in known:
                assert type(losses.as_loss(name, known)) is cls
                assert losses.as_loss(losses.as_loss(name, known), known) == cls()


def away_from_kinks(loss, y, f):
    """Return the places where the second difference of the derivative is small."""
    h = 1e-4
    jump = loss.derivative(y, f + h) - 2 * loss.derivative(y, f) + loss.derivative(y, f - h)
    return np.abs(jump) < 1e-5


@pytest.mark.parametrize("loss", SCALAR, ids=names)
def test_derivative_is_the_slope_of_the_value(loss):
    rng = np.random.default_rng(0)
    y, f = targets(loss, rng, 500), 2.0 * rng.normal(size=500)
    ok = away_from_kinks(loss, y, f)
    assert ok.mean() > 0.9
    h = 1e-6
    numerical = (loss.value(y, f + h) - loss.value(y, f - h)) / (2 * h)
    np.testing.assert_allclose(loss.derivative(y, f)[ok], numerical[ok], atol=1e-7, rtol=1e-7)


@pytest.mark.parametrize("loss", SCALAR, ids=names)
def test_curvature_is_the_slope_of_the_derivative(loss):
    rng = np.random.default_rng(1)
    y, f = targets(loss, rng, 500), 2.0 * rng.normal(size=500)
    ok = away_from_kinks(loss, y, f)
    h = 1e-5
    numerical = (loss.derivative(y, f + h) - loss.derivative(y, f - h)) / (2 * h)
    np.testing.assert_allclose(loss.curvature(y, f)[ok], numerical[ok], atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("loss", SCALAR, ids=names)
def test_conjugate_is_the_supremum(loss):
    rng = np.random.default_rng(2)
    for y in targets(loss, rng, 4):
        slopes = loss.derivative(np.full(30, y), 3.0 * rng.normal(size=30))
        with np.errstate(over="ignore"):
            values = loss.value(np.full(GRID.size, y), GRID)
        for s in np.append(slopes, 0.5 * (slopes.min() + slopes.max())):
            # Once more, finely, around the best point of the grid: the supremum may sit on a kink.
            fine = GRID[np.nanargmax(s * GRID - values)] + np.linspace(-1e-2, 1e-2, 20_001)
            attained = np.nanmax(s * fine - loss.value(np.full(fine.size, y), fine))
            got = float(loss.conjugate(np.array([y]), np.array([s]))[0])
            np.testing.assert_allclose(got, attained, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize(
    ("loss", "y", "outside"),
    [
        (losses.Hinge(), 1.0, [0.1, -1.1]),
        (losses.SquaredHinge(), -1.0, [-0.1]),
        (losses.HuberizedSquaredHinge(), 1.0, [0.1, -4.1]),
        (losses.BinomialDeviance(), 1.0, [0.1, -1.1]),
        (losses.Huber(threshold=0.7), 0.3, [0.8, -0.8]),
        (losses.EpsilonInsensitive(), 0.3, [1.1, -1.1]),
        (losses.Pinball(quantile=0.2), 0.3, [-0.3, 0.9]),
        (LogCosh(), 0.3, [1.1, -1.1]),
    ],
    ids=lambda value: names(value) if isinstance(value, losses.Loss) else "",
)
def test_conjugate_is_infinite_where_no_slope_reaches(loss, y, outside):
    for s in outside:
        assert np.isposinf(loss.conjugate(np.array([y]), np.array([s]))).all()
        assert np.isposinf(loss.excess(np.array([y]), np.array([0.1]), np.array([s]))).all()


@pytest.mark.parametrize("loss", SCALAR, ids=names)
def test_excess_is_fenchels_inequality(loss):
    rng = np.random.default_rng(3)
    y, f, other = targets(loss, rng, 400), 2.0 * rng.normal(size=400), 2.0 * rng.normal(size=400)
    s = loss.derivative(y, other)
    excess = loss.excess(y, f, s)
    assert (excess >= 0).all()
    np.testing.assert_allclose(excess, loss.value(y, f) + loss.conjugate(y, s) - s * f, atol=1e-9, rtol=1e-9)
    np.testing.assert_allclose(loss.excess(y, f, loss.derivative(y, f)), 0.0, atol=1e-13)


@pytest.mark.parametrize("loss", [*SIGNS, *NUMBERS], ids=names)
def test_values_do_not_overflow_far_out(loss):
    y = np.array([1.0, -1.0])
    for f in (1e4, -1e4):
        at = np.full(2, f)
        for array in (loss.value(y, at), loss.derivative(y, at), loss.curvature(y, at)):
            assert np.isfinite(array).all()


@pytest.mark.parametrize("loss", [*SIGNS, *EITHER, OWN[1]], ids=names)
def test_population_minimiser_of_two_classes_against_a_simulation(loss):
    rng = np.random.default_rng(4)
    for p in (0.1, 0.3, 0.62, 0.9):
        y = np.where(rng.random(200_000) < p, 1.0, -1.0)
        share = float((y > 0).mean())
        both = np.array([1.0, -1.0])
        weight = np.array([share, 1.0 - share])
        risk = minimize_scalar(
            lambda f: float(weight @ loss.value(both, np.full(2, f))),  # noqa: B023
            bounds=(-8, 8), method="bounded", options={"xatol": 1e-10},
        )  # fmt: skip
        exact = float(loss.population_minimiser(np.array([share]))[0])
        np.testing.assert_allclose(exact, risk.x, atol=1e-4)
        np.testing.assert_allclose(loss.best_constant(y), risk.x, atol=1e-4)
        # Sampling error of a function of the share.
        near = np.array([p - 0.006, p + 0.006])
        low, high = np.sort(np.asarray(loss.population_minimiser(near)))
        assert low - 1e-9 <= loss.best_constant(y) <= high + 1e-9


@pytest.mark.parametrize(
    "loss", [losses.SquaredHinge(), losses.HuberizedSquaredHinge(), losses.BinomialDeviance()], ids=names
)
def test_probability_undoes_the_population_minimiser(loss):
    p = np.linspace(0.02, 0.98, 25)
    np.testing.assert_allclose(loss.probability(loss.population_minimiser(p)), p, atol=1e-12)
    assert losses.Hinge().probability(np.zeros(1)) is None


@pytest.mark.parametrize("loss", [*NUMBERS, OWN[0]], ids=names)
def test_best_constant_minimises(loss):
    rng = np.random.default_rng(5)
    y, weight = rng.gamma(1.0, size=301), rng.random(301)
    best = loss.best_constant(y, weight)
    around = best + np.linspace(-0.5, 0.5, 401)
    risks = [float(weight @ loss.value(y, np.full(y.size, c))) for c in around]
    assert float(weight @ loss.value(y, np.full(y.size, best))) <= min(risks) + 1e-9


def test_best_constants_that_have_names():
    y = np.random.default_rng(6).gamma(1.0, size=10_001)
    np.testing.assert_allclose(losses.SquaredError().best_constant(y), y.mean(), rtol=1e-12)
    np.testing.assert_allclose(losses.Pinball(0.5).best_constant(y), np.median(y), rtol=1e-12)
    np.testing.assert_allclose(losses.Pinball(0.9).best_constant(y), np.quantile(y, 0.9), rtol=1e-3)
    np.testing.assert_allclose(losses.Huber(1e3).best_constant(y), y.mean(), rtol=1e-12)
    np.testing.assert_allclose(losses.Huber(1e-9).best_constant(y), np.median(y), rtol=1e-6)
    np.testing.assert_allclose(losses.EpsilonInsensitive(0.0).best_constant(y), np.median(y), rtol=1e-12)
    even = np.array([0.0, 1.0])
    np.testing.assert_allclose(losses.Pinball(0.5).best_constant(even), 0.5)  # the middle of the interval


def test_a_bias_that_does_not_exist_is_refused():
    class Downhill(LogCosh):
        def derivative(self, y, f):
            return -1.0 / (1.0 + np.exp(f / 1e29))

    with pytest.raises(ValueError, match="no best bias"):
        Downhill().best_constant(np.ones(5))


# -- several classes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", CLASSES, ids=names)
def test_derivatives_of_several_functions(loss):
    rng = np.random.default_rng(7)
    y, F = rng.integers(0, 4, 20).astype(float), 2.0 * rng.normal(size=(20, 4))
    h = 1e-6
    for k in range(4):
        step = h * np.eye(4)[k]
        slope = (loss.value(y, F + step) - loss.value(y, F - step)) / (2 * h)
        np.testing.assert_allclose(loss.derivative(y, F)[:, k], slope, atol=1e-8)
        second = (loss.derivative(y, F + step) - loss.derivative(y, F - step)) / (2 * h)
        np.testing.assert_allclose(loss.curvature(y, F)[:, k], second, atol=1e-8)
    G = loss.root(y, F)  # what Newton's method takes of it
    np.testing.assert_allclose(G @ np.swapaxes(G, 1, 2), loss.curvature(y, F), atol=1e-12)


@pytest.mark.parametrize("loss", CLASSES, ids=names)
def test_conjugate_of_several_functions_is_the_supremum(loss):
    rng = np.random.default_rng(8)
    for _ in range(5):
        y = np.array([float(rng.integers(3))])
        s = loss.derivative(y, 1.5 * rng.normal(size=(1, 3)))
        found = minimize(lambda f: float((loss.value(y, f[None]) - s @ f)[0]), np.zeros(3), tol=1e-10)  # noqa: B023
        np.testing.assert_allclose(loss.conjugate(y, s), -found.fun, atol=1e-7)
        F = rng.normal(size=(1, 3))
        direct = loss.value(y, F) + loss.conjugate(y, s) - (s * F).sum(axis=1)
        np.testing.assert_allclose(loss.excess(y, F, s), direct, atol=1e-12)


def test_multinomial_conjugate_is_infinite_where_there_are_no_probabilities():
    loss = losses.MultinomialDeviance()
    assert np.isposinf(loss.conjugate(np.zeros(1), np.array([[0.2, -0.1, -0.1]])))  # a negative one
    assert np.isposinf(loss.conjugate(np.zeros(1), np.array([[-0.5, 0.2, 0.2]])))  # they do not sum to one


def test_multinomial_population_minimiser_against_a_simulation():
    loss = losses.MultinomialDeviance()
    p = np.array([0.5, 0.3, 0.2])
    y = np.random.default_rng(9).choice(3, size=100_000, p=p).astype(float)
    share = np.bincount(y.astype(int)) / y.size
    classes = np.arange(3.0)
    found = minimize(lambda f: float(share @ loss.value(classes, np.tile(f, (3, 1)))), np.zeros(3), tol=1e-10)
    np.testing.assert_allclose(found.x - found.x.mean(), loss.population_minimiser(share), atol=1e-5)
    np.testing.assert_allclose(loss.population_minimiser(share), loss.population_minimiser(p), atol=0.02)


def test_two_classes_at_once_are_the_binomial_deviance():
    f = np.linspace(-3, 3, 7)
    F = np.column_stack([np.zeros(7), f])
    both = losses.MultinomialDeviance().value(np.ones(7), F)
    np.testing.assert_allclose(both, losses.BinomialDeviance().value(np.ones(7), f))


# -- as objects ------------------------------------------------------------------------------------------


def test_losses_are_values():
    loss = losses.Huber(threshold=2.0)
    assert loss == losses.Huber(threshold=2.0) != losses.Huber()
    assert hash(loss) == hash(losses.Huber(threshold=2.0))
    assert clone(loss) == loss
    assert repr(loss) == "Huber(threshold=2.0)"
    assert losses.Pinball().set_params(quantile=0.9).get_params() == {"quantile": 0.9}


@pytest.mark.parametrize(
    ("loss", "name"),
    [
        (losses.Huber(threshold=0.0), "threshold"),
        (losses.EpsilonInsensitive(epsilon=-1.0), "epsilon"),
        (losses.SquaredEpsilonInsensitive(epsilon="x"), "epsilon"),
        (losses.Pinball(quantile=1.0), "quantile"),
        (losses.Huber(threshold=np.inf), "threshold"),
    ],
)
def test_bad_parameters_are_named(loss, name):
    with pytest.raises(ValueError, match=name):
        losses.as_loss(loss, losses.REGRESSION)


def test_wrong_kinds_are_refused():
    with pytest.raises(ValueError, match="huber"):
        losses.as_loss("Huber", losses.REGRESSION)
    with pytest.raises(TypeError, match=r"mercer\.losses\.Loss"):
        losses.as_loss(print, losses.REGRESSION)
    with pytest.raises(ValueError, match="signs"):
        losses.as_loss(losses.Hinge(), losses.REGRESSION)
    with pytest.raises(ValueError, match="numbers"):
        losses.as_loss(losses.Huber(), losses.CLASSIFICATION)
