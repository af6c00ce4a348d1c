"""What a machine is judged by: one rule for searches, recommendations and the command."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import (
    average_precision_score,
    check_scoring,
    f1_score,
    jaccard_score,
    make_scorer,
    precision_score,
    recall_score,
)

RARE = 0.2  # share of the rarest class, times half the number of classes, below which accuracy hides it
# Scores of one class of two, which scikit-learn knows for the labels 0 and 1 only.
ONE_CLASS: dict[str, tuple[Any, Any]] = {
    "average_precision": (average_precision_score, ("decision_function", "predict_proba")),
    "f1": (f1_score, "predict"),
    "jaccard": (jaccard_score, "predict"),
    "precision": (precision_score, "predict"),
    "recall": (recall_score, "predict"),
}

WORDS = {"r2": "R²", "roc_auc": "ROC AUC", "f1": "F1"}


def score_words(scoring: Any) -> str:
    """Return what people call a score."""
    return WORDS.get(scoring, scoring.replace("_", " ")) if isinstance(scoring, str) else "score"


def class_shares(y: Any, weight: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes and their shares of the rows, counted by weights if there are any."""
    names, codes = np.unique(np.asarray(y), return_inverse=True)
    counts = np.bincount(codes.ravel(), weights=weight, minlength=names.size)
    return names, counts / max(float(counts.sum()), 1e-300)


def rare_class(y: Any, weight: Any = None) -> tuple[Any, float] | None:
    """Return the rarest class and its share where that is so small that accuracy would hide it."""
    names, shares = class_shares(y, weight)
    least = int(shares.argmin())
    if names.size < 2 or shares[least] * names.size >= 2 * RARE:
        return None
    return names[least], float(shares[least])


def positive_class(y: Any) -> Any:
    """Return which of two classes precision and recall are about: a rare one, else the second."""
    rare = rare_class(y)
    return np.unique(np.asarray(y))[1] if rare is None else rare[0]


def chosen_scoring(y: Any, classifier: bool, weight: Any = None) -> tuple[str, str]:
    """Return the name of the score that suits a target, and why, in words ("" for the usual one)."""
    if not classifier:
        return "r2", ""
    rare = rare_class(y, weight)
    if rare is None:
        return "accuracy", ""
    return "balanced_accuracy", (
        f"class {str(rare[0])!r} has {100 * rare[1]:.2g} % of the rows: scored by balanced accuracy, the "
        "mean recall of the classes, because accuracy would hide it"
    )


def row_shares(scoring: Any, y: Any, weight: Any = None) -> np.ndarray | None:
    """Return what each row counts in a score that is a mean over rows of being right; None for other scores.

    In accuracy rows count alike, or by their weights; in balanced accuracy classes do.
    """
    if scoring not in ("accuracy", "balanced_accuracy"):
        return None
    counts = np.ones(len(y)) if weight is None else np.array(weight, dtype=np.float64)
    if scoring == "balanced_accuracy":
        names, codes = np.unique(np.asarray(y), return_inverse=True)
        sums = np.bincount(codes.ravel(), weights=counts, minlength=names.size)
        counts /= np.where(sums > 0, sums, 1.0)[codes.ravel()]
    return np.asarray(counts / counts.sum())


def scorer_of(estimator: Any, scoring: Any, y: Any = None) -> Any:
    """Return the scorer of a name; scores of one class take classes by any name.

    Parameters
    ----------
    estimator : estimator
        What is scored.
    scoring : str, callable or None
        As in scikit-learn.
    y : array, optional
        The target. Scores of one of two classes that are not called 0 and 1, or -1 and 1, are about a rare
        one, else about the second.
    """
    if scoring in ONE_CLASS and y is not None and is_classifier(estimator):
        names = np.unique(np.asarray(y))
        if names.size == 2 and (names.dtype.kind not in "biuf" or names[1] != 1):
            function, response = ONE_CLASS[scoring]
            extra = {} if function is average_precision_score else {"zero_division": 0.0}
            return make_scorer(function, response_method=response, pos_label=positive_class(y), **extra)
    return check_scoring(estimator, scoring=scoring)


def takes_weights(scorer: Any) -> bool:
    """Return whether a scorer counts rows by their weights."""
    judge = getattr(scorer, "_score_func", None)
    if judge is None and hasattr(scorer, "_estimator"):  # the estimator's own score
        judge = scorer._estimator.score
    return "sample_weight" in inspect.signature(scorer if judge is None else judge).parameters
