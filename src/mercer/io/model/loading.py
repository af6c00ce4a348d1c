"""From a file to a model, with nothing in the file believed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator

from mercer.io.errors import ModelFileError
from mercer.io.model import fitted_state
from mercer.io.model.decoder import Decoder
from mercer.io.model.description_audit import Audit
from mercer.io.model.safetensors_file import PROTOCOL, read_description, unpack
from mercer.io.model.training_data import Training
from mercer.io.opening import PIECE, memory_share, open_binary

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
    """Load a model that `mercer.save` has written.

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
            f"pass it to load(..., kernels={{{missing[0]!r}: {missing[0]}}})"
        )
    decoder = Decoder(tensors, given)
    model = decoder.build(description["model"], "model")
    if not isinstance(model, BaseEstimator):
        raise ModelFileError("it holds no estimator")
    fitted_state.check(model)
    training = decoder.build(description["training"], "training")
    summary = decoder.build(description["summary"], "summary")
    versions = description["versions"]
    sound = isinstance(versions, dict) and all(isinstance(v, str) for v in versions.values())
    if not isinstance(training, Training) or not isinstance(summary, dict) or not sound:
        raise ModelFileError("its description of data, versions or summary is invalid")
    training.check()
    return ModelFile(model, training, summary, versions, protocol)


def inspect(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> dict[str, Any]:
    """Return the description in a model file, without building the model.

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
        summary = Decoder({}, {}).build(description.get("summary"), "summary")
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)!r} cannot be read: {error}") from error.__cause__
    return {
        "protocol": description["protocol"],
        "versions": description.get("versions"),
        "summary": summary,
        "needs": description.get("needs"),
    }
