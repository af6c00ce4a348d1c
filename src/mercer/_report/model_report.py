"""The report: what was learned, how good, how sure, what matters, in pictures."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterable
from datetime import UTC, datetime
from html import escape
from typing import Any

import numpy as np

from mercer import bounds
from mercer._report.hardest_rows import hardest_table, support_words
from mercer._report.html_page import Page, document, pairs, paragraph, pictures, section, tile, tiles
from mercer._report.report_pictures import drawings
from mercer._report.scores import Scores, all_scores, class_tables, score_table
from mercer._report.step_words import rounded
from mercer._report.subject import Subject, subject
from mercer._version import __version__
from mercer.bounds import Report

SHOWN = ("C", "nu", "epsilon", "alpha", "loss", "tol", "criterion", "class_weight", "multiclass", "noise")
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
    title: str | None = None,
    facts: Iterable[tuple[str, Any]] = (),
) -> Page:
    """Make one self-contained HTML page about a fitted model.

    It says what was learned, how good it is (on rows that it has not seen), how sure that is (certificate and
    bounds), and which rows matter, with pictures. Nothing is loaded from anywhere when it is opened.

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
    title : str, optional
        Heading.
    facts : iterable of (str, value), optional
        More lines for the table of what was learned.

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
        raise ValueError(f"cv={cv!r} must be 0 (none) or a number of folds from 2 on")
    it = subject(model, X, y, X_test, y_test)
    scores = all_scores(it, 0 if X_test is not None else int(cv))
    promised = _bounds(it, delta)
    heading = title or f"{type(it.machine).__name__} on {it.n_rows} rows"
    body = [
        f"<header><h1>{escape(heading)}</h1>{paragraph(_sentence(it), 'soft')}</header>",
        tiles(_tiles(it, scores[0], promised)),
        section("What was learned", pairs([*_learned(it), *((n, str(v)) for n, v in facts)])),
        section(
            "How good",
            score_table(scores),
            class_tables(it, scores[0]) if it.kind == "classifier" else "",
        ),
        section("How sure", _certificate(it), _promises(promised)),
        section("What matters", pairs(found) if (found := support_words(it)) else "", hardest_table(it)),
        section("Pictures", pictures(drawings(it, scores[0]))),
        f"<footer>mercer {__version__}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC</footer>",
    ]
    page = document(heading, "\n".join(part for part in body if part))
    if path is not None:
        page.save(path)
    return page


def _sentence(it: Subject) -> str:
    features = len(it.feature_names)
    what = f"{features} features" if features else "items"
    if it.kind == "classifier":
        names = [str(name) for name in it.machine.classes_]
        listed = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
        return f"A machine that tells {len(names)} classes ({listed}) apart by {what}."
    if it.kind == "regressor":
        assert it.y is not None
        seen = f"from {np.min(it.y):.4g} to {np.max(it.y):.4g} in training"
        return f"A machine that predicts a number ({seen}) by {what}."
    return f"A machine that recognises what is unlike its training rows by {what}."


def _tiles(it: Subject, best: Scores, promised: Any) -> Iterable[str]:
    name, value = best.headline
    shown = f"{value:.1%}" if name != "R²" else f"{value:.3f}"
    yield tile(name, shown, f"of {best.rows}", "" if best.unseen else "fair")
    certificate = getattr(it.machine, "certificate_", None)
    if certificate is not None:
        optimal = certificate.status == "optimal"
        gap = certificate.relative_gap
        words = f"{100 * gap:.2g} %" if math.isfinite(gap) else certificate.status
        note = "at most this far from the best possible" if math.isfinite(gap) else "no gap can be given"
        yield tile("certificate", words, note, "good" if optimal else "fair")
    line = promised.best if isinstance(promised, Report) else None
    if line is not None and line.value is not None:
        tone = "good" if line.value < COIN else "fair"
        yield tile("promise", f"≤ {line.value:.1%}", f"{promised.about.lower()}: {line.name}", tone)
    support = getattr(it.machine, "support_", None)
    if support is not None:
        yield tile("support vectors", str(len(support)), f"of {it.n_rows} rows")


def _learned(it: Subject) -> list[tuple[str, Any]]:
    machine = it.machine
    rows: list[tuple[str, Any]] = [("machine", type(machine).__name__)]
    kernel = getattr(machine, "kernel_", None)
    if kernel is not None:
        rows.append(("kernel", rounded(repr(kernel))))
    known = machine.get_params(deep=False)
    rows += [(name, known[name]) for name in SHOWN if known.get(name) is not None and name in known]
    rows.append(
        (
            "training data",
            f"{it.n_rows} rows" + (f", {len(it.feature_names)} columns" if it.feature_names else ""),
        )
    )
    if it.preparation:
        rows.append(("preparation", "; ".join(it.preparation)))
    for name, words in (
        ("margin_", "geometric margin"),
        ("radius_", "radius of the ball"),
        ("epsilon_", "width found"),
    ):
        value = getattr(machine, name, None)
        if isinstance(value, (float, np.floating)) and math.isfinite(value):
            rows.append((words, f"{float(value):.5g}"))
    return rows


def _certificate(it: Subject) -> str:
    certificate = getattr(it.machine, "certificate_", None)
    if certificate is None:
        return ""
    words = f"Certificate: {certificate}."
    numbers = [
        ("objective of this machine (primal)", certificate.primal),
        ("no machine has a lower objective than (dual)", certificate.dual),
        ("gap between the two", certificate.gap),
        ("largest violation of the optimality conditions", certificate.kkt_violation),
    ]
    shown = [(name, f"{value:.8g}" if math.isfinite(value) else "unknown") for name, value in numbers]
    return paragraph(words) + pairs(
        [*shown, ("steps", certificate.n_iter), ("stopped on", certificate.criterion)]
    )


def _bounds(it: Subject, delta: float) -> Any:
    """Return what may be promised, None where no theorem is about this machine, or the reason in words."""
    if getattr(it.machine, "dual_coef_", None) is None:
        return None
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


def _promises(promised: Any) -> str:
    if promised is None:
        return ""
    if isinstance(promised, str):
        return paragraph(promised, "soft")
    return f'<h3>What may be promised of new rows</h3><div class="wide bounds">{promised._repr_html_()}</div>'
