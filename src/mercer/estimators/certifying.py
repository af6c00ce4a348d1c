"""The certificate of a fitted estimator, from nothing but the model and the data."""

from __future__ import annotations

import math
from typing import Any

from mercer.estimators.fitting import Solved, beside, proof
from mercer.estimators.kernel_weights import certified_jointly
from mercer.estimators.splits import Split
from mercer.gram import cross_products
from mercer.problems import Certificate


def certify_machine(model: Any, X: Any, y: Any, sample_weight: Any) -> Certificate:
    """Recompute the certificate of a fitted estimator from nothing but the model and the data, in float64.

    Parameters
    ----------
    model : KernelMachine
        The estimator.
    X, y, sample_weight
        The data given to ``fit``.
    """
    given = X
    X = model._check_X(X, kernel=model.kernel_, reset=False)
    model._fitted_length(X)
    split: Split = model._split_again(X, y, sample_weight)
    free = model._free_columns(model.kernel_, X)
    workers = model._workers()
    segments, outputs = model._segments()
    F = cross_products(model.kernel_, X, model._reference(), segments, outputs, workers)
    matrix = model._gram(model.kernel_, X, workers, double=True)
    known = model.certificate_
    psd = not math.isnan(known.gap)
    matrix.is_psd = psd
    found = []
    for k, task in enumerate(split.tasks):
        rows = task.rows
        part = matrix if rows.size == matrix.n else matrix.subset(rows)
        problem = model._stated(task.target, split.weight[rows], part, beside(free, rows))
        coef = split.unpack(model, k)
        machine = model._with_parametric(model._shipped(k, coef, split.outputs(F, k)), k, free)
        seen = part if free is None else problem.view(part)
        one = known.parts[k] if known.parts else known
        found.append(Solved(problem, machine, one.n_iter, one.status, seen.noise(coef)))
    certificate = proof(model, found, psd)
    return certified_jointly(model, given, split, sample_weight, certificate, found)
