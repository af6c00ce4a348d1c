"""Leave-one-out by leaving each row out: exactly, and at a small part of the price of as many fits."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.arrays import Float64
from mercer.estimators import SVDD, SVR, OneClassSVM
from mercer.estimators.splits import Split
from mercer.estimators.updating.live import KnownDiagonal, walkable
from mercer.gram import cross_products
from mercer.problems.novelty import BallMachine
from mercer.solvers.updates.left_out import left_out

Model = Any  # SVC, SVR, OneClassSVM or SVDD


def left_out_decisions(model: Model, X: Any, K: Float64, split: Split) -> Float64:
    """Return the value of each training row under the machines that were fitted without it.

    Parameters
    ----------
    model : SVC, SVR, OneClassSVM or SVDD
        Fitted.
    X : array, CSR or sequence
        Checked training rows.
    K : (n, n) float64
        Their kernel matrix.
    split : Split
        Their target, in parts.

    Returns
    -------
    (n, machines) float64
        Decisions or predictions. A row that takes no part in a machine keeps that machine's value.
    """
    segments, outputs = model._segments()
    F = cross_products(model.kernel_, X, model._reference(), segments, outputs, model._workers())
    F = np.asarray(F + model.intercept_)
    every = isinstance(model, OneClassSVM | SVDD)
    diagonal = np.diagonal(K).astype(np.float64)
    if every:
        F[:, 0] = model.decision_function(X)
    for k, task in enumerate(split.tasks):
        F[task.rows, k] = _of_task(model, K, split, k, diagonal, F[task.rows, k], every)
    return F


def _of_task(
    model: Model, K: Float64, split: Split, k: int, diagonal: Float64, values: Float64, every: bool
) -> Float64:
    """Return the values of one problem's rows."""
    task = split.tasks[k]
    rows, weight = task.rows, split.weight[task.rows]
    target = task.target

    def stated(kept: Any) -> Any:
        part = None if target is None else target[kept]
        return model._problem(part, weight[kept], KnownDiagonal(diagonal[rows[kept]]))

    everyone = np.arange(rows.size)
    problem = stated(everyone)
    if not walkable(problem):
        raise ValueError("method='exact' needs a finite C: a hard margin may have no left-out fit")
    inner = K if rows.size == K.shape[0] else np.ascontiguousarray(K[np.ix_(rows, rows)])
    out = np.array(values, dtype=np.float64)
    start = problem.recover(split.unpack(model, k))
    for i, machine, product in left_out(
        inner, problem, start, lambda i: stated(np.delete(everyone, i)), every=every
    ):
        if isinstance(machine, BallMachine):
            square = float(inner[i, i]) - 2.0 * product + machine.centre_norm
            out[i] = machine.squared_radius + model.gap - square
        else:
            out[i] = product + machine.intercept
    return out


def error_of(model: Model, F: Float64, split: Split) -> float:
    """Return the leave-one-out error, given the values of each row without it.

    For classifiers it is the share of rows predicted wrongly, for regressors the mean squared error, for
    detectors the share of rows called novel, weighted where rows have weights.
    """
    if isinstance(model, SVR):
        misses = (F[:, 0] - np.asarray(split.tasks[0].target)) ** 2
    elif isinstance(model, OneClassSVM | SVDD):
        misses = (F[:, 0] < 0).astype(np.float64)
    else:
        misses = (chosen(model, F) != split.labels.numbers).astype(np.float64)  # type: ignore[attr-defined]
    return float(np.average(misses, weights=split.base))


def chosen(model: Model, F: Float64) -> Any:
    """Return the number of the class that each row of decisions stands for, as ``predict`` decides."""
    if model.threshold and model.classes_.size == 2:
        return (F[:, 0] >= model.threshold).astype(np.intp)
    return model._choose(F)
