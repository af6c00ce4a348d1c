"""Kernel ridge regression and classification."""

from mercer.estimators.ridge._classifier import KernelRidgeClassifier
from mercer.estimators.ridge._kernel_ridge import KernelRidge
from mercer.estimators.verdict import IllConditionedWarning

__all__ = ["IllConditionedWarning", "KernelRidge", "KernelRidgeClassifier"]
