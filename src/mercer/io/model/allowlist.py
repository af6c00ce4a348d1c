"""What a model file may name, and nothing else is ever built.

Of mercer: every public estimator, and the values (kernels, losses, structures) and records (certificates and
the like) of the packages below. Of scikit-learn: the transformers and containers listed here. Of NumPy: plain
data types. A user's own functions and kernels are named in the file and handed over by whoever loads it.

Names in files outlive the modules that they came from: what has moved is listed in ``MOVED``.
"""

from __future__ import annotations

import importlib
import re
import sys
from dataclasses import is_dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from mercer.io.errors import ModelFileError
from mercer.kernels.sklearn_kernels import is_sklearn_kernel
from mercer.values import Value

PACKAGES = (
    "mercer.kernels", "mercer.problems", "mercer.solvers", "mercer.estimators", "mercer.selection",
    "mercer.structured",
)  # fmt: skip
# Where the things live today whose names in files say otherwise.
MOVED = {
    "mercer.estimators.discriminant._class_spectra:ClassSpectra": (
        "mercer.problems.discriminant.spectra:ClassSpectra"
    ),
    "mercer.estimators.discriminant._sphering:Sphering": "mercer.problems.discriminant.spectra:Sphering",
    "mercer.problems.multiclass:Task": "mercer.estimators.splits:BinaryTask",
    "mercer.io.training:Training": "mercer.io.model.training_data:Training",
    "mercer.problems.path:Family": "mercer.problems.parametric_family:ParametricFamily",
    "mercer.problems.path:_margin_at": "mercer.problems.parametric_family:_margin_at",
    "mercer.problems.path:_tube_at": "mercer.problems.parametric_family:_tube_at",
    "mercer.solvers.factored:Factored": "mercer.solvers.linear_algebra.factored:Factored",
    "mercer.solvers.knots:Path": "mercer.solvers.path.breakpoints:Path",
    "mercer.solvers.posterior:ExactPosterior": "mercer.solvers.gaussian.posterior:ExactPosterior",
    "mercer.solvers.posterior:IterativePosterior": "mercer.solvers.gaussian.posterior:IterativePosterior",
}
MODULE = re.compile(
    r"mercer\.(?:(?:kernels|problems|solvers|estimators|selection|structured)(?:\.[a-z_0-9]+)*"
    r"|io\.model\.training_data|bounds\.promises)"
)
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

SKLEARN = {
    "mercer.selection": ("DateFeatures",),
    "sklearn.pipeline": ("Pipeline", "FeatureUnion"),
    "sklearn.compose": ("ColumnTransformer", "TransformedTargetRegressor"),
    "sklearn.preprocessing": (
        "Binarizer", "FunctionTransformer", "KBinsDiscretizer", "KernelCenterer", "LabelBinarizer",
        "LabelEncoder", "MaxAbsScaler", "MinMaxScaler", "Normalizer", "OneHotEncoder", "OrdinalEncoder",
        "PolynomialFeatures", "PowerTransformer", "QuantileTransformer", "RobustScaler",
        "SplineTransformer", "StandardScaler", "TargetEncoder",
    ),
    "sklearn.impute": ("MissingIndicator", "SimpleImputer"),
    "sklearn.decomposition": ("PCA", "TruncatedSVD"),
    "sklearn.feature_selection": ("VarianceThreshold",),
    "sklearn.kernel_approximation": ("Nystroem", "RBFSampler"),
    "sklearn.linear_model": ("LinearRegression", "LogisticRegression", "Ridge"),
    "sklearn.kernel_ridge": ("KernelRidge",),
    "sklearn.isotonic": ("IsotonicRegression",),
}  # fmt: skip
# scikit-learn's kernels of Gaussian processes, which are their parameters.
SKLEARN_KERNELS = (
    "CompoundKernel", "ConstantKernel", "DotProduct", "ExpSineSquared", "Exponentiation", "Matern",
    "PairwiseKernel", "Product", "RBF", "RationalQuadratic", "Sum", "WhiteKernel",
)  # fmt: skip
# Objects that are nothing but their attributes; they are filled, not called.
PLAIN = (
    "mercer.kernels.tuning:Tuning",
    "mercer.solvers.factored:Factored",
    "mercer.solvers.linear_algebra.packed:PackedFactored",
    "mercer.solvers.posterior:ExactPosterior",
    "sklearn.compose:make_column_selector",
    "sklearn.model_selection:GroupKFold",
    "sklearn.model_selection:KFold",
    "sklearn.model_selection:LeaveOneOut",
    "sklearn.model_selection:LeavePOut",
    "sklearn.model_selection:ShuffleSplit",
    "sklearn.model_selection:StratifiedKFold",
    "sklearn.model_selection:StratifiedShuffleSplit",
    "sklearn.model_selection:TimeSeriesSplit",
)
# Objects that their owner makes again when it finds None in their place.
REMADE = ("mercer.solvers.posterior:IterativePosterior",)
# Functions of ours that may be kept with some of their arguments.
FUNCTIONS = ("mercer.problems.path:_margin_at", "mercer.problems.path:_tube_at")
SPARSE = {name: getattr(sp, name) for name in ("csr_matrix", "csr_array", "csc_matrix", "csc_array")}
TYPES = {
    f"numpy.{name}": getattr(np, name)
    for name in (
        "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
        "uint64", "bool_", "str_", "object_", "number",
    )
} | {"float": float, "int": int, "bool": bool, "str": str, "object": object}  # fmt: skip


def public_estimator(name: str) -> type | None:
    """Return the public estimator of this name; layers above this one have some too."""
    package = sys.modules["mercer"]
    value = getattr(package, name) if name in package.__all__ else None
    return value if isinstance(value, type) and issubclass(value, BaseEstimator) else None


def address(cls: type) -> str | None:
    """Return how a file names a class, None if it may not."""
    name = cls.__qualname__
    if public_estimator(name) is cls:
        return f"mercer:{name}"
    for module, names in SKLEARN.items():
        if name in names and getattr(importlib.import_module(module), name, None) is cls:
            return f"{module}:{name}"
    if not MODULE.fullmatch(cls.__module__) or not (is_value(cls) or is_record(cls)):
        return None
    home = next((p for p in PACKAGES if cls.__module__.startswith(p)), cls.__module__)
    public = getattr(importlib.import_module(home), name, None) is cls
    return _in_files(f"{home if public else cls.__module__}:{name}")


def is_value(cls: type) -> bool:
    """Return whether objects of a class are their constructor's parameters, as kernels are."""
    return issubclass(cls, Value)


def is_record(cls: type) -> bool:
    """Return whether objects of a class are named fields and nothing else."""
    if "__init__" in vars(cls) and "__dataclass_fields__" not in vars(cls):
        return False  # it derives from a record, and is made from something else
    return is_dataclass(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields"))


def estimator_class(text: Any) -> type:
    """Return the estimator that a file names, or refuse it."""
    if isinstance(text, str):
        module, _, name = text.partition(":")
        cls = public_estimator(name) if module == "mercer" else None
        if cls is not None:
            return cls
        if name in SKLEARN.get(module, ()):
            known: type = getattr(importlib.import_module(module), name)
            return known
    raise ModelFileError(
        f"the file names {_shown(text)}, which is not an estimator that may be built from a file"
    )


def own_class(text: Any, kind: str) -> type:
    """Return the value or record class of mercer that a file names, or refuse it."""
    if isinstance(text, str):
        module, _, name = MOVED.get(text, text).partition(":")
        if MODULE.fullmatch(module) and NAME.fullmatch(name):
            try:
                cls = getattr(importlib.import_module(module), name, None)
            except ModuleNotFoundError:
                cls = None
            fits = is_value if kind == "value" else is_record
            if isinstance(cls, type) and MODULE.fullmatch(cls.__module__) and fits(cls):
                return cls
    raise ModelFileError(
        f"the file names {_shown(text)}, which is not a {kind} that may be built from a file"
    )


def sklearn_kernel_class(text: Any) -> type:
    """Return the Gaussian-process kernel of scikit-learn's that a file names, or refuse it."""
    if isinstance(text, str) and text in SKLEARN_KERNELS:
        cls: type = getattr(importlib.import_module("sklearn.gaussian_process.kernels"), text)
        return cls
    raise ModelFileError(f"the file names {_shown(text)}, which is not a kernel of scikit-learn's")


def is_known_sklearn_kernel(value: Any) -> bool:
    """Return whether a file may hold this Gaussian-process kernel of scikit-learn's."""
    return is_sklearn_kernel(value) and any(
        type(value) is sklearn_kernel_class(name) for name in SKLEARN_KERNELS
    )


def plain_class(text: Any) -> type:
    """Return the plain class that a file names, or refuse it."""
    if isinstance(text, str) and text in PLAIN:
        found: type = _found(text)
        return found
    raise ModelFileError(f"the file names {_shown(text)}, which may not be built from a file")


def plain_address(thing: Any) -> str | None:
    """Return how a file names a plain object's class, None if it may not."""
    name = type(thing).__qualname__
    return next((a for a in PLAIN if a.endswith(f":{name}") and _found(a) is type(thing)), None)


def is_remade(thing: Any) -> bool:
    """Return whether an object is left out of files, because its owner makes it again."""
    return _in_files(f"{type(thing).__module__}:{type(thing).__qualname__}") in REMADE


def own_function(text: Any) -> Any:
    """Return the function of ours that a file names, or refuse it."""
    if isinstance(text, str) and text in FUNCTIONS:
        return _found(text)
    raise ModelFileError(f"the file names {_shown(text)}, which is not a function that a file may name")


def function_address(function: Any) -> str | None:
    """Return how a file names a function of ours, None if it may not."""
    text = _in_files(f"{getattr(function, '__module__', '')}:{getattr(function, '__qualname__', '')}")
    return text if text in FUNCTIONS and _found(text) is function else None


def _in_files(text: str) -> str:
    """Return the name in files of what lives at an address today."""
    return next((name for name, home in MOVED.items() if home == text), text)


def _found(text: str) -> Any:
    module, _, name = MOVED.get(text, text).partition(":")
    return getattr(importlib.import_module(module), name)


def _shown(text: Any) -> str:
    return repr(text)[:80]
