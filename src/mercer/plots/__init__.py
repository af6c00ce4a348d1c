"""Pictures of machines; each function draws on an Axes and returns it."""

from mercer.plots.bounds import bound_against_n
from mercer.plots.margins import margins

__all__ = ["bound_against_n", "margins"]
