"""What a report is about: the machine inside of pipelines and searches, and its data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from sklearn.base import is_classifier, is_outlier_detector, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing as take
from sklearn.utils.validation import check_is_fitted

from mercer._report.step_words import step_in_words

__all__ = ["Kind", "Subject", "Unseen", "rows_of", "subject", "take"]

Kind = Literal["classifier", "regressor", "detector"]


@dataclass(frozen=True)
class Unseen:
    """A fitted model with rows that it has not seen.

    Attributes
    ----------
    model : estimator
        The model, or a copy of it that was fitted without these rows.
    X, y
        The rows.
    words : str
        Which rows.
    """

    model: Any
    X: Any
    y: np.ndarray | None
    words: str


@dataclass
class Subject:
    """A fitted model with the data of its fit, and perhaps data that it has not seen.

    Attributes
    ----------
    model : estimator
        What the user gave: it predicts from X.
    X, y
        The training data.
    X_test, y_test
        Data that had no part in the fit, or None.
    unseen : Unseen or None
        Rows on which the model, or a copy of it, can be judged; of folds, those of the first.
    """

    model: Any
    X: Any
    y: np.ndarray | None
    X_test: Any = None
    y_test: np.ndarray | None = None
    unseen: Unseen | None = None

    @cached_property
    def whole(self) -> Any:
        """The pipeline or machine, out of its search."""
        return getattr(self.model, "best_estimator_", self.model)

    @cached_property
    def machine(self) -> Any:
        """The last step: the estimator that learned."""
        return self.whole[-1] if isinstance(self.whole, Pipeline) else self.whole

    @cached_property
    def inner(self) -> Any:
        """The training data as the machine saw them."""
        steps = self.whole
        return steps[:-1].transform(self.X) if isinstance(steps, Pipeline) and len(steps) > 1 else self.X

    @property
    def kind(self) -> Kind:
        """What the machine does."""
        if is_classifier(self.whole):
            return "classifier"
        return "regressor" if is_regressor(self.whole) else "detector"

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return rows_of(self.X)

    @cached_property
    def feature_names(self) -> list[str]:
        """Names of the columns of X, as the user knows them; none for data without columns."""
        names = getattr(self.X, "columns", None)
        if names is None:
            names = getattr(self.model, "feature_names_in_", None)
        if names is not None:
            return [str(name) for name in names]
        width = self.X.shape[1] if getattr(self.X, "ndim", 1) == 2 else 0
        return [f"x{k}" for k in range(width)]

    @property
    def preparation(self) -> list[str]:
        """The steps before the machine, in words."""
        if not isinstance(self.whole, Pipeline):
            return []
        return [step_in_words(step) for _, step in self.whole.steps[:-1]]


def rows_of(X: Any) -> int:
    """Return the number of items."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def subject(model: Any, X: Any, y: Any, X_test: Any, y_test: Any) -> Subject:
    """Return the checked subject of a report."""
    if isinstance(model, type) or not hasattr(model, "fit"):
        raise TypeError(f"model must be a fitted estimator, not {model!r}")
    check_is_fitted(model)
    whole = getattr(model, "best_estimator_", model)
    if not (is_classifier(whole) or is_regressor(whole) or is_outlier_detector(whole)):
        raise TypeError(
            f"{type(model).__name__} is neither a classifier nor a regressor nor a novelty detector: there "
            "are no predictions to report on"
        )
    supervised = not is_outlier_detector(whole)
    found = [_target(y, X, "y", "X", supervised), None]
    if X_test is not None:
        found[1] = _target(y_test, X_test, "y_test", "X_test", supervised)
    elif y_test is not None:
        raise ValueError("y_test is given without X_test")
    if is_classifier(whole):
        for name, values in zip(("y", "y_test"), found, strict=True):
            _check_labels(values, whole.classes_, name)
    held_out = None
    if X_test is not None:
        held_out = Unseen(model, X_test, found[1], f"{rows_of(X_test)} held-out rows")
    return Subject(model, X, found[0], X_test, found[1], held_out)


def _check_labels(y: np.ndarray | None, classes: Any, name: str) -> None:
    """Refuse a target that is another one; a few labels that are new may be there."""
    if y is not None and y.size and not set(y.tolist()) & set(np.asarray(classes).tolist()):
        shown = ", ".join(repr(label) for label in np.asarray(classes).tolist()[:5])
        raise ValueError(
            f"{name} holds none of the classes that the model knows ({shown}), but {y.tolist()[0]!r}: "
            "pass the target that it was trained for"
        )


def _target(y: Any, X: Any, name: str, data: str, needed: bool) -> np.ndarray | None:
    if y is None:
        if needed:
            raise ValueError(f"{name} is needed: a report on a classifier or regressor needs the true values")
        return None
    values = np.asarray(y)
    if values.shape != (rows_of(X),):
        raise ValueError(
            f"{name} has shape {values.shape}; for {rows_of(X)} rows of {data} it must be ({rows_of(X)},)"
        )
    return values
