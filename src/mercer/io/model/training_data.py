"""What a model file knows of the data that the model was trained on, and how a claim is checked."""

from __future__ import annotations

import hashlib
import inspect
import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.io.errors import ModelFileError
from mercer.kernels.data import is_sparse, tiles
from mercer.problems import Certificate


@dataclass(frozen=True)
class Training:
    """What is known of the training data.

    Attributes
    ----------
    rows : int or None
        Number of rows.
    features : str or None
        Fingerprint of the features, None if the data were not given when the model was saved.
    target : str or None
        Fingerprint of the target.
    weights : ndarray of shape (rows,) or None
        Sample weights; None if there were none.
    target_name : str or None
        What the target is called.
    """

    rows: int | None = None
    features: str | None = None
    target: str | None = None
    weights: np.ndarray | None = None
    target_name: str | None = None

    def check(self) -> None:
        """Refuse what does not fit together."""
        sound = self.rows is None or (type(self.rows) is int and self.rows >= 0)
        for text in (self.features, self.target):
            sound = sound and (text is None or (isinstance(text, str) and len(text) == 64))
        sound = sound and (self.target_name is None or isinstance(self.target_name, str))
        if self.weights is not None:
            w = self.weights
            sound = sound and isinstance(w, np.ndarray) and w.dtype == np.float64 and w.shape == (self.rows,)
            sound = sound and bool(np.isfinite(w).all()) and bool((w >= 0).all())
        if not sound:
            raise ModelFileError("its description of the training data is invalid")


def fitted_part(model: Any) -> Any:
    """Return the estimator at the end of a pipeline, or the model itself."""
    while hasattr(model, "steps") and isinstance(model.steps, list) and model.steps:
        last = model.steps[-1][1]
        if not hasattr(last, "get_params"):
            return model
        model = last
    return model


def fingerprint(values: Any) -> str:
    """Return a digest of a table, a target or a list of items.

    Dense and sparse tables with the same values have the same fingerprint, and so have float32 and float64
    when the numbers are equal; the order of the rows counts.

    Parameters
    ----------
    values : array, CSR matrix, data frame or sequence
        What to digest.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    sha = hashlib.sha256()
    if hasattr(values, "to_numpy") and not isinstance(values, np.ndarray):
        if getattr(values, "ndim", 1) == 2:
            sha.update(json.dumps([str(c) for c in values.columns]).encode())
            numeric = all(getattr(t, "kind", "O") in "biuf" for t in values.dtypes)
            if not numeric:
                for name in values.columns:
                    sha.update(fingerprint(values[name]).encode())
                return sha.hexdigest()
            sha = hashlib.sha256()  # a frame of numbers is the same table without its names
        values = values.to_numpy()
    if not is_sparse(values):
        values = values if isinstance(values, np.ndarray) else _as_array(values)
    if is_sparse(values) or values.dtype.kind in "biuf":
        _numbers(sha, values)
    elif values.dtype.kind == "U":
        for item in values.ravel():
            sha.update(json.dumps(str(item)).encode())
    else:
        for item in values.ravel():
            sha.update(_item(item).encode())
    return sha.hexdigest()


def _as_array(values: Any) -> np.ndarray:
    try:
        array = np.asarray(values)
    except ValueError:  # ragged
        array = np.empty(0, dtype=object)
    if array.dtype.kind in "biufU" and array.ndim:
        return array
    out = np.empty(len(values), dtype=object)
    for k, item in enumerate(values):
        out[k] = item
    return out


def _item(item: Any) -> str:
    if isinstance(item, float) and math.isnan(item):
        return "nan"
    if item is None or isinstance(item, str | int | float | bool):
        return json.dumps(item)
    if isinstance(item, np.generic):
        return _item(item.item())
    if isinstance(item, np.ndarray | list | tuple):
        return fingerprint(item)
    if isinstance(item, dict):  # a graph: repr would leave out the middle of its arrays
        return fingerprint([part for key in sorted(item) for part in (key, item[key])])
    return repr(item)


def _numbers(sha: Any, values: Any) -> None:
    table: Any = values if is_sparse(values) else np.asarray(values).reshape(len(values), -1)
    if is_sparse(table):
        table = table.tocsr().astype(np.float64)
        table.sum_duplicates()
        table.eliminate_zeros()
    sha.update(np.array(table.shape, dtype="<i8").tobytes())
    for part in tiles(*table.shape):
        rows: Any = (
            table[part] if is_sparse(table) else sp.csr_array(np.asarray(table[part], dtype=np.float64))
        )
        for piece, kind in ((np.diff(rows.indptr), "<i8"), (rows.indices, "<i8"), (rows.data, "<f8")):
            sha.update(np.ascontiguousarray(piece, dtype=kind).tobytes())


def observe(model: Any, X: Any, y: Any, sample_weight: Any, target: str | None = None) -> Training:
    """Return what a file will know of the training data."""
    last = fitted_part(model)
    shape = getattr(last, "shape_fit_", None)
    rows = int(shape[0]) if shape is not None else None
    if X is None:
        if y is not None or sample_weight is not None:
            raise ModelFileError("y and sample_weight need X beside them")
        return Training(rows)
    given = int(X.shape[0]) if hasattr(X, "shape") else len(X)
    if rows is not None and given != rows:
        raise ModelFileError(f"X has {given} rows; the model was fitted on {rows}")
    weights = None
    if sample_weight is not None:
        weights = np.ascontiguousarray(np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), (given,)))
    name = getattr(y, "name", None) if target is None else target
    name = None if name is None else str(name)
    return Training(given, fingerprint(X), None if y is None else fingerprint(y), weights, name)


@dataclass(frozen=True)
class Verification:
    """The outcome of checking a model against its data.

    Attributes
    ----------
    holds : bool
        Whether everything that could be checked does hold.
    problems : tuple of str
        What does not, in words.
    claimed, found : Certificate
        The certificate in the file, and the one computed from the model and the data alone.
    same_data : bool or None
        Whether the data have the fingerprint in the file; None if the file has none.
    """

    holds: bool
    problems: tuple[str, ...]
    claimed: Certificate
    found: Certificate
    same_data: bool | None


def verify(file: Any, X: Any, y: Any = None, *, sample_weight: Any = None) -> Verification:
    """Recompute the certificate of a model from its file and its training data, and compare.

    Parameters
    ----------
    file : ModelFile
        As `mercer.io.read_model` returns it.
    X, y
        The training data.
    sample_weight : array, optional
        The weights; those in the file if not given.

    Returns
    -------
    Verification
    """
    model, training = file.model, file.training
    last = fitted_part(model)
    claimed = getattr(last, "certificate_", None)
    if claimed is None or not hasattr(last, "certify"):
        raise ModelFileError(f"{type(last).__name__} has no certificate to verify")
    problems = []
    rows = int(X.shape[0]) if hasattr(X, "shape") else len(X)
    if training.rows is not None and rows != training.rows:
        raise ModelFileError(f"the data have {rows} rows; the model was trained on {training.rows}")
    same: bool | None = None
    if training.features is not None:
        same = fingerprint(X) == training.features
        if not same:
            problems.append("the features are not those that the model was trained on")
    if training.target is not None and y is not None and fingerprint(y) != training.target:
        same = False
        problems.append("the target is not the one that the model was trained on")
    weights = training.weights if sample_weight is None else sample_weight
    prepared = model[:-1].transform(X) if last is not model and len(model) > 1 else X
    takes = inspect.signature(last.certify).parameters
    arguments = {"y": y} if "y" in takes else {}
    if "sample_weight" in takes:
        arguments["sample_weight"] = weights
    found = last.certify(prepared, **arguments)
    problems += disagreements(claimed, found)
    return Verification(not problems, tuple(problems), claimed, found, same)


def disagreements(claimed: Certificate, found: Certificate) -> list[str]:
    """Return in words where a recomputed certificate is worse than the claimed one, beyond rounding.

    Kernel values of the fit may have been in single precision, those of the check are in double: values may
    differ by a few units of 1e-6 of their size.
    """
    out = []
    scale = max(abs(claimed.primal), abs(claimed.dual), 1e-300)
    for name in ("primal", "dual"):
        a, b = getattr(claimed, name), getattr(found, name)
        if not (a == b or abs(a - b) <= 1e-4 * scale or (math.isnan(a) and math.isnan(b))):
            out.append(f"the {name} value is {b:.6g}, the file says {a:.6g}")
    if not math.isnan(claimed.gap) and not found.gap <= claimed.gap * 1.01 + 1e-5 * scale:
        out.append(f"the gap is {found.gap:.3g}, the file says {claimed.gap:.3g}")
    if not found.kkt_violation <= claimed.kkt_violation * 1.01 + 1e-4:
        out.append(
            f"the KKT violation is {found.kkt_violation:.3g}, the file says {claimed.kkt_violation:.3g}"
        )
    return out
