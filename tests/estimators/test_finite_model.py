"""No fit ends with numbers that are none."""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.verdict import check_finite_model

pytestmark = pytest.mark.core


@dataclass(frozen=True)
class Record:
    name: str
    values: np.ndarray


class Model(BaseEstimator):
    def __init__(self, level=np.inf):
        self.level = level

    def fit(self, X, y=None):
        raise NotImplementedError


def fitted(**attributes):
    model = Model()
    for name, value in attributes.items():
        setattr(model, name, value)
    return model


WITH_NAN = np.array([[1.0, 2.0, 3.0], [4.0, np.nan, np.inf]])

BAD = {
    "array": (WITH_NAN, r"2 of the 6 numbers of coef_ .*\(at 1, 1, nan\)"),
    "single precision": (np.float32([1.0, np.inf]), r"1 of the 2 numbers of coef_ .*\(at 1, inf\)"),
    "number": (float("nan"), r"1 of the 1 numbers of coef_ .*\(nan\)"),
    "numpy number": (np.float64("inf"), r"coef_ .*\(inf\)"),
    "list of arrays": ([np.ones(2), WITH_NAN], r"of coef_\[1\] came"),
    "dictionary": ({"a": (1.0, -np.inf)}, r"of coef_\['a'\]\[1\] came"),
    "record": (Record("r", WITH_NAN), r"of coef_\.values came"),
    "sparse": (sp.csr_matrix(WITH_NAN), r"2 of the 6 numbers of coef_ "),
    "objects": (np.array([np.ones(1), WITH_NAN, None], dtype=object), r"of coef_\[1\] came"),
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("name", ["coef_", "_coef"])
def test_what_is_not_finite_is_refused_by_name(kind, name):
    value, message = BAD[kind]
    model = fitted(classes_=np.array(["a", "b"]), **{name: value})
    with pytest.raises(ValueError, match="^Model: .*" + message.replace("coef_", name)) as refusal:
        check_finite_model(model)
    assert "StandardScaler" in str(refusal.value)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    assert model.level == np.inf  # a parameter is the user's


def test_what_is_finite_or_meant_passes():
    model = fitted(
        coef_=np.full(3, 1e308),  # their sum is not finite
        landmarks_=None,
        classes_=np.array(["nan", "inf"]),
        fit_status_=0,
        converged_=True,
        certificate_=Record("gap", np.array([np.inf])),
        cv_results_={"mean_test_score": np.array([np.nan])},
        regressor_=Model(),
        counts_=np.arange(3),
        empty_=np.empty((3, 0)),
    )
    check_finite_model(model)
    check_is_fitted(model)


def test_infinity_may_be_meant_and_nan_may_not():
    check_finite_model(fitted(intercept_=np.array([-np.inf, 0.0])), infinite=("intercept_",))
    with pytest.raises(ValueError, match="intercept_"):
        check_finite_model(fitted(intercept_=np.array([np.nan, 0.0])), infinite=("intercept_",))


def test_the_remedy_is_the_callers():
    with pytest.raises(ValueError, match="raise the ridge"):
        check_finite_model(fitted(coef_=np.nan), remedy="raise the ridge")
