"""The warning of fits that are optimal and say nothing."""

from __future__ import annotations


class DegenerateFitWarning(UserWarning):
    """The optimum is w = 0: the parameters ask for something that this kernel cannot give on these data."""
