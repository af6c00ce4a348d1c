"""The look of controls and texts. Bokeh keeps each in a shadow tree: only variables reach into it."""

from __future__ import annotations

from bokeh.models import CustomJSTickFormatter, InlineStyleSheet, UIElement

__all__ = ["dress_all", "power_of_ten"]

SHEET = """
:host { color: var(--ink); font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.25rem; margin: 0.1rem 0 0.2rem; }
p { margin: 0.35rem 0; }
p.verdict { font-weight: 600; }
p.warning { color: var(--warn); }
table.facts { border-collapse: collapse; margin: 0.4rem 0; width: 100%; }
table.facts td, table.facts th { border-bottom: 1px solid var(--faint); text-align: left;
  padding: 0.2rem 0.5rem 0.2rem 0; }
table.facts td:nth-child(2) { font-variant-numeric: tabular-nums; }
.key { white-space: nowrap; margin-right: 0.7rem; }
.bk-input, .bk-btn, select { background-color: var(--ground) !important; color: var(--ink) !important;
  border-color: var(--faint) !important; }
.bk-btn.bk-active { background-color: #0072b2 !important; color: #ffffff !important; }
.bk-btn:focus-visible, .bk-input:focus-visible { outline: 2px solid #0072b2; }
.bk-tab { color: var(--ink) !important; border-color: var(--faint) !important; padding: 4px 7px !important;
  font-size: 14px; }
.bk-tab.bk-active { background-color: #0072b2 !important; color: #ffffff !important; }
.bk-slider-title, label { color: var(--ink); }
pre { color: var(--ink); white-space: pre-wrap; max-height: 22rem; overflow: auto; word-break: break-all; }
"""


def dress_all(root: UIElement) -> None:
    """Give every part of the page the same style sheet."""
    sheet = InlineStyleSheet(css=SHEET)
    for part in root.references():
        if isinstance(part, UIElement):
            part.stylesheets = [*part.stylesheets, sheet]


def power_of_ten() -> CustomJSTickFormatter:
    """Return what makes a slider of exponents show the number itself."""
    return CustomJSTickFormatter(code="return Number((10 ** tick).toPrecision(3)).toString()")
