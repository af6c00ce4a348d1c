"""Conformal intervals and sets as the definitions have them: loops over rows, and a clone for each fold."""

import math

import numpy as np
from sklearn.base import clone


def left_out(estimator, X, y, folds):
    """Return, for each scored row, the machine that was fitted without its fold."""
    machines = {k: clone(estimator).fit(X[folds != k], y[folds != k]) for k in set(folds) - {-1}}
    return [machines[k] for k in folds if k >= 0]


def intervals(estimator, X, y, folds, new, coverage):
    scored = np.flatnonzero(folds >= 0)
    machines = left_out(estimator, X, y, folds)
    errors = [abs(y[i] - f.predict(X[[i]])[0]) for i, f in zip(scored, machines, strict=True)]
    n = len(errors)
    k = math.ceil(round(coverage * (n + 1), 9))
    ends = []
    for x in new:
        at = [f.predict(x[None])[0] for f in machines]
        up = sorted(f + e for f, e in zip(at, errors, strict=True))
        down = sorted((f - e for f, e in zip(at, errors, strict=True)), reverse=True)
        ends.append((down[k - 1], up[k - 1]) if k <= n else (-np.inf, np.inf))
    return np.array(ends)


def margins(model, X, classes):
    """Return how much a class is beaten by the best other one."""
    F = np.atleast_2d(model.decision_function(X))
    if len(classes) == 2:
        F = np.stack([-F.ravel(), F.ravel()], axis=1)
    return np.array([[max(np.delete(row, c)) - row[c] for c in range(len(classes))] for row in F])


def sets(estimator, X, y, folds, new, coverage, by_class=False):
    classes = np.unique(y)
    scored = np.flatnonzero(folds >= 0)
    machines = left_out(estimator, X, y, folds)
    number = np.searchsorted(classes, y)
    own = [margins(f, X[[i]], classes)[0, number[i]] for i, f in zip(scored, machines, strict=True)]
    members = np.zeros((len(new), len(classes)), dtype=bool)
    for c in range(len(classes)):
        kept = [j for j, i in enumerate(scored) if not by_class or number[i] == c]
        tables = {id(machines[j]): margins(machines[j], new, classes)[:, c] for j in kept}
        beaten = sum((tables[id(machines[j])] > own[j]).astype(int) for j in kept)
        members[:, c] = beaten < coverage * (len(kept) + 1) - 1e-9
    return members
