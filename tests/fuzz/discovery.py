"""Which estimators there are, and what each takes; found by looking, so that new ones are fuzzed too."""

import functools
import inspect

from sklearn.base import BaseEstimator, is_classifier, is_outlier_detector, is_regressor

import mercer


@functools.cache
def estimators():
    """Return the public estimators by name."""
    found = {name: getattr(mercer, name) for name in mercer.__all__}
    return {
        name: cls
        for name, cls in found.items()
        if inspect.isclass(cls) and issubclass(cls, BaseEstimator) and not required(cls)
    }


def required(cls):
    """Return the parameters that an estimator cannot do without."""
    signature = inspect.signature(cls.__init__).parameters.values()
    return [
        p.name for p in signature if p.name != "self" and p.default is p.empty and p.kind is not p.VAR_KEYWORD
    ]


@functools.cache
def parameters(name):
    """Return the constructor's parameters with their defaults."""
    signature = inspect.signature(estimators()[name].__init__).parameters
    return {key: p.default for key, p in signature.items() if key != "self"}


def constraints(name):
    """Return what scikit-learn's validation is told of the parameters, where it is told."""
    return getattr(estimators()[name], "_parameter_constraints", {})


@functools.cache
def role(name):
    """Return "classifier", "regressor", "detector", "views" (a second table) or "map" (no target)."""
    model = estimators()[name]()
    if is_classifier(model):
        return "classifier"
    if is_regressor(model) or "group" in inspect.signature(model.fit).parameters:  # rankers take numbers, too
        return "regressor"
    if is_outlier_detector(model):
        return "detector"
    y = inspect.signature(model.fit).parameters.get("y")
    return "views" if y is not None and y.default is inspect.Parameter.empty else "map"


@functools.cache
def takes_weight(name):
    taken = inspect.signature(estimators()[name].fit).parameters
    return "sample_weight" in taken or any(p.kind is p.VAR_KEYWORD for p in taken.values())


def is_search(name):
    return "param_grid" in parameters(name)
