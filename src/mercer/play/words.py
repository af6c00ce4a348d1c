"""Certificate and bounds of the machine on the board, as HTML."""

from __future__ import annotations

import html
import warnings
from collections.abc import Sequence

import numpy as np

from mercer import bounds
from mercer.bounds.promises import Report
from mercer.play.fitted_view import View, data_of
from mercer.play.presets import Points

__all__ = ["bounds_html", "certificate_html"]


def _table(rows: Sequence[tuple[str, ...]], head: tuple[str, ...] = ()) -> str:
    def line(cells: tuple[str, ...], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    top = line(head, "th") if head else ""
    return f'<table class="facts">{top}{"".join(line(cells, "td") for cells in rows)}</table>'


def certificate_html(view: View, n: int) -> str:
    """Return what is proved of the machine, with its values."""
    if view.model is None:
        return f"<p>{html.escape(view.message)}</p>"
    support = int((view.multiplier > 0.0).sum())
    rows = [("support vectors", f"{support} of {n} points")]
    certificate = getattr(view.model, "certificate_", None)
    if certificate is None:
        first = f"{view.model.status_}: {view.model.mistakes_} mistakes"
    else:
        first = str(certificate)
        rows += [
            ("primal value", f"{certificate.primal:.6g}"),
            ("dual value", f"{certificate.dual:.6g}"),
            ("duality gap", f"{certificate.gap:.3g}"),
            ("KKT violation", f"{certificate.kkt_violation:.3g}"),
            ("iterations", f"{certificate.n_iter}"),
        ]
    margin = getattr(view.model, "margin_", None)
    if margin is not None and np.size(margin) == 1:
        rows.append(("margin", f"{float(np.ravel(margin)[0]):.4g}"))
    slack = view.slack[np.isfinite(view.slack)]
    if slack.size:
        rows.append(("sum of slacks", f"{slack.sum():.4g}"))
    rows.append(("time", f"{1000.0 * view.seconds:.0f} ms for the fit and the picture"))
    notes = "".join(f'<p class="warning">{html.escape(words)}</p>' for words in view.words)
    return f'<p class="verdict">{html.escape(first)}</p>{_table(rows)}{notes}'


def bounds_html(view: View, points: Points, task: str) -> str:
    """Return the generalisation bounds of the machine, the best one first."""
    if view.model is None:
        return f"<p>{html.escape(view.message)}</p>"
    X, y = data_of(points, task)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit has shown its own
        try:
            found = bounds.report(view.model, X, None if task == "novelty" else y)
        except (ValueError, TypeError) as error:
            return f"<p>{html.escape(str(error))}</p>"
    if isinstance(found, Report):
        return _one_report(found)
    return "".join(f"<p>{html.escape(one.title)}</p>{_one_report(one)}" for one in found)


def _one_report(report: Report) -> str:
    best = report.best
    first = "No bound is below its trivial value: more points or a larger margin would help."
    if best is not None:
        first = best.promise.format(value=f"{best.value:.3g}")
    lines = sorted(report.lines, key=lambda line: line.value is None)
    rows = [(line.name, "" if line.value is None else f"{line.value:.3g}", line.verdict) for line in lines]
    table = _table(rows, ("bound", "at most", "verdict"))
    note = "<p>The bounds hold for parameters fixed before the points were seen.</p>"
    return f'<p class="verdict">{html.escape(first)}</p>{table}{note}'
