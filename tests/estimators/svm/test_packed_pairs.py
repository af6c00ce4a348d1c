"""Coefficients of pairs of classes in LIBSVM's layout: the vectorised packing against one entry at a time."""

import numpy as np
import pytest

from mercer.estimators.splits import BinaryTask, one_versus_one, pack_pairs

pytestmark = pytest.mark.core


def naive_table(coefs, tasks, y, n_classes, n):
    """Return the coefficient of each point against each other class, written one by one."""
    table = np.zeros((n_classes - 1, n))
    for coef, task in zip(coefs, tasks, strict=True):
        for value, row in zip(coef, task.rows, strict=True):
            own = y[row]
            other = task.negative if own == task.positive else task.positive
            table[other if other < own else other - 1, row] = value
    return table


@pytest.mark.parametrize("n_classes", [3, 4, 9])
def test_packing_is_that_of_one_entry_at_a_time(n_classes):
    rng = np.random.default_rng(n_classes)
    y = rng.permutation(np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 40)]))
    present = rng.uniform(size=y.size) < 0.9
    tasks = one_versus_one(y, n_classes, present)
    shuffled = []  # tasks that are given may have their rows in any order
    for task in tasks:
        order = rng.permutation(task.rows.size)
        shuffled.append(BinaryTask(task.rows[order], task.sign[order], task.positive, task.negative))
    for some in (tasks, shuffled):
        coefs = [
            np.where(rng.uniform(size=t.rows.size) < 0.5, 0.0, rng.normal(size=t.rows.size)) for t in some
        ]
        support, packed, counts = pack_pairs(coefs, some, y, n_classes, y.size)
        table = naive_table(coefs, some, y, n_classes, y.size)
        assert (np.diff(y[support]) >= 0).all()
        assert sorted(support) == np.flatnonzero(table.any(axis=0)).tolist()
        np.testing.assert_array_equal(packed, table[:, support])  # copied, never computed
        np.testing.assert_array_equal(counts, np.bincount(y[support], minlength=n_classes))


def test_each_pair_has_its_own_rows_and_signs():
    y = np.array([2, 0, 1, 1, 2, 0, 2])
    present = np.array([True, True, True, False, True, True, True])
    tasks = one_versus_one(y, 3, present)
    assert [(t.positive, t.negative) for t in tasks] == [(0, 1), (0, 2), (1, 2)]
    for task in tasks:
        wanted = np.flatnonzero(present & ((y == task.positive) | (y == task.negative)))
        assert sorted(task.rows) == wanted.tolist()
        assert (task.sign == np.where(y[task.rows] == task.positive, 1.0, -1.0)).all()
    assert not any(np.shares_memory(a.sign, b.sign) for a in tasks for b in tasks if a is not b)
