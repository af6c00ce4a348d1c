"""scikit-learn's checks with other solvers than the default, none skipped."""

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator

from mercer import SVC, SVR
from mercer.solvers import Ascent

pytestmark = pytest.mark.core

# Repeating a row and doubling its weight give the same optimum; approximate optima agree as far as tol says.
EXACT = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


def name(check):
    return check.func.__name__ if hasattr(check, "func") else check.__name__


def checks():
    for estimator in (SVC(solver="smo"), SVR(solver="chunking"), SVC(solver=Ascent(omega=1.2))):
        for model, check in estimator_checks_generator(estimator):
            tight = name(check) in EXACT
            yield clone(model).set_params(tol=1e-10) if tight else model, check


def identifier(value):
    return repr(value) if hasattr(value, "fit") else name(value)


@pytest.mark.parametrize(("estimator", "check"), list(checks()), ids=identifier)
def test_scikit_learn(estimator, check):
    check(estimator)
