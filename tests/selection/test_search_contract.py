"""scikit-learn's own checks of the searches."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import SVCSearch, SVRSearch

pytestmark = pytest.mark.core

SEARCHES = [
    SVCSearch(param_grid={"C": [1.0, 30.0]}, cv=3, n_jobs=1),
    SVRSearch(param_grid={"C": [1.0, 30.0], "epsilon": [0.1]}, cv=3, n_jobs=1),
    SVCSearch(param_grid={"C": [1.0, 30.0]}, method="span_rule", select="one_standard_error", n_jobs=1),
]


@parametrize_with_checks(SEARCHES)
def test_checks(estimator, check):
    check(estimator)
