"""scikit-learn's estimators and pipelines with our classes in the place of those that have their name."""

from __future__ import annotations

import copy
import importlib
import inspect
from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline

import mercer.estimators as ours
from mercer.estimators.user_warnings import warn_user

# Our classes that have scikit-learn's name, and where theirs are.
COUNTERPARTS: dict[str, str] = {
    "SVC": "sklearn.svm",
    "NuSVC": "sklearn.svm",
    "SVR": "sklearn.svm",
    "NuSVR": "sklearn.svm",
    "OneClassSVM": "sklearn.svm",
    "KernelRidge": "sklearn.kernel_ridge",
    "KernelPCA": "sklearn.decomposition",
    "LinearDiscriminantAnalysis": "sklearn.discriminant_analysis",
    "QuadraticDiscriminantAnalysis": "sklearn.discriminant_analysis",
    "GaussianProcessRegressor": "sklearn.gaussian_process",
    "GaussianProcessClassifier": "sklearn.gaussian_process",
    "Perceptron": "sklearn.linear_model",
}
# What the class of the same name needs beside scikit-learn's parameters to do the same.
BESIDE: dict[str, dict[str, Any]] = {"Perceptron": {"radius": 1.0}}


def their_class(name: str) -> Any:
    """Return scikit-learn's class of a name.

    Parameters
    ----------
    name : str
        A key of ``COUNTERPARTS``.

    Returns
    -------
    type
    """
    return getattr(importlib.import_module(COUNTERPARTS[name]), name)


def our_class(name: str) -> Any:
    """Return our class of a name, or None where there is none yet.

    Parameters
    ----------
    name : str
        A key of ``COUNTERPARTS``.

    Returns
    -------
    type or None
    """
    return getattr(ours, name, None)


def from_sklearn(estimator: Any) -> Any:
    """Replace scikit-learn's classes in an estimator or pipeline by mercer's classes of the same name.

    Parameters
    ----------
    estimator : estimator
        One of scikit-learn's kernel machines, discriminants or Gaussian processes, or anything that has one
        among its parameters: a pipeline, a search, a meta-estimator.

    Returns
    -------
    estimator
        With the same parameters. The five support vector machines stay fitted if they are; other fitted ones
        come back unfitted, with a warning.

    Raises
    ------
    ValueError
        Where nothing can be replaced, or where a parameter stands in the way: the message says which.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> import mercer
    >>> pipeline = mercer.from_sklearn(make_pipeline(StandardScaler(), SVC(C=10)))
    >>> type(pipeline[-1]).__module__.split(".")[0], pipeline[-1].C
    ('mercer', 10)
    """
    if not hasattr(estimator, "get_params") or isinstance(estimator, type):
        raise TypeError(f"from_sklearn takes an estimator, not {estimator!r}")
    replaced: list[str] = []
    made = _converted(estimator, replaced)
    if not replaced:
        names = ", ".join(name for name in COUNTERPARTS if our_class(name) is not None)
        raise ValueError(
            f"{type(estimator).__name__}: nothing in it has a class of the same name here, which are {names}"
        )
    return made


def _converted(value: Any, replaced: list[str]) -> Any:
    """Return a parameter's value with estimators replaced; the value itself where there is nothing to do."""
    if isinstance(value, list | tuple):
        parts = [_converted(part, replaced) for part in value]
        same = all(a is b for a, b in zip(parts, value, strict=True))
        return value if same else type(value)(parts)
    if not hasattr(value, "get_params") or isinstance(value, type):
        return value
    name = type(value).__name__
    if name in COUNTERPARTS and type(value) is their_class(name) and our_class(name) is not None:
        replaced.append(name)
        return _equivalent(value, our_class(name))
    params = value.get_params(deep=False)
    changed = {key: new for key, old in params.items() if (new := _converted(old, replaced)) is not old}
    if not changed:
        return value
    # The steps of a pipeline keep what they have learned; what others have learned was of other machines.
    made = copy.copy(value) if isinstance(value, Pipeline) else clone(value)
    return made.set_params(**changed)


def _equivalent(model: Any, cls: Any) -> Any:
    """Return our estimator with the same parameters, fitted where that can be carried over."""
    name = cls.__name__
    known = inspect.signature(cls).parameters
    theirs = inspect.signature(type(model)).parameters
    given = {
        key: value for key, value in model.get_params(deep=False).items() if not _is(value, "deprecated")
    }
    lost = {key: value for key, value in given.items() if key not in known}
    for key, value in lost.items():
        if not _is(value, theirs[key].default):
            raise ValueError(f"{name}: {key}={value!r} is a parameter that mercer.{name} does not accept")
    fitted = _is_fitted(model)
    if fitted and hasattr(cls, "from_sklearn"):
        return cls.from_sklearn(model)
    made = cls(**{key: value for key, value in given.items() if key in known}, **BESIDE.get(name, {}))
    refuse = getattr(made, "_refuse", None)
    if refuse is not None:
        refuse()
    if fitted:
        warn_user(f"{name} is fitted there and has to be fitted again here", UserWarning)
    return made


def _is(value: Any, other: Any) -> bool:
    """Return whether two parameter values are the same plain value."""
    return value is other or (
        type(value) is type(other) and isinstance(value, str | float | int) and value == other
    )


def _is_fitted(model: Any) -> bool:
    """Return whether fit has left anything; a Gaussian process predicts without it, too."""
    return any(name.endswith("_") and not name.startswith("_") for name in vars(model))
