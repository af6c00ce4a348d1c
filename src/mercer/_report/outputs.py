"""What a model said of some rows, kept so that many scores cost one prediction."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if

LEVELS = (0.5, 0.8, 0.9, 0.95)  # of intervals whose coverage is shown


@dataclass(frozen=True)
class Outputs:
    """Predictions, and what lies behind them.

    Attributes
    ----------
    predicted : ndarray of shape (n,)
        What ``predict`` returned.
    decision : ndarray of shape (n,) or None
        Decisions, where there is one a row: large for the second class, or for what is normal.
    proba : ndarray of shape (n, k) or None
        Probabilities of the classes.
    deviation : ndarray of shape (n,) or None
        Standard deviations of new targets, noise included.
    ends : ndarray of shape (n, 2, n_levels) or None
        Ends of conformal intervals at `LEVELS`.
    """

    predicted: np.ndarray
    decision: np.ndarray | None = None
    proba: np.ndarray | None = None
    deviation: np.ndarray | None = None
    ends: np.ndarray | None = None

    def __getitem__(self, rows: Any) -> Outputs:
        values: Any = [getattr(self, field.name) for field in fields(self)]
        found: Any = [None if value is None else value[rows] for value in values]
        return Outputs(*found)


def outputs_of(model: Any, X: Any) -> Outputs:
    """Return what a model says of rows."""
    machine = model[-1] if isinstance(model, Pipeline) else model
    if "noise" in inspect.signature(machine.predict).parameters and not np.ndim(machine.noise_):
        mean, deviation = model.predict(X, return_std=True, noise=True)
        return Outputs(np.asarray(mean), deviation=np.asarray(deviation))
    if hasattr(machine, "predict_interval"):
        prepared = X if machine is model or len(model) == 1 else model[:-1].transform(X)
        found = [np.asarray(machine.predict_interval(prepared, coverage=level)) for level in LEVELS]
        return Outputs(np.asarray(model.predict(X)), ends=np.stack(found, axis=2))
    decision = np.asarray(model.decision_function(X)) if hasattr(model, "decision_function") else None
    proba = np.asarray(model.predict_proba(X)) if hasattr(model, "predict_proba") else None
    flat = decision is not None and (decision.ndim == 1 or decision.shape[1] == 1)
    return Outputs(np.asarray(model.predict(X)), np.ravel(decision) if flat else None, proba)  # type: ignore[arg-type]


def joined(parts: Sequence[Outputs]) -> Outputs:
    """Return the outputs of several sets of rows one after the other."""
    columns = [[getattr(part, field.name) for part in parts] for field in fields(Outputs)]
    found: Any = [None if any(v is None for v in c) else np.concatenate(c) for c in columns]
    return Outputs(*found)


class _Remembered(BaseEstimator):
    """Says of row numbers what a model said of the rows, so that scikit-learn's scorers can judge it."""

    def __init__(self, outputs: Outputs, classes: Any = None) -> None:
        self.outputs = outputs
        self.classes = self.classes_ = classes

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Do nothing: scikit-learn asks for it."""
        return self

    def predict(self, rows: Any) -> np.ndarray:
        """Return what was predicted."""
        return np.asarray(self.outputs.predicted[rows])

    @available_if(lambda self: self.outputs.decision is not None)
    def decision_function(self, rows: Any) -> np.ndarray:
        """Return what was decided."""
        return np.asarray(self.outputs[rows].decision)

    @available_if(lambda self: self.outputs.proba is not None)
    def predict_proba(self, rows: Any) -> np.ndarray:
        """Return what was thought probable."""
        return np.asarray(self.outputs[rows].proba)


class RememberedClassifier(ClassifierMixin, _Remembered):
    """A classifier that looks up what it says."""


class RememberedRegressor(RegressorMixin, _Remembered):
    """A regressor that looks up what it says."""
