"""A report as HTML for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from mercer.bounds.report_text import KINDS, STATUS, amount, conclusion, letters, number, said

if TYPE_CHECKING:
    from mercer.bounds.promises import Assumption, Line, Report, Reports

GREEN, AMBER, RED, GREY = "#1a7f37", "#7d6608", "#b42318", "#667085"
COLOURS = {"guarantee": GREEN, "on average": AMBER, "an estimate": AMBER, "assumption violated": RED}
LEFT = "text-align:left;padding:2px 10px"
RIGHT = "text-align:right;padding:2px 10px"


def render(report: Report) -> str:
    """Return a report as HTML."""
    marks = letters(report.assumptions)
    names = (report.about, "at most", "seen", "verdict", "rests on", "source")
    sides = (LEFT, RIGHT, RIGHT, LEFT, LEFT, LEFT)
    head = "".join(f'<th style="{side}">{escape(n)}</th>' for n, side in zip(names, sides, strict=True))
    body = "".join(_line(line, marks) for line in report.lines)
    rests = "".join(f"<li><b>{mark}</b> {_status(a)}: {escape(a.text)}</li>" for a, mark in marks.items())
    facts = "".join(
        "<tr>" + _cell(fact.name) + _cell(number(fact.value), RIGHT) + _cell(fact.note) + "</tr>"
        for fact in report.facts
    )
    sure = (
        f"Each line may fail with probability {report.delta:g} over the draw of the training points; to use "
        "several lines at once, ask for a smaller delta."
    )
    return (
        f"<div><h4>{escape(report.title)}</h4><p><b>{escape(conclusion(report))}</b><br>{sure}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f'<p>Assumptions (! = violated)</p><ul style="list-style:none">{rests}</ul>'
        f"<details><summary>The machine</summary><table><tbody>{facts}</tbody></table></details></div>"
    )


def join(reports: Reports) -> str:
    """Return the reports on several two-class machines as HTML, folded."""
    parts = "".join(
        f"<details><summary>{escape(f'{part.title}: {conclusion(part)}')}</summary>{render(part)}</details>"
        for part in reports
    )
    whole = "".join(f"<p>{escape(f'{line.name}: {said(line)}')}</p>" for line in reports.lines)
    return f"<div><h4>{escape(reports.title)}</h4>{whole}{parts}</div>"


def _line(line: Line, marks: dict[Assumption, str]) -> str:
    ordered = sorted(line.assumptions, key=lambda a: marks[a])
    rests = ", ".join(f"<b>{marks[a]}!</b>" if a.status == "broken" else marks[a] for a in ordered)
    verdict = f'<span style="color:{COLOURS.get(line.verdict, GREY)}">{line.verdict}</span>'
    cells = (
        _cell(line.name)
        + _cell(amount(line), RIGHT)
        + _cell(number(line.seen), RIGHT)
        + f'<td style="{LEFT}">{verdict}</td><td style="{LEFT}">{rests}</td>'
        + _cell(f"{KINDS[line.kind]}: {line.source}")
    )
    words = (
        f'<td colspan="6" style="{LEFT};padding-left:24px;color:{GREY}"><div>{escape(said(line))}</div></td>'
    )
    return f"<tr>{cells}</tr><tr>{words}</tr>"


def _cell(text: str, style: str = LEFT) -> str:
    return f'<td style="{style}">{escape(text)}</td>'


def _status(assumption: Assumption) -> str:
    broken = assumption.status == "broken"
    return f'<b style="color:{RED}">broken</b>' if broken else STATUS[assumption.status]
