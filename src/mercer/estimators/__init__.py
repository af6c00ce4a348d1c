"""scikit-learn estimators: validate, state the problem, call a solver, keep the answer. No mathematics."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mercer.estimators.clustering import KernelKMeans as KernelKMeans
    from mercer.estimators.clustering import SupportVectorClustering as SupportVectorClustering
    from mercer.estimators.conformal import ConformalClassifier as ConformalClassifier
    from mercer.estimators.conformal import ConformalRegressor as ConformalRegressor
    from mercer.estimators.convex import KernelClassifier as KernelClassifier
    from mercer.estimators.convex import KernelLogisticRegression as KernelLogisticRegression
    from mercer.estimators.convex import KernelRegressor as KernelRegressor
    from mercer.estimators.discriminant import FlexibleDiscriminantAnalysis as FlexibleDiscriminantAnalysis
    from mercer.estimators.discriminant import LinearDiscriminantAnalysis as LinearDiscriminantAnalysis
    from mercer.estimators.discriminant import MixtureDiscriminantAnalysis as MixtureDiscriminantAnalysis
    from mercer.estimators.discriminant import PenalizedDiscriminantAnalysis as PenalizedDiscriminantAnalysis
    from mercer.estimators.discriminant import QuadraticDiscriminantAnalysis as QuadraticDiscriminantAnalysis
    from mercer.estimators.discriminant import (
        RegularizedDiscriminantAnalysis as RegularizedDiscriminantAnalysis,
    )
    from mercer.estimators.discriminant import difference_penalty as difference_penalty
    from mercer.estimators.features import Nystroem as Nystroem
    from mercer.estimators.features import RandomFeatures as RandomFeatures
    from mercer.estimators.features import TensorSketch as TensorSketch
    from mercer.estimators.gaussian import GaussianProcessClassifier as GaussianProcessClassifier
    from mercer.estimators.gaussian import GaussianProcessRegressor as GaussianProcessRegressor
    from mercer.estimators.linear import LinearClassifier as LinearClassifier
    from mercer.estimators.linear import LinearOneClassSVM as LinearOneClassSVM
    from mercer.estimators.linear import LinearRegressor as LinearRegressor
    from mercer.estimators.linear import LinearSVC as LinearSVC
    from mercer.estimators.linear import LinearSVR as LinearSVR
    from mercer.estimators.online import KernelAdatron as KernelAdatron
    from mercer.estimators.online import KernelPerceptron as KernelPerceptron
    from mercer.estimators.online import KernelWidrowHoff as KernelWidrowHoff
    from mercer.estimators.online import OnlineSVR as OnlineSVR
    from mercer.estimators.online import Perceptron as Perceptron
    from mercer.estimators.online import PRank as PRank
    from mercer.estimators.projection import KernelCCA as KernelCCA
    from mercer.estimators.projection import KernelFisherDiscriminant as KernelFisherDiscriminant
    from mercer.estimators.projection import KernelPCA as KernelPCA
    from mercer.estimators.projection import MercerFeatures as MercerFeatures
    from mercer.estimators.ranking import OrdinalSVC as OrdinalSVC
    from mercer.estimators.ranking import RankSVM as RankSVM
    from mercer.estimators.ridge import KernelRidge as KernelRidge
    from mercer.estimators.ridge import KernelRidgeClassifier as KernelRidgeClassifier
    from mercer.estimators.splines import MARS as MARS
    from mercer.estimators.splines import AdaptiveAdditiveSplines as AdaptiveAdditiveSplines
    from mercer.estimators.structured import StructuredSVM as StructuredSVM
    from mercer.estimators.svm.crammer_singer import CrammerSingerSVC as CrammerSingerSVC
    from mercer.estimators.svm.nusvc import NuSVC as NuSVC
    from mercer.estimators.svm.nusvr import NuSVR as NuSVR
    from mercer.estimators.svm.oneclass import OneClassSVM as OneClassSVM
    from mercer.estimators.svm.sphereslab import SphereAndSlab as SphereAndSlab
    from mercer.estimators.svm.svc import SVC as SVC
    from mercer.estimators.svm.svcpath import SVCPath as SVCPath
    from mercer.estimators.svm.svdd import SVDD as SVDD
    from mercer.estimators.svm.svr import SVR as SVR
    from mercer.estimators.svm.svrpath import SVRPath as SVRPath

# Imported when asked for: who fits one machine need not wait for all the others.
_HOMES = {
    "MercerFeatures": "projection",
    "difference_penalty": "discriminant",
    "AdaptiveAdditiveSplines": "splines",
    "MARS": "splines",
    "ConformalClassifier": "conformal",
    "ConformalRegressor": "conformal",
    "CrammerSingerSVC": "svm.crammer_singer",
    "FlexibleDiscriminantAnalysis": "discriminant",
    "GaussianProcessClassifier": "gaussian",
    "GaussianProcessRegressor": "gaussian",
    "KernelAdatron": "online",
    "KernelCCA": "projection",
    "KernelClassifier": "convex",
    "KernelFisherDiscriminant": "projection",
    "KernelKMeans": "clustering",
    "KernelLogisticRegression": "convex",
    "KernelPCA": "projection",
    "KernelPerceptron": "online",
    "KernelRegressor": "convex",
    "KernelRidge": "ridge",
    "KernelRidgeClassifier": "ridge",
    "KernelWidrowHoff": "online",
    "LinearDiscriminantAnalysis": "discriminant",
    "LinearClassifier": "linear",
    "LinearOneClassSVM": "linear",
    "LinearRegressor": "linear",
    "LinearSVC": "linear",
    "LinearSVR": "linear",
    "MixtureDiscriminantAnalysis": "discriminant",
    "NuSVC": "svm.nusvc",
    "NuSVR": "svm.nusvr",
    "OneClassSVM": "svm.oneclass",
    "OnlineSVR": "online",
    "OrdinalSVC": "ranking",
    "PenalizedDiscriminantAnalysis": "discriminant",
    "Nystroem": "features",
    "RandomFeatures": "features",
    "RankSVM": "ranking",
    "TensorSketch": "features",
    "Perceptron": "online",
    "PRank": "online",
    "QuadraticDiscriminantAnalysis": "discriminant",
    "RegularizedDiscriminantAnalysis": "discriminant",
    "SVC": "svm.svc",
    "SVCPath": "svm.svcpath",
    "SVDD": "svm.svdd",
    "SVR": "svm.svr",
    "SVRPath": "svm.svrpath",
    "SphereAndSlab": "svm.sphereslab",
    "StructuredSVM": "structured",
    "SupportVectorClustering": "clustering",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"mercer.estimators.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'mercer.estimators' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
