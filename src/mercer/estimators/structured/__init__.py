"""Machines whose values are structures."""

from mercer.estimators.structured._svm import StructuredSVM

__all__ = ["StructuredSVM"]
