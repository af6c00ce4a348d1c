"""Gaussian processes."""

from mercer.estimators.gaussian._classifier import GaussianProcessClassifier
from mercer.estimators.gaussian._regressor import GaussianProcessRegressor

__all__ = ["GaussianProcessClassifier", "GaussianProcessRegressor"]
