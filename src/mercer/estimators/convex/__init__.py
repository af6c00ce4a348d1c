"""Kernel machines with any convex loss."""

from mercer.estimators.convex._classifier import KernelClassifier
from mercer.estimators.convex._logistic import KernelLogisticRegression
from mercer.estimators.convex._regressor import KernelRegressor

__all__ = ["KernelClassifier", "KernelLogisticRegression", "KernelRegressor"]
