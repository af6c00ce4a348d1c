"""Class means and the covariances within, between and in total."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gaussian_classes import CASES, case
from mercer.problems.discriminant.summary import ClassSummary


@pytest.mark.parametrize("name", CASES)
def test_between_and_within_make_total(name):
    X, y = case(name)
    summary = ClassSummary.of(X, y)
    assert_allclose(summary.between() + summary.within(X), summary.total(X), rtol=1e-10, atol=1e-12)
    assert_allclose(summary.total(X), np.cov(X.T, bias=True), rtol=1e-10, atol=1e-12)
