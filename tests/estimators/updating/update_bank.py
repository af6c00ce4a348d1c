"""Machines and data for the tests of exact updates, and the fresh fit that they are compared with."""

from __future__ import annotations

import numpy as np

from mercer import SVC, SVDD, SVR, OneClassSVM
from mercer.kernels import RBF


def plain(rng, n):
    """Draw numbers without ties."""
    return rng.normal(size=(n, 2))


def tied(rng, n):
    """Draw points of a coarse grid: many are equal, and so are many kernel values."""
    return np.round(rng.normal(size=(n, 2)))


def duplicated(rng, n):
    """Draw each row from few different ones."""
    return rng.normal(size=(8, 2))[rng.integers(0, 8, size=n)]


def constant(rng, n):
    """Return rows that are all equal."""
    return np.ones((n, 2))


DATA = {"plain": plain, "tied": tied, "duplicated": duplicated, "constant": constant}
MACHINES = {
    "hinge": (SVC(kernel=RBF(gamma=0.5), C=2.0), "labels"),
    "linear": (SVC(kernel="linear", C=2.0), "labels"),
    "no_bias": (SVC(kernel=RBF(gamma=0.5), fit_intercept=False), "labels"),
    "squared_hinge": (SVC(kernel=RBF(gamma=0.5), loss="squared_hinge"), "labels"),
    "pairs": (SVC(kernel=RBF(gamma=0.5)), "classes"),
    "rest": (SVC(kernel=RBF(gamma=0.5), multiclass="ovr", class_weight="balanced"), "classes"),
    "tube": (SVR(kernel=RBF(gamma=0.5)), "numbers"),
    "thin_tube": (SVR(kernel="linear", epsilon=0.0), "numbers"),
    "squared_tube": (SVR(kernel=RBF(gamma=0.5), loss="squared_epsilon_insensitive"), "numbers"),
    "plane": (OneClassSVM(kernel=RBF(gamma=0.5), nu=0.3), None),
    "ball": (SVDD(kernel="linear", nu=0.3), None),
    "hard_ball": (SVDD(kernel=RBF(gamma=0.5), nu=0.0), None),
    "priced_ball": (SVDD(kernel=RBF(gamma=0.5), C=0.2), None),
}


def targets(kind, X, rng):
    """Return targets of rows; those of equal rows may differ."""
    noisy = X[:, 0] + 0.7 * rng.normal(size=len(X))
    if kind is None:
        return None
    if kind == "numbers":
        return np.round(noisy, 1)
    if kind == "labels":
        return np.where(noisy > 0, "yes", "no")
    return np.digitize(noisy, [-0.4, 0.4])


def some(y, rows):
    """Return some targets, if there are any."""
    return None if y is None else y[rows]


def fresh(model, tol=1e-10):
    """Return a model that was fitted to the rows of another from nothing, with its frozen parameters."""
    frozen = {"kernel": model.kernel_, "gamma": "scale", "tol": tol, "updatable": False, "window": None}
    if getattr(model, "class_weight", None) is not None:
        frozen["class_weight"] = dict(zip(model.classes_.tolist(), model.class_weight_.tolist(), strict=True))
    twin = type(model)(**{**model.get_params(deep=False), **frozen})
    return twin.fit(model.X_fit_, getattr(model, "y_fit_", None), model.sample_weight_fit_)


def function(model, X):
    """Return the function that a model has learned, whatever it is called."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict(X)


def distance(model, twin):
    """Return how far apart two objectives are, relative to their size (from 0.01 on)."""
    size = max(abs(twin.certificate_.dual), abs(twin.certificate_.primal), 1e-2)
    return (
        max(
            abs(model.certificate_.dual - twin.certificate_.dual),
            abs(model.certificate_.primal - twin.certificate_.primal),
        )
        / size
    )
