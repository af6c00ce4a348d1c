"""Choosing a machine: searches, what a single fit tells of leave-one-out, recommendations."""

from mercer.selection.alignment import target_alignment
from mercer.selection.base_search import InterruptedSearchWarning
from mercer.selection.date_features import DateFeatures
from mercer.selection.leave_one_out_summary import LeaveOneOut, leave_one_out
from mercer.selection.norm_bound import alpha_for_norm
from mercer.selection.preparation import Prepared, prepare
from mercer.selection.recommendation import Recommendation
from mercer.selection.recommendation_study import recommend
from mercer.selection.searches import DetectorSearch, SVCSearch, SVRSearch

__all__ = [
    "DateFeatures",
    "DetectorSearch",
    "InterruptedSearchWarning",
    "LeaveOneOut",
    "Prepared",
    "Recommendation",
    "SVCSearch",
    "SVRSearch",
    "alpha_for_norm",
    "leave_one_out",
    "prepare",
    "recommend",
    "target_alignment",
]


def __dir__() -> list[str]:
    return sorted(__all__)
