"""The one fit, on features that stand for a kernel."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from mercer.arrays import Float64
from mercer.estimators.approximation._distance import distance_from_exact
from mercer.estimators.approximation._maps import as_gram, unfitted_map
from mercer.estimators.approximation._values import feature_products
from mercer.estimators.fitting import Fit, Fitted, Solved, fit_machine, proof
from mercer.estimators.probability import wants_probabilities
from mercer.estimators.verdict import check_finite_model
from mercer.gram import Gram, Workers
from mercer.gram.mapped import MappedFeatures
from mercer.kernels import Kernel
from mercer.problems import Certificate
from mercer.problems.linear_risk import LinearMachine
from mercer.solvers import Solver

OF_EXACT = ("support_", "support_vectors_", "_n_support", "X_fit_")  # attributes that only exact fits have
ON_FEATURES = ("auto", "linear_newton", "coordinate_descent")
# "auto": as many features as bring a fit on some of the rows so near to its exact one.
FIRST, LAST, SAMPLE, NEAR = 100, 3200, 5000, 0.01


class FeatureTasks:
    """A split whose machines are weights of features.

    Parameters
    ----------
    split : Split
        What the target is made of.
    """

    def __init__(self, split: Any) -> None:
        self.split = split

    def __getattr__(self, name: str) -> Any:
        return getattr(self.split, name)

    def starts(self, model: Any) -> list[Float64] | None:
        """Return weights, biases and multipliers of the previous fit, where they match."""
        W = getattr(model, "feature_weights_", None)
        if W is None or model.shape_fit_[0] != self.n or len(W) != len(self.tasks):
            return None
        return [self.unpack(model, k) for k in range(len(self.tasks))]

    def pack(self, model: Any, X: Any, machines: list[LinearMachine]) -> None:
        """Store weights and biases, and the multipliers where the weights do not determine them."""
        model.feature_weights_ = np.stack([m.coef for m in machines])
        model._keep_biases(np.array([m.intercept for m in machines], dtype=np.float64), self.split)
        model._feature_price = model._price_of_loss()
        model.__dict__.pop("dual_coef_", None)
        if any(m.multipliers is not None for m in machines):
            table = []
            for task, machine in zip(self.tasks, machines, strict=True):
                whole = np.zeros((1, self.n))
                if machine.multipliers is not None:
                    whole[0, task.rows] = machine.multipliers
                table.append(sp.csr_array(whole))
            model.dual_coef_ = sp.vstack(table, format="csr")

    def unpack(self, model: Any, k: int) -> Float64:
        """Return weights, bias and known multipliers of task k, at today's price."""
        bias = model._biases()[k : k + 1]
        known = multipliers(model, k, self.tasks[k].rows)
        start = [model.feature_weights_[k], bias]
        if known is not None:
            start.append(known * (model._price_of_loss() / model._feature_price))
        return np.concatenate(start)


def multipliers(model: Any, k: int, rows: np.ndarray) -> Float64 | None:
    """Return the multipliers that function k keeps; None where its weights determine them."""
    table = getattr(model, "dual_coef_", None)
    known = None if table is None else np.asarray(table[[k]].toarray()[0])
    return known[rows] if known is not None and known.any() else None


class OnFeatures:
    """An estimator as the one fit sees it when features stand for its kernel.

    Whatever is not said here is the estimator's own.

    Parameters
    ----------
    model : ProblemMachine
        The estimator.
    n_components : int or None
        Number of features.
    """

    criterion = "gap"
    _definite_first, _can_be_looked_at = True, False

    def __init__(self, model: Any, n_components: int | None) -> None:
        vars(self).update(model=model, n_components=n_components, again=False)

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["model"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.model, name, value)

    def _check_parameters(self) -> None:
        self.model._check_parameters()
        self.model._check_approximation()
        if wants_probabilities(self.model):
            raise ValueError(
                "probability=True is not available with approximation=...: use "
                "sklearn.calibration.CalibratedClassifierCV, or KernelLogisticRegression(approximation=...)"
            )
        if getattr(self.model, "C", 1.0) == math.inf:
            raise ValueError("C=inf is not available with approximation=...: use a finite C")

    @property
    def solver(self) -> Any:
        """The solver that is asked for."""
        asked = self.model.solver
        if not isinstance(asked, Solver) and asked not in ON_FEATURES:
            raise ValueError(
                f"solver={asked!r} works on a kernel matrix; with approximation=... it must be one of "
                f"{list(ON_FEATURES)}"
            )
        return asked

    def _split(self, X: Any, y: Any, sample_weight: Any) -> FeatureTasks:
        return FeatureTasks(self.model._split(X, y, sample_weight))

    def _free_columns(self, kernel: Kernel, X: Any) -> None:
        if self.model._free_columns(kernel, X) is not None:
            raise ValueError("a parametric part is not available with approximation=...: set parametric=None")

    def _same_features(self, kernel: Kernel) -> bool:
        """Return whether the map of the previous fit is the one that is asked for."""
        known = getattr(self.model, "feature_map_", None)
        if known is None or self.model.kernel_ != kernel:
            return False
        wanted = unfitted_map(self.model, kernel, self.n_components)
        return bool(type(wanted) is type(known) and repr(wanted) == repr(known))

    def _starts(self, split: FeatureTasks, kernel: Kernel) -> list[Float64] | None:
        vars(self)["again"] = self._same_features(kernel)
        return split.starts(self.model) if self.again else None

    def _begin(self, split: Any) -> None:
        for name in OF_EXACT:
            self.model.__dict__.pop(name, None)
        self.model._begin(split)

    def _matrix(self, kernel: Kernel, X: Any, split: Any, workers: Workers) -> Gram:
        if kernel.is_psd is False:
            raise ValueError(
                f"approximation={self.approximation!r} needs a positive semi-definite kernel, and "
                f"kernel={kernel!r} is not"
            )
        if not self.again:  # a warm start needs the features that its weights belong to
            self.feature_map_ = unfitted_map(self.model, kernel, self.n_components).fit(X)
        matrix = as_gram(self.feature_map_, X, workers, self._cache_bytes() // 2)
        self.n_components_ = matrix.width
        return matrix

    def _psd(self, kernel: Kernel, matrix: Gram) -> bool:
        return True  # K = Z Z'

    def _stated(self, target: Any, weight: Any, matrix: MappedFeatures, beside: Any = None) -> Any:
        return self.model._on_features(target, weight, matrix)

    def _solve(self, fit: Fit, matrix: Gram) -> list[Solved]:
        found = fit.solve(matrix)
        vars(self)["seen"] = (fit.X, fit.rows, found)
        return found

    def _keep(self, machines: list[Any], split: Any) -> None:
        self.model._keep_on_features(machines, split)

    def _conclude(self, certificate: Certificate, keep: bool = False, notes: Any = ()) -> None:
        X, rows, found = vars(self)["seen"]
        scale = self.model._objective_scale()
        self.distance_from_exact_ = distance_from_exact(self.model, X, rows, found, certificate, scale)
        self.model._conclude(scaled(certificate, scale), keep, notes)


def scaled(certificate: Certificate, scale: float) -> Certificate:
    """Return a certificate in other units of the objective."""
    if scale == 1.0:
        return certificate
    parts = tuple(scaled(part, scale) for part in certificate.parts)
    names = ("primal", "dual", "gap", "rounding")
    values: dict[str, Any] = {name: scale * getattr(certificate, name) for name in names}
    return replace(certificate, parts=parts, **values)


def fit_on_features(
    model: Any, X: Any, y: Any, sample_weight: Any, view: type[OnFeatures] | None = None
) -> Fitted:
    """Fit an estimator on features that stand for its kernel.

    Parameters
    ----------
    model : ProblemMachine
        The estimator.
    X, y, sample_weight
        What ``fit`` was given.
    view : type, optional
        What the one fit sees of the estimator; `OnFeatures` when not given.
    """
    wished = model.n_components
    if wished == "auto":
        wished = _enough(model, X, y, sample_weight) if isinstance(model.approximation, str) else None
    fitted = fit_machine((view or OnFeatures)(model, wished), X, y, sample_weight)
    check_finite_model(model)
    return fitted


def _enough(model: Any, X: Any, y: Any, sample_weight: Any) -> int:
    """Return the least number of features, doubled each time, that is near to exact on some of the rows."""
    if model._kernel().pairwise:
        raise ValueError("n_components='auto' is not available with kernel='precomputed': give a number")
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    some = np.sort(np.random.default_rng(0).choice(n, min(n, SAMPLE), replace=False))
    few, target, weight = (
        None if given is None else _safe_indexing(given, some) for given in (X, y, sample_weight)
    )
    m, given = FIRST, model._trial_parameters(few, target, weight)
    while m < min(LAST, n):
        trial = clone(model).set_params(n_components=m, **given)
        trial._fit(few, target, weight)
        known = trial.distance_from_exact_
        if known is None or known.relative_gap <= NEAR:
            break
        m *= 2
    return m


def certify_on_features(model: Any, X: Any, y: Any, sample_weight: Any) -> Certificate:
    """Recompute the certificate of a machine on features from nothing but the model and the data.

    Parameters
    ----------
    model : ProblemMachine
        The estimator.
    X, y, sample_weight
        The data given to ``fit``.
    """
    X = model._check_X(X, kernel=model._exact_kernel, reset=False)
    model._fitted_length(X)
    split = model._split_again(X, y, sample_weight)
    workers, known, found = model._workers(), model.certificate_, []
    matrix = as_gram(model.feature_map_, X, workers, model._cache_bytes() // 2)
    F, bias = feature_products(model, X, workers), model._biases()
    for k, task in enumerate(split.tasks):
        rows, w = task.rows, model.feature_weights_[k]
        part = matrix if rows.size == matrix.n else matrix.subset(rows)
        machine = LinearMachine(w, float(bias[k]), F[rows, k], multipliers(model, k, rows))
        one = known.parts[k] if known.parts else known
        problem = model._on_features(task.target, split.weight[rows], part)
        found.append(Solved(problem, machine, one.n_iter, one.status, part.weight_noise(w)))
    return scaled(proof(OnFeatures(model, None), found), model._objective_scale())
