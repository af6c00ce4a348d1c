"""Machines that put things in order: ordered classes, items of queries."""

from mercer.estimators.ranking._ordinal import OrdinalSVC
from mercer.estimators.ranking._rank_svm import RankSVM

__all__ = ["OrdinalSVC", "RankSVM"]
