"""Leave-one-out by leaving one out, and machines to leave it out of."""

from functools import cache

import numpy as np

from mercer import SVC

TIGHT = {"tol": 1e-9, "precision": "double", "n_jobs": 1}


def small_set(seed, n=None):
    """Return a small two-class problem of random size, dimension and overlap."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 28)) if n is None else n
    d = int(rng.integers(1, 4))
    y = np.where(rng.random(n) < rng.uniform(0.3, 0.7), 1, 0)
    y[:2], y[2:4] = 0, 1
    X = rng.normal(size=(n, d)) + rng.uniform(0.0, 2.5) * y[:, None]
    C = float(np.exp(rng.uniform(np.log(0.02), np.log(50.0))))
    kernel = {"kernel": "rbf", "gamma": float(np.exp(rng.uniform(-3, 1)))}
    if rng.random() < 0.3:
        kernel = {"kernel": "linear"}
    return X, y, {"C": C, **kernel}


@cache
def left_out(seed):
    """Return the value of each point under the machine fitted without it, and these machines' duals."""
    X, y, params = small_set(seed)
    values, duals = np.empty(len(y)), []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        model = SVC(**params, **TIGHT).fit(X[rest], y[rest])
        values[i] = model.decision_function(X[[i]])[0]
        alpha = np.zeros(len(y))
        alpha[np.flatnonzero(rest)[model.support_]] = np.abs(model.dual_coef_[0])
        duals.append(alpha)
    return values, duals


def errors(values, y):
    return (values >= 0) != (y == 1)
