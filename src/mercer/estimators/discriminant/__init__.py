"""Discriminant analysis: Gaussian classes, generalised by shrinkage, regression and mixtures."""

from mercer.estimators.discriminant._flexible import FlexibleDiscriminantAnalysis
from mercer.estimators.discriminant._linear import LinearDiscriminantAnalysis
from mercer.estimators.discriminant._mixture import MixtureDiscriminantAnalysis
from mercer.estimators.discriminant._penalized import PenalizedDiscriminantAnalysis
from mercer.estimators.discriminant._penalties import difference_penalty
from mercer.estimators.discriminant._quadratic import QuadraticDiscriminantAnalysis
from mercer.estimators.discriminant._regularized import RegularizedDiscriminantAnalysis

__all__ = [
    "FlexibleDiscriminantAnalysis",
    "LinearDiscriminantAnalysis",
    "MixtureDiscriminantAnalysis",
    "PenalizedDiscriminantAnalysis",
    "QuadraticDiscriminantAnalysis",
    "RegularizedDiscriminantAnalysis",
    "difference_penalty",
]
