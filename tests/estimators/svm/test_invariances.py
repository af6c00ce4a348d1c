"""What must not change the answer."""

from itertools import pairwise

import numpy as np
import pytest

from clouds import blobs
from mercer import SVC

pytest.importorskip("hypothesis")

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

TIGHT = 1e-9


def fit(K, y, C, **options):
    return SVC(kernel="precomputed", C=C, tol=TIGHT, **options).fit(K, y)


@st.composite
def problems(draw):
    """A small positive definite problem with both classes, on a coarse grid, so that ties happen."""
    n, d = draw(st.integers(4, 14)), draw(st.integers(1, 3))
    X = draw(hnp.arrays(np.int64, (n, d), elements=st.integers(-6, 6))) / 4.0
    y = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 1)))
    y[:2] = 0, 1
    K = np.exp(-0.4 * ((X[:, None] - X[None]) ** 2).sum(axis=2)) + 0.1 * X @ X.T
    return K, y, draw(st.sampled_from([0.05, 1.0, 20.0]))


@given(problems(), st.randoms(use_true_random=False))
def test_order_of_the_rows(problem, random):
    K, y, C = problem
    order = list(range(y.size))
    random.shuffle(order)
    first, second = fit(K, y, C), fit(K[np.ix_(order, order)], y[order], C)
    assert first.certificate_.dual == pytest.approx(second.certificate_.dual, rel=1e-7, abs=1e-12)
    np.testing.assert_allclose(
        first.decision_function(K)[order], second.decision_function(K[np.ix_(order, order)]), atol=1e-4
    )


@given(problems())
def test_swapping_the_labels_changes_the_sign(problem):
    K, y, C = problem
    first, second = fit(K, y, C), fit(K, 1 - y, C)
    np.testing.assert_allclose(first.decision_function(K), -second.decision_function(K), atol=1e-5)
    assert first.certificate_.dual == pytest.approx(second.certificate_.dual, rel=1e-7, abs=1e-12)


@given(problems(), st.data())
def test_weight_is_repetition(problem, data):
    K, y, C = problem
    times = np.array(data.draw(st.lists(st.integers(1, 3), min_size=y.size, max_size=y.size)))
    idx = np.repeat(np.arange(y.size), times)
    weighted = SVC(kernel="precomputed", C=C, tol=TIGHT).fit(K, y, sample_weight=times)
    repeated = fit(K[np.ix_(idx, idx)], y[idx], C)
    assert weighted.certificate_.dual == pytest.approx(repeated.certificate_.dual, rel=1e-7, abs=1e-12)
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=1e-6)
    np.testing.assert_allclose(
        weighted.decision_function(K), repeated.decision_function(K[:, idx]), atol=1e-4
    )


@given(problems(), st.sampled_from([-0.05, 0.5, 30.0]))
def test_a_constant_added_to_the_kernel_is_swallowed_by_the_bias(problem, shift):
    K, y, C = problem
    first, second = fit(K, y, C), fit(K + max(shift, 0.0), y, C)
    assert first.certificate_.dual == pytest.approx(second.certificate_.dual, rel=1e-6, abs=1e-10)
    np.testing.assert_allclose(
        first.decision_function(K), second.decision_function(K + max(shift, 0.0)), atol=1e-4
    )


@given(problems(), st.sampled_from([1e-6, 1e-3, 7.0, 1e6]))
def test_scaling_the_kernel_and_dividing_c(problem, scale):
    K, y, C = problem
    first, second = fit(K, y, C), fit(scale * K, y, C / scale)
    assert first.certificate_.dual == pytest.approx(scale * second.certificate_.dual, rel=1e-6)
    np.testing.assert_allclose(first.decision_function(K), second.decision_function(scale * K), atol=1e-5)


@given(problems())
def test_the_gap_is_bounded_by_the_violation(problem):
    K, y, C = problem
    for tol in (1e-1, 1e-3):
        certificate = SVC(kernel="precomputed", C=C, tol=tol).fit(K, y).certificate_
        assert 0 <= certificate.gap <= certificate.kkt_violation * C * y.size * (1 + 1e-9) + 1e-300
        assert certificate.kkt_violation <= tol
        assert certificate.dual <= fit(K, y, C).certificate_.primal * (1 + 1e-9)


@given(problems())
def test_more_c_never_lowers_the_optimum(problem):
    K, y, _ = problem
    duals = [fit(K, y, C).certificate_.dual for C in (0.01, 0.1, 1.0, 10.0)]
    assert all(later >= earlier * (1 - 1e-7) for earlier, later in pairwise(duals))


@given(problems())
def test_a_row_that_is_no_support_vector_can_go(problem):
    K, y, C = problem
    model = fit(K, y, C)
    idle = np.setdiff1d(np.arange(y.size), model.support_)
    keep = np.setdiff1d(np.arange(y.size), idle[:1])
    if idle.size == 0 or len(set(y[keep])) < 2:
        return
    fewer = fit(K[np.ix_(keep, keep)], y[keep], C)
    assert fewer.certificate_.dual == pytest.approx(model.certificate_.dual, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_moving_and_scaling_the_data(kernel):
    X, y = blobs(60, 3, 3, seed=0)
    rng = np.random.default_rng(0)
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    options = {"kernel": kernel, "coef0": 1.0, "tol": TIGHT}
    plain = SVC(**options).fit(X, y).decision_function(X)
    turned = SVC(**options, gamma=1.0 / (3 * X.var())).fit(X @ Q, y).decision_function(X @ Q)
    np.testing.assert_allclose(turned, plain, atol=1e-4)
    if kernel == "rbf":
        moved = SVC(**options).fit(5.0 * X + 3.0, y).decision_function(5.0 * X + 3.0)
        np.testing.assert_allclose(moved, plain, atol=1e-4)


def test_threads_do_not_change_the_answer():
    X, y = blobs(3000, 6, 3, seed=0)
    one, two = SVC(n_jobs=1).fit(X, y), SVC(n_jobs=2).fit(X, y)
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), atol=1e-9)
    np.testing.assert_array_equal(one.support_, two.support_)
