"""scikit-learn estimators: validate, state the problem, call a solver, keep the answer. No mathematics."""

from mercer.estimators.discriminant import (
    FlexibleDiscriminantAnalysis,
    LinearDiscriminantAnalysis,
    MixtureDiscriminantAnalysis,
    PenalizedDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
)
from mercer.estimators.nusvc import NuSVC
from mercer.estimators.nusvr import NuSVR
from mercer.estimators.oneclass import OneClassSVM
from mercer.estimators.projection import KernelCCA, KernelFisherDiscriminant, KernelPCA
from mercer.estimators.sphereslab import SphereAndSlab
from mercer.estimators.svc import SVC
from mercer.estimators.svdd import SVDD
from mercer.estimators.svr import SVR

__all__ = [
    "SVC",
    "SVDD",
    "SVR",
    "FlexibleDiscriminantAnalysis",
    "KernelCCA",
    "KernelFisherDiscriminant",
    "KernelPCA",
    "LinearDiscriminantAnalysis",
    "MixtureDiscriminantAnalysis",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "PenalizedDiscriminantAnalysis",
    "QuadraticDiscriminantAnalysis",
    "RegularizedDiscriminantAnalysis",
    "SphereAndSlab",
]
