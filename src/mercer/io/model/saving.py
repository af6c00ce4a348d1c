"""From a fitted model to a file."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from sklearn.base import BaseEstimator

from mercer._version import __version__
from mercer.io.model.encoder import Encoder
from mercer.io.model.loading import ModelFile
from mercer.io.model.replacing import write_at_once
from mercer.io.model.safetensors_file import PROTOCOL, pack
from mercer.io.model.summary import summarize
from mercer.io.model.training_data import Training, observe


def save(
    model: BaseEstimator,
    path: str | os.PathLike[str],
    *,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
    target: str | None = None,
) -> Path:
    """Save a fitted model to a file that runs no code when it is loaded.

    Arrays are kept bit for bit: the loaded model decides exactly as this one. The file is in the safetensors
    format, with a description in JSON.

    Parameters
    ----------
    model : estimator
        Any estimator of mercer, or a ``Pipeline`` or ``ColumnTransformer`` of scikit-learn's transformers
        around one.
    path : str or path
        Where to write. An existing file is replaced, at once or not at all; its mode stays, and so does a
        symbolic link to it.
    X, y, sample_weight : optional
        The data given to ``fit``. The file then keeps their row count, their fingerprint and the weights, so
        that `mercer.io.verify` can tell whether data are the same, and recompute the certificate.
    target : str, optional
        What the target is called; ``y.name`` if not given.

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
    return write_at_once(path, dumps(model, X=X, y=y, sample_weight=sample_weight, target=target))


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
    return write_at_once(path, _content(file.model, file.training))


def dumps(
    model: BaseEstimator,
    *,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
    target: str | None = None,
) -> bytes:
    """Return a model as the bytes of a file.

    Parameters
    ----------
    model, X, y, sample_weight, target
        As for `save`.

    Returns
    -------
    bytes
        What `save` writes.
    """
    if not isinstance(model, BaseEstimator):
        raise TypeError(f"model must be a fitted estimator; it is a {type(model).__name__}")
    return _content(model, observe(model, X, y, sample_weight, target))


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
