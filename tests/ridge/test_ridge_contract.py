"""scikit-learn's own checks of the ridge estimators."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from mercer import KernelRidge, KernelRidgeClassifier

pytestmark = pytest.mark.core

ESTIMATORS = [
    KernelRidge(),
    KernelRidge(kernel="rbf", fit_intercept=True, solver="eigen"),
    KernelRidge(kernel="rbf", solver="cg", tol=1e-14, random_state=0),
    KernelRidgeClassifier(),
]


def name(value):
    if hasattr(value, "fit"):
        return str(value)
    return value.func.__name__ if hasattr(value, "func") else value.__name__


@pytest.mark.parametrize(
    ("estimator", "check"),
    [pair for estimator in ESTIMATORS for pair in estimator_checks_generator(estimator)],
    ids=name,
)
def test_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_no_check_is_left_out(estimator):
    names = {name(check) for _, check in estimator_checks_generator(estimator)}
    assert "check_sample_weight_equivalence_on_dense_data" in names
    assert len(names) > 30
