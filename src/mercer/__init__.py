"""mercer: certified, fast, modular kernel machines."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mercer._version import __version__

if TYPE_CHECKING:
    from mercer._report import report as report
    from mercer.estimators import SVC as SVC
    from mercer.estimators import SVDD as SVDD
    from mercer.estimators import SVR as SVR
    from mercer.estimators import FlexibleDiscriminantAnalysis as FlexibleDiscriminantAnalysis
    from mercer.estimators import GaussianProcessRegressor as GaussianProcessRegressor
    from mercer.estimators import KernelAdatron as KernelAdatron
    from mercer.estimators import KernelCCA as KernelCCA
    from mercer.estimators import KernelClassifier as KernelClassifier
    from mercer.estimators import KernelFisherDiscriminant as KernelFisherDiscriminant
    from mercer.estimators import KernelLogisticRegression as KernelLogisticRegression
    from mercer.estimators import KernelPCA as KernelPCA
    from mercer.estimators import KernelPerceptron as KernelPerceptron
    from mercer.estimators import KernelRegressor as KernelRegressor
    from mercer.estimators import KernelRidge as KernelRidge
    from mercer.estimators import KernelRidgeClassifier as KernelRidgeClassifier
    from mercer.estimators import KernelWidrowHoff as KernelWidrowHoff
    from mercer.estimators import LinearDiscriminantAnalysis as LinearDiscriminantAnalysis
    from mercer.estimators import MixtureDiscriminantAnalysis as MixtureDiscriminantAnalysis
    from mercer.estimators import NuSVC as NuSVC
    from mercer.estimators import NuSVR as NuSVR
    from mercer.estimators import OneClassSVM as OneClassSVM
    from mercer.estimators import OnlineSVR as OnlineSVR
    from mercer.estimators import PenalizedDiscriminantAnalysis as PenalizedDiscriminantAnalysis
    from mercer.estimators import Perceptron as Perceptron
    from mercer.estimators import QuadraticDiscriminantAnalysis as QuadraticDiscriminantAnalysis
    from mercer.estimators import RegularizedDiscriminantAnalysis as RegularizedDiscriminantAnalysis
    from mercer.estimators import SphereAndSlab as SphereAndSlab
    from mercer.estimators import SVCPath as SVCPath
    from mercer.estimators import SVRPath as SVRPath
    from mercer.io import load as load
    from mercer.io import save as save
    from mercer.kernels import kernel as kernel
    from mercer.selection import DetectorSearch as DetectorSearch
    from mercer.selection import SVCSearch as SVCSearch
    from mercer.selection import SVRSearch as SVRSearch
    from mercer.selection import recommend as recommend

_HOMES = {
    "DetectorSearch": "mercer.selection",
    "FlexibleDiscriminantAnalysis": "mercer.estimators",
    "GaussianProcessRegressor": "mercer.estimators",
    "KernelAdatron": "mercer.estimators",
    "KernelCCA": "mercer.estimators",
    "KernelClassifier": "mercer.estimators",
    "KernelFisherDiscriminant": "mercer.estimators",
    "KernelLogisticRegression": "mercer.estimators",
    "KernelPCA": "mercer.estimators",
    "KernelPerceptron": "mercer.estimators",
    "KernelRegressor": "mercer.estimators",
    "KernelRidge": "mercer.estimators",
    "KernelRidgeClassifier": "mercer.estimators",
    "KernelWidrowHoff": "mercer.estimators",
    "LinearDiscriminantAnalysis": "mercer.estimators",
    "MixtureDiscriminantAnalysis": "mercer.estimators",
    "NuSVC": "mercer.estimators",
    "NuSVR": "mercer.estimators",
    "OneClassSVM": "mercer.estimators",
    "OnlineSVR": "mercer.estimators",
    "PenalizedDiscriminantAnalysis": "mercer.estimators",
    "Perceptron": "mercer.estimators",
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
    "kernel": "mercer.kernels",
    "load": "mercer.io",
    "recommend": "mercer.selection",
    "report": "mercer._report",
    "save": "mercer.io",
}

__all__ = [
    "SVC",
    "SVDD",
    "SVR",
    "DetectorSearch",
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
    "SVCSearch",
    "SVRPath",
    "SVRSearch",
    "SphereAndSlab",
    "__version__",
    "kernel",
    "load",
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
        "io",
        "losses",
        "plots",
        "selection",
    ):
        return importlib.import_module(f"mercer.{name}")
    raise AttributeError(f"module 'mercer' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
