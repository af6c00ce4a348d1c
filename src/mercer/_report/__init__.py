"""A page about a fitted machine."""

from mercer._report.building import report
from mercer._report.page import Page

__all__ = ["Page", "report"]
