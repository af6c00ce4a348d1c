"""Pictures of fitted machines. They need matplotlib: ``pip install "mercer[plots]"``.

Each function draws on the axes it is given, or on those of a new figure, and returns them; it changes no
setting of matplotlib.
"""

from mercer.plots._calibration import calibration
from mercer.plots._convergence import convergence
from mercer.plots._discriminants import canonical_variates, rda_error
from mercer.plots._machines import level_sets, tube
from mercer.plots._online import cumulative_loss
from mercer.plots._path import path
from mercer.plots._regions import decision_regions
from mercer.plots._search import search
from mercer.plots._similarity import kernel_matrix
from mercer.plots.bounds import bound_against_n
from mercer.plots.margins import margins

__all__ = [
    "bound_against_n",
    "calibration",
    "canonical_variates",
    "convergence",
    "cumulative_loss",
    "decision_regions",
    "kernel_matrix",
    "level_sets",
    "margins",
    "path",
    "rda_error",
    "search",
    "tube",
]
