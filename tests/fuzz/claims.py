"""What a fitted machine claims of each two-class problem: statement, values, shipped function."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from . import true_optimum
from .kernel_truth import is_psd, matrix

Wide = np.longdouble
MACHINES = ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "SVDD", "SVCPath", "SVRPath")


@dataclass
class Claim:
    """One problem, the certificate of its solution, and the cost of the decisions that are shipped."""

    statement: true_optimum.Statement
    certificate: object
    coef: np.ndarray  # in the scale of the problem
    own: float  # nan if there is nothing to compare


def claims(name, model, X, y, weight):
    """Return the claims of a machine; none where the problem is not written out, or is no convex one."""
    if name not in MACHINES or _restated(model):
        return []
    K = _products(model, X) if _on_features(model) else matrix(model.kernel_, X)
    if K is None or not is_psd(K):
        return []
    n = len(K)
    w = np.ones(n) if weight is None else np.asarray(weight, dtype=float)
    certificate = model.certificate_
    with np.errstate(all="ignore"):
        if name in ("SVC", "NuSVC", "SVCPath"):
            return _classifiers(name, model, K, X, np.asarray(y), w)
        coef = _coefficients(model, n)[0]
        norm = _norm(model, 0, K, coef)
        if name in ("SVR", "SVRPath", "NuSVR"):
            return [_tube(name, model, K, np.asarray(y, dtype=float), w, coef, norm, X)]
        given = {"diag": np.diagonal(X)} if name == "SVDD" and model.kernel == "precomputed" else {}
        decided = np.asarray(model.decision_function(X, **given), dtype=Wide)
        if name == "OneClassSVM":
            rho, total = Wide(model.offset_[0]), Wide(model.nu) * w.astype(Wide).sum()
            own = 0.5 * norm - total * rho + (w * np.maximum(-decided, 0)).sum()
            return [Claim(true_optimum.one_class(K, w, model.nu), certificate, coef, float(own))]
        price = _price(model, w)
        own = Wide(model.radius_) ** 2 + np.where(w > 0, np.maximum(-decided, 0), 0) @ np.where(
            np.isinf(price), 0, price
        )
        return [Claim(true_optimum.ball(K, price), certificate, coef, float(own))]


def _restated(model):
    """Return whether the solver's bias is one more coordinate: its problem is then another one."""
    from mercer.solvers import as_solver

    named = getattr(model, "solver", None)
    solver = None if named is None else as_solver(named)
    return solver is not None and getattr(model, "fit_intercept", True) and solver.fixes_bias


def _dense(coef, support, n):
    """Return coefficients of all training points, a row for each row of ``dual_coef_``."""
    coef = np.atleast_2d(coef.toarray() if hasattr(coef, "toarray") else np.asarray(coef))
    whole = np.zeros((coef.shape[0], n))
    whole[:, support] = coef
    return whole


def _on_features(model):
    return getattr(model, "feature_map_", None) is not None


def _products(model, X):
    """Return K = Z Z' of the features that stand for the kernel: the problem that is solved then."""
    Z = model.feature_map_.transform(X)
    Z = np.asarray(Z.toarray() if hasattr(Z, "toarray") else Z).astype(Wide)
    with np.errstate(all="ignore"):
        K = Z @ Z.T
    return K if np.isfinite(K).all() and float(np.abs(K).max(initial=0.0)) < 1e300 else None


def _coefficients(model, n):
    """Return the coefficients of all training points; a machine on features ships none."""
    if _on_features(model):
        return np.zeros((len(model.feature_weights_), n))
    return _dense(model.dual_coef_, model.support_, n)


def _norm(model, number, K, coef):
    """Return the squared norm of function ``number``."""
    if _on_features(model):
        weights = np.asarray(model.feature_weights_[number]).astype(Wide)
        return weights @ weights
    coef = coef.astype(Wide)
    return coef @ (K @ coef)


def _price(model, w):
    if model.C is None:
        return w / (model.nu * w.sum()) if model.nu > 0 else np.where(w > 0, np.inf, 0.0)
    return np.where(w > 0, model.C * w, 0.0) if np.isfinite(model.C) else np.where(w > 0, np.inf, 0.0)


def _tube(name, model, K, t, w, coef, norm, X):
    predicted = np.asarray(model.predict(X), dtype=Wide)
    C = float(model.C) * w
    error = np.abs(t - predicted)
    if name == "NuSVR":
        epsilon = Wide(model.epsilon_)
        own = 0.5 * norm + model.nu * C.astype(Wide).sum() * epsilon + C @ np.maximum(error - epsilon, 0)
        return Claim(true_optimum.nusvr(K, t, C, model.nu), model.certificate_, coef, float(own))
    squared = getattr(model, "loss", "") == "squared_epsilon_insensitive"
    excess = np.maximum(error - model.epsilon, 0)
    own = 0.5 * norm + C @ (excess * excess if squared else excess)
    statement = true_optimum.svr(K, t, C, model.epsilon, squared=squared, intercept=model.fit_intercept)
    return Claim(statement, model.certificate_, coef, float(own))


# -- classifiers -----------------------------------------------------------------------------------------


def _class_factors(model, labels, w, k):
    """Return what ``class_weight`` multiplies each class by."""
    given = model.class_weight
    if given is None:
        return np.ones(k)
    if isinstance(given, dict):
        return np.array([given.get(c, 1.0) for c in model.classes_.tolist()])
    total = np.array([w[labels == c].sum() for c in range(k)])
    return w.sum() / (k * total)


def _tasks(labels, present, k, pairs):
    """Yield (rows, signs, positive class, negative class or None) in the order of the certificate's parts."""
    if k == 2:
        rows = np.flatnonzero(present)
        yield rows, np.where(labels[rows] == 1, 1.0, -1.0), 1, 0
    elif pairs:
        for i, j in combinations(range(k), 2):
            rows = np.flatnonzero(present & ((labels == i) | (labels == j)))
            yield rows, np.where(labels[rows] == i, 1.0, -1.0), i, j
    else:
        rows = np.flatnonzero(present)
        for c in range(k):
            yield rows, np.where(labels[rows] == c, 1.0, -1.0), c, None


def _classifiers(name, model, K, X, y, w):
    k = model.classes_.size
    labels = np.searchsorted(model.classes_, y)
    w = w * _class_factors(model, labels, w, k)[labels]
    pairs = model.multiclass == "ovo"
    table = _coefficients(model, len(K))
    shape, model.decision_function_shape = model.decision_function_shape, "ovo" if pairs else "ovr"
    decided = np.asarray(model.decision_function(X), dtype=Wide).reshape(len(K), -1)
    model.decision_function_shape = shape
    parts = model.certificate_.parts or (model.certificate_,)
    found = []
    for number, (rows, sign, i, j) in enumerate(_tasks(labels, w > 0, k, pairs)):
        if k == 2 or _on_features(model):
            coef = table[number][rows]
        elif pairs:
            coef = np.where(labels[rows] == i, table[j - 1][rows], table[i][rows])
        else:
            coef = table[number][rows]
        part = K[np.ix_(rows, rows)]
        found.append(
            _two_classes(name, model, part, sign, w[rows], coef, decided[rows, number], parts[number], number)
        )
    return [claim for claim in found if claim is not None]


def _two_classes(name, model, K, sign, w, coef, decided, certificate, number):
    norm = _norm(model, number, K, coef)
    if name == "NuSVC":
        rho, nu = Wide(np.atleast_1d(model.rho_)[number]), float(np.atleast_1d(model.nu_)[number])
        if nu != model.nu:
            return None  # infeasible for this pair: another problem was solved, and that was said
        own = (
            0.5 * norm * rho**2 - nu * w.sum() * rho + w @ np.maximum(rho - sign * decided * rho, 0)
            if rho > 0
            else np.nan
        )
        scale = float(rho) if rho > 0 else 1.0
        return Claim(true_optimum.nusvc(K, sign, w, nu), certificate, coef * scale, float(own))
    squared = getattr(model, "loss", "") == "squared_hinge"
    C = np.where(w > 0, float(model.C) * w, 0.0)
    if np.isinf(model.C):
        least = (sign * decided)[w > 0].min()
        own = 0.5 * norm / least**2 if least > 0 else np.inf
    else:
        slack = np.maximum(1 - sign * decided, 0)
        own = 0.5 * norm + C @ (slack * slack if squared else slack)
    statement = true_optimum.svc(K, sign, C, squared=squared, intercept=model.fit_intercept)
    return Claim(statement, certificate, coef, float(own))


def candidate(claim):
    """Return the shipped coefficients as a point of the dual."""
    coef = claim.coef.astype(Wide)
    if claim.statement.copies == 1:
        return coef
    return np.concatenate([np.maximum(coef, 0), np.minimum(coef, 0)])
