"""Small problems, easy and nasty, and their objectives written from the definitions."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Case:
    """Points with signs, targets, classes, weights, a kernel matrix and a price."""

    name: str
    X: np.ndarray
    sign: np.ndarray
    target: np.ndarray
    label: np.ndarray
    weight: np.ndarray
    kernel: str
    C: float

    @property
    def params(self):
        return {"kernel": self.kernel, "gamma": self.gamma, "degree": 2, "coef0": 1.0, "C": self.C}

    @property
    def gamma(self):
        return 1.0 / (self.X.shape[1] * float(self.X.var()))

    @property
    def K(self):  # noqa: N802
        S = self.X @ self.X.T
        if self.kernel == "linear":
            return S
        if self.kernel == "poly":
            return (self.gamma * S + 1.0) ** 2
        d = np.diagonal(S)
        return np.exp(-self.gamma * np.maximum(d[:, None] + d[None, :] - 2 * S, 0.0))


def plain(rng):
    return rng.normal(size=(50, 3)), np.ones(50)


def duplicates(rng):
    X = rng.normal(size=(15, 2))
    return X[rng.integers(0, 15, 45)], np.ones(45)


def wide(rng):
    return rng.normal(size=(20, 60)), np.ones(20)


def outliers(rng):
    X = rng.normal(size=(40, 2))
    X[:2] *= 30.0
    return X, np.ones(40)


def weights(rng):
    return rng.normal(size=(40, 2)), rng.gamma(1.0, size=40)


def absences(rng):
    weight = np.where(rng.random(40) < 0.4, 0.0, 1.0)
    weight[:6] = 1.0
    return rng.normal(size=(40, 2)) + 3.0, weight


FAMILIES = (plain, duplicates, wide, outliers, weights, absences)


def bank():
    """Return the cases, the same ones each time."""
    cases = []
    for f, family in enumerate(FAMILIES):
        for k, kernel in enumerate(("linear", "poly", "rbf")):
            rng = np.random.default_rng([f, k])
            X, weight = family(rng)
            n = X.shape[0]
            score = X[:, 0] + 0.5 * X[:, -1] ** 2 + 0.7 * rng.normal(size=n)
            sign = np.where(score > np.median(score), 1.0, -1.0)
            sign[:2] = 1.0, -1.0
            label = np.digitize(score, np.quantile(score, [0.33, 0.66]))
            label[:3] = 0, 1, 2
            target = np.sin(X[:, 0]) + 0.3 * rng.standard_t(2, size=n)
            prices = (0.01, 1.0, 1e3)
            for C in prices if kernel == "rbf" else (prices[(f + k) % 3],):
                for array in (X, sign, target, label, weight):
                    array.setflags(write=False)
                name = f"{family.__name__}-{kernel}-{C:g}"
                cases.append(Case(name, X, sign, target, label, weight, kernel, C))
    return cases


def expansion(model, n):
    """Return the coefficients of all points, (outputs, n), of a model with one machine or shared points."""
    coef = np.zeros((model.dual_coef_.shape[0], n))
    coef[:, model.support_] = model.dual_coef_
    return coef
