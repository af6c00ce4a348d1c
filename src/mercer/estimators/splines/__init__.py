"""Regression by sums of splines that choose their own terms."""

from mercer.estimators.splines._additive import AdaptiveAdditiveSplines
from mercer.estimators.splines._mars import MARS

__all__ = ["MARS", "AdaptiveAdditiveSplines"]
