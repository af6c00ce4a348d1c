"""Prediction intervals and prediction sets with guaranteed coverage, around any estimator."""

from mercer.estimators.conformal._classifier import ConformalClassifier
from mercer.estimators.conformal._predictions import PredictionIntervals, PredictionSets
from mercer.estimators.conformal._regressor import ConformalRegressor

__all__ = ["ConformalClassifier", "ConformalRegressor", "PredictionIntervals", "PredictionSets"]
