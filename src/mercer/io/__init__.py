"""Files: tables of data, and models that can be opened without running code."""

from mercer.io.errors import DataFileError, MissingExtraError, ModelFileError
from mercer.io.reading import FORMATS, read_batches, read_data
from mercer.io.table import Table

__all__ = [
    "FORMATS",
    "DataFileError",
    "MissingExtraError",
    "ModelFileError",
    "Table",
    "read_batches",
    "read_data",
]
