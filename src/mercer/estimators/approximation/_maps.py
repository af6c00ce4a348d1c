"""The map that an approximation stands for, fitted; and its features as a factored kernel matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from mercer.arrays import Float64
from mercer.estimators.approximation._values import has_landmarks, transformed
from mercer.estimators.features import Nystroem, RandomFeatures, TensorSketch
from mercer.estimators.verdict import check_finite_diagonal
from mercer.gram import Workers
from mercer.gram.mapped import MappedFeatures, RowMap, landmark_values
from mercer.kernels import Kernel, Polynomial, Precomputed
from mercer.kernels.data import size

STEP = 4096  # rows whose features are measured together


def unfitted_map(model: Any, kernel: Kernel, n_components: int | None) -> BaseEstimator:
    """Return the map that ``approximation`` names, for a resolved kernel.

    Parameters
    ----------
    model : estimator
        Its ``approximation`` is a name or a transformer.
    kernel : Kernel
        Resolved.
    n_components : int or None
        Number of features; None leaves a given transformer its own.
    """
    given = model.approximation
    if isinstance(given, str):
        drawn = getattr(model, "random_state", None)
        seed = int(check_random_state(0 if drawn is None else drawn).randint(2**31 - 1))
        cls = Nystroem if given == "nystroem" else RandomFeatures
        return cls(kernel=kernel, n_components=n_components or 100, random_state=seed, n_jobs=model.n_jobs)
    features = clone(given)
    if isinstance(features, Nystroem):
        features.set_params(kernel=kernel, gamma=None, coef0=None, degree=None, kernel_params=None)
    elif isinstance(features, RandomFeatures):
        features.set_params(kernel=kernel)
    elif isinstance(features, TensorSketch):
        if type(kernel) is not Polynomial:
            raise ValueError(
                f"approximation={given!r} sketches polynomial kernels, and kernel={kernel!r} is another one"
            )
        features.set_params(gamma=kernel.gamma, coef0=kernel.coef0, degree=int(kernel.degree))
    if n_components is not None and "n_components" in features.get_params(deep=False):
        features.set_params(n_components=n_components)
    return features


def as_gram(features: Any, X: Any, workers: Workers, cache_bytes: int) -> MappedFeatures:
    """Return the kernel matrix of a fitted map's features.

    Parameters
    ----------
    features : transformer
        Fitted.
    X : array, CSR or sequence
        Checked data.
    workers : Workers
        Threads.
    cache_bytes : int
        Memory that kept features may take.
    """
    if has_landmarks(features):
        return _from_landmarks(features, X, workers, cache_bytes)
    lengths = np.empty(size(X))
    width = 0
    for start in range(0, size(X), STEP):
        Z = transformed(features, X[start : start + STEP])
        lengths[start : start + STEP], width = np.sqrt(np.einsum("ij,ij->i", Z, Z)), Z.shape[1]
    rows = RowMap(lambda part: transformed(features, part), None, width)
    return MappedFeatures(X, rows, lengths, lengths, workers, cache_bytes)


def _from_landmarks(features: Any, X: Any, workers: Workers, cache_bytes: int) -> MappedFeatures:
    kernel: Kernel = features.kernel_
    width = features.normalization_.shape[0]
    if isinstance(kernel, Precomputed):
        diagonal: Float64 = np.asarray(np.diagonal(X), dtype=np.float64)
        chosen = features.components_
        own = diagonal[chosen]
        rows = RowMap(
            lambda part: np.asarray(part[:, chosen], dtype=np.float64), None, width, features.normalization_
        )
    else:
        diagonal = np.asarray(kernel.diag(X), dtype=np.float64)
        own = np.asarray(kernel.diag(features.components_), dtype=np.float64)
        check_finite_diagonal(kernel, diagonal)
        rows = RowMap(*landmark_values(kernel, X, features.components_), width, features.normalization_)
    lengths = np.sqrt(np.maximum(diagonal, 0.0))
    raw = lengths * float(np.sqrt(np.maximum(own, 0.0).sum()))
    return MappedFeatures(X, rows, lengths, raw, workers, cache_bytes)
