"""Which rows deserve a look: the ranking by multiplier."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._report.html_page import paragraph, table
from mercer._report.subject import Subject, rows_of

SHOWN = 15
ROUNDING = 1e-9  # of the largest distance, below which one is shown as 0
COLUMNS = 6  # features shown of each row


def multipliers(machine: Any, n: int) -> np.ndarray | None:
    """Return the sum of each row's multipliers over all two-class machines; None where there are none."""
    support, coef = getattr(machine, "support_", None), getattr(machine, "dual_coef_", None)
    if support is None or coef is None:
        return None
    size = np.abs(np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef))
    if size.ndim != 2 or size.shape[1] != len(support):
        return None
    out = np.zeros(n)
    out[np.asarray(support)] = size.sum(axis=0)
    return out


def distances(subject: Subject) -> tuple[str, np.ndarray] | None:
    """Return how badly the machine fares on each training row, in its own measure; larger is worse."""
    machine, X = subject.machine, subject.inner
    if subject.kind == "classifier" and hasattr(machine, "margins"):
        return "margin", -np.asarray(machine.margins(X, subject.y))
    if subject.kind == "regressor":
        return "error", np.abs(np.asarray(subject.y) - np.asarray(subject.model.predict(subject.X)))
    if subject.kind == "detector":
        return "decision", -np.ravel(machine.decision_function(X))
    return None


def ranking(subject: Subject) -> tuple[np.ndarray, np.ndarray | None, tuple[str, np.ndarray] | None]:
    """Return the rows, hardest first, with what ranks them: multipliers, and distances where those tie."""
    alpha, far = multipliers(subject.machine, subject.n_rows), distances(subject)
    keys = [k for k in (None if far is None else -far[1], None if alpha is None else -alpha) if k is not None]
    if not keys:
        return np.empty(0, dtype=np.intp), alpha, far
    order = np.lexsort([np.round(key, 9) for key in keys])
    if alpha is not None:
        order = order[alpha[order] > 0]
    return order, alpha, far


def hardest_table(subject: Subject) -> str:
    """Return the hardest rows as a table."""
    order, alpha, far = ranking(subject)
    if not order.size:
        return ""
    head, numbers = ["row"], [0]
    if subject.y is not None and subject.kind != "detector":
        head += ["is", "predicted"]
        numbers += [1, 2] if subject.kind == "regressor" else []
    if alpha is not None:
        numbers.append(len(head))
        head.append("multiplier")
    if far is not None:
        numbers.append(len(head))
        head.append("margin y f(x)" if far[0] == "margin" else far[0])
    names = subject.feature_names[:COLUMNS]
    numbers += list(range(len(head), len(head) + len(names)))
    predicted = np.asarray(subject.model.predict(subject.X))
    zero = 0.0 if far is None else ROUNDING * float(np.abs(far[1]).max())
    rows = []
    for r in order[:SHOWN]:
        row: list[Any] = [int(r) + 1]
        if subject.y is not None and subject.kind != "detector":
            row += [_short(subject.y[r]), _short(predicted[r])]
        if alpha is not None:
            row.append(f"{alpha[r]:.4g}")
        if far is not None:
            value = far[1][r] if far[0] == "error" else -far[1][r]
            row.append(f"{value if abs(value) > zero else 0.0:.4g}")
        rows.append(row + _features(subject.X, int(r), len(names)))
    if not names:
        head.append("item")
        for row, r in zip(rows, order[:SHOWN], strict=True):
            row.append(_short(subject.X[int(r)]))
    words = (
        "The larger a row's multiplier, the harder the machine had to pull to fit it: at the top are "
        "outliers, rare cases and wrong labels. Look at them first when cleaning the data."
        if alpha is not None
        else "At the top are outliers, rare cases and wrong labels."
    )
    return "<h3>Hardest rows</h3>" + paragraph(words) + table([*head, *names], rows, numbers)


def _features(X: Any, row: int, count: int) -> list[str]:
    if not count:
        return []
    values = X.iloc[row, :count] if hasattr(X, "iloc") else X[[row], :count]
    values = values.toarray() if hasattr(values, "toarray") else values
    return [_short(v) for v in np.ravel(np.asarray(values, dtype=object))]


def _short(value: Any) -> str:
    if value is None:
        return "missing"
    if isinstance(value, (float, np.floating)):
        return "missing" if np.isnan(value) else f"{value:.4g}"
    text = str(value)
    return text if len(text) <= 40 else text[:37] + "..."


def support_words(subject: Subject) -> list[tuple[str, str]]:
    """Return what is to say of the support vectors."""
    machine, n = subject.machine, rows_of(subject.X)
    support = getattr(machine, "support_", None)
    if support is None:
        return []
    rows = [
        (
            "support vectors",
            f"{len(support)} of {n} rows ({len(support) / n:.1%}): the only rows the machine needs",
        )
    ]
    counts: Any = getattr(machine, "n_support_", None)
    if subject.kind == "classifier" and np.shape(counts) == np.shape(machine.classes_):
        words = ", ".join(f"{int(c)} of {name}" for c, name in zip(counts, machine.classes_, strict=True))
        rows.append(("by class", words))
    coef, bound = getattr(machine, "dual_coef_", None), getattr(machine, "C", None)
    if coef is not None and isinstance(bound, (int, float)) and np.isfinite(bound):
        size = np.abs(np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef))
        at = int((size.max(axis=0) >= bound * (1 - 1e-9)).sum())
        words = ": inside the margin or misclassified" if subject.kind == "classifier" else ""
        rows.append(("at their bound C", f"{at}{words}"))
    return rows
