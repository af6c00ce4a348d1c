"""Machines that learn from a stream: predict, see the truth, lose, and change on loss only."""

from mercer.estimators.online._adatron import KernelAdatron
from mercer.estimators.online._base import OnlineMachine
from mercer.estimators.online._kernel_perceptron import KernelPerceptron
from mercer.estimators.online._perceptron import Perceptron
from mercer.estimators.online._prank import PRank
from mercer.estimators.online._svr import OnlineSVR
from mercer.estimators.online._widrow_hoff import KernelWidrowHoff

__all__ = [
    "KernelAdatron",
    "KernelPerceptron",
    "KernelWidrowHoff",
    "OnlineMachine",
    "OnlineSVR",
    "PRank",
    "Perceptron",
]
