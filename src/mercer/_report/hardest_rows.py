"""Which rows deserve a look: the ranking by multiplier."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._report.html_page import paragraph, table
from mercer._report.subject import Subject, rows_of
from mercer._report.verdict import percent
from mercer.inspect.feature_weights import feature_weights, listed_features
from mercer.inspect.hardest_rows import badness, multipliers, ranked

SHOWN = 15
ROUNDING = 1e-9  # of the largest distance, below which one is shown as 0
COLUMNS = 6  # features shown of each row
HEAVIEST = 12  # features that are shown with their weights


def ranking(subject: Subject) -> tuple[np.ndarray, np.ndarray | None, tuple[str, np.ndarray] | None]:
    """Return the rows, hardest first, with what ranks them: multipliers, and distances where those tie."""
    far = badness(subject.whole, subject.machine, subject.X, subject.inner, subject.y)
    return ranked(multipliers(subject.machine, subject.n_rows), far)


def hardest_table(subject: Subject) -> str:
    """Return the hardest rows as a table."""
    order, alpha, far = ranking(subject)
    if not order.size:
        return ""
    head, numbers = ["row"], [0]
    if subject.y is not None and subject.kind != "detector":
        head += ["true", "predicted"]
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
        row: list[Any] = [int(r)]  # as in mercer.inspect and `mercer explain --row`
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
        "The larger a row's multiplier, the harder it is to fit: outliers, rare cases and wrong labels "
        "come first. Check these rows first when you clean the data."
        if alpha is not None
        else "Outliers, rare cases and wrong labels come first."
    ) + " Rows are counted from 0."
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
            f"{len(support)} of {n} rows ({percent(len(support) / n)}): the only rows the model needs",
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
    return rows + weight_words(machine)


def weight_words(machine: Any) -> list[tuple[str, str]]:
    """Return the features that weigh most, for kernels on items that count them: substrings, for instance."""
    kernel, coef = getattr(machine, "kernel_", None), getattr(machine, "_coefficients", None)
    if kernel is None or coef is None or kernel.is_vector or kernel.pairwise or coef.shape[0] != 1:
        return []
    if listed_features(machine) is None:
        return []
    heavy = feature_weights(machine).top(HEAVIEST)
    return [("heaviest features", ", ".join(f"{name} {weight:+.3g}" for name, weight in heavy))]
