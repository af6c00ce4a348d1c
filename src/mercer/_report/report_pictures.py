"""The pictures of a report."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from mercer import plots
from mercer._report.html_page import picture
from mercer._report.scores import Scores
from mercer._report.subject import Subject, rows_of

DPI = 130
MOST_ROWS = 3000  # drawn in scatter plots


def draw(paint: Callable[[Any], object], words: str, size: tuple[float, float] = (6.0, 4.2)) -> str:
    """Return a picture that ``paint`` drew on the axes it is given."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            'a report has pictures, which matplotlib draws; it is not installed: pip install "mercer[plots]"'
        ) from error
    figure = Figure(figsize=size, layout="constrained")
    figure.set_facecolor("white")
    paint(figure.add_subplot())
    target = io.BytesIO()
    figure.savefig(target, format="png", dpi=DPI)
    return picture(target.getvalue(), words)


def drawings(subject: Subject, best: Scores) -> Iterator[str]:
    """Yield the pictures that there are for this machine and these data."""
    yield from _in_the_plane(subject)
    if subject.kind == "classifier":
        yield from _classifier(subject)
    elif subject.kind == "regressor":
        assert best.truth is not None
        yield draw(lambda ax: _agreement(ax, best), f"Predicted against true values, of {best.rows}.")
    else:
        yield draw(
            lambda ax: _decisions(ax, subject), "Decisions of the training rows: negative means novel."
        )
    yield from _kernel(subject)


def _in_the_plane(subject: Subject) -> Iterator[str]:
    X = subject.X
    if getattr(X, "ndim", 1) != 2 or getattr(getattr(subject.machine, "kernel_", None), "pairwise", False):
        return
    width = X.shape[1]
    numeric = not hasattr(X, "dtypes") or all(getattr(t, "kind", "O") in "biuf" for t in X.dtypes)
    if not numeric or width > 2 or not _complete(X):  # a row with a gap has no place in the plane
        return
    # A pipeline predicts from the user's own columns; its support vectors live elsewhere.
    shown = subject.whole
    if width == 2 and subject.kind == "classifier":
        yield draw(
            lambda ax: plots.decision_regions(shown, X, subject.y, ax=ax),
            "Which class is predicted where, with the training rows.",
        )
    elif width == 2 and subject.kind == "detector":
        yield draw(lambda ax: plots.level_sets(shown, X, ax=ax), "Level sets of the decision function.")
    elif width == 1 and hasattr(subject.machine, "epsilon") and shown is subject.machine:
        yield draw(lambda ax: plots.tube(shown, X, subject.y, ax=ax), "The fitted function and its tube.")


def _complete(X: Any) -> bool:
    values: Any = X.data if issparse(X) else np.asarray(X, dtype=np.float64)  # type: ignore[attr-defined]
    return bool(np.isfinite(values).all())


def _classifier(subject: Subject) -> Iterator[str]:
    machine, y_test = subject.machine, subject.y_test
    assert subject.y is not None
    y = subject.y
    if hasattr(machine, "margins"):
        yield draw(
            lambda ax: plots.margins(machine, subject.inner, y, ax=ax),
            "Margins of the training rows: how far on the right side of the boundary they lie.",
        )
    enough = y_test is not None and len(y_test) >= 40
    if hasattr(machine, "predict_proba") and enough:
        yield draw(
            lambda ax: plots.calibration(subject.model, subject.X_test, y_test, ax=ax),
            "Probabilities of the held-out rows, against how often they came true.",
        )


def _kernel(subject: Subject) -> Iterator[str]:
    kernel = getattr(subject.machine, "kernel_", None)
    if kernel is None or rows_of(subject.X) < 2:
        return
    y = subject.y if subject.kind != "detector" else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # matplotlib's, of layouts
        yield draw(
            lambda ax: plots.kernel_matrix(subject.machine, subject.inner, y, ax=ax, rows=400, title=""),
            "The kernel matrix, rows ordered by class: bright blocks are what the kernel takes for similar."
            if subject.kind == "classifier"
            else "The kernel matrix"
            + (", rows ordered by target." if y is not None else ": what the kernel takes for similar."),
        )


def _agreement(ax: Any, best: Scores) -> None:
    truth, predicted = np.asarray(best.truth, dtype=float), np.asarray(best.predicted, dtype=float)
    step = max(1, len(truth) // MOST_ROWS)
    low, high = min(truth.min(), predicted.min()), max(truth.max(), predicted.max())
    ax.plot([low, high], [low, high], "--", color="#808080", linewidth=1.0, label="equal")
    ax.scatter(
        truth[::step], predicted[::step], s=14, c="#0072B2", edgecolors="white", linewidths=0.3, label="row"
    )
    ax.set(xlabel="true value", ylabel="predicted value")
    ax.legend(frameon=False, fontsize=8, loc="upper left")


def _decisions(ax: Any, subject: Subject) -> None:
    values = np.ravel(subject.machine.decision_function(subject.inner))
    low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
    edges = np.linspace(low, high, 41) if high > low else np.array([low - 0.5, low + 0.5])
    for part, colour, words in (
        (values[values >= 0], "#0072B2", "normal"),
        (values[values < 0], "#D55E00", "novel"),
    ):
        ax.hist(
            part, bins=edges, color=colour, label=f"{words}: {part.size}", edgecolor="white", linewidth=0.4
        )
    ax.axvline(0.0, color="#333333", linewidth=1.0)
    ax.set(xlabel="decision", ylabel="rows")
    ax.legend(frameon=False, fontsize=8, loc="upper left")
