"""The pictures of a report."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from mercer import plots
from mercer._report import score_pictures
from mercer._report.html_page import picture
from mercer._report.outputs import RememberedClassifier
from mercer._report.scores import Coverage, Scores
from mercer._report.subject import Subject, rows_of

DPI = 170
SIZE = (4.8, 3.5)  # inches: letters stay readable where a page is 390 pixels wide
LEAST_CALIBRATION = 40  # rows, for bins of which shares mean something


def draw(paint: Callable[[Any], object], words: str, lines: bool = True) -> str:
    """Return a picture that ``paint`` drew on the axes it is given."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            'reports need matplotlib, which is not installed: pip install "mercer[plots]"'
        ) from error
    figure = Figure(figsize=SIZE, layout="constrained")
    figure.set_facecolor("white")
    paint(figure.add_subplot())
    target = io.BytesIO()
    figure.savefig(target, format="png", dpi=DPI)
    return picture(target.getvalue(), words, lines)


def drawings(subject: Subject, best: Scores, coverage: Coverage | None) -> Iterator[str]:
    """Yield the pictures that there are for this machine and these data."""
    of = f", of {best.rows}."
    if subject.kind == "classifier":
        yield draw(lambda ax: score_pictures.confusion(ax, best), f"Confusion matrix{of}")
    if score_pictures.has_curves(best):
        yield draw(lambda ax: score_pictures.receiver(ax, best), f"ROC curve{of}")
        yield draw(lambda ax: score_pictures.precision_recall(ax, best), f"Precision and recall{of}")
    if best.outputs.proba is not None and best.truth is not None and best.truth.size >= LEAST_CALIBRATION:
        yield draw(lambda ax: _calibration(ax, subject, best), f"Calibration of the probabilities{of}")
    if subject.kind == "regressor":
        yield draw(lambda ax: score_pictures.agreement(ax, best), f"Predicted against true values{of}")
        yield draw(
            lambda ax: score_pictures.residuals(ax, best), f"Errors (residuals) against predictions{of}"
        )
        if best.outputs.deviation is not None:
            yield draw(
                lambda ax: score_pictures.interval_bars(ax, best),
                f"90 % prediction intervals, noise included{of}",
            )
    if coverage is not None:
        words = f"Coverage of the prediction intervals: {coverage.words}."
        yield draw(lambda ax: score_pictures.covered(ax, coverage), words)
    yield from _in_the_plane(subject)
    if subject.kind == "classifier" and hasattr(subject.machine, "margins"):
        yield draw(
            lambda ax: _margins(ax, subject),
            "Margins of the training rows: positive is correct, 1 is the margin.",
        )
    if subject.kind == "detector":
        yield draw(
            lambda ax: _decisions(ax, subject), "Decisions of the training rows: negative means novel."
        )
    yield from _kernel(subject)


def _margins(ax: Any, subject: Subject) -> None:
    assert subject.y is not None
    plots.margins(subject.machine, subject.inner, subject.y, ax=ax)
    ax.set_title("", loc="left")  # the caption says it
    ax.set_ylim(top=1.5 * ax.get_ylim()[1])  # room for the legend


def _calibration(ax: Any, subject: Subject, best: Scores) -> None:
    rows = np.arange(len(best.predicted))
    model = RememberedClassifier(best.outputs, subject.machine.classes_)
    plots.calibration(model, rows, best.truth, ax=ax)
    ax.legend(frameon=False, fontsize=8, loc="upper left")


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
            "Decision regions and training rows.",
        )
    elif width == 2 and subject.kind == "detector":
        yield draw(lambda ax: plots.level_sets(shown, X, ax=ax), "Level sets of the decision function.")
    elif width == 1 and hasattr(subject.machine, "epsilon") and shown is subject.machine:
        yield draw(
            lambda ax: plots.tube(shown, X, subject.y, ax=ax), "The fitted function and its epsilon-tube."
        )


def _complete(X: Any) -> bool:
    values: Any = X.data if issparse(X) else np.asarray(X, dtype=np.float64)  # type: ignore[attr-defined]
    return bool(np.isfinite(values).all())


def _kernel(subject: Subject) -> Iterator[str]:
    kernel = getattr(subject.machine, "kernel_", None)
    several = isinstance(kernel, tuple) or hasattr(kernel, "kernels")  # one for each process
    if kernel is None or several or rows_of(subject.X) < 2:
        return
    y = subject.y if subject.kind != "detector" else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # matplotlib's, of layouts
        yield draw(
            lambda ax: plots.kernel_matrix(subject.machine, subject.inner, y, ax=ax, rows=400, title=""),
            "The kernel matrix, rows ordered by class: bright blocks are similar rows."
            if subject.kind == "classifier"
            else "The kernel matrix"
            + (", rows ordered by target." if y is not None else ": bright cells are similar rows."),
            lines=False,
        )


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
