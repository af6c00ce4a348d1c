"""Kernels and losses that are not what they declare were believed once."""

import numpy as np
import pytest

import mercer
from mercer import losses

pytest.importorskip("clarabel")
pytest.importorskip("psutil")

pytestmark = pytest.mark.exhaustive


@mercer.kernel(psd=True)
def falsely_declared(a, b):
    """Minus the distance: no kernel, whatever is said."""
    return -float(np.abs(a - b).sum())


class WrongDerivative(losses.Loss):
    """A squared error whose derivative has the wrong size."""

    targets = "numbers"

    def value(self, y, f):
        return (y - f) ** 2

    def derivative(self, y, f):
        return 5.0 * (f - y)


class NotConvex(losses.Loss):
    """A loss that bends the wrong way, with the right derivative."""

    targets = "numbers"

    def value(self, y, f):
        return 1.0 - np.exp(-((y - f) ** 2))

    def derivative(self, y, f):
        return 2.0 * (f - y) * np.exp(-((y - f) ** 2))


@pytest.mark.parametrize(
    "machine", [mercer.SVC, mercer.KernelLogisticRegression, mercer.KernelRidgeClassifier]
)
def test_a_kernel_that_is_not_what_it_declares_is_refused(machine):
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match="psd"):
        machine(kernel=falsely_declared).fit(X, np.arange(20) % 2)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("loss", "word"), [(WrongDerivative(), "derivative"), (NotConvex(), "convex")])
def test_a_loss_that_is_not_what_it_declares_is_refused(loss, word):
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match=word):
        mercer.KernelRegressor(loss=loss).fit(X, X[:, 0])
