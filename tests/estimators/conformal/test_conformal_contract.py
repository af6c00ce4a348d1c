"""scikit-learn's own checks of the conformal estimators."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import SVC, SVR, ConformalClassifier, ConformalRegressor, KernelRidge

pytestmark = pytest.mark.core

MODELS = [
    ConformalRegressor(SVR(), random_state=0),
    ConformalRegressor(KernelRidge(kernel="rbf", gamma=0.5, fit_intercept=True), method="jackknife+"),
    ConformalRegressor(SVR(gamma=0.5), method="cv+", cv=3, random_state=0),
    ConformalClassifier(SVC(), random_state=0),
    ConformalClassifier(SVC(gamma=0.5), method="cv+", cv=5, random_state=1),
]


@parametrize_with_checks(MODELS)
def test_checks(estimator, check):
    check(estimator)
