"""Models to and from LIBSVM."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from mercer import estimators
from mercer.estimators.sklearn_models import named_kernel, refuse_rest
from mercer.io.errors import ModelFileError
from mercer.io.libsvm.model_text import (
    CLASSIFIERS,
    KERNELS,
    TYPES,
    LibsvmModel,
    format_libsvm_model,
    parse_libsvm_model,
)
from mercer.io.model.loading import read_bytes
from mercer.kernels import Precomputed
from mercer.kernels.names import as_kernel
from mercer.problems.multiclass import votes

DENSE_SHARE = 0.5
DENSE_VALUES = 10**8


def read_libsvm_model(
    path: str | os.PathLike[str], *, n_features: int | None = None, n_rows: int | None = None
) -> Any:
    """Load a LIBSVM model file as the corresponding estimator of mercer.

    The file does not say C, nu or epsilon, nor which rows the support vectors were: these parameters keep
    their defaults and ``support_`` counts from 0. Nothing is proved of the model, so it has no
    ``certificate_``.

    Parameters
    ----------
    path : str or path
        The file.
    n_features : int, optional
        Number of features, if it is larger than the largest index in the support vectors.
    n_rows : int, optional
        Number of training rows, for a precomputed kernel; the largest row number in the file if not given.

    Returns
    -------
    SVC, NuSVC, SVR, NuSVR or OneClassSVM
        Fitted. ``probA_`` and ``probB_`` are LIBSVM's sigmoids, if the file has any, for
        `libsvm_probabilities`.
    """
    try:
        return from_libsvm(parse_libsvm_model(read_bytes(path, None)), n_features=n_features, n_rows=n_rows)
    except ModelFileError as error:
        raise ModelFileError(
            f"{os.fspath(path)!r} cannot be read as a LIBSVM model: {error}"
        ) from error.__cause__


def from_libsvm(stored: LibsvmModel, *, n_features: int | None = None, n_rows: int | None = None) -> Any:
    """Return what a file of LIBSVM holds as an estimator.

    Parameters
    ----------
    stored : LibsvmModel
        The file's content.
    n_features, n_rows
        As for `read_libsvm_model`.
    """
    name = KERNELS[stored.kernel_type]
    params = {
        "kernel": name,
        "gamma": stored.gamma or "scale",
        "degree": stored.degree,
        "coef0": stored.coef0,
    }
    if name in ("linear", "precomputed"):
        params = {"kernel": name}
    made = getattr(estimators, TYPES[stored.svm_type])(**params)
    kernel = as_kernel(name, gamma=stored.gamma, degree=stored.degree, coef0=stored.coef0)
    try:
        kernel.validate()
    except ValueError as error:
        raise ModelFileError(str(error)) from error
    sign, order = 1.0, stored.labels
    if stored.labels is not None:
        stored = stored.reordered(np.argsort(stored.labels))
        sign = -1.0 if stored.labels is not None and stored.labels.size == 2 else 1.0
    m = stored.coef.shape[1]
    if isinstance(kernel, Precomputed):
        support, vectors = stored.vectors - 1, np.empty((0, 0))
        rows = int(support.max(initial=-1)) + 1
        if n_rows is not None and n_rows < rows:
            raise ModelFileError(f"n_rows={n_rows}, but the file has a support vector of row {rows}")
        shape: tuple[int, ...] = (n_rows or rows, n_rows or rows)
    else:
        vectors = _width(stored.vectors, n_features)
        support, shape = np.arange(m), (m, vectors.shape[1])
    sigmoids = None
    if stored.prob_a is not None and stored.prob_b is not None and stored.labels is not None:
        sigmoids = (stored.prob_a, sign * stored.prob_b)
    coef = sign * stored.coef
    made._adopt(
        kernel=kernel,
        support=support.astype(np.int32),
        vectors=vectors,
        dual_coef=sp.csr_matrix(coef) if sp.issparse(vectors) else coef,
        intercept=0.0 - sign * stored.rho,
        shape=shape,
        n_support=stored.n_support,
        classes=stored.labels,
        sigmoids=sigmoids,
    )
    made.n_features_in_ = shape[1]
    made.fit_status_ = 0
    if order is not None:
        made.label_order_ = order
    if stored.labels is None and stored.prob_a is not None:
        made.probA_ = stored.prob_a
    if stored.density_marks is not None:
        made.density_marks_ = stored.density_marks
    return made


def _width(vectors: Any, n_features: int | None) -> Any:
    if n_features is not None:
        if n_features < vectors.shape[1]:
            raise ModelFileError(
                f"n_features={n_features}, but the file has features up to {vectors.shape[1]}"
            )
        vectors = sp.csr_matrix(
            (vectors.data, vectors.indices, vectors.indptr), shape=(vectors.shape[0], n_features)
        )
    values = vectors.shape[0] * vectors.shape[1]
    if vectors.nnz >= DENSE_SHARE * values and values <= DENSE_VALUES:
        return vectors.toarray()
    return vectors


def to_libsvm(model: Any, *, labels: Any = None) -> LibsvmModel:
    """Return a model in LIBSVM's layout.

    Parameters
    ----------
    model : SVC, NuSVC, SVR, NuSVR or OneClassSVM
        Fitted.
    labels : sequence, optional
        The order of the classes in the file; sorted, or that of the file it came from, if not given.
    """
    kind = next((t for t, name in TYPES.items() if name == type(model).__name__), None)
    if kind is None:
        raise ModelFileError(
            f"{type(model).__name__} has no counterpart in LIBSVM, which has {', '.join(TYPES.values())}"
        )
    try:
        name, params = named_kernel(model.kernel_, "LIBSVM")
        refuse_rest(model, "LIBSVM")
    except ValueError as error:
        raise ModelFileError(str(error)) from error
    kernel = next(key for key, value in KERNELS.items() if value == name)
    vectors = (
        model.support_.astype(np.int64) + 1
        if name == "precomputed"
        else sp.csr_matrix(model.support_vectors_)
    )
    sigmoids = model._sigmoids() if kind in CLASSIFIERS else None
    stored = LibsvmModel(
        svm_type=kind,
        kernel_type=kernel,
        rho=0.0 - model.intercept_,
        coef=np.array(model._coefficients),
        vectors=vectors,
        density_marks=getattr(model, "density_marks_", None),
        prob_a=vars(model).get("probA_") if sigmoids is None else sigmoids[0],
        prob_b=None if sigmoids is None else sigmoids[1],
        **params,
    )
    if kind not in CLASSIFIERS:
        return stored
    classes = _whole_labels(model.classes_)
    sign = -1.0 if classes.size == 2 else 1.0
    stored = replace(
        stored,
        coef=sign * stored.coef,
        rho=sign * stored.rho,
        prob_b=None if stored.prob_b is None else sign * stored.prob_b,
        labels=classes,
        n_support=np.array(model._n_support, dtype=np.int64),
    )
    if labels is None:
        labels = getattr(model, "label_order_", classes)
    order = [int(np.flatnonzero(classes == label)[0]) for label in labels if label in classes]
    if sorted(order) != list(range(classes.size)):
        raise ModelFileError(
            f"labels={list(labels)!r:.60} must be the classes {classes.tolist()!r:.60} in some order"
        )
    return stored.reordered(np.array(order))


def _whole_labels(classes: np.ndarray) -> np.ndarray:
    if classes.dtype.kind in "biu" or (classes.dtype.kind == "f" and (classes == np.rint(classes)).all()):
        return classes.astype(np.int64)
    raise ModelFileError(
        f"LIBSVM's labels are integers; these are {classes.tolist()!r:.60}: encode them first"
    )


def write_libsvm_model(model: Any, path: str | os.PathLike[str], *, labels: Any = None) -> Path:
    """Save a model in LIBSVM's format.

    Parameters
    ----------
    model : SVC, NuSVC, SVR, NuSVR or OneClassSVM
        Fitted, with a linear, polynomial, RBF, sigmoid or precomputed kernel; classes must be whole numbers.
        Probabilities become those of the nearest sigmoids, the form that LIBSVM has.
    path : str or path
        Where to write.
    labels : sequence, optional
        The order of the classes in the file; sorted, or that of the file it came from, if not given.

    Returns
    -------
    Path
        Where it was written.
    """
    place = Path(path)
    place.write_text(format_libsvm_model(to_libsvm(model, labels=labels)), encoding="ascii")
    return place


def libsvm_predict(model: Any, X: Any) -> np.ndarray:
    """Return LIBSVM's predictions, in which ties go to the class that its file lists first.

    Parameters
    ----------
    model : estimator
        As `read_libsvm_model` returns it; other models predict as they always do.
    X : array or CSR
        Points.

    Returns
    -------
    ndarray of shape (n,)
        Labels or values.
    """
    order = getattr(model, "label_order_", None)
    if order is None or model.classes_.size == 2:
        return np.asarray(model.predict(X))
    stored = np.searchsorted(model.classes_, order)
    count = votes(model._raw_decision(X), model.classes_.size)[:, stored]
    return np.asarray(model.classes_[stored[count.argmax(axis=1)]])


def libsvm_probabilities(model: Any, X: Any) -> np.ndarray:
    """Return LIBSVM's class probabilities: pairwise sigmoids, coupled.

    Parameters
    ----------
    model : SVC or NuSVC
        Fitted with probabilities, or read from a LIBSVM file that has them.
    X : array or CSR
        Points.

    Returns
    -------
    ndarray of shape (n, classes)
        In the order of ``classes_``. LIBSVM's prediction with probabilities is the largest.

    References
    ----------
    Wu, Lin and Weng (2004), Probability estimates for multi-class classification by pairwise coupling,
    Journal of Machine Learning Research 5 (second method).
    """
    sigmoids = model._sigmoids()
    if sigmoids is None:
        raise ModelFileError("this model has no probabilities")
    F = model._raw_decision(X)
    P = np.clip(expit(-(sigmoids[0] * F + sigmoids[1])), 1e-7, 1.0 - 1e-7)
    k = model.classes_.size
    if k == 2:
        return np.stack([1.0 - P[:, 0], P[:, 0]], axis=1)
    R = np.zeros((P.shape[0], k, k))
    for n, (i, j) in enumerate(combinations(range(k), 2)):
        R[:, i, j], R[:, j, i] = P[:, n], 1.0 - P[:, n]
    Q = -R * R.transpose(0, 2, 1)
    Q[:, np.arange(k), np.arange(k)] = (R**2).sum(axis=1)
    system = np.zeros((P.shape[0], k + 1, k + 1))
    system[:, :k, :k] = Q
    system[:, :k, k] = system[:, k, :k] = 1.0
    right = np.zeros((P.shape[0], k + 1, 1))
    right[:, k] = 1.0
    solved: np.ndarray = np.linalg.solve(system, right)[:, :k, 0]
    return solved
