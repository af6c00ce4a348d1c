"""Which columns matter: permutation importance on rows that the model has not seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer import plots
from mercer._report.html_page import paragraph, pictures, table
from mercer._report.report_pictures import draw
from mercer._report.subject import Subject, Unseen, rows_of, take
from mercer.inspect import Importance, permutation_importance

MOST_ROWS = 500
MOST_REPEATS = 10
MOST_CALLS = 300  # of predict: a report takes seconds, whatever the number of columns
MOST_WORK = 1e10  # products of numbers in kernel values
SHOWN = 12  # columns
LEAST_ROWS = 10  # of which an interval means something


def importance_part(subject: Subject, unseen: Unseen | None) -> str:
    """Return the importance of the columns as words, a picture and a table; nothing where there is none."""
    if (
        unseen is None
        or unseen.y is None
        or subject.kind == "detector"
        or not _has_columns(subject, unseen.X)
    ):
        return ""
    X, y, words = unseen.X, unseen.y, unseen.words
    n, d = rows_of(X), int(X.shape[1])
    if n < LEAST_ROWS or d < 2:
        return ""
    rows = min(n, MOST_ROWS)
    repeats = _repeats(subject, rows, d)
    if repeats < 1:
        rows = min(rows, 100)
        repeats = _repeats(subject, rows, d)
    if repeats < 1:
        return paragraph(
            f"The importance of {d} columns takes too long for a report: use "
            "mercer.inspect.permutation_importance."
        )
    if rows < n:
        kept = np.sort(np.random.default_rng(0).choice(n, rows, replace=False))
        X, y, words = take(X, kept), y[kept], f"{rows} of {words}"
    found = permutation_importance(
        unseen.model, X.toarray() if hasattr(X, "toarray") else X, y, repeats=repeats, random_state=0
    )
    names = subject.feature_names
    found = Importance(names, found.mean, found.low, found.high, found.loss, found.coverage)
    loss = "fraction of errors" if subject.kind == "classifier" else "mean squared error"
    text = (
        f"Permutation importance: how much the {loss} ({found.loss:.4g}) grows when the values of one column "
        f"are shuffled, on {words}. Columns that carry the same information share their importance."
    )
    shown = found.order()[:SHOWN]
    body = [[names[j], f"{found.mean[j]:.3g}", f"{found.low[j]:.3g} to {found.high[j]:.3g}"] for j in shown]
    listed = table(["column", "growth", "95 % interval"], body, [1, 2])
    more = f"{d - SHOWN} less important columns are not shown." if d > SHOWN else ""
    picture = draw(
        lambda ax: plots.importance(found, top=SHOWN, ax=ax),
        "Permutation importance of the columns with 95 % intervals.",
    )
    return paragraph(text) + pictures(
        [picture, f"<div>{listed}{paragraph(more, 'soft') if more else ''}</div>"]
    )


def _has_columns(subject: Subject, X: Any) -> bool:
    """Return whether rows are made of columns that can be shuffled one by one."""
    kernel = getattr(subject.machine, "kernel_", None)
    if getattr(kernel, "pairwise", False) or not getattr(kernel, "is_vector", True):
        return False
    return getattr(X, "ndim", 1) == 2 and len(subject.feature_names) == X.shape[1]


def _repeats(subject: Subject, rows: int, d: int) -> int:
    """Return how many shuffles of each column a report has time for."""
    points = len(getattr(subject.machine, "support_", range(subject.n_rows)))
    return int(min(MOST_REPEATS, MOST_CALLS // d, MOST_WORK // (float(d) ** 2 * rows * max(points, 1))))
