"""Rounds of examples: a seed gives the same ones each time; each new failure is made as small as it goes."""

import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Flaky

SHRINKING = 10.0  # seconds for making one failure smaller
WITHOUT_SHRINKING = ("ends in time", "the process never dies")  # each try would cost a process


@dataclass
class Found:
    """A failure with the smallest example of it."""

    key: str
    message: str
    snippet: str
    count: int = 1


@dataclass
class Round:
    """What the examples of one seed did."""

    kind: str
    seed: int
    examples: int = 0
    fits: int = 0
    seconds: float = 0.0
    endings: Counter = field(default_factory=Counter)
    found: dict = field(default_factory=dict)
    slow: list = field(default_factory=list)


class _ShrinkThis(Exception):  # noqa: N818
    """Tells Hypothesis that an example is worth making smaller."""


def _worth_shrinking():
    """Raise; from one line, because to Hypothesis errors of two lines are two errors."""
    raise _ShrinkThis


def explore(kind, strategy, number, worker, known, *, examples=60, stop=None, shrink=True):
    """Return the round of one seed.

    Parameters
    ----------
    kind : str
        For the record.
    strategy : SearchStrategy
        Of cases: objects with ``run()`` and ``snippet()``.
    number : int
        The seed.
    worker : Worker
        Who runs them.
    known : set of str
        Keys of failures that were made small before; those of this round are added.
    examples : int
        How many.
    stop : callable, optional
        Returns True when time is up.
    shrink : bool
        Whether to make new failures smaller.
    """
    this = Round(kind, number)
    seen = set()
    state = {"key": None, "until": 0.0}

    def example(case):
        if stop is not None and stop():
            return
        text = repr(case)
        shrinking = state["key"] is not None
        if shrinking and time.monotonic() > state["until"]:
            return
        if text in seen and not shrinking:
            return
        seen.add(text)
        report = worker.run(case)
        this.examples += not shrinking
        this.fits += report.fits
        this.seconds += report.seconds
        this.endings[report.ending] += not shrinking
        if report.seconds > 5.0:
            this.slow.append(f"{report.seconds:.1f} s: {text}")
        keys = [_note(this, failure, case, counted=not shrinking) for failure in report.failures]
        if shrinking:
            if state["key"] in keys:
                _worth_shrinking()
            return
        for key in keys:
            if shrink and key not in known and not key.startswith(WITHOUT_SHRINKING):
                known.add(key)
                state.update(key=key, until=time.monotonic() + SHRINKING)
                _worth_shrinking()

    wrapped = settings(
        max_examples=examples, database=None, deadline=None, derandomize=False, print_blob=False,
        report_multiple_bugs=False, suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )(seed(number)(given(strategy)(example)))  # fmt: skip
    # What failed is in the round already, and time may have been up before Hypothesis tried it again.
    with suppress(_ShrinkThis, Flaky):
        wrapped()
    return this


def _note(this, failure, case, counted):
    """Keep the smallest example of each failure; tries to make one smaller do not count."""
    key, snippet = failure.key, case.snippet()
    if key not in this.found:
        this.found[key] = Found(key, failure.message, snippet)
        return key
    known = this.found[key]
    known.count += counted
    if len(snippet) <= len(known.snippet):
        known.message, known.snippet = failure.message, snippet
    return key
