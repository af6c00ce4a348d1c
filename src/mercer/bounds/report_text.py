"""A report as plain text for the terminal."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mercer.bounds.promises import Assumption, Line, Report, Reports

WIDTH = 100
STATUS = {"broken": "VIOLATED", "yours": "your assumption", "met": "met"}
KINDS = {
    "theorem": "textbook",
    "modern": "modern",
    "average": "on average",
    "rate": "rate only",
    "estimate": "estimate",
}


def number(value: float | None) -> str:
    """Return a number for people: three digits, no exponent where none is needed."""
    if value is None or math.isnan(value):
        return "-"
    if math.isinf(value):
        return "infinite"
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.3g}" if 1e-3 <= abs(value) < 1e6 else f"{value:.1e}"


def amount(line: Line) -> str:
    """Return the value of a line."""
    text = number(line.value)
    return f"c * {text}" if line.kind == "rate" and line.value is not None else text


def said(line: Line) -> str:
    """Return in words what a line promises."""
    if line.value is None:
        return f"Not computed: {line.why}."
    words = line.promise.format(value=amount(line))
    if line.vacuous:
        words = f"Vacuous: {amount(line)} is not below {number(line.trivial)}."
    elif line.broken:
        words = f"If its assumptions held: {words[0].lower()}{words[1:]}"
    return f"{words} [{line.why}]" if line.why else words


def letters(assumptions: tuple[Assumption, ...]) -> dict[Assumption, str]:
    """Return a letter for each assumption."""
    return {a: chr(ord("a") + i) for i, a in enumerate(assumptions)}


def conclusion(report: Report) -> str:
    """Return in one sentence what the report comes to."""
    best = report.best
    if best is not None:
        return f"Best bound: {best.promise.format(value=number(best.value))} ({best.name})"
    broken = any(line.broken and line.vacuous is False for line in report.lines)
    least = "no valid bound is below 1" if broken else "no bound is below 1"
    return f"No guarantee: {least}. Held-out points (X_test=, y_test=) nearly always give one."


def join(reports: Reports) -> str:
    """Return the reports on several two-class machines as text."""
    whole = [f"{line.name}: {said(line)}" for line in reports.lines]
    return "\n\n".join([reports.title, *whole, *map(render, reports)])


def render(report: Report) -> str:
    """Return a report as text."""
    marks = letters(report.assumptions)
    out = [report.title, "=" * min(len(report.title), WIDTH), ""]
    out += textwrap.wrap(conclusion(report), WIDTH)
    out += textwrap.wrap(
        f"Each line may fail with probability {report.delta:g} over the draw of the training points; to use "
        "several lines at once, ask for a smaller delta. Observed: the same quantity on the points at hand.",
        WIDTH,
    )
    out += [
        "",
        f"{report.about:<34} {'at most':>10} {'observed':>8}  {'verdict':<19} assumptions",
        "-" * WIDTH,
    ]
    for line in report.lines:
        ordered = sorted(line.assumptions, key=lambda a: marks[a])
        rests = " ".join(marks[a] + ("!" if a.status == "broken" else "") for a in ordered)
        cells = f"{line.name:<34} {amount(line):>10} {number(line.seen):>8}  {line.verdict:<19} {rests}"
        out.append(cells.rstrip())
    out += ["", "In words"]
    for line in report.lines:
        out += textwrap.wrap(
            f"{line.name}: {said(line)} ({KINDS[line.kind]}: {line.source})",
            WIDTH,
            initial_indent="  ",
            subsequent_indent="      ",
            break_on_hyphens=False,
        )
    out += ["", "Assumptions (! = violated)"] if marks else []
    for assumption, mark in marks.items():
        text = f"{STATUS[assumption.status]}: {assumption.text}"
        out += textwrap.wrap(text, WIDTH, initial_indent=f"  {mark}  ", subsequent_indent="     ")
    out += ["", "The model"]
    out += [f"  {fact.name:<30} {number(fact.value):>10}  {fact.note}".rstrip() for fact in report.facts]
    return "\n".join(out)
