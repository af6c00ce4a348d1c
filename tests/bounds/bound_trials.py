"""Distributions whose risks are known, and the judge of how often a bound may fail."""

import numpy as np
from scipy.stats import binomtest

ANGLES = np.linspace(-np.pi, np.pi, 121)[:-1]
DIRECTIONS = np.stack([np.cos(ANGLES), np.sin(ANGLES)])  # unit vectors of the plane, one per column


def assert_rarely_fails(fails, delta, *, bounds, trivial=1.0):
    """Refuse a bound that fails more often than delta allows, and a trial in which it could not fail."""
    assert np.max(bounds) < trivial, f"this setting tests nothing: the bound reaches {np.max(bounds):.3g}"
    count, trials = int(np.sum(fails)), len(fails)
    assert trials >= 8
    assert binomtest(count, trials, delta, alternative="greater").pvalue > 1e-3, f"{count} of {trials} failed"


def bars(rng, shape, *, gap=0.3, noise=0.0):
    """Two bars beside the axis x_1 = 0, in the unit disc: x = (y a, b), a in [gap, 0.8], b in [-0.6, 0.6]."""
    y = rng.choice([-1.0, 1.0], size=shape)
    X = np.stack([y * rng.uniform(gap, 0.8, shape), rng.uniform(-0.6, 0.6, shape)], axis=-1)
    flip = rng.random(shape) < noise
    return X, np.where(flip, -y, y)


def risks(gap=0.3, noise=0.0):
    """Return the true error of sgn <w, x> on the bars for each direction, from a fine lattice of points."""
    a, b = np.meshgrid(np.linspace(gap, 0.8, 401), np.linspace(-0.6, 0.6, 401))
    points = np.stack([a.ravel(), b.ravel()], axis=1)
    wrong = (points @ DIRECTIONS <= 0).mean(axis=0)
    return wrong * (1 - noise) + (1 - wrong) * noise
