"""Class probabilities from two-class ones: optimal, and led by the predicted class."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls
from scipy.special import expit

from mercer.problems.coupling import couple_rest, two_classes
from mercer.solvers.calibration.coupling import couple_pairs


def random_logits(n, k, seed, *, pairs=True):
    rng = np.random.default_rng(seed)
    width = k * (k - 1) // 2 if pairs else k
    # From indifferent to certain, and now and then exactly tied.
    logits = rng.normal(size=(n, width)) * rng.choice([0.0, 0.1, 1.0, 5.0, 30.0], size=(n, 1))
    logits[rng.random((n, width)) < 0.05] = 0.0
    return logits, rng.integers(0, k, size=n)


def residuals(logits, k):
    """Return the matrix R with ||R p||^2 the objective of one row."""
    r = np.clip(expit(logits), 1e-7, 1 - 1e-7)
    R = np.zeros((r.size, k))
    for t, (i, j) in enumerate(combinations(range(k), 2)):
        R[t, i], R[t, j] = 1 - r[t], -r[t]
    return R


def check_probabilities(p, choice):
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    assert (p > 0).all()
    assert (p.argmax(axis=1) == choice).all()
    assert (np.log(p).argmax(axis=1) == choice).all()


@given(st.integers(2, 12), st.integers(0, 100_000))
def test_pairs_give_probabilities_led_by_the_choice(k, seed):
    logits, choice = random_logits(30, k, seed)
    check_probabilities(couple_pairs(logits, k, choice), choice)


@given(st.integers(2, 12), st.integers(0, 100_000))
def test_rests_give_probabilities_led_by_the_choice(k, seed):
    logits, choice = random_logits(30, k, seed, pairs=False)
    check_probabilities(couple_rest(logits, choice), choice)


@given(st.floats(-40, 40), st.booleans())
def test_two_classes_are_led_by_the_choice(logit, flip):
    choice = np.array([int(logit > 0) if logit != 0 else int(flip)])
    p = two_classes(np.array([logit]), choice)
    check_probabilities(p, choice)
    np.testing.assert_allclose(p[0, 1], expit(logit), atol=2e-12)


@pytest.mark.parametrize("k", [3, 4, 7, 12])
def test_the_constrained_problem_is_solved(k):
    logits, choice = random_logits(60, k, seed=k)
    p = couple_pairs(logits, k, choice)
    for row in range(60):
        R = residuals(logits[row], k)
        # p = 1/k + sum_c d_c (1/k - e_c) with d_c = p_y - p_c >= 0
        N = np.delete(np.full((k, k), 1.0 / k) - np.eye(k), choice[row], axis=1)
        d, _ = nnls(R @ N, -R @ np.full(k, 1.0 / k))
        expected = 1.0 / k + N @ d
        np.testing.assert_allclose(p[row], np.maximum(expected, 0), atol=1e-8)


@pytest.mark.parametrize("k", [3, 5, 10])
def test_without_a_conflict_it_is_the_unconstrained_optimum(k):
    logits, _ = random_logits(200, k, seed=k)
    free = []
    for row in logits:
        R = residuals(row, k)
        system = np.block([[R.T @ R, np.ones((k, 1))], [np.ones((1, k)), np.zeros((1, 1))]])
        free.append(np.linalg.solve(system, np.append(np.zeros(k), 1.0))[:k])
    free = np.array(free)
    np.testing.assert_allclose(couple_pairs(logits, k, free.argmax(axis=1)), np.maximum(free, 0), atol=1e-7)


def test_pairs_that_agree_give_back_the_probabilities_they_came_from():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(5, 0.7), size=100).clip(1e-3)
    p /= p.sum(axis=1, keepdims=True)
    logits = np.stack([np.log(p[:, i] / p[:, j]) for i, j in combinations(range(5), 2)], axis=1)
    np.testing.assert_allclose(couple_pairs(logits, 5, p.argmax(axis=1)), p, atol=1e-8)


def test_a_cycle_of_certain_pairs_is_indifferent():
    logits = np.array([[9.0, -9.0, 9.0]])  # 0 beats 1, 1 beats 2, 2 beats 0
    for choice in range(3):
        p = couple_pairs(logits, 3, np.array([choice]))
        np.testing.assert_allclose(p, 1 / 3, atol=1e-9)
        assert p.argmax() == choice


def test_rests_are_the_likeliest_under_the_order():
    """Against the best over all sets of classes that could be pooled with the choice."""
    logits, choice = random_logits(60, 5, seed=1, pairs=False)
    p = couple_rest(logits, choice)
    q = expit(logits)
    q /= q.sum(axis=1, keepdims=True)
    for row in range(60):
        best = np.inf
        others = [c for c in range(5) if c != choice[row]]
        for size in range(5):
            for pool in combinations(others, size):
                members = [choice[row], *pool]
                trial = q[row].copy()
                trial[members] = trial[members].mean()
                if trial[choice[row]] >= trial.max() - 1e-12:
                    best = min(best, -(q[row] * np.log(trial)).sum())
        assert -(q[row] * np.log(p[row])).sum() <= best + 1e-9


def test_many_classes_and_rows_in_chunks():
    logits, choice = random_logits(3000, 26, seed=2)
    whole = couple_pairs(logits, 26, choice)
    check_probabilities(whole, choice)
    np.testing.assert_allclose(
        couple_pairs(logits[1700:1710], 26, choice[1700:1710]), whole[1700:1710], atol=1e-9
    )
