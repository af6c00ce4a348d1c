"""Data in LIBSVM's format, and the estimator that LIBSVM's flags stand for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import mercer
from mercer.cli.libsvm.flags import TrainFlags
from mercer.io import read_data

KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")
C_SVC, NU_SVC, ONE_CLASS, EPSILON_SVR, NU_SVR = range(5)
SEED = 1  # of the folds: the same command gives the same answer


def read_problem(flags: TrainFlags) -> tuple[Any, np.ndarray]:
    """Return features and targets; the square kernel matrix for precomputed kernels."""
    if not Path(flags.data).is_file():
        raise FileNotFoundError(f"can't open input file {flags.data}")
    given = flags.kernel_type == 4
    table = read_data(flags.data, format="svmlight", zero_based=given)
    assert table.y is not None
    X = square_kernel(table.X, flags.data) if given else table.X
    return X, table.y


def square_kernel(X: Any, source: str) -> np.ndarray:
    """Return the kernel matrix in the order of the rows, from rows "0:serial 1:K(i,1) 2:K(i,2) ..."."""
    dense = X.toarray()
    serial, K = serial_numbers(dense, source, dense.shape[1] - 1), dense[:, 1:]
    if K.shape[1] != len(K) or sorted(serial) != list(range(1, len(K) + 1)):
        raise ValueError(
            f"{source} holds a kernel of {len(K)} rows and {K.shape[1]} columns: it must be square, and its "
            "serial numbers 0:i those of the columns"
        )
    square: np.ndarray = K[:, serial - 1]
    return square


def serial_numbers(dense: np.ndarray, source: str, most: int) -> np.ndarray:
    """Return the first column as whole numbers from 1 to ``most``."""
    first = dense[:, 0]
    if (first == 0).all():
        raise ValueError(f"Wrong input format: first column must be 0:sample_serial_number ({source})")
    if ((first < 1) | (first > most) | (first != np.rint(first))).any():
        raise ValueError(f"Wrong input format: sample_serial_number out of range ({source})")
    return first.astype(np.int64)


def class_order(y: np.ndarray) -> np.ndarray:
    """Return the classes in LIBSVM's order: by first appearance, but +1 before -1."""
    if (y != np.rint(y)).any():
        bad = int(np.flatnonzero(y != np.rint(y))[0])
        raise ValueError(f"row {bad + 1} has the label {y[bad]:g}: class labels must be whole numbers")
    classes, first = np.unique(y.astype(np.int64), return_index=True)
    ordered: np.ndarray = classes[np.argsort(first)]
    return ordered[::-1] if ordered.tolist() == [-1, 1] else ordered


def codes(y: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return class numbers with which our machines have LIBSVM's signs.

    Of more than two classes the first of a pair is the positive one in both libraries; of two classes it is
    the first in LIBSVM and the second here.
    """
    place = {int(label): k for k, label in enumerate(labels)}
    number = np.array([place[int(v)] for v in y])
    return 1 - number if len(labels) == 2 else number


def estimator(flags: TrainFlags, gamma: float, labels: np.ndarray | None) -> Any:
    """Return the unfitted estimator; classifiers are to be fitted on :func:`codes`."""
    common: dict[str, Any] = {
        "kernel": KERNELS[flags.kernel_type],
        "gamma": gamma,
        "degree": flags.degree,
        "coef0": flags.coef0,
        "tol": flags.eps,
        "cache_size": flags.cache,
        "shrinking": bool(flags.shrinking),
    }
    if flags.svm_type == C_SVC:
        assert labels is not None
        pairs = zip(_numbers(labels), labels, strict=True)
        weights = {k: flags.weights.get(int(label), 1.0) for k, label in pairs}
        factors = weights if flags.weights else None
        return mercer.SVC(C=flags.cost, class_weight=factors, decision_function_shape="ovo", **common)
    if flags.svm_type == NU_SVC:
        return mercer.NuSVC(nu=flags.nu, decision_function_shape="ovo", **common)
    if flags.svm_type == ONE_CLASS:
        return mercer.OneClassSVM(nu=flags.nu, **common)
    if flags.svm_type == EPSILON_SVR:
        return mercer.SVR(C=flags.cost, epsilon=flags.p, **common)
    return mercer.NuSVR(nu=flags.nu, C=flags.cost, **common)


def _numbers(labels: np.ndarray) -> list[int]:
    return [1, 0] if len(labels) == 2 else list(range(len(labels)))


def folds_of(y: np.ndarray, n_folds: int, stratified: bool) -> np.ndarray:
    """Return the fold of each row: random, and of equal shares of the classes if ``stratified``."""
    order = np.random.default_rng(SEED).permutation(y.size)
    if stratified:
        order = order[np.argsort(y[order], kind="stable")]
    fold = np.empty(y.size, dtype=np.int64)
    fold[order] = np.arange(y.size) % n_folds
    return fold


def left_out(model: Any, X: Any, y: np.ndarray, fold: np.ndarray, method: str) -> np.ndarray:
    """Return what machines that did not see a row say of it.

    Where the other rows are of one class, ``predict`` gives that class and ``decision_function`` its sign.
    """
    from sklearn.base import clone, is_classifier

    out = np.zeros(y.size)
    pairwise = model.kernel == "precomputed"
    for k in range(int(fold.max()) + 1):
        test = np.flatnonzero(fold == k)
        train = np.flatnonzero(fold != k)
        if not test.size:
            continue
        if is_classifier(model) and (y[train] == y[train][0]).all():
            out[test] = y[train][0] if method == "predict" else (1.0 if y[train][0] == 1 else -1.0)
            continue
        part = X[np.ix_(train, train)] if pairwise else X[train]
        machine = clone(model).fit(part, y[train])
        out[test] = getattr(machine, method)(X[np.ix_(test, train)] if pairwise else X[test])
    return out
