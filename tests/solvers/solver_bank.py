"""Small problems of every kind, common to all solvers."""

from dataclasses import dataclass

import numpy as np

from mercer.gram import MatrixGram
from mercer.problems import Dual, HardMargin, HardMarginThroughOrigin, soft_margin, squared_hinge
from mercer.problems.novelty import EnclosingBall, Hyperplane, ball_prices
from mercer.problems.nu import NuMargin, largest_nu
from mercer.problems.regression import NuTube, epsilon_tube, squared_epsilon_tube


@dataclass(frozen=True, eq=False)
class Case:
    """A kernel matrix and a problem on it."""

    name: str
    kind: str
    K: np.ndarray
    problem: Dual

    @property
    def gram(self):
        return MatrixGram(self.K, True)


def _clouds(rng, n, d):
    y = np.where(rng.random(n) < 0.45, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return rng.normal(size=(n, d)) + 0.8 * y[:, None] * rng.normal(size=d), y


def clouds(rng):
    return *_clouds(rng, 45, 3), np.ones(45)


def duplicates(rng):
    X, y = _clouds(rng, 15, 2)
    again = rng.integers(0, 15, 20)
    return np.vstack([X, X[again]]), np.concatenate([y, y[again]]), np.ones(35)


def grid(rng):
    """Integer points: many ties."""
    X = rng.integers(-2, 3, size=(40, 2)).astype(float)
    return X, np.where(X[:, 0] + rng.normal(size=40) > 0, 1.0, -1.0), np.ones(40)


def weights_with_zeros(rng):
    X, y = _clouds(rng, 40, 3)
    weight = np.where(rng.random(40) < 0.3, 0.0, rng.uniform(0.5, 2.0, 40))
    weight[:2] = 1.0
    return X, y, weight


def more_features_than_points(rng):
    return *_clouds(rng, 12, 30), np.ones(12)


FAMILIES = (clouds, duplicates, grid, weights_with_zeros, more_features_than_points)


def rbf(X):
    return np.exp(-0.5 * ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2) / X.shape[1])


def linear(X):
    return X @ X.T


def problems(K, y, t, w):
    """Yield a problem of each kind."""
    diag = np.diagonal(K).copy()
    spread = float(diag.max())
    yield "soft margin", soft_margin(y, 2.0 * w)
    yield "soft margin, no bias", soft_margin(y, 2.0 * w, fit_intercept=False)
    yield "squared hinge", squared_hinge(y, 2.0 * w)
    yield "squared hinge, no bias", squared_hinge(y, 2.0 * w, fit_intercept=False)
    yield "tube", epsilon_tube(t, 1.5 * w, 0.1)
    yield "tube, no bias", epsilon_tube(t, 1.5 * w, 0.1, fit_intercept=False)
    yield "squared tube", squared_epsilon_tube(t, 1.5 * w, 0.1)
    yield "squared tube, no bias", squared_epsilon_tube(t, 1.5 * w, 0.1, fit_intercept=False)
    yield "nu margin", NuMargin(y, w, 0.6 * largest_nu(y, w), spread)
    yield "nu tube", NuTube(t, 1.0, w, 0.4)
    yield "ball", EnclosingBall(diag, ball_prices(w, 0.3, None))
    yield "smallest ball", EnclosingBall(diag, ball_prices(w, 0.0, None))
    yield "plane", Hyperplane(w, 0.4, spread)


def _cases():
    for f, family in enumerate(FAMILIES):
        for kernel in (rbf, linear):
            rng = np.random.default_rng(f)
            X, y, w = family(rng)
            t = np.sin(X[:, 0]) + 0.2 * rng.normal(size=y.size)
            K = kernel(X)
            K.setflags(write=False)
            for kind, problem in problems(K, y, t, w):
                yield Case(f"{family.__name__}, {kernel.__name__}, {kind}", kind, K, problem)
    rng = np.random.default_rng(99)
    X, y = _clouds(rng, 40, 3)
    X += 2.0 * y[:, None]  # separable
    for kernel in (rbf, linear):
        K = kernel(X)
        spread = float(np.diagonal(K).max())
        for kind, hard in (("hard margin", HardMargin), ("hard margin, no bias", HardMarginThroughOrigin)):
            yield Case(f"separable, {kernel.__name__}, {kind}", kind, K, hard(y, np.ones(40), spread))


CASES = list(_cases())


def seen(case):
    """Return the matrix that the case's variables see."""
    return case.problem.view(case.gram)
