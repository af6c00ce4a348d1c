"""mercer: certified, fast, modular kernel machines."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mercer._version import __version__

if TYPE_CHECKING:
    from mercer._report import report as report
    from mercer.estimators import MARS as MARS
    from mercer.estimators import SVC as SVC
    from mercer.estimators import SVDD as SVDD
    from mercer.estimators import SVR as SVR
    from mercer.estimators import AdaptiveAdditiveSplines as AdaptiveAdditiveSplines
    from mercer.estimators import ConformalClassifier as ConformalClassifier
    from mercer.estimators import ConformalRegressor as ConformalRegressor
    from mercer.estimators import CrammerSingerSVC as CrammerSingerSVC
    from mercer.estimators import FlexibleDiscriminantAnalysis as FlexibleDiscriminantAnalysis
    from mercer.estimators import GaussianProcessClassifier as GaussianProcessClassifier
    from mercer.estimators import GaussianProcessRegressor as GaussianProcessRegressor
    from mercer.estimators import KernelAdatron as KernelAdatron
    from mercer.estimators import KernelCCA as KernelCCA
    from mercer.estimators import KernelClassifier as KernelClassifier
    from mercer.estimators import KernelFisherDiscriminant as KernelFisherDiscriminant
    from mercer.estimators import KernelKMeans as KernelKMeans
    from mercer.estimators import KernelLogisticRegression as KernelLogisticRegression
    from mercer.estimators import KernelPCA as KernelPCA
    from mercer.estimators import KernelPerceptron as KernelPerceptron
    from mercer.estimators import KernelRegressor as KernelRegressor
    from mercer.estimators import KernelRidge as KernelRidge
    from mercer.estimators import KernelRidgeClassifier as KernelRidgeClassifier
    from mercer.estimators import KernelWidrowHoff as KernelWidrowHoff
    from mercer.estimators import LinearClassifier as LinearClassifier
    from mercer.estimators import LinearDiscriminantAnalysis as LinearDiscriminantAnalysis
    from mercer.estimators import LinearOneClassSVM as LinearOneClassSVM
    from mercer.estimators import LinearRegressor as LinearRegressor
    from mercer.estimators import LinearSVC as LinearSVC
    from mercer.estimators import LinearSVR as LinearSVR
    from mercer.estimators import MercerFeatures as MercerFeatures
    from mercer.estimators import MixtureDiscriminantAnalysis as MixtureDiscriminantAnalysis
    from mercer.estimators import NuSVC as NuSVC
    from mercer.estimators import NuSVR as NuSVR
    from mercer.estimators import Nystroem as Nystroem
    from mercer.estimators import OneClassSVM as OneClassSVM
    from mercer.estimators import OnlineSVR as OnlineSVR
    from mercer.estimators import OrdinalSVC as OrdinalSVC
    from mercer.estimators import PenalizedDiscriminantAnalysis as PenalizedDiscriminantAnalysis
    from mercer.estimators import Perceptron as Perceptron
    from mercer.estimators import PRank as PRank
    from mercer.estimators import QuadraticDiscriminantAnalysis as QuadraticDiscriminantAnalysis
    from mercer.estimators import RandomFeatures as RandomFeatures
    from mercer.estimators import RankSVM as RankSVM
    from mercer.estimators import RegularizedDiscriminantAnalysis as RegularizedDiscriminantAnalysis
    from mercer.estimators import SphereAndSlab as SphereAndSlab
    from mercer.estimators import StructuredSVM as StructuredSVM
    from mercer.estimators import SupportVectorClustering as SupportVectorClustering
    from mercer.estimators import SVCPath as SVCPath
    from mercer.estimators import SVRPath as SVRPath
    from mercer.estimators import TensorSketch as TensorSketch
    from mercer.estimators import difference_penalty as difference_penalty
    from mercer.io import from_sklearn as from_sklearn
    from mercer.io import load as load
    from mercer.io import save as save
    from mercer.kernels import kernel as kernel
    from mercer.selection import DetectorSearch as DetectorSearch
    from mercer.selection import SVCSearch as SVCSearch
    from mercer.selection import SVRSearch as SVRSearch
    from mercer.selection import prepare as prepare
    from mercer.selection import recommend as recommend

_HOMES = {
    "MercerFeatures": "mercer.estimators",
    "difference_penalty": "mercer.estimators",
    "AdaptiveAdditiveSplines": "mercer.estimators",
    "MARS": "mercer.estimators",
    "ConformalClassifier": "mercer.estimators",
    "ConformalRegressor": "mercer.estimators",
    "DetectorSearch": "mercer.selection",
    "FlexibleDiscriminantAnalysis": "mercer.estimators",
    "GaussianProcessClassifier": "mercer.estimators",
    "GaussianProcessRegressor": "mercer.estimators",
    "KernelAdatron": "mercer.estimators",
    "KernelCCA": "mercer.estimators",
    "KernelClassifier": "mercer.estimators",
    "KernelFisherDiscriminant": "mercer.estimators",
    "KernelKMeans": "mercer.estimators",
    "KernelLogisticRegression": "mercer.estimators",
    "KernelPCA": "mercer.estimators",
    "KernelPerceptron": "mercer.estimators",
    "KernelRegressor": "mercer.estimators",
    "KernelRidge": "mercer.estimators",
    "KernelRidgeClassifier": "mercer.estimators",
    "KernelWidrowHoff": "mercer.estimators",
    "LinearDiscriminantAnalysis": "mercer.estimators",
    "LinearClassifier": "mercer.estimators",
    "LinearOneClassSVM": "mercer.estimators",
    "LinearRegressor": "mercer.estimators",
    "LinearSVC": "mercer.estimators",
    "LinearSVR": "mercer.estimators",
    "MixtureDiscriminantAnalysis": "mercer.estimators",
    "NuSVC": "mercer.estimators",
    "NuSVR": "mercer.estimators",
    "OneClassSVM": "mercer.estimators",
    "OnlineSVR": "mercer.estimators",
    "CrammerSingerSVC": "mercer.estimators",
    "OrdinalSVC": "mercer.estimators",
    "PenalizedDiscriminantAnalysis": "mercer.estimators",
    "Nystroem": "mercer.estimators",
    "RandomFeatures": "mercer.estimators",
    "RankSVM": "mercer.estimators",
    "TensorSketch": "mercer.estimators",
    "Perceptron": "mercer.estimators",
    "PRank": "mercer.estimators",
    "QuadraticDiscriminantAnalysis": "mercer.estimators",
    "RegularizedDiscriminantAnalysis": "mercer.estimators",
    "SVC": "mercer.estimators",
    "SVCPath": "mercer.estimators",
    "SVCSearch": "mercer.selection",
    "SVDD": "mercer.estimators",
    "SVR": "mercer.estimators",
    "SVRPath": "mercer.estimators",
    "SVRSearch": "mercer.selection",
    "SphereAndSlab": "mercer.estimators",
    "StructuredSVM": "mercer.estimators",
    "SupportVectorClustering": "mercer.estimators",
    "from_sklearn": "mercer.io",
    "kernel": "mercer.kernels",
    "load": "mercer.io",
    "prepare": "mercer.selection",
    "recommend": "mercer.selection",
    "report": "mercer._report",
    "save": "mercer.io",
}

__all__ = [
    "MARS",
    "SVC",
    "SVDD",
    "SVR",
    "AdaptiveAdditiveSplines",
    "ConformalClassifier",
    "ConformalRegressor",
    "CrammerSingerSVC",
    "DetectorSearch",
    "FlexibleDiscriminantAnalysis",
    "GaussianProcessClassifier",
    "GaussianProcessRegressor",
    "KernelAdatron",
    "KernelCCA",
    "KernelClassifier",
    "KernelFisherDiscriminant",
    "KernelKMeans",
    "KernelLogisticRegression",
    "KernelPCA",
    "KernelPerceptron",
    "KernelRegressor",
    "KernelRidge",
    "KernelRidgeClassifier",
    "KernelWidrowHoff",
    "LinearClassifier",
    "LinearDiscriminantAnalysis",
    "LinearOneClassSVM",
    "LinearRegressor",
    "LinearSVC",
    "LinearSVR",
    "MercerFeatures",
    "MixtureDiscriminantAnalysis",
    "NuSVC",
    "NuSVR",
    "Nystroem",
    "OneClassSVM",
    "OnlineSVR",
    "OrdinalSVC",
    "PRank",
    "PenalizedDiscriminantAnalysis",
    "Perceptron",
    "QuadraticDiscriminantAnalysis",
    "RandomFeatures",
    "RankSVM",
    "RegularizedDiscriminantAnalysis",
    "SVCPath",
    "SVCSearch",
    "SVRPath",
    "SVRSearch",
    "SphereAndSlab",
    "StructuredSVM",
    "SupportVectorClustering",
    "TensorSketch",
    "__version__",
    "difference_penalty",
    "from_sklearn",
    "kernel",
    "load",
    "prepare",
    "recommend",
    "report",
    "save",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in (
        "kernels",
        "estimators",
        "problems",
        "solvers",
        "gram",
        "bounds",
        "inspect",
        "io",
        "losses",
        "plots",
        "ranking",
        "selection",
        "structured",
    ):
        return importlib.import_module(f"mercer.{name}")
    raise AttributeError(f"module 'mercer' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
