"""Files: tables of data, and models that can be opened without running code."""

from mercer.io.errors import DataFileError, MissingExtraError, ModelFileError
from mercer.io.graphs import GraphTable, read_graphs
from mercer.io.libsvm.conversion import (
    libsvm_predict,
    libsvm_probabilities,
    read_libsvm_model,
    write_libsvm_model,
)
from mercer.io.model.loading import ModelFile, inspect, load, loads, read_model
from mercer.io.model.saving import dumps, save
from mercer.io.model.training_data import Training, Verification, fingerprint, verify
from mercer.io.onnx.export import to_onnx
from mercer.io.sklearn_counterparts import from_sklearn
from mercer.io.tables.formats import FORMATS
from mercer.io.tables.item_files import Items, read_fasta, read_lines
from mercer.io.tables.object_tables import SeriesTable, read_series
from mercer.io.tables.reading import read_batches, read_data
from mercer.io.tables.table import Table

__all__ = [
    "FORMATS",
    "DataFileError",
    "GraphTable",
    "Items",
    "MissingExtraError",
    "ModelFile",
    "ModelFileError",
    "SeriesTable",
    "Table",
    "Training",
    "Verification",
    "dumps",
    "fingerprint",
    "from_sklearn",
    "inspect",
    "libsvm_predict",
    "libsvm_probabilities",
    "load",
    "loads",
    "read_batches",
    "read_data",
    "read_fasta",
    "read_graphs",
    "read_libsvm_model",
    "read_lines",
    "read_model",
    "read_series",
    "save",
    "to_onnx",
    "verify",
    "write_libsvm_model",
]


def __dir__() -> list[str]:
    return sorted(__all__)
