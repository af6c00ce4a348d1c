"""The regressions by splines as estimators of scikit-learn's contract."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import MARS, AdaptiveAdditiveSplines

pytestmark = pytest.mark.core


@parametrize_with_checks([MARS(), MARS(degree=2, max_terms=7), AdaptiveAdditiveSplines()])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "model", [MARS(threshold=1.5), MARS(degree=0), AdaptiveAdditiveSplines(cost=-1.0)], ids=str
)
def test_bad_parameters_are_refused_by_name(model):
    with pytest.raises(ValueError, match="parameter of"):
        model.fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
