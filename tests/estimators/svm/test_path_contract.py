"""scikit-learn's own checks of the paths."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import SVCPath, SVRPath

pytestmark = pytest.mark.core


@parametrize_with_checks([SVCPath(), SVRPath(), SVRPath(epsilon=0.0), SVCPath(fit_intercept=False)])
def test_checks(estimator, check):
    check(estimator)
