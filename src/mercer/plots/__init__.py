"""Pictures of fitted machines. They need matplotlib: ``pip install "mercer[plots]"``.

Each function draws on the axes it is given, or on those of a new figure, and returns them; it changes no
setting of matplotlib.
"""

from mercer.plots._approximation_curves import approximation
from mercer.plots._bound_curves import bound_against_n
from mercer.plots._convergence import convergence
from mercer.plots._cumulative_loss import cumulative_loss
from mercer.plots._decision_regions import decision_regions
from mercer.plots._discriminants import canonical_variates, rda_error
from mercer.plots._explanations import importance, partial_dependence, shapley
from mercer.plots._kernel_matrix import kernel_matrix
from mercer.plots._level_sets import level_sets
from mercer.plots._margin_histogram import margins
from mercer.plots._path_curves import path
from mercer.plots._prediction_intervals import intervals
from mercer.plots._regression_tube import tube
from mercer.plots._reliability_diagram import calibration
from mercer.plots._search_scores import search

__all__ = [
    "approximation",
    "bound_against_n",
    "calibration",
    "canonical_variates",
    "convergence",
    "cumulative_loss",
    "decision_regions",
    "importance",
    "intervals",
    "kernel_matrix",
    "level_sets",
    "margins",
    "partial_dependence",
    "path",
    "rda_error",
    "search",
    "shapley",
    "tube",
]


def __dir__() -> list[str]:
    return sorted(__all__)
