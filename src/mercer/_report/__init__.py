"""A page about a fitted machine."""

from mercer._report.html_page import Page
from mercer._report.model_report import report

__all__ = ["Page", "report"]
