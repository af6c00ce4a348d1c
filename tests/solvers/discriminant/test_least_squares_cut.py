"""The cut-point of fewest training errors."""

import numpy as np

from mercer.solvers.discriminant.least_squares import best_cut


def test_equal_cuts_are_settled_by_the_preferred_one():
    scores = np.array([0.0, 1.0, 2.0, 3.0])
    second = np.array([False, True, False, True])
    assert best_cut(scores, second, np.ones(4), prefer=0.4) == 0.5
    assert best_cut(scores, second, np.ones(4), prefer=2.2) == 2.5
    # Two rows of equal score cannot be told apart.
    assert best_cut(np.zeros(3), np.array([True, False, False]), np.ones(3), prefer=0.0) == 1.0
