"""The report: what was learned, how good, how sure, what matters, in pictures."""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Iterable
from datetime import UTC, datetime
from html import escape
from typing import Any

import numpy as np

from mercer import bounds
from mercer._report.column_importance import importance_part
from mercer._report.hardest_rows import hardest_table, support_words
from mercer._report.html_page import Page, document, pairs, paragraph, pictures, section, tile, tiles
from mercer._report.report_pictures import drawings
from mercer._report.result_tables import class_tables, promises, score_table
from mercer._report.scores import Measuring, Scores, all_scores
from mercer._report.step_words import rounded
from mercer._report.subject import Subject, subject, take
from mercer._report.verdict import Measured, form, intervals, percent, promise_of, use, verdict
from mercer._version import __version__
from mercer.words import counted

SHOWN = (
    "threshold",
    "C",
    "nu",
    "epsilon",
    "alpha",
    "loss",
    "tol",
    "criterion",
    "class_weight",
    "multiclass",
    "noise",
)
FOUND = {"margin_": "geometric margin", "radius_": "radius of the ball", "epsilon_": "width found"}
COIN = 0.5  # a promise that is no better than a coin is not a green one
MOST_BOUND_ROWS = 20_000  # beyond, the theorems' kernel sums are left out


def report(
    model: Any,
    X: Any,
    y: Any = None,
    path: str | os.PathLike[str] | None = None,
    *,
    X_test: Any = None,
    y_test: Any = None,
    cv: int = 5,
    delta: float = 0.05,
    scoring: str | None = None,
    title: str | None = None,
    facts: Iterable[tuple[str, Any]] = (),
    measured: Measured | None = None,
) -> Page:
    """Write a self-contained HTML report of a fitted model.

    It shows the score on held-out rows beside the best constant guess, bounds on the error on new rows,
    the importance of the columns, plots, the model and its certificate, and the rows that deserve a look. The
    page loads nothing from the network.

    Parameters
    ----------
    model : estimator
        A fitted classifier, regressor or novelty detector; also the last step of a pipeline, or inside of a
        search.
    X, y : array
        The training data; detectors need no y.
    path : str or path, optional
        Where to write the page.
    X_test, y_test : array, optional
        Data that had no part in the fit.
    cv : int, default=5
        Folds of a cross-validation on the training data, which refits the model that often; 0 for none. Not
        done where held-out data are given.
    delta : float, default=0.05
        Probability with which each bound may fail.
    scoring : str, optional
        scikit-learn's name of the score that counts. If not given: accuracy, balanced accuracy where a class
        is rare, R^2.
    title : str, optional
        Heading.
    facts : iterable of (str, value), optional
        More lines for the table of what was learned.
    measured : Measured, optional
        What was measured already, as ``mercer train`` does before its last fit on all rows.

    Returns
    -------
    Page
        The document as a string, with ``save(path)``; notebooks show it.

    References
    ----------
    The ranking of rows by multiplier: I. Guyon, N. Matic and V. Vapnik (1996), Discovering informative
    patterns and data cleaning, in Advances in Knowledge Discovery and Data Mining.

    Examples
    --------
    >>> import mercer
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> page = mercer.report(mercer.SVC().fit(X, y), X, y)  # doctest: +SKIP
    >>> page.save("iris.html")  # doctest: +SKIP
    """
    if cv < 0 or cv == 1:
        raise ValueError(f"cv={cv!r} must be 0 (none) or an integer of at least 2")
    it = subject(model, X, y, X_test, y_test)
    if measured is None:
        measured = _measured(it, int(cv), scoring, delta)
    best = measured.scores[0]
    heading = title or f"{type(it.machine).__name__} on {it.n_rows} rows"
    words, tone = use(best)
    body = [
        f"<header><h1>{escape(heading)}</h1>{paragraph(_sentence(it), 'soft')}</header>",
        paragraph(f"{words[0].upper()}{words[1:]}.", f"lead {tone}"),
        "" if measured.promise is None else paragraph(f"Bound: {measured.promise.words}.", "lead"),
        tiles(_tiles(it, best, measured)),
        section(
            "Performance",
            score_table(measured.scores),
            class_tables(best) if it.kind == "classifier" else "",
            "" if measured.coverage is None else paragraph(f"Intervals: {intervals(measured.coverage)}."),
        ),
        section("Explanations", importance_part(it, measured.unseen or it.unseen)),
        section("Plots", pictures(drawings(it, best, measured.coverage))),
        section("Model", pairs((_learned(it) | dict(facts)).items())),
        section(
            "Guarantees",
            _certificate(it),
            promises(_bounds(it, delta), measured.promise, it.kind == "regressor"),
        ),
        section("Important rows", pairs(found) if (found := support_words(it)) else "", hardest_table(it)),
        f"<footer>mercer {__version__}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC</footer>",
    ]
    page = document(heading, "\n".join(part for part in body if part))
    if path is not None:
        page.save(path)
    return page


def _measured(it: Subject, cv: int, scoring: str | None, delta: float) -> Measured:
    """Return the scores of held-out rows, of folds where there are none, and what they promise."""
    measuring = Measuring(it.kind, it.y, scoring, delta)
    scores, coverage = all_scores(it, 0 if it.X_test is not None else cv, measuring)
    return Measured(scores, None if it.X_test is None else promise_of(scores[0], delta), coverage)


def _sentence(it: Subject) -> str:
    features = len(it.feature_names)
    what = counted(features, "feature") if features else "items"
    if it.kind == "classifier":
        names = [str(name) for name in it.machine.classes_]
        listed = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
        return f"A classifier of {len(names)} classes ({listed}) from {what}."
    if it.kind == "regressor":
        assert it.y is not None
        seen = f"target from {np.min(it.y):.4g} to {np.max(it.y):.4g} in training"
        return f"A regression model ({seen}) on {what}."
    return f"A novelty detector on {what}."


def _tiles(it: Subject, best: Scores, measured: Measured) -> Iterable[str]:
    name, value = best.headline
    tone = verdict(best)[1]
    yield tile(name, form(name)(value), f"of {best.rows}", tone)
    if best.guess is not None:
        yield tile("best constant guess", form(name)(best.guess[1]), best.guess[0])
    promise = measured.promise
    if promise is not None:
        good = "good" if promise.at_most < min(COIN, promise.guess) and tone != "poor" else "fair"
        shown = "nothing" if promise.at_most >= 1.0 else f"≤ {percent(promise.at_most)}"
        yield tile("bound", shown, f"of new rows {promise.what}", good)
    support = getattr(it.machine, "support_", None)
    if support is not None:
        yield tile("support vectors", str(len(support)), f"of {it.n_rows} rows")
    certificate = getattr(it.machine, "certificate_", None)
    if certificate is not None:
        # About the optimisation alone: beside a useless model it is nothing to be glad of.
        sound = certificate.status == "optimal" and tone != "poor"
        proved = re.search(r"within ([\d.]+ %)", str(certificate))
        note = "at most this far from the optimum of its problem" if proved else "no gap can be given"
        words = proved[1] if proved else certificate.status
        yield tile("certificate", words, note, "" if sound else "fair")


def _learned(it: Subject) -> dict[str, Any]:
    machine = it.machine
    rows: dict[str, Any] = {"machine": type(machine).__name__}
    kernel = getattr(machine, "kernel_", None)
    if kernel is not None:
        rows["kernel"] = rounded(repr(kernel))
    known = machine.get_params(deep=False)
    usual = {"threshold": 0.0}
    rows |= {n: rounded(str(known[n])) for n in SHOWN if n in known and known[n] not in (None, usual.get(n))}
    columns = f", {counted(len(it.feature_names), 'column')}" if it.feature_names else ""
    rows["training data"] = f"{it.n_rows} rows{columns}"
    rows |= _guaranteed(it)
    if it.preparation:
        rows["preparation"] = "; ".join(it.preparation)
    for name, words in FOUND.items():
        value = getattr(machine, name, None)
        if isinstance(value, (float, np.floating)) and math.isfinite(value):
            rows[words] = f"{float(value):.5g}"
    return rows


def _certificate(it: Subject) -> str:
    certificate = getattr(it.machine, "certificate_", None)
    if certificate is None:
        return ""
    words = f"Certificate: {certificate}. It describes the optimisation, not how useful the model is."
    numbers = [
        ("objective of this model (primal)", certificate.primal),
        ("lower bound on the objective (dual)", certificate.dual),
        ("duality gap", certificate.gap),
        ("largest violation of the optimality conditions", certificate.kkt_violation),
    ]
    shown = [(name, f"{value:.8g}" if math.isfinite(value) else "unknown") for name, value in numbers]
    return paragraph(words) + pairs(
        [*shown, ("steps", certificate.n_iter), ("stopped on", certificate.criterion)]
    )


def _bounds(it: Subject, delta: float) -> Any:
    """Return the bounds, None if no theorem applies to this model, or the reason why there are none."""
    if getattr(it.machine, "dual_coef_", None) is None:
        return None
    if getattr(it.machine, "threshold", 0.0):
        return "No theorem: they are about the threshold 0, and this machine has another."
    if it.n_rows > MOST_BOUND_ROWS:
        return f"Bounds sum over the whole kernel matrix; they are left out above {MOST_BOUND_ROWS} rows."
    held_out = {} if it.X_test is None else {"X_test": it.X_test, "y_test": it.y_test}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return bounds.report(it.model, it.X, it.y, delta, **held_out)
    except (ValueError, TypeError, AttributeError) as error:
        # A machine that the theorems do not cover; the page says so instead of a promise.
        return f"No bound: {error}"


def _guaranteed(it: Subject) -> dict[str, str]:
    """Return the coverage that conformal intervals or sets of 90 % guarantee, in words."""
    for method, what in (("predict_interval", "intervals"), ("predict_set", "sets")):
        if hasattr(it.machine, method):
            first = getattr(it.machine, method)(take(it.inner, np.arange(1)), coverage=0.9)
            return {f"90 % {what}": str(first.guarantee)}
    return {}
