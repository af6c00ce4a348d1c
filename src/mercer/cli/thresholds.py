"""Where to draw the line between two classes: by costs, or by a wished precision or recall."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.cli.user_error import UserError

FORMS = "a number, precision=0.8, recall=0.9, or cost=5 (a missed row costs as much as 5 false alarms)"


def threshold_wish(text: str) -> float | tuple[str, float]:
    """Return a threshold, or what it is to achieve."""
    name, _, number = text.rpartition("=")
    try:
        value = float(number)
    except ValueError:
        raise UserError(f"--threshold {text} is invalid; it must be {FORMS}") from None
    if not np.isfinite(value) or name not in ("", "precision", "recall", "cost"):
        raise UserError(f"--threshold {text} is invalid; it must be {FORMS}")
    if not name:
        return value
    if value <= 0.0 or (name != "cost" and value > 1.0):
        raise UserError(f"--threshold {text}: it must be above 0{'' if name == 'cost' else ' and at most 1'}")
    return name, value


def found_threshold(
    wish: tuple[str, float], wanted: Any, y: np.ndarray, decision: np.ndarray, weight: Any
) -> tuple[float, str]:
    """Return the threshold of the decisions that fulfils a wish best, and what it achieves, in words.

    Parameters
    ----------
    wish : (str, float)
        "precision" or "recall" and its least value: the other is then as large as can be; or "cost" and what
        a missed row costs in false alarms.
    wanted : Any
        The class that is to be found.
    y : ndarray
        Two classes.
    decision : ndarray
        Decisions of machines that had not seen the rows.
    weight : ndarray or None
        Of the rows.
    """
    side = 1.0 if wanted == np.unique(y)[1] else -1.0
    towards = side * decision
    w = np.ones(y.size) if weight is None else weight
    order = np.argsort(-towards, kind="stable")
    hits = np.cumsum((w * (y == wanted))[order])
    alarms = np.cumsum((w * (y != wanted))[order])
    ends = np.flatnonzero(np.append(np.diff(towards[order]) != 0, True))  # rows of one decision go together
    hits, alarms, total = hits[ends], alarms[ends], float((w * (y == wanted)).sum())
    precision, recall = hits / np.maximum(hits + alarms, 1e-300), hits / total
    kind, value = wish
    if kind == "cost":
        best = int(np.argmin(alarms + value * (total - hits)))
    else:
        least, most = (precision, recall) if kind == "precision" else (recall, precision)
        enough = np.flatnonzero(least >= value)
        if not enough.size:
            raise UserError(
                f"--threshold {kind}={value:g}: no threshold reaches this in cross-validation; the best "
                f"{kind} of {str(wanted)!r} is {least.max():.3g}"
            )
        best = int(enough[np.argmax(most[enough])])
    place = towards[order][ends]
    after = place[best + 1] if best + 1 < place.size else place[best] - 1.0
    at = side * 0.5 * float(place[best] + after)
    asked = f"cost {value:g} of a missed row" if kind == "cost" else f"{kind} at least {value:g}"
    return at, (
        f"{asked}; in cross-validation precision {precision[best]:.3g} and recall {recall[best]:.3g} of "
        f"{str(wanted)!r}"
    )
