"""scikit-learn's own checks of ridge regressions and Gaussian processes."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from mercer import GaussianProcessRegressor, KernelRidge, KernelRidgeClassifier

pytestmark = pytest.mark.core

ESTIMATORS = [
    KernelRidge(),
    KernelRidge(kernel="rbf", fit_intercept=True, solver="eigen"),
    KernelRidge(kernel="rbf", solver="cg", tol=1e-14, random_state=0),
    KernelRidgeClassifier(),
    GaussianProcessRegressor(),
    GaussianProcessRegressor(noise="auto", random_state=0),
    GaussianProcessRegressor(kernel="linear", alpha=0.01, solver="cg", optimizer=None, random_state=0),
]


def name(value):
    if hasattr(value, "fit"):
        return str(value)
    return value.func.__name__ if hasattr(value, "func") else value.__name__


# The checks' outputs are noise, of which the evidence makes a process without any function.
@pytest.mark.filterwarnings("ignore:the best value of:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:the evidence of the best:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:.*K . alpha I is:mercer.estimators.ridge.IllConditionedWarning")
@pytest.mark.filterwarnings("ignore:The optimal value found:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        (estimator, check)
        for estimator in ESTIMATORS
        for estimator, check in estimator_checks_generator(estimator)
        # This check sets alpha, which contradicts a noise.
        if not (getattr(estimator, "noise", None) and name(check) == "check_regressors_train")
    ],
    ids=name,
)
def test_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_no_check_is_left_out(estimator):
    names = {name(check) for _, check in estimator_checks_generator(estimator)}
    weighted = not isinstance(estimator, GaussianProcessRegressor)
    assert ("check_sample_weight_equivalence_on_dense_data" in names) == weighted
    assert len(names) > 30
