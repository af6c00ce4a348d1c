"""scikit-learn's own checks of every machine that learns from a stream."""

from inspect import signature

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import KernelAdatron, KernelPerceptron, KernelWidrowHoff, OnlineSVR, Perceptron, PRank

pytestmark = pytest.mark.core

MACHINES = [
    Perceptron(),
    KernelPerceptron(),
    PRank(),
    KernelPerceptron(budget=20, removal="oldest"),
    KernelAdatron(),
    OnlineSVR(),
    KernelWidrowHoff(),
]


# Some checks have classes that overlap, or allow a handful of passes: a limit is met, and said.
@pytest.mark.filterwarnings("ignore:.* stopped at max_iter:sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(MACHINES)
def test_sklearn(estimator, check):
    check(estimator)


def test_every_machine_with_partial_fit_is_checked():
    classes = [getattr(mercer, name) for name in mercer.__all__ if name != "__version__"]
    streams = {cls for cls in classes if isinstance(cls, type) and hasattr(cls, "partial_fit")}
    exact = {cls for cls in streams if "updatable" in signature(cls).parameters}  # tests/estimators/updating
    assert streams - exact <= {type(machine) for machine in MACHINES}
