"""Whatever is public and could be written to ONNX can be: new kernels, losses and machines are found."""

import inspect

import numpy as np
import pytest
from file_samples import data, estimators, made
from onnx_running import assert_says_the_same
from sklearn.base import is_classifier, is_outlier_detector, is_regressor
from test_onnx_export import KERNELS

import mercer
from mercer import kernels
from mercer.io.onnx.kernels import EMITTERS
from mercer.io.onnx.machines import MACHINES
from mercer.problems.losses import CLASSIFICATION
from mercer.selection.base_search import BaseSearch

# Kernels of matrices, functions and items other than vectors: a graph of operators has no place for them.
NOT_OF_VECTORS = {
    kernels.DTW,
    kernels.GlobalAlignment,
    kernels.Signature,
    kernels.AnyFunction,
    kernels.FromFunction,
    kernels.ItemKernel,
    kernels.OfPairs,
    kernels.Precomputed,
    kernels.SklearnKernel,  # another library's function
    kernels.ThinPlate,  # refused: needs the trend that it is definite beside
}


def takes_numbers(cls):
    """Tell whether a kernel at its defaults compares rows of numbers, not strings, trees or graphs."""
    try:
        cls().check(np.ones((2, 2)))
    except TypeError:
        return False
    except ValueError as refusal:
        if "must be a list or array of" not in str(refusal):
            raise
        return False
    return True


def kernel_classes():
    found = [getattr(kernels, name) for name in kernels.__all__]
    found = [c for c in found if isinstance(c, type) and issubclass(c, kernels.Kernel)]
    return [c for c in found if c is not kernels.Kernel and not inspect.isabstract(c)]


@pytest.mark.parametrize("cls", kernel_classes(), ids=lambda cls: cls.__name__)
def test_every_kernel_of_vectors_has_a_graph(cls):
    elsewhere = cls in NOT_OF_VECTORS or (cls not in EMITTERS and not takes_numbers(cls))
    assert (cls in EMITTERS) != elsewhere


def parts(kernel):
    yield type(kernel)
    for value in vars(kernel).values():
        if isinstance(value, kernels.Kernel):
            yield from parts(value)


def test_the_graph_of_every_kernel_is_compared_with_the_kernel():
    assert {cls for kernel in KERNELS for cls in parts(kernel)} == set(EMITTERS)


@pytest.mark.parametrize("cls", estimators(), ids=lambda cls: cls.__name__)
def test_every_machine_that_predicts_has_a_graph(cls):
    model = made(cls)
    predicts = is_classifier(model) or is_regressor(model) or is_outlier_detector(model)
    refused = cls is mercer.GaussianProcessClassifier  # its probabilities are integrals
    inside = issubclass(cls, BaseSearch) or cls.__name__.startswith("Conformal")  # what they wrap is written
    assert (cls in MACHINES) == (predicts and not refused and not inside)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", list(CLASSIFICATION))
@pytest.mark.parametrize("classes", ["two", "three"])
def test_every_loss_of_classifiers_is_written_with_its_probabilities(loss, classes):
    X, targets = data()
    model = mercer.KernelClassifier(loss=loss).fit(X, targets[classes])
    assert_says_the_same(model, data(seed=1, n=25)[0])
