"""What is raised when a file is not what it should be."""

from __future__ import annotations


class DataFileError(ValueError):
    """A data file is damaged, inconsistent or not what it was said to be; the message says where."""


class ModelFileError(ValueError):
    """A model file is damaged, inconsistent, of an unknown kind, or holds what may not be built."""


class MissingExtraError(ImportError):
    """An optional package is needed; the message names the extra that brings it."""
