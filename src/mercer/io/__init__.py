"""Files: tables of data, and models that can be opened without running code."""

from mercer.io.errors import DataFileError, MissingExtraError, ModelFileError
from mercer.io.libsvm import libsvm_predict, libsvm_probabilities, read_libsvm_model, write_libsvm_model
from mercer.io.models import ModelFile, dumps, inspect, load, loads, read_model, save
from mercer.io.onnx_export import to_onnx
from mercer.io.reading import FORMATS, read_batches, read_data
from mercer.io.table import Table
from mercer.io.training import Training, Verification, fingerprint, verify

__all__ = [
    "FORMATS",
    "DataFileError",
    "MissingExtraError",
    "ModelFile",
    "ModelFileError",
    "Table",
    "Training",
    "Verification",
    "dumps",
    "fingerprint",
    "inspect",
    "libsvm_predict",
    "libsvm_probabilities",
    "load",
    "loads",
    "read_batches",
    "read_data",
    "read_libsvm_model",
    "read_model",
    "save",
    "to_onnx",
    "verify",
    "write_libsvm_model",
]
