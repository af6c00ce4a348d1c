"""Scores, classes and theorems as tables of the page."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from sklearn import metrics

from mercer._report.html_page import paragraph, table
from mercer._report.scores import Scores
from mercer._report.verdict import Promise, form
from mercer.bounds import Report, Reports
from mercer.bounds.report_text import STATUS, amount, conclusion, number, said

MOST_PAIRS = 6  # of classes that are listed in the open


def score_table(found: list[Scores]) -> str:
    """Return the measures side by side."""
    names = list(found[0].values)
    rows = [[one.rows, *(form(n)(one.values[n]) if n in one.values else "" for n in names)] for one in found]
    return table(["rows", *names], rows, range(1, len(names) + 1))


def class_tables(best: Scores) -> str:
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
    parts = ["<h3>Classes</h3>", table(["class", "precision", "recall", "F1", "rows"], rows, range(1, 5))]
    parts.append(
        paragraph(
            f"Of {best.rows}. Precision: the fraction of the rows predicted as the class that belong to it. "
            "Recall: the fraction of the rows of the class that are predicted as such.",
            "soft",
        )
    )
    if len(names) <= 30:
        matrix = metrics.confusion_matrix(best.truth, best.predicted, labels=names)
        body = [[f"true {name}", *matrix[k]] for k, name in enumerate(names)]
        head = ["", *(f"predicted {name}" for name in names)]
        counts = table(head, body, range(1, len(names) + 1))
        parts.append(f"<details><summary>Confusion matrix as a table</summary>{counts}</details>")
    return "".join(parts)


def promises(found: Any, promise: Promise | None, regression: bool = False) -> str:
    """Return what theorems say of new rows, beside what held-out rows have promised."""
    if found is None:
        return ""
    if isinstance(found, str):
        return paragraph(found, "soft")
    first = "<h3>Generalisation bounds</h3>"
    if promise is not None:
        first += paragraph(f"From the held-out rows: {promise.words}.")
    if isinstance(found, Report):
        words = conclusion(found)
        if found.best is None and promise is not None:
            words = "Theorems about the training rows alone guarantee nothing more."
        elif found.best is None and regression:
            words = (
                "Theorems about the training rows alone guarantee nothing here. A bound from held-out rows "
                "needs a tolerance, the size of an error that matters: mercer train --tolerance."
            )
        return f'<div class="promises">{first}{paragraph(words)}{_folded("The theorems", found)}</div>'
    assert isinstance(found, Reports)
    whole = "".join(paragraph(f"{line.name}: {said(line)}") for line in found.lines)
    machine = found.title.partition(": one report")[0]  # with all its parameters, which are told elsewhere
    parts = "".join(_folded(part.title.removeprefix(f"{machine}, "), part) for part in found)
    if len(found) > MOST_PAIRS:
        parts = f"<details><summary>The theorems, for each pair of classes</summary>{parts}</details>"
    return f'<div class="promises">{first}{whole}{parts}</div>'


def _folded(title: str, report: Report) -> str:
    """Return one report's lines, folded."""
    rows = [[x.name, amount(x), number(x.seen), x.verdict, said(x)] for x in report.lines]
    rests = "".join(
        f"<li>{escape(STATUS[assumption.status])}: {escape(assumption.text)}</li>"
        for assumption in report.assumptions
    )
    return (
        f"<details><summary>{escape(title)}</summary>"
        + table([report.about, "at most", "observed", "verdict", "in words"], rows, [1, 2])
        + (f"<p>Assumptions</p><ul>{rests}</ul>" if rests else "")
        + paragraph(
            f"Each line may fail with probability {report.delta:g} over the draw of the rows.", "soft"
        )
        + "</details>"
    )
