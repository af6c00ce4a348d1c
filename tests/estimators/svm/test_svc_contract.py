"""scikit-learn's own checks of an estimator."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from mercer import SVC

pytestmark = pytest.mark.core

# Repeating a row and doubling its weight give the same optimum; approximate optima agree as far as tol says.
EXACT = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


def check_name(check):
    return check.func.__name__ if hasattr(check, "func") else check.__name__


def identifier(value):
    return check_name(value) if callable(value) and not hasattr(value, "fit") else type(value).__name__


def checks(estimator, wanted):
    return [(e, c) for e, c in estimator_checks_generator(estimator) if wanted(check_name(c))]


@pytest.mark.parametrize(("estimator", "check"), checks(SVC(), lambda n: n not in EXACT), ids=identifier)
def test_checks_at_defaults(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("estimator", "check"), checks(SVC(tol=1e-10, precision="double"), lambda n: n in EXACT), ids=identifier
)
def test_weight_two_is_the_row_twice(estimator, check):
    check(estimator)


def test_no_check_is_left_out():
    names = {check_name(c) for _, c in estimator_checks_generator(SVC())}
    assert set(EXACT) <= names
    assert len(names) > 40
