"""How good: on rows that the machine has not seen, as far as there are any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import metrics
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict

from mercer._report.html_page import paragraph, table
from mercer._report.subject import Subject

SEED = 0


@dataclass(frozen=True)
class Scores:
    """Measures with the words that say of which rows they are.

    Attributes
    ----------
    rows : str
        Which rows.
    unseen : bool
        Whether the machine had not seen them.
    headline : tuple of str and float
        The measure that counts most.
    values : dict of str to float
        All measures.
    truth, predicted : ndarray
        What they were computed from; the truth of a detector is None.
    """

    rows: str
    unseen: bool
    headline: tuple[str, float]
    values: dict[str, float]
    truth: np.ndarray | None
    predicted: np.ndarray


def measure(
    subject: Subject,
    truth: np.ndarray | None,
    predicted: np.ndarray,
    rows: str,
    unseen: bool,
    weight: np.ndarray | None = None,
) -> Scores:
    """Return the measures of some predictions; with weights, a row of weight 2 counts as two rows."""
    if subject.kind == "classifier":
        assert truth is not None
        values = {
            "accuracy": float(metrics.accuracy_score(truth, predicted, sample_weight=weight)),
            "balanced accuracy": float(_balanced(truth, predicted, weight)),
        }
        headline = "accuracy"
    elif subject.kind == "regressor":
        assert truth is not None
        values = {
            "R²": float(metrics.r2_score(truth, predicted, sample_weight=weight)),
            "mean absolute error": float(metrics.mean_absolute_error(truth, predicted, sample_weight=weight)),
            "root mean squared error": float(
                np.sqrt(metrics.mean_squared_error(truth, predicted, sample_weight=weight))
            ),
        }
        headline = "R²"
    else:
        values = {"share called novel": float(np.average(predicted < 0, weights=weight))}
        headline = "share called novel"
    return Scores(rows, unseen, (headline, values[headline]), values, truth, predicted)


def _balanced(truth: np.ndarray, predicted: np.ndarray, weight: np.ndarray | None) -> float:
    """Return the mean recall over the classes that are there."""
    w = np.ones(truth.size) if weight is None else weight
    there = np.unique(truth[w > 0])
    return float(np.mean([np.average(predicted[truth == c] == c, weights=w[truth == c]) for c in there]))


def all_scores(subject: Subject, cv: int) -> list[Scores]:
    """Return the scores of held-out rows or folds first, those of the training rows last."""
    found = []
    if subject.X_test is not None:
        predicted = np.asarray(subject.model.predict(subject.X_test))
        found.append(measure(subject, subject.y_test, predicted, f"{len(predicted)} held-out rows", True))
    folds = _folds(subject, cv)
    if folds is not None:
        predicted = np.asarray(cross_val_predict(clone(subject.whole), subject.X, subject.y, cv=folds))
        words = f"{folds.n_splits}-fold cross-validation"
        found.append(measure(subject, subject.y, predicted, words, True))
    predicted = np.asarray(subject.model.predict(subject.X))
    found.append(
        measure(subject, subject.y, predicted, f"the {len(predicted)} training rows themselves", False)
    )
    return found


def _folds(subject: Subject, cv: int) -> Any:
    """Return the splitter, with no more folds than the data allow; None for none."""
    most = subject.n_rows
    if subject.kind == "classifier":
        assert subject.y is not None
        most = int(np.unique(subject.y, return_counts=True)[1].min())
    count = min(cv, most)
    if count < 2:
        return None
    split = StratifiedKFold if subject.kind == "classifier" else KFold
    return split(count, shuffle=True, random_state=SEED)


def score_table(found: list[Scores]) -> str:
    """Return the measures side by side."""
    names = list(found[0].values)
    rows = [[one.rows, *(f"{one.values[name]:.4g}" for name in names)] for one in found]
    return table(["rows", *names], rows, range(1, len(names) + 1))


def class_tables(subject: Subject, best: Scores) -> str:
    """Return how the classes fare, and which are taken for which."""
    assert best.truth is not None
    names = np.unique(np.concatenate([best.truth, best.predicted]))
    precision, recall, f1, count = metrics.precision_recall_fscore_support(
        best.truth, best.predicted, labels=names, zero_division=0.0
    )
    rows = [
        [str(name), f"{precision[k]:.3f}", f"{recall[k]:.3f}", f"{f1[k]:.3f}", int(count[k])]
        for k, name in enumerate(names)
    ]
    parts = [
        "<h3>Classes</h3>",
        table(["class", "right when predicted", "found of the class", "F1", "rows"], rows, range(1, 5)),
    ]
    if len(names) <= 30:
        matrix = metrics.confusion_matrix(best.truth, best.predicted, labels=names)
        body = [[f"is {name}", *matrix[k]] for k, name in enumerate(names)]
        head = ["", *(f"predicted {name}" for name in names)]
        parts += ["<h3>What is taken for what</h3>", table(head, body, range(1, len(names) + 1))]
    parts.append(paragraph(f"Of {best.rows}.", "soft"))
    return "".join(parts)
