"""Small data sets for tests in any folder."""

import numpy as np


def blobs(n, d, n_classes, seed, *, spread=1.0):
    """Return overlapping clouds, one per class, in random order and read-only."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    rng.shuffle(y)
    X = spread * rng.normal(size=(n, d)) + rng.normal(size=(n_classes, d))[y]
    X.setflags(write=False)
    y.setflags(write=False)
    return X, y
