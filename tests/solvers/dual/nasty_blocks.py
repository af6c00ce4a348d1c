"""Small problems on which steps of two variables crawl: (name, kernel, points, dual)."""

import numpy as np

from mercer.kernels import RBF, Linear, Polynomial
from mercer.problems import HardMargin, soft_margin, squared_hinge
from mercer.problems.nu import NuMargin
from mercer.problems.regression import epsilon_tube

N = 30


def _narrow_gap(rng):
    """Return two classes whose distance is five millionths of their width."""
    Z = rng.uniform(-1, 1, size=(40, 2))
    sign = np.where(Z[:, 0] > 0, 1.0, -1.0)
    Z[:, 0] += 2.5e-6 * sign
    Z[:16, 0] = 2.5e-6 * sign[:16] * (1 + 0.2 * rng.uniform(size=16))
    return Z, sign


def _problems(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=N) > 0, 1.0, -1.0)
    doubled, doubtful = np.repeat(X[:10], 3, axis=0), np.repeat(y[:10], 3)
    doubtful[::7] *= -1
    line = np.outer(rng.normal(size=N), np.ones(3)) + 1e-6 * rng.normal(size=(N, 3))
    Z, sign = _narrow_gap(rng)
    cost = np.ones(N)
    yield "duplicates", RBF(1.0), doubled, soft_margin(doubtful, 10.0 * cost)
    yield "collinear", Linear(), line, soft_margin(y, 10.0 * cost)
    yield "collinear, wide", RBF(0.1), line, soft_margin(y, 1e3 * cost)
    yield "huge C", RBF(0.5), X, soft_margin(y, 1e8 * cost)
    yield "two features", Linear(), X[:, :2], soft_margin(y, 1e4 * cost)
    yield "no bias", Linear(), X[:, :2], soft_margin(y, 1e4 * cost, fit_intercept=False)
    yield "squared", Linear(), X[:, :2], squared_hinge(y, 1e6 * cost)
    yield "far away", Polynomial(2, gamma=1e-4, coef0=1.0), X + 1e4, soft_margin(y, cost)
    yield "tube", Linear(), X[:, :2], epsilon_tube(X[:, 0] + 0.1 * rng.normal(size=N), 1e3 * cost, 0.01)
    yield "wide tube", RBF(0.01), X, epsilon_tube(np.sin(3 * X[:, 0]), 1e4 * cost, 0.001)
    yield "hulls", Linear(), Z, HardMargin(sign, np.ones(40), float((Z * Z).sum(axis=1).max()))
    yield "hulls, curved", RBF(1.0), Z, HardMargin(sign, np.ones(40), 1.0)
    yield "nu", RBF(0.05), X, NuMargin(y, cost, 0.3, 1.0)


NASTY = {
    f"{name} {seed}": (kernel, X, problem)
    for seed in range(3)
    for name, kernel, X, problem in _problems(seed)
}
