"""What a kernel claims of its values, for every item there may be, holds for nasty items."""

import warnings

import numpy as np
import pytest
from kernel_examples import COMPARED, EXAMPLES, ITEMS, concrete_kernels, data_for

from mercer.kernels import (
    ANOVA,
    RBF,
    AdditiveChi2,
    Centered,
    Chi2,
    HistogramIntersection,
    Laplacian,
    Linear,
    Matern,
    OnColumns,
    Polynomial,
    RationalQuadratic,
    Spline,
)
from mercer.kernels.vector import ElementwiseKernel, GammaKernel

pytestmark = pytest.mark.core


class Tall(ElementwiseKernel):
    """A user's kernel with k(x, x) = 20."""

    statistic = "sqdist"

    def elementwise(self, S):
        S += 1.0
        return np.divide(20.0, S, out=S)


class TallRBF(RBF):
    """A line of its own over a kernel of the library."""

    def elementwise(self, S):
        K = super().elementwise(S)
        K *= 20.0
        return K


class TallLaplacian(Laplacian):
    def elementwise(self, S):
        K = super().elementwise(S)
        K *= 20.0
        return K


class Jitter(RBF):
    """Values that are not the line's alone: the diagonal is the data's."""

    def evaluate_diag(self, X):
        return super().evaluate_diag(X) + np.abs(X).sum(axis=1)


class Pole(ElementwiseKernel):
    """1 / distance: infinite at 0."""

    statistic = "sqdist"

    def elementwise(self, S):
        with np.errstate(divide="ignore"):
            return np.divide(1.0, S, out=S)


class Dip(ElementwiseKernel):
    """Negative on the diagonal, and not declared positive semi-definite."""

    statistic = "sqdist"
    is_psd = None

    def elementwise(self, S):
        S -= 5.0
        return S


def nasty(kind, seed):
    """Return items of a kind at very different scales, with zeros, duplicates and lonely entries."""
    if kind in ITEMS:
        return data_for(kind, n=30)
    rng = np.random.default_rng(seed)
    base = rng.standard_normal((30, 5)) * 10.0 ** rng.integers(-6, 7, size=(30, 1))
    base[0] = 0.0
    base[1] = base[2]
    base[3, 1:] = 0.0
    base[4:8] = np.round(base[4:8])
    return np.abs(base) if kind == "positive" else base


def variants(kernel):
    """Return the kernel, and what the algebra makes of it."""
    yield kernel
    yield 20 * kernel
    yield 0 * kernel
    yield kernel + 3.0
    yield kernel + kernel
    yield kernel * kernel
    yield kernel * (2.0 * kernel + 1.0)
    yield kernel**0
    yield kernel**2
    yield (3 * kernel) ** 3
    yield kernel**0.5
    yield kernel.normalized()
    yield 20 * kernel.normalized()
    yield kernel.centered()
    yield 20 * kernel.centered()
    wide = isinstance(kernel, OnColumns) or any(np.ndim(v) for v in kernel.get_params(deep=False).values())
    if kernel.is_vector and not wide:
        yield kernel.on([0, 1, 2, 3, 4])
        yield kernel.on([2])
        yield 20 * kernel.on(slice(0, 2)) + kernel.on([4])


OWN = [Tall(), TallRBF(0.3), TallLaplacian(0.2), Jitter(0.3), Pole(), Dip()]
CASES = [(e.kernel, e.data) for e in COMPARED] + [(k, "real") for k in OWN]


def values(kernel, X):
    """Return the matrix and the diagonal, or None where the kernel refuses such data in words."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # squares and cubes of such data may overflow
            k = kernel.resolve(X)
            return k, k(X), k.diag(X)
    except ValueError as error:
        if "is negative for" in str(error) or "< 0 for some item" in str(error):
            return None
        raise


@pytest.mark.parametrize(("kernel", "kind"), CASES, ids=lambda v: v if isinstance(v, str) else repr(v)[:60])
def test_claims_hold_for_nasty_data(kernel, kind):
    """A bound on k(x, x), a sign of k(x, z): also of multiples, sums, products, powers and views."""
    tried = 0
    for variant in variants(kernel):
        for seed in range(2):
            found = values(variant, nasty(kind, seed))
            if found is None:
                continue
            k, K, diagonal = found
            tried += 1
            for bound in (k.diagonal_bound, variant.diagonal_bound):  # before the data are known, too
                if bound is not None:
                    assert np.isfinite(bound)
                    room = 1e-12 * max(abs(bound), 1.0)
                    assert diagonal.max() <= bound + room, variant
                    assert np.diagonal(K).max() <= bound + room, variant
            if k.is_nonnegative:
                assert not (K < 0).any(), variant
            if k.has_nonnegative_diagonal and not isinstance(kernel, Centered):
                rounding = 1e-9 * np.abs(diagonal[np.isfinite(diagonal)]).max(initial=0.0)
                assert not (diagonal < -rounding).any(), variant
    assert tried >= 8


def test_every_class_was_tried():
    assert concrete_kernels() <= {type(e.kernel) for e in EXAMPLES}
    assert {type(e.kernel) for e in EXAMPLES} - {type(k) for k, _ in CASES} == {
        type(e.kernel) for e in EXAMPLES if e.data == "matrix"
    }


@pytest.mark.parametrize("example", COMPARED, ids=str)
def test_a_kernel_said_to_be_negative_somewhere_is(example):
    if example.kernel.is_nonnegative is False:
        assert (example.kernel(20.0 * data_for(example.data)) < 0).any()


def test_signs_of_the_library():
    for k in (
        RBF(1.0),
        Matern(),
        RationalQuadratic(),
        Laplacian(1.0),
        Chi2(),
        HistogramIntersection(),
        ANOVA(1.0),
    ):
        assert k.is_nonnegative is True
        assert (2 * k + k * k).normalized().is_nonnegative is True
    for k in (Linear(), Spline(), AdditiveChi2()):
        assert k.is_nonnegative is False
        assert (k + RBF(1.0)).is_nonnegative is None
        assert (k**2).is_nonnegative is True
        assert (k**3).is_nonnegative is False
    assert Polynomial(2).is_nonnegative is True
    assert Polynomial(3).is_nonnegative is None


X = np.abs(np.random.default_rng(0).standard_normal((20, 3))) * 50


@pytest.mark.parametrize(
    ("kernel", "bound"),
    [
        (RBF(0.3), 1.0),
        (RBF([0.1, 0.2, 0.3]), 1.0),
        (Matern(2.0, 0.5), 1.0),
        (Matern(2.0, 2.5), 1.0),
        (RationalQuadratic(), 1.0),
        (Laplacian(0.1), 1.0),
        (Chi2(0.2), 1.0),
        (Linear().normalized(), 1.0),
        (2 * RBF(0.1) + 3, 5.0),
        (RBF(0.1) * (2 * Laplacian(0.2)), 2.0),
        ((3 * RBF(0.1)) ** 2, 9.0),
        ((4 * RBF(0.1)) ** 0.5 * RBF(1.0), 2.0),
        (RBF(0.1).on([0, 2]), 1.0),
        (Tall(), 20.0),
        (20 * Tall() + 1, 401.0),
        (Tall() ** 2, 400.0),
        (Tall().on([1]), 20.0),
        (Tall().normalized(), 1.0),
        (TallRBF(0.1), 20.0),
        (TallLaplacian(0.1), 20.0),
    ],
    ids=str,
)
def test_the_bound_is_reached(kernel, bound):
    assert kernel.diagonal_bound == pytest.approx(bound, rel=1e-12)
    np.testing.assert_allclose(kernel.diag(X), kernel.diagonal_bound, rtol=1e-6)


@pytest.mark.parametrize(
    "kernel",
    [
        Linear(),
        Polynomial(),
        Linear() + RBF(1.0),
        Linear() * RBF(1.0),
        Jitter(1.0),  # computes its diagonal by other means
        Pole(),
        Dip() * Dip(),  # 25, not -5 * -5 by luck: the sign of a diagonal must be known
        Dip() ** 2,
        RBF(1.0).centered(),
        TallRBF(),  # a width that waits for data may be in the line in any way
        (1e200 * RBF(1.0)) ** 2,
        (1e200 * RBF(1.0)) * (1e200 * RBF(1.0)),
    ],
    ids=str,
)
def test_no_bound_is_claimed_where_none_is_known(kernel):
    assert kernel.diagonal_bound is None


@pytest.mark.parametrize(
    ("kernel", "depends"),
    [
        (RBF(0.5), False),
        (RBF("auto"), False),
        (RBF(), True),
        (Spline(), False),
        (Spline("min"), True),
        (2 * Spline("min").on([0]) + RBF(1.0), True),
        (RBF("auto") * Laplacian("auto"), False),
        (Linear().centered(), True),
        (Linear().centered().resolve(X), True),
    ],
    ids=str,
)
def test_what_the_rows_decide(kernel, depends):
    assert kernel.depends_on_data is depends


def test_what_does_not_depend_on_data_is_the_same_for_all_rows():
    for e in COMPARED:
        for k in (e.kernel, type(e.kernel)("auto") if isinstance(e.kernel, GammaKernel) else e.kernel):
            if not k.depends_on_data:
                some = [data_for(e.data, seed=seed) for seed in (0, 1)]
                assert k.resolve(some[0]) == k.resolve(some[1])
