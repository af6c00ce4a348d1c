"""Machines on explicit features: any convex loss of a linear function."""

from mercer.estimators.linear._classifier import LinearClassifier
from mercer.estimators.linear._one_class import LinearOneClassSVM
from mercer.estimators.linear._regressor import LinearRegressor
from mercer.estimators.linear._svc import LinearSVC
from mercer.estimators.linear._svr import LinearSVR

__all__ = ["LinearClassifier", "LinearOneClassSVM", "LinearRegressor", "LinearSVC", "LinearSVR"]
