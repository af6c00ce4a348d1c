"""svm-train: fit a machine to a file in LIBSVM's format, write a model that LIBSVM reads."""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.cli.libsvm.dual_summary import lines
from mercer.cli.libsvm.flags import TrainFlags, parse_train
from mercer.cli.libsvm.training_setup import (
    C_SVC,
    EPSILON_SVR,
    NU_SVC,
    NU_SVR,
    ONE_CLASS,
    class_order,
    codes,
    estimator,
    folds_of,
    left_out,
    read_problem,
)
from mercer.cli.whole_files import whole_file
from mercer.io.libsvm.conversion import to_libsvm
from mercer.io.libsvm.model_text import LibsvmModel, format_libsvm_model
from mercer.problems import InfeasibleError
from mercer.problems.libsvm_probabilities import density_marks, laplace_scale
from mercer.solvers.calibration.sigmoid import fit_sigmoid

FOLDS = 5  # of the cross-validation behind probabilities


def main(arguments: list[str]) -> None:
    """Run svm-train."""
    flags = parse_train(arguments)
    flags.check()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            _run(flags)
        except InfeasibleError as error:
            raise ValueError("specified nu is infeasible") from error
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        sys.stderr.write(f"WARNING: {text}\n")


def _run(flags: TrainFlags) -> None:
    X, y = read_problem(flags)
    labels = class_order(y) if flags.svm_type in (C_SVC, NU_SVC) else None
    for label in flags.weights:
        if labels is not None and label not in labels:
            sys.stderr.write(f"WARNING: class label {label} specified in weight is not found\n")
    target = y.astype(np.float64) if labels is None else codes(y, labels)
    gamma = flags.gamma or 1.0 / X.shape[1]
    model = estimator(flags, gamma, labels)
    if flags.folds:
        _cross_validate(flags, model, X, y, target, labels)
        return
    model.fit(X, target)
    say = _silent if flags.quiet else sys.stdout.write
    for text in lines(flags, model, target):
        say(text)
    stored = with_labels(to_libsvm(model, labels=None if labels is None else first_positive(labels)), labels)
    if flags.probability:
        stored = _with_probabilities(flags, stored, model, X, target, say)
    try:
        with whole_file(Path(flags.model)) as part:
            part.write_text(format_libsvm_model(stored), encoding="ascii")
    except OSError as error:
        raise OSError(f"can't save model to file {flags.model}: {error.strerror}") from error


def _silent(text: str) -> int:
    return len(text)


def first_positive(labels: np.ndarray) -> list[int]:
    """Return the class numbers of :func:`codes` in LIBSVM's order."""
    return [1, 0] if len(labels) == 2 else list(range(len(labels)))


def with_labels(stored: LibsvmModel, labels: np.ndarray | None) -> LibsvmModel:
    """Return a model with the user's labels for the class numbers."""
    return stored if labels is None else replace(stored, labels=labels.astype(np.int64))


def _cross_validate(
    flags: TrainFlags, model: Any, X: Any, y: np.ndarray, target: np.ndarray, labels: np.ndarray | None
) -> None:
    folds = flags.folds
    if folds > y.size:
        folds = y.size
        sys.stderr.write(
            "WARNING: # folds > # data. Will use # folds = # data instead (i.e., leave-one-out cross "
            "validation)\n"
        )
    fold = folds_of(target, folds, stratified=labels is not None and folds < y.size)
    predicted = left_out(model, X, target, fold, "predict")
    if flags.svm_type in (EPSILON_SVR, NU_SVR):
        sys.stdout.write(f"Cross Validation Mean squared error = {np.mean((predicted - target) ** 2):g}\n")
        sys.stdout.write(
            f"Cross Validation Squared correlation coefficient = {squared_correlation(predicted, target):g}\n"
        )
        return
    right = int((predicted == target).sum())
    sys.stdout.write(f"Cross Validation Accuracy = {100.0 * right / y.size:g}%\n")


def squared_correlation(predicted: np.ndarray, target: np.ndarray) -> float:
    """Return the squared correlation, nan where one of the two is constant."""
    p, t = predicted - predicted.mean(), target - target.mean()
    bottom = float(p @ p) * float(t @ t)
    return float(p @ t) ** 2 / bottom if bottom > 0 else float("nan")


def _with_probabilities(
    flags: TrainFlags, stored: LibsvmModel, model: Any, X: Any, target: np.ndarray, say: Any
) -> LibsvmModel:
    plain = clone(model)
    if flags.svm_type in (EPSILON_SVR, NU_SVR):
        fold = folds_of(target, min(FOLDS, target.size), stratified=False)
        scale = laplace_scale(target - left_out(plain, X, target, fold, "predict"))
        say(
            "Prob. model for test data: target value = predicted value + z,\n"
            f"z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma= {scale:g}\n"
        )
        return replace(stored, prob_a=np.array([scale]))
    if flags.svm_type == ONE_CLASS:
        marks = density_marks(model.decision_function(X))
        if marks is None:
            sys.stderr.write(
                "WARNING: number of positive or negative decision values <5; too few to do a probability "
                "estimation.\n"
            )
        return replace(stored, density_marks=marks)
    A, B = sigmoids(plain, X, target)
    return replace(stored, prob_a=A, prob_b=B)


def sigmoids(model: Any, X: Any, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sigmoid of each pair in LIBSVM's order, from decisions of rows left out of its fit."""
    classes = np.unique(target)
    # Of two classes, positive decisions mean class number 1, the first in LIBSVM's order.
    pairs = [(1, 0)] if classes.size == 2 else list(combinations(classes.tolist(), 2))
    found = []
    for first, second in pairs:
        rows = np.flatnonzero((target == first) | (target == second))
        part = X[np.ix_(rows, rows)] if model.kernel == "precomputed" else X[rows]
        positive = target[rows] == first
        two = clone(model)
        if getattr(two, "class_weight", None):
            two.set_params(class_weight={1: model.class_weight[first], 0: model.class_weight[second]})
        fold = folds_of(target[rows], min(FOLDS, rows.size), stratified=False)
        decisions = left_out(two, part, positive.astype(np.int64), fold, "decision_function")
        found.append(fit_sigmoid(decisions, positive))
    A, B = np.array(found).T
    return A, B
