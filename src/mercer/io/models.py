"""Saving and loading models."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from sklearn.base import BaseEstimator

from mercer._version import __version__
from mercer.io import consistency
from mercer.io.auditing import Audit
from mercer.io.building import Builder
from mercer.io.container import PROTOCOL, pack, read_description, unpack
from mercer.io.encoding import Encoder
from mercer.io.errors import ModelFileError
from mercer.io.sources import PIECE, memory_share, open_binary
from mercer.io.training import Training, fitted_part, observe

KEYS = {"protocol", "versions", "summary", "needs", "training", "model"}

# How a description of protocol p becomes one of p + 1.
UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}


@dataclass(frozen=True)
class ModelFile:
    """What a model file holds.

    Attributes
    ----------
    model : estimator
        The model.
    training : Training
        What is known of the data that it was trained on.
    summary : dict
        Estimator, kernel, classes, features and certificate, for people to read.
    versions : dict of str to str
        What it was written with.
    protocol : int
        The number of the file's format.
    """

    model: Any
    training: Training
    summary: dict[str, Any]
    versions: dict[str, str]
    protocol: int


def save(
    model: BaseEstimator,
    path: str | os.PathLike[str],
    *,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
) -> Path:
    """Write a fitted model to a file that runs no code when it is opened.

    Arrays are kept bit for bit: the loaded model decides exactly as this one. The file is in the safetensors
    format, with a description in JSON.

    Parameters
    ----------
    model : estimator
        Any estimator of mercer, or a ``Pipeline`` or ``ColumnTransformer`` of scikit-learn's transformers
        around one.
    path : str or path
        Where to write. An existing file is replaced, at once or not at all.
    X, y, sample_weight : optional
        The data given to ``fit``. The file then keeps their row count, their fingerprint and the weights, so
        that `mercer.io.verify` can tell whether data are the same, and recompute the certificate.

    Returns
    -------
    Path
        Where it was written.

    Examples
    --------
    >>> import tempfile, pathlib, mercer
    >>> from sklearn.datasets import load_iris
    >>> data, target = load_iris(return_X_y=True)
    >>> model = mercer.SVC().fit(data, target)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = mercer.save(model, pathlib.Path(folder) / "iris.mercer", X=data, y=target)
    ...     same = mercer.load(path)
    >>> bool((same.decision_function(data) == model.decision_function(data)).all())
    True
    """
    return _write(Path(path), dumps(model, X=X, y=y, sample_weight=sample_weight))


def save_again(file: ModelFile, path: str | os.PathLike[str]) -> Path:
    """Write a model that was read from a file, with what that file knew of the training data.

    Parameters
    ----------
    file : ModelFile
        As `read_model` returns it.
    path : str or path
        Where to write.

    Returns
    -------
    Path
        Where it was written.
    """
    return _write(Path(path), _content(file.model, file.training))


def _write(place: Path, content: bytes) -> Path:
    handle, name = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(place)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(name).unlink()
        raise
    return place


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def dumps(model: BaseEstimator, *, X: Any = None, y: Any = None, sample_weight: Any = None) -> bytes:
    """Return a model as the bytes of a file.

    Parameters
    ----------
    model, X, y, sample_weight
        As for `save`.

    Returns
    -------
    bytes
        What `save` writes.
    """
    if not isinstance(model, BaseEstimator):
        raise TypeError(f"model must be a fitted estimator; it is a {type(model).__name__}")
    return _content(model, observe(model, X, y, sample_weight))


def _content(model: BaseEstimator, training: Training) -> bytes:
    encoder = Encoder()
    node = encoder.encode(model, type(model).__name__)
    description = {
        "protocol": PROTOCOL,
        "versions": {
            "mercer": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
        },
        "summary": encoder.encode(summarize(model), "summary"),
        "needs": encoder.needs,
        "training": encoder.encode(training, "training"),
        "model": node,
    }
    return pack(description, encoder.tensors)


def summarize(model: Any) -> dict[str, Any]:
    """Return what people want to know of a model, as text and plain numbers.

    Parameters
    ----------
    model : estimator
        A fitted model.

    Returns
    -------
    dict
        estimator, steps, kernel, classes, n_features, feature_names, n_support, certificate; what a model
        does not have is left out.
    """
    last = fitted_part(model)
    known: dict[str, Any] = {"estimator": type(last).__name__}
    if last is not model:
        known["container"] = type(model).__name__
        known["steps"] = [type(step).__name__ for _, step in getattr(model, "steps", [])]
    kernel = getattr(last, "kernel_", None)
    if kernel is not None:
        known["kernel"] = kernel.expression() if hasattr(kernel, "expression") else str(kernel)
    classes = getattr(last, "classes_", None)
    if isinstance(classes, np.ndarray):
        known["classes"] = [str(label) for label in classes.tolist()]
    features = getattr(model, "n_features_in_", None)
    if features is not None:
        known["n_features"] = int(features)
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        known["feature_names"] = [str(name) for name in names]
    if isinstance(getattr(last, "support_", None), np.ndarray):
        known["n_support"] = int(last.support_.size)
    certificate = getattr(last, "certificate_", None)
    if certificate is not None:
        known["certificate"] = str(certificate)
    return known


def read_bytes(path: str | os.PathLike[str], max_bytes: int | None) -> bytes:
    """Return the content of a file, or refuse to if it is too large."""
    limit = memory_share() if max_bytes is None else max_bytes
    content = bytearray()
    with open_binary(path) as file:
        while len(content) <= limit:  # in pieces: a read of many bytes takes memory for all of them at once
            piece = file.read(min(PIECE, limit + 1 - len(content)))
            if not piece:
                break
            content += piece
    if len(content) > limit:
        raise ModelFileError(
            f"it has more than {limit / 1e6:.0f} MB, the most that may be read: raise max_bytes"
        )
    return bytes(content)


def load(
    path: str | os.PathLike[str], *, kernels: Mapping[str, Any] | None = None, max_bytes: int | None = None
) -> Any:
    """Return the model in a file that `mercer.save` has written.

    Nothing in the file is executed, no length in it is believed, and everything it names is looked up in a
    list of what may be built before anything is built.

    Parameters
    ----------
    path : str or path
        The file.
    kernels : mapping of str to callable, optional
        The user's own kernel functions (or kernel classes), by the names under which the file mentions them.
    max_bytes : int, optional
        Most bytes to read; half of the machine's memory if not given.

    Returns
    -------
    estimator
        Fitted, with bit-identical decisions.

    Raises
    ------
    mercer.io.ModelFileError
        If the file is damaged, inconsistent, too large or names what may not be built.
    """
    return read_model(path, kernels=kernels, max_bytes=max_bytes).model


def read_model(
    path: str | os.PathLike[str], *, kernels: Mapping[str, Any] | None = None, max_bytes: int | None = None
) -> ModelFile:
    """Return everything in a model file.

    Parameters
    ----------
    path, kernels, max_bytes
        As for `load`.

    Returns
    -------
    ModelFile
        The model, what is known of its data, and what it was written with.
    """
    try:
        return loads(read_bytes(path, max_bytes), kernels=kernels)
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)!r} cannot be loaded: {error}") from error.__cause__


def loads(content: bytes, *, kernels: Mapping[str, Any] | None = None) -> ModelFile:
    """Return everything in the bytes of a model file.

    Parameters
    ----------
    content : bytes
        What `dumps` returned.
    kernels : mapping of str to callable, optional
        As for `load`.

    Returns
    -------
    ModelFile
    """
    description, tensors = unpack(content)
    protocol = description["protocol"]
    for number in range(protocol, PROTOCOL):
        description = UPGRADES[number](description)
    if set(description) != KEYS:
        raise ModelFileError(
            f"its description has the entries {sorted(description)!r:.120}, not {sorted(KEYS)}"
        )
    audit = Audit(tensors)
    for key in ("model", "training", "summary"):
        audit.audit(description[key], key)
    if audit.used != set(tensors):
        raise ModelFileError(
            f"it holds the arrays {sorted(set(tensors) - audit.used)!r:.60}, which nothing uses"
        )
    given = dict(kernels or {})
    missing = sorted(audit.needs - set(given))
    if missing:
        raise ModelFileError(
            f"the model uses the function {missing[0]!r} of its author, which is not in the file: "
            f"hand it over with "
            f"load(..., kernels={{{missing[0]!r}: {missing[0]}}})"
        )
    builder = Builder(tensors, given)
    model = builder.build(description["model"], "model")
    if not isinstance(model, BaseEstimator):
        raise ModelFileError("it holds no estimator")
    consistency.check(model)
    training = builder.build(description["training"], "training")
    summary = builder.build(description["summary"], "summary")
    versions = description["versions"]
    sound = isinstance(versions, dict) and all(isinstance(v, str) for v in versions.values())
    if not isinstance(training, Training) or not isinstance(summary, dict) or not sound:
        raise ModelFileError("its description of data, versions or summary is not sound")
    training.check()
    return ModelFile(model, training, summary, versions, protocol)


def inspect(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> dict[str, Any]:
    """Return what a model file says of itself, without building anything.

    Parameters
    ----------
    path, max_bytes
        As for `load`.

    Returns
    -------
    dict
        protocol, versions, summary, and needs: the names of the functions to hand over to `load`.
    """
    try:
        description, _, _ = read_description(read_bytes(path, max_bytes))
        audit = Audit({})
        audit.audit(description.get("summary"), "summary")
        summary = Builder({}, {}).build(description.get("summary"), "summary")
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)!r} cannot be read: {error}") from error.__cause__
    return {
        "protocol": description["protocol"],
        "versions": description.get("versions"),
        "summary": summary,
        "needs": description.get("needs"),
    }
