"""Kernel ridge regression and classification."""

from mercer.estimators.machine import IllConditionedWarning
from mercer.estimators.ridge._classifier import KernelRidgeClassifier
from mercer.estimators.ridge._kernel_ridge import KernelRidge

__all__ = ["IllConditionedWarning", "KernelRidge", "KernelRidgeClassifier"]
