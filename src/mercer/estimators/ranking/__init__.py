"""Machines that put things in order: ordered classes, items of queries."""

from mercer.estimators.ranking._ordinal import OrdinalSVC

__all__ = ["OrdinalSVC"]
