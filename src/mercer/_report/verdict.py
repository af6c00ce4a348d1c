"""What a training came to, in the words that the terminal and the page share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._report.scores import Coverage, Scores
from mercer._report.subject import Unseen
from mercer.bounds import held_out_error


@dataclass(frozen=True)
class Promise:
    """What held-out rows promise of new ones.

    Attributes
    ----------
    at_most : float
        The share of new rows that are wrong, at most.
    what : str
        What is wrong with them.
    sure : float
        The probability with which that holds.
    seen : float
        The share among the held-out rows.
    source : str
        Which rows.
    guess : float
        The share among them that a constant guess is wrong about.
    """

    at_most: float
    what: str
    sure: float
    seen: float
    source: str
    guess: float = 1.0

    @property
    def words(self) -> str:
        """The promise as a sentence without its full stop."""
        if self.at_most >= 1.0:
            return f"none: {self.source} are too few, or too many of them are wrong"
        words = (
            f"at most {percent(self.at_most)} of new rows {self.what}, with probability {percent(self.sure)}"
        )
        if self.at_most >= self.guess:
            words += f"; a constant guess: {percent(self.guess)}"
        return f"{words} ({self.source})"

    def document(self) -> dict[str, Any]:
        """Return the promise for JSON."""
        return {
            "at_most": self.at_most,
            "of_new_rows": self.what,
            "with_probability": self.sure,
            "seen": self.seen,
            "from": self.source,
        }


@dataclass(frozen=True)
class Measured:
    """All that was measured of a machine, or of its like before a last fit on all rows.

    Attributes
    ----------
    scores : list of Scores
        The one that counts first.
    promise : Promise or None
        What may be said of new rows.
    coverage : Coverage or None
        Of the intervals of a regression.
    unseen : Unseen or None
        Rows on which the machine, before its last fit, can be judged.
    """

    scores: list[Scores]
    promise: Promise | None = None
    coverage: Coverage | None = None
    unseen: Unseen | None = None


def promise_of(
    scores: Scores, delta: float, *, tolerance: float | None = None, note: str = "", weighted: bool = False
) -> Promise | None:
    """Return what held-out rows promise; None if it is not clear what an error is."""
    predicted, truth, guess = scores.predicted, scores.truth, 1.0
    if scores.kind == "regressor":
        if tolerance is None or truth is None:
            return None
        wrong, what = np.abs(predicted - truth) > tolerance, f"missed by more than {tolerance:g}"
        guess = float(np.mean(np.abs(truth - np.median(truth)) > tolerance))
    elif scores.kind == "classifier":
        assert truth is not None
        wrong, what = predicted != truth, "wrong"
        guess = 1.0 - float(np.unique(truth, return_counts=True)[1].max()) / len(predicted)
    else:
        normal = np.ones(predicted.size, dtype=bool) if truth is None else ~truth
        wrong, what = (predicted < 0)[normal], "falsely called novel"
    n, count = int(wrong.size), int(wrong.sum())
    if n == 0:
        return None
    value = float(held_out_error(errors=count, n=n, delta=delta))
    once = ", each counted once" if weighted else ""
    return Promise(value, what, 1.0 - delta, count / n, f"{n} held-out rows{once}{note}", guess)


def percent(share: float) -> str:
    """Return a share with digits that mean something: neither nothing nor all where it is not quite so."""
    if share <= 0.0:
        return "none"
    if share < 0.001:
        return "less than 0.1 %"
    if 0.999 < share < 1.0:
        return "more than 99.9 %"
    return f"{100 * share:.3g} %"


def verdict(scores: Scores) -> tuple[str, str]:
    """Return whether the machine is of any use, in words and as a tone."""
    if scores.guess is None:
        return "", ""
    if scores.kind == "classifier" and scores.truth is not None and np.unique(scores.truth).size > 1:
        called = np.unique(scores.predicted)
        if called.size == 1:
            return f"not useful: it predicts {str(called[0])!r} for every row", "poor"
    (_, value), (_, guess) = scores.headline, scores.guess
    low = value if scores.interval is None else scores.interval[1 if scores.lower else 0]
    sign = -1.0 if scores.lower else 1.0
    if not scores.unseen:
        return "unknown: evaluated on its training rows", "fair"
    if sign * (value - guess) <= 0.0:
        return "no better than guessing", "poor"
    if sign * (low - guess) <= 0.0:
        return "not significantly better than guessing", "fair"
    return "better than guessing", "good"


def use(scores: Scores) -> tuple[str, str]:
    """Return of what use the machine is: verdict, score, interval, best constant guess; and the tone."""
    said, tone = verdict(scores)
    name, value = scores.headline
    shown = form(name)
    words = f"{name} {shown(value)} on {scores.rows}"
    if scores.interval is not None:
        low, high = scores.interval
        words += f" ({percent(scores.sure)} interval {shown(low)} to {shown(high)})"
    if scores.guess is not None:
        words += f"; {scores.guess[0]}: {shown(scores.guess[1])}"
    return (f"{said}: {words}" if said else words), tone


def figure(value: float) -> str:
    """Return a score with three digits; more would be chance."""
    if abs(value) < 5e-4:
        return "0"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def quantity(value: float) -> str:
    """Return a value in the target's unit with three digits, however small the unit makes it."""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}" if abs(value) < 1e6 else f"{value:.3e}"


def form(name: str) -> Callable[[float], str]:
    """Return how a measure is written: errors have the target's unit, the others have none."""
    return quantity if "error" in name else figure


def rest(scores: Scores) -> str:
    """Return the other measures in words."""
    about = "" if scores.positive is None else f" of {str(scores.positive)!r}"
    named = {"precision": f"precision{about}", "recall": f"recall{about}"}
    found = [f"{named.get(k, k)} {form(k)(v)}" for k, v in scores.values.items() if k != scores.headline[0]]
    return ", ".join(found)


def intervals(coverage: Coverage) -> str:
    """Return what intervals are worth, in words."""
    size, covered = quantity(coverage.half), percent(coverage.shares[0.9])
    return f"90 % intervals (± {size}) cover {covered}: {coverage.words}"
