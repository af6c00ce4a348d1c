"""NumPy archives: one array for the features, one for the target; or a sparse matrix of SciPy."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.lib import format as npy

from mercer.io.errors import DataFileError
from mercer.io.tables.columns import Columns, Wish, assemble
from mercer.io.tables.file_bytes import SizeLimits, Source
from mercer.io.tables.table import NumberedNames, Table, whole
from mercer.words import listed

FEATURES = ("X", "x", "data", "features")
TARGETS = ("y", "Y", "target", "labels")
WEIGHTS = ("sample_weight", "weight", "weights")
SPARSE = {"format", "shape", "data"}
READ_HEADER = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
DAMAGE = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    NotImplementedError,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    zlib.error,
)
KINDS = {"b", "i", "u", "f", "U", "S"}


def read_arrays(content: Any, source: str, limits: SizeLimits) -> dict[str, np.ndarray]:
    """Return the arrays of an archive; no length that it declares is believed before it is checked."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            packed = sum(m.compress_size for m in members)
            limits.check(sum(m.file_size for m in members), min(packed, len(content)), source)
            return {m.filename.removesuffix(".npy"): _read(archive, m, source) for m in members}
    except DataFileError:
        raise
    except DAMAGE as error:
        raise DataFileError(f"{source} is not a sound .npz file: {error}") from error


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo, source: str) -> np.ndarray:
    name = member.filename
    if not name.endswith(".npy") or "/" in name or "\\" in name or member.flag_bits & 1:
        raise DataFileError(f"{source} holds {name[:60]!r}, which is not an array")
    with archive.open(member) as file:
        body = file.read(member.file_size + 1)
    if len(body) != member.file_size:
        raise DataFileError(f"{source}: {name!r} is not as long as the archive says")
    stream = io.BytesIO(body)
    try:
        version = npy.read_magic(stream)
        if version not in READ_HEADER:
            raise ValueError(f"version {version} of the array format is not supported")
        shape, fortran, dtype = READ_HEADER[version](stream)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError) as error:
        raise DataFileError(f"{source}: {name!r} is not a sound array: {str(error)[:200]}") from error
    if dtype.kind not in KINDS or dtype.fields is not None or dtype.subdtype is not None:
        raise DataFileError(f"{source}: {name!r} holds {dtype}; numbers and text are read, objects never")
    count = 1
    for length in shape:
        count *= int(length)
    start = stream.tell()
    if min(shape, default=0) < 0 or dtype.itemsize * count != len(body) - start:
        raise DataFileError(
            f"{source}: {name!r} declares the shape {shape} of {dtype}, which is not what its "
            f"{len(body) - start} "
            "bytes hold"
        )
    flat = np.frombuffer(body, dtype=dtype, offset=start) if dtype.itemsize else np.empty(count, dtype=dtype)
    return flat.reshape(shape, order="F" if fortran else "C")


def read_npz(source: Source, wish: Wish) -> Table:
    """Return the table in an archive.

    The features are under X, x, data or features; the target, if any, under y, Y, target or labels; names
    under feature_names. An archive of one 2-D array is a table whose target is one of its columns; one
    written by ``scipy.sparse.save_npz`` has no target.
    """
    arrays = read_arrays(source.everything(), source.name, source.limits)
    if arrays.keys() >= SPARSE and ("indptr" in arrays or "row" in arrays):
        return _table(_sparse(arrays, source.name), None, {}, wish, source.name)
    key = next((k for k in FEATURES if k in arrays), None)
    target = next((k for k in TARGETS if k in arrays), None)
    if key is None and len(arrays) == 1:
        key = next(iter(arrays))
    if key is None:
        raise DataFileError(
            f"{source.name} has the arrays {listed(list(arrays))}; the features must be called "
            f"{', '.join(FEATURES)}"
        )
    X = arrays[key]
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise DataFileError(
            f"{source.name}: {key!r} must be a table of numbers; it is {X.dtype} of shape {X.shape}"
        )
    X = np.ascontiguousarray(X, dtype=np.float64)
    if not X.shape[0] or not X.shape[1]:
        raise DataFileError(f"{source.name}: {key!r} is empty: its shape is {X.shape}")
    names = _names(arrays, X.shape[1], source.name)
    if target is None:
        columns = Columns(names or [f"x{k}" for k in range(X.shape[1])], X, {}, names is not None)
        return assemble(columns, wish, source=source.name, format="npz")
    return _table(X, arrays[target], arrays, wish, source.name, names)


def _table(
    X: Any, y: np.ndarray | None, arrays: dict[str, np.ndarray], wish: Wish, source: str, names: Any = None
) -> Table:
    if y is not None:
        y = y.ravel() if y.ndim == 2 and y.shape[1] == 1 else y
        if y.shape != (X.shape[0],):
            raise DataFileError(f"{source}: the target has shape {y.shape} for {X.shape[0]} rows")
        y = whole(np.array(y)) if y.dtype.kind != "S" else np.char.decode(y, "utf-8")
    elif wish.target not in (None, "last", "first"):
        raise DataFileError(f"target={wish.target!r}: {source} has no target")
    weights = next((arrays[k] for k in WEIGHTS if k in arrays), None)
    if weights is not None and (weights.shape != (X.shape[0],) or weights.dtype.kind not in "biuf"):
        raise DataFileError(f"{source}: the weights have shape {weights.shape} for {X.shape[0]} rows")
    table = Table(
        X=X,
        y=None if wish.target is None else y,
        feature_names=NumberedNames(X.shape[1]) if names is None else tuple(names),
        target_name=None if y is None or wish.target is None else "y",
        sample_weight=None if weights is None else np.array(weights, dtype=np.float64),
        format="npz",
        source=source,
        named=names is not None,
    )
    return table if wish.features is None else table.select(wish.features)


def _names(arrays: dict[str, np.ndarray], width: int, source: str) -> list[str] | None:
    given = arrays.get("feature_names")
    if given is None:
        return None
    if given.shape != (width,) or given.dtype.kind != "U":
        raise DataFileError(f"{source}: feature_names must be {width} strings")
    return [str(name) for name in given]


def _sparse(arrays: dict[str, np.ndarray], source: str) -> sp.csr_matrix:
    """Return the matrix that ``scipy.sparse.save_npz`` wrote, checked in full."""
    kind = arrays["format"]
    name = kind.item() if kind.shape == () else None
    name = name.decode("ascii", "replace") if isinstance(name, bytes) else name
    shape = tuple(int(s) for s in arrays["shape"].ravel()) if arrays["shape"].dtype.kind in "iu" else ()
    try:
        if name not in ("csr", "csc", "coo") or len(shape) != 2 or min(shape) < 1:
            raise ValueError(f"format {name!r} of shape {shape} is not read: csr, csc and coo are")
        data = np.asarray(arrays["data"], dtype=np.float64)
        if data.ndim != 1:
            raise ValueError("the values must be one row of numbers")
        if name == "coo":
            row, column = (np.asarray(arrays[k]) for k in ("row", "col"))
            if row.dtype.kind not in "iu" or column.dtype.kind not in "iu":
                raise ValueError("indices must be whole numbers")
            X = sp.csr_matrix((data, (row, column)), shape=shape)
        else:
            indices, indptr = arrays["indices"], arrays["indptr"]
            if indices.dtype.kind not in "iu" or indptr.dtype.kind not in "iu":
                raise ValueError("indices must be whole numbers")
            if indptr.shape != (shape[0 if name == "csr" else 1] + 1,):
                raise ValueError(f"{indptr.size} row ends do not fit the shape {shape}")
            make = sp.csr_matrix if name == "csr" else sp.csc_matrix
            matrix = make((data, indices, indptr), shape=shape)
            matrix.check_format(full_check=True)
            X = matrix.tocsr()
    except (ValueError, KeyError, IndexError, OverflowError, TypeError) as error:
        raise DataFileError(f"{source} is not a sound sparse matrix: {error}") from error
    X.sum_duplicates()
    return X
