"""Machines without some of their rows: by clones, or, of our own, on one kernel matrix from the whole fit.

Leaving rows out of a ridge regression has a closed form. The other machines begin at the solution of all
rows; where the rows left out have no coefficient, that solution is theirs, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import _safe_split

from mercer.arrays import Float64
from mercer.estimators.approximation._values import has_features
from mercer.estimators.convex import KernelRegressor
from mercer.estimators.fitting import chosen
from mercer.estimators.machine import ProblemMachine
from mercer.estimators.parametric import has_parametric
from mercer.estimators.ridge import KernelRidge
from mercer.estimators.svm.nusvc import NuSVC
from mercer.estimators.svm.nusvr import NuSVR
from mercer.estimators.svm.svc import SVC
from mercer.estimators.svm.svr import SVR
from mercer.estimators.user_warnings import warn_user
from mercer.gram import Gram, Segment, cross_products, gram
from mercer.gram.base import MatrixGram, whole
from mercer.kernels import Precomputed
from mercer.problems import Machine
from mercer.solvers import Limits
from mercer.solvers.ridge.left_out import without_rows

Folds = Sequence[NDArray[np.intp]]
REFITTED = (SVC, SVR, KernelRegressor, NuSVC, NuSVR)
OF_ALL_ROWS = (NuSVC, NuSVR)  # nu is a fraction of the rows: each of them matters


@dataclass(frozen=True)
class Expansions:
    """Functions on the same points, one for each fold.

    Attributes
    ----------
    coef : (folds, n) float64
        Coefficients.
    intercept : (folds,) float64
        Biases.
    left_out : (n,) float64
        At each row of a fold, the value of the function without that fold; nan at other rows.
    """

    coef: Float64
    intercept: Float64
    left_out: Float64


def without_folds(model: Any, X: Any, y: Any, folds: Folds) -> Expansions | None:
    """Return a machine's functions without each fold on its one kernel matrix; None where it has no such way.

    The kernel and all parameters must be the same whatever rows are left out: not ``gamma="scale"``, nor a
    penalty that is found by leaving one out.

    Parameters
    ----------
    model : estimator
        Fitted on all rows.
    X, y
        These rows, and their targets.
    folds : sequence of arrays
        The rows to leave out, each time.
    """
    if not isinstance(model, ProblemMachine) or model._kernel().depends_on_data or has_features(model):
        return None
    X = model._check_X(X, kernel=model.kernel_, reset=False)
    n = model._fitted_length(X)
    if has_parametric(model) or 8 * n * n > model._cache_bytes():
        return None
    ridge = type(model) is KernelRidge and np.ndim(model.alpha) == 0 and not isinstance(model.alpha, str)
    if not (ridge and model.alpha > 0 and model.kernel_.is_psd) and not _is_refitted(model):
        return None
    K = whole(gram(model.kernel_, X, precision="double", tol=model.tol, workers=model._workers()))
    if ridge:
        coef, intercept = without_rows(K, np.asarray(y), float(model.alpha), model.fit_intercept, folds)
    else:
        coef, intercept = _refitted(model, K, y, folds)
    left_out = np.full(n, np.nan)
    for k, rows in enumerate(folds):
        left_out[rows] = K[rows] @ coef[k] + intercept[k]
    return Expansions(coef, intercept, left_out)


def _is_refitted(model: Any) -> bool:
    """Return whether a machine is one function that a solver finds from any start."""
    known = type(model) in REFITTED and getattr(model, "scale", None) is None
    return known and model.intercept_.size == 1 and not getattr(model, "threshold", 0.0)


def _refitted(model: Any, K: Float64, y: Any, folds: Folds) -> tuple[Float64, Float64]:
    """Return coefficients and biases without each fold, each solved from the solution of all rows."""
    n, y = K.shape[0], np.asarray(y)
    all_rows = MatrixGram(K, model.kernel_.is_psd)
    start = np.zeros(n)
    start[model.support_] = model._coefficients[0]
    every_row = type(model) in OF_ALL_ROWS or getattr(model, "class_weight", None) == "balanced"
    coef, intercept = np.tile(start, (len(folds), 1)), np.full(len(folds), float(model.intercept_[0]))
    unfinished = 0
    for k, rows in enumerate(folds):
        if not every_row and not start[rows].any():
            continue
        rest = np.delete(np.arange(n), rows)
        machine, done = _without(model, all_rows.subset(rest), y[rest], start[rest])
        unfinished += not done
        coef[k] = 0.0
        coef[k, rest], intercept[k] = machine.coef, machine.intercept
    if unfinished:
        warn_user(
            f"{unfinished} of {len(folds)} fits without some rows stopped before their tolerance: raise "
            "max_iter or time_limit",
            ConvergenceWarning,
        )
    return coef, intercept


def _without(model: Any, matrix: Gram, y: Any, start: Float64) -> tuple[Machine, bool]:
    split = model._split(y, y, None)
    model._check_feasible(split)
    (task,) = split.tasks
    problem = model._stated(task.target, split.weight[task.rows], matrix)
    solver = chosen(model, matrix, problem, Limits(max_iter=model.max_iter, time_limit=model.time_limit))
    solution = solver.solve(matrix, problem, problem.nearest(problem.recover(start)))
    machine = problem.machine(solution.b, solution.f)
    return machine, solution.status in ("optimal", "stationary")


def expansion_values(model: Any, points: Any, coef: Float64, intercept: Float64, X: Any) -> Float64:
    """Return the functions of all folds at new points, a column for each fold."""
    X = model._check_X(X, kernel=model.kernel_, reset=False)
    folds = np.arange(coef.shape[0])
    segment = Segment(0, coef.shape[1], np.ascontiguousarray(coef.T), folds)
    kept = np.arange(coef.shape[1]) if isinstance(model.kernel_, Precomputed) else points
    F = cross_products(model.kernel_, X, kept, [segment], folds.size, model._workers())
    return np.asarray(F + intercept)


def kept_points(model: Any, X: Any) -> Any:
    """Return all training points of a machine as its kernel takes them; none of a precomputed kernel."""
    if isinstance(model.kernel_, Precomputed):
        return np.empty((0, 0))
    return model._check_X(X, kernel=model.kernel_, reset=False)


def is_pairwise(model: Any) -> bool:
    """Return whether a column of the data is a training row."""
    return bool(get_tags(model).input_tags.pairwise)


def fitted_without(template: Any, X: Any, y: Any, folds: Folds, n_jobs: int | None) -> list[Any]:
    """Return clones fitted without each fold."""
    every = np.arange(len(y))

    def fit(rows: NDArray[np.intp]) -> Any:
        rest = np.delete(every, rows)
        return clone(template).fit(*_safe_split(template, X, y, rest))

    return list(Parallel(n_jobs=n_jobs)(delayed(fit)(rows) for rows in folds))
