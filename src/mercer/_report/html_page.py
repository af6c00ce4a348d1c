"""One HTML file that needs nothing else: style inside, pictures inside, no script, no network."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

STYLE = """
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1d2733; --soft: #5b6776; --line: #d9dee5;
  --card: #f6f8fa; --good: #00734f; --fair: #8a5a00; --poor: #b3430a; --bar: #0072b2; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181d; --ink: #e6eaef; --soft: #a3afbd;
  --line: #333c47; --card: #1d232a; --good: #4cc9a0; --fair: #e8b04a; --poor: #ff9257; --bar: #56b4e9; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 24px 20px 60px; max-width: 1080px; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.7em; line-height: 1.2; margin: 0.2em 0 0.1em; }
h2 { font-size: 1.25em; margin: 2em 0 0.5em; padding-bottom: 0.2em; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.02em; margin: 1.2em 0 0.4em; }
h4 { margin: 0 0 0.3em; }
p { margin: 0.4em 0; max-width: 46em; }
.soft { color: var(--soft); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(180px, 1fr)); gap: 12px;
  margin: 18px 0; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 12px 14px; }
.tile .name { color: var(--soft); font-size: 0.85em; }
.tile .value { font-size: 1.6em; font-weight: 650; line-height: 1.25; overflow-wrap: anywhere; }
.tile .note { color: var(--soft); font-size: 0.85em; }
.good { color: var(--good); } .fair { color: var(--fair); } .poor { color: var(--poor); }
table { border-collapse: collapse; font-size: 0.92em; }
th, td { padding: 3px 12px 3px 0; text-align: left; vertical-align: top; }
th { font-weight: 600; border-bottom: 1px solid var(--line); white-space: nowrap; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tbody tr + tr td { border-top: 1px solid var(--line); }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr));
  gap: 16px; }
figure { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  overflow: hidden; }
figure img { display: block; width: 100%; height: auto; padding: 10px; background: #ffffff; }
figcaption { padding: 8px 12px; font-size: 0.88em; color: var(--soft); background: var(--card);
  border-top: 1px solid var(--line); }
details { margin: 0.5em 0; } summary { cursor: pointer; }
.bar { display: inline-block; height: 0.7em; background: var(--bar); border-radius: 2px; }
.lead { font-size: 1.15em; line-height: 1.4; margin: 0.6em 0 0.3em; }
td:first-child { min-width: 7em; } td.n:first-child { min-width: 0; }
.promises details { border-top: 1px solid var(--line); padding-top: 0.4em; }
footer { margin-top: 3em; color: var(--soft); font-size: 0.85em; }
@media (prefers-color-scheme: dark) { figure.lines img { filter: invert(0.91) hue-rotate(180deg); }
  figure:not(.lines) img { filter: brightness(0.8); } }
@media (max-width: 640px) { body { padding: 16px 12px 40px; }
  .tiles { grid-template-columns: 1fr 1fr; gap: 8px; } .tile .value { font-size: 1.3em; }
  table, tbody, tr, .pairs td { display: block; } thead { display: none; }
  td, td.n { display: inline-block; padding: 1px 14px 1px 0; text-align: left; white-space: normal;
    overflow-wrap: anywhere; border: 0 !important; min-width: 0 !important; }
  tr { padding: 6px 0; border-top: 1px solid var(--line); }
  td[data-name]::before { content: attr(data-name) ": "; color: var(--soft); }
  td:empty { display: none; } .pairs td:first-child { color: var(--soft); } }
@media print { body { max-width: none; padding: 0; } .tile, figure { break-inside: avoid; } }
"""

# Nothing is loaded when the page is opened, whatever a name in the data looks like.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'"


class Page(str):
    """A whole HTML document as text; notebooks show it, :meth:`save` writes it."""

    __slots__ = ()

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file.

        Parameters
        ----------
        path : str or path
            Where to.

        Returns
        -------
        Path
            The file.
        """
        target = Path(path)
        target.write_text(self, encoding="utf-8")
        return target

    def _repr_html_(self) -> str:
        # A frame of its own keeps the page's style from the notebook's.
        return f'<iframe srcdoc="{escape(self)}" style="width:100%;height:800px;border:0"></iframe>'

    def __repr__(self) -> str:
        return f"Page({len(self)} characters; save it with .save('report.html'))"


def document(title: str, body: str) -> Page:
    """Return a whole document."""
    return Page(
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def section(title: str, *parts: str) -> str:
    """Return a section, or nothing if it has no parts."""
    inside = "\n".join(part for part in parts if part)
    return f"<section><h2>{escape(title)}</h2>\n{inside}\n</section>" if inside else ""


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph of plain text."""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def tile(name: str, value: str, note: str = "", tone: str = "") -> str:
    """Return a number that deserves a box."""
    return (
        f'<div class="tile"><div class="name">{escape(name)}</div>'
        f'<div class="value {tone}">{escape(value)}</div><div class="note">{escape(note)}</div></div>'
    )


def tiles(found: Iterable[str]) -> str:
    """Return boxes side by side."""
    return f'<div class="tiles">{"".join(found)}</div>'


def pairs(rows: Iterable[tuple[str, Any]]) -> str:
    """Return names and values as a table of two columns."""
    body = "".join(f"<tr><td>{escape(name)}</td><td>{escape(str(value))}</td></tr>" for name, value in rows)
    return f'<table class="pairs"><tbody>{body}</tbody></table>'


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], numbers: Sequence[int] = ()) -> str:
    """Return a table; the columns in ``numbers`` are flush right."""
    right = set(numbers)

    def cells(row: Sequence[Any], tag: str) -> str:
        found = []
        for k, value in enumerate(row):
            kind = ' class="n"' if k in right else ""
            # Where a screen is narrow, a row becomes a list: each cell then says what it is.
            name = f' data-name="{escape(head[k])}"' if tag == "td" and head[k] else ""
            found.append(f"<{tag}{kind}{name}>{escape(str(value))}</{tag}>")
        return "".join(found)

    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return f"<table><thead><tr>{cells(head, 'th')}</tr></thead><tbody>{body}</tbody></table>"


def picture(png: bytes, words: str, lines: bool = True) -> str:
    """Return a picture with its caption; one of lines on white becomes one on black where pages are dark."""
    data = base64.b64encode(png).decode("ascii")
    kind = ' class="lines"' if lines else ""
    return (
        f'<figure{kind}><img alt="{escape(words)}" src="data:image/png;base64,{data}">'
        f"<figcaption>{escape(words)}</figcaption></figure>"
    )


def pictures(found: Iterable[str]) -> str:
    """Return pictures side by side."""
    inside = "".join(found)
    return f'<div class="pictures">{inside}</div>' if inside else ""
