"""scikit-learn's own checks of every machine that learns from a stream."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import KernelAdatron, KernelPerceptron, KernelWidrowHoff, OnlineSVR, Perceptron

pytestmark = pytest.mark.core

MACHINES = [
    Perceptron(),
    KernelPerceptron(),
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
    assert streams <= {type(machine) for machine in MACHINES}
