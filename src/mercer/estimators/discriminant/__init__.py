"""Discriminant analysis: Gaussian classes, generalised by shrinkage, regression and mixtures."""

from mercer.estimators.discriminant._linear import LinearDiscriminantAnalysis
from mercer.estimators.discriminant._quadratic import QuadraticDiscriminantAnalysis
from mercer.estimators.discriminant._regularized import RegularizedDiscriminantAnalysis

__all__ = [
    "LinearDiscriminantAnalysis",
    "QuadraticDiscriminantAnalysis",
    "RegularizedDiscriminantAnalysis",
]
