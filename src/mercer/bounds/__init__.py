"""Generalisation bounds: guarantees on the error of a fitted model on new points.

Each function is one statement, of numbers or of a kernel matrix; :func:`report` picks those that apply to a
fitted machine and says which of their assumptions hold.

>>> from mercer.bounds import held_out_error, support_vector_error
>>> round(held_out_error(errors=3, n=200, delta=0.05), 4)
0.0383
>>> round(support_vector_error(n_support=10, n=1000, delta=0.05), 4)
0.0666
"""

from mercer.bounds.compression_bounds import (
    expected_error,
    perceptron_error,
    perceptron_margin_error,
    perceptron_updates,
    support_vector_error,
)
from mercer.bounds.enclosing_ball import EnclosingRadius, enclosing_radius
from mercer.bounds.fat_shattering import fat_shattering_error, slack_rate, squared_slack_rate
from mercer.bounds.grids import Best, best_of_grid, margin_grid, powers_of_two
from mercer.bounds.held_out import held_out_error
from mercer.bounds.machine_readers import Part, register
from mercer.bounds.make_report import report
from mercer.bounds.margin_bounds import (
    hard_margin_error,
    margin_slack_error,
    nu_margin_error,
    soft_margin_error,
    squared_margin_slack_error,
    two_norm_margin_error,
)
from mercer.bounds.novelty_bounds import (
    false_positive_rate,
    gap_grid,
    outside_loss,
    plane_false_positive_rate,
    radius_for_rate,
    slab_false_positive_rate,
)
from mercer.bounds.pac_bayes import PacBayes, kl_inverse, pac_bayes_margin_error
from mercer.bounds.promises import Assumption, Fact, Line, Report, Reports
from mercer.bounds.rademacher import Estimate, sampled_complexity, trace_complexity
from mercer.bounds.regression_bounds import large_error_rate, squared_error
from mercer.bounds.vc import PriceByBound, margin_vc_dimension, price_by_vc_bound, vc_error

__all__ = [
    "Assumption",
    "Best",
    "EnclosingRadius",
    "Estimate",
    "Fact",
    "Line",
    "PacBayes",
    "Part",
    "PriceByBound",
    "Report",
    "Reports",
    "best_of_grid",
    "enclosing_radius",
    "expected_error",
    "false_positive_rate",
    "fat_shattering_error",
    "gap_grid",
    "hard_margin_error",
    "held_out_error",
    "kl_inverse",
    "large_error_rate",
    "margin_grid",
    "margin_slack_error",
    "margin_vc_dimension",
    "nu_margin_error",
    "outside_loss",
    "pac_bayes_margin_error",
    "perceptron_error",
    "perceptron_margin_error",
    "perceptron_updates",
    "plane_false_positive_rate",
    "powers_of_two",
    "price_by_vc_bound",
    "radius_for_rate",
    "register",
    "report",
    "sampled_complexity",
    "slab_false_positive_rate",
    "slack_rate",
    "soft_margin_error",
    "squared_error",
    "squared_margin_slack_error",
    "squared_slack_rate",
    "support_vector_error",
    "trace_complexity",
    "two_norm_margin_error",
    "vc_error",
]


def __dir__() -> list[str]:
    return list(__all__)  # not the modules
