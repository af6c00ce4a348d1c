"""The point sets that the page offers: the textbooks' figures, drawn from fixed seeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer.arrays import Float64

__all__ = ["CLASSES", "DIGITS", "EDGE", "PRESETS", "Points", "preset"]

EDGE = 4.0  # the board is the square [-EDGE, EDGE]²
CLASSES = ("A", "B", "C")
DIGITS = 4  # of a coordinate: what is drawn, saved and copied as code is the same number


@dataclass(frozen=True)
class Points:
    """Points of the board.

    Attributes
    ----------
    x, y : ndarray of shape (n,)
        Coordinates; in a regression ``y`` is the target.
    group : ndarray of shape (n,)
        Number of the class.
    """

    x: Float64
    y: Float64
    group: np.ndarray

    @property
    def n(self) -> int:
        """How many there are."""
        return int(self.x.size)


def _points(X: np.ndarray, group: np.ndarray) -> Points:
    inside = np.clip(np.round(X, DIGITS), -EDGE, EDGE)
    return Points(inside[:, 0].copy(), inside[:, 1].copy(), np.asarray(group, dtype=np.int64))


def _two_gaussians(rng: np.random.Generator) -> Points:
    X = np.vstack([rng.normal((-1.2, -0.8), 0.8, (60, 2)), rng.normal((1.2, 0.8), 0.8, (60, 2))])
    return _points(X, np.repeat([0, 1], 60))


def _mixture(rng: np.random.Generator) -> Points:
    # Hastie, Tibshirani and Friedman, Section 2.3.3: ten centres a class, small clouds around them.
    parts = []
    for mean in ((1.0, 0.0), (0.0, 1.0)):
        centres = rng.normal(mean, 1.0, (10, 2))
        parts.append(rng.normal(centres[rng.integers(0, 10, 100)], np.sqrt(0.2)))
    X = np.vstack(parts)
    return _points(1.3 * (X - X.mean(axis=0)), np.repeat([0, 1], 100))


def _moons(rng: np.random.Generator) -> Points:
    t = np.linspace(0.0, np.pi, 75)
    upper, lower = np.c_[np.cos(t), np.sin(t)], np.c_[1.0 - np.cos(t), 0.5 - np.sin(t)]
    X = np.vstack([upper, lower]) + rng.normal(0.0, 0.15, (150, 2))
    return _points(1.8 * (X - (0.5, 0.25)), np.repeat([0, 1], 75))


def _spirals(rng: np.random.Generator) -> Points:
    t = np.sqrt(np.linspace(0.02, 1.0, 80)) * 3.0 * np.pi
    arm = np.c_[t * np.cos(t), t * np.sin(t)] * (3.4 / t[-1])
    X = np.vstack([arm, -arm]) + rng.normal(0.0, 0.05, (160, 2))
    return _points(X, np.repeat([0, 1], 80))


def _ties(rng: np.random.Generator) -> Points:
    del (
        rng
    )  # a lattice: equal distances everywhere, and each point of the middle column twice, once in each class
    a, b = np.meshgrid(np.arange(-3.0, 4.0), np.arange(-3.0, 4.0))
    X, side = np.c_[a.ravel(), b.ravel()], np.sign(a.ravel())
    both = np.vstack([X[side != 0], X[side == 0], X[side == 0]])
    middle = int((side == 0).sum())
    group = np.r_[side[side != 0] > 0, np.zeros(middle, dtype=bool), np.ones(middle, dtype=bool)]
    return _points(both, group.astype(int))


def _outliers(rng: np.random.Generator) -> Points:
    X = np.vstack([rng.normal((-1.5, 0.0), 0.5, (50, 2)), rng.normal((1.5, 0.0), 0.5, (50, 2))])
    strays = np.array([(3.3, 1.2), (3.0, -1.4), (-3.2, 1.1), (-2.9, -1.6)])
    return _points(np.vstack([X, strays]), np.r_[np.repeat([0, 1], 50), 0, 0, 1, 1])


def _three_classes(rng: np.random.Generator) -> Points:
    angle = 2.0 * np.pi * np.arange(3) / 3.0 + np.pi / 2.0
    centres = 1.6 * np.c_[np.cos(angle), np.sin(angle)]
    return _points(np.vstack([rng.normal(c, 0.7, (45, 2)) for c in centres]), np.repeat([0, 1, 2], 45))


def _sine(rng: np.random.Generator) -> Points:
    x = np.sort(rng.uniform(-3.6, 3.6, 90))
    y = 1.6 * np.sin(1.6 * x) * np.exp(-0.1 * x**2) + rng.normal(0.0, 0.3, 90)
    return _points(np.c_[x, y], np.zeros(90))


def _ring(rng: np.random.Generator) -> Points:
    angle, radius = rng.uniform(0.0, 2.0 * np.pi, 110), rng.normal(2.2, 0.22, 110)
    X = np.vstack([np.c_[radius * np.cos(angle), radius * np.sin(angle)], [(0.2, 0.1), (3.6, 3.4)]])
    return _points(X, np.zeros(112))


PRESETS: dict[str, tuple[str, Callable[[np.random.Generator], Points]]] = {
    "Two Gaussians": ("classification", _two_gaussians),
    "Mixture": ("classification", _mixture),
    "Moons": ("classification", _moons),
    "Spirals": ("classification", _spirals),
    "Ties": ("classification", _ties),
    "Outliers": ("classification", _outliers),
    "Three classes": ("classification", _three_classes),
    "Noisy sine": ("regression", _sine),
    "Ring": ("novelty", _ring),
}


def preset(name: str) -> tuple[str, Points]:
    """Return a preset's task and its points, the same ones each time.

    Parameters
    ----------
    name : str
        A key of :data:`PRESETS`.

    Returns
    -------
    task : {"classification", "regression", "novelty"}
        What the points are for.
    points : Points
        The points.
    """
    task, draw = PRESETS[name]
    return task, draw(np.random.default_rng(7))
