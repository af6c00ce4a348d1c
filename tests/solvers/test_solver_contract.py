"""scikit-learn's checks with other solvers than the default, none skipped."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import SVC, SVR
from mercer.solvers import Ascent

pytestmark = pytest.mark.core


# Repeating a row and doubling its weight give the same optimum; approximate optima agree as far as tol says.
TIGHT = {"tol": 1e-10}


@parametrize_with_checks(
    [SVC(solver="smo", **TIGHT), SVR(solver="chunking", **TIGHT), SVC(solver=Ascent(omega=1.2), **TIGHT)]
)
def test_scikit_learn(estimator, check):
    check(estimator)
