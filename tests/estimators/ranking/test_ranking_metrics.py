"""Measures of rankings: equal to naive loops and to SciPy's and scikit-learn's, query by query."""

import numpy as np
import pytest
from scipy.stats import kendalltau
from sklearn.metrics import average_precision_score, ndcg_score

from mercer.ranking import kendall_tau, mean_average_precision, ndcg, pair_accuracy


def ranked(seed=0, n=60, queries=6):
    rng = np.random.default_rng(seed)
    y, scores = rng.integers(0, 4, size=n), np.round(rng.normal(size=n), 1)
    return y, scores, rng.integers(queries, size=n)


def by_query(measure, y, scores, query):
    return np.mean([measure(y[query == q], scores[query == q]) for q in np.unique(query)])


def test_pair_accuracy_counts_pairs():
    y, scores, query = ranked()
    weight = np.random.default_rng(1).uniform(0.0, 2.0, size=y.size)

    def counted(rows):
        right = every = 0.0
        for i in rows:
            for j in rows:
                if y[i] > y[j]:
                    price = weight[i] * weight[j]
                    every += price
                    right += price * (0.5 * (scores[i] == scores[j]) + (scores[i] > scores[j]))
        return right / every

    wanted = np.mean([counted(np.flatnonzero(query == q)) for q in np.unique(query)])
    assert pair_accuracy(y, scores, query, weight) == pytest.approx(wanted)


def test_means_over_queries_are_those_of_the_libraries():
    y, scores, query = ranked()
    tau = by_query(lambda a, b: kendalltau(a, b).statistic, y, scores, query)
    assert kendall_tau(y, scores, query) == pytest.approx(tau)
    gain = by_query(lambda a, b: ndcg_score([a], [b], k=5), y, scores, query)
    assert ndcg(y, scores, query, k=5) == pytest.approx(gain)
    precision = by_query(lambda a, b: average_precision_score(a >= 2, b), y, scores, query)
    assert mean_average_precision(y, scores, query, relevant=2) == pytest.approx(precision)


def test_queries_that_say_nothing_do_not_count():
    y, scores, query = ranked()
    y2, scores2 = np.append(y, [0, 0]), np.append(scores, [1.0, 2.0])
    query2 = np.append(query, [99, 99])
    for measure in (pair_accuracy, kendall_tau, ndcg, mean_average_precision):
        assert measure(y2, scores2, query2) == pytest.approx(measure(y, scores, query))
        assert measure(y, scores) == pytest.approx(measure(y, scores, np.zeros(y.size)))
        with pytest.raises(ValueError, match=r"no query|no grade"):
            measure(np.zeros(4), np.arange(4.0))


def test_equal_values_rank_nothing():
    assert pair_accuracy([1, 0], [0.5, 0.5]) == 0.5
    assert kendall_tau([1, 0], [0.5, 0.5]) == 0.0


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="entries"):
        kendall_tau([1, 2, 3], [1.0, 2.0])
