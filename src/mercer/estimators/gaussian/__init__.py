"""Gaussian processes."""

from mercer.estimators.gaussian._regressor import GaussianProcessRegressor

__all__ = ["GaussianProcessRegressor"]
