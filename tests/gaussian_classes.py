"""Data with correlated features, classes of unequal sizes and unequal covariances; read-only."""

import numpy as np


def gaussian_classes(sizes, n_features, seed):
    rng = np.random.default_rng(seed)
    blocks, labels = [], []
    for k, size in enumerate(sizes):
        mixing = rng.normal(size=(n_features, n_features)) + 2.0 * np.eye(n_features)
        blocks.append(rng.normal(size=(size, n_features)) @ mixing + 2.0 * rng.normal(size=n_features))
        labels.append(np.full(size, k))
    order = rng.permutation(sum(sizes))
    X, y = np.vstack(blocks)[order], np.concatenate(labels)[order]
    X.setflags(write=False)
    y.setflags(write=False)
    return X, y


# Two, three and seven classes; in the last case the centroids span all of the feature space.
CASES = {
    "two": ((40, 25), 4),
    "three": ((30, 50, 20), 5),
    "seven": ((20, 25, 30, 20, 25, 30, 22), 3),
}


def case(name):
    sizes, n_features = CASES[name]
    return gaussian_classes(sizes, n_features, seed=len(sizes))


def checkerboard():
    """Two classes of three clusters each, in turn along a line, and two features of noise."""
    rng = np.random.default_rng(0)
    centers = 4.0 * np.arange(6.0)[:, None] * np.array([1.0, 0.3])
    cluster = rng.integers(6, size=240)
    plane = (centers[cluster] + rng.normal(size=(240, 2))) @ np.array([[1.0, 0.5], [0.2, 2.0]])
    return np.hstack([plane, rng.normal(size=(240, 2))]), cluster % 2
