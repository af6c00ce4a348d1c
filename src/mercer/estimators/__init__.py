"""scikit-learn estimators: validate, state the problem, call a solver, keep the answer. No mathematics."""

from mercer.estimators.convex import KernelClassifier, KernelLogisticRegression, KernelRegressor
from mercer.estimators.discriminant import (
    FlexibleDiscriminantAnalysis,
    LinearDiscriminantAnalysis,
    MixtureDiscriminantAnalysis,
    PenalizedDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
)
from mercer.estimators.gaussian import GaussianProcessRegressor
from mercer.estimators.nusvc import NuSVC
from mercer.estimators.nusvr import NuSVR
from mercer.estimators.oneclass import OneClassSVM
from mercer.estimators.online import (
    KernelAdatron,
    KernelPerceptron,
    KernelWidrowHoff,
    OnlineSVR,
    Perceptron,
)
from mercer.estimators.projection import KernelCCA, KernelFisherDiscriminant, KernelPCA
from mercer.estimators.ridge import KernelRidge, KernelRidgeClassifier
from mercer.estimators.sphereslab import SphereAndSlab
from mercer.estimators.svc import SVC
from mercer.estimators.svcpath import SVCPath
from mercer.estimators.svdd import SVDD
from mercer.estimators.svr import SVR
from mercer.estimators.svrpath import SVRPath

__all__ = [
    "SVC",
    "SVDD",
    "SVR",
    "FlexibleDiscriminantAnalysis",
    "GaussianProcessRegressor",
    "KernelAdatron",
    "KernelCCA",
    "KernelClassifier",
    "KernelFisherDiscriminant",
    "KernelLogisticRegression",
    "KernelPCA",
    "KernelPerceptron",
    "KernelRegressor",
    "KernelRidge",
    "KernelRidgeClassifier",
    "KernelWidrowHoff",
    "LinearDiscriminantAnalysis",
    "MixtureDiscriminantAnalysis",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "OnlineSVR",
    "PenalizedDiscriminantAnalysis",
    "Perceptron",
    "QuadraticDiscriminantAnalysis",
    "RegularizedDiscriminantAnalysis",
    "SVCPath",
    "SVRPath",
    "SphereAndSlab",
]
