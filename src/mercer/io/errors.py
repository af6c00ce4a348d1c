"""What is raised when a file is not what it should be."""

from __future__ import annotations


class DataFileError(ValueError):
    """A data file is damaged or invalid; the message says where."""


class ModelFileError(ValueError):
    """A model file is damaged, invalid, or contains something that must not be loaded."""


class MissingExtraError(ImportError):
    """An optional package is missing; the message names the extra that installs it."""
