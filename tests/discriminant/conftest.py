"""Data with correlated features, classes of unequal sizes and unequal covariances; read-only."""

import numpy as np
import pytest


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


@pytest.fixture(params=["two", "three", "seven"])
def data(request):
    """Two, three and seven classes; in the last case the centroids span all of the feature space."""
    sizes, n_features = {
        "two": ((40, 25), 4),
        "three": ((30, 50, 20), 5),
        "seven": ((20, 25, 30, 20, 25, 30, 22), 3),
    }[request.param]
    return gaussian_classes(sizes, n_features, seed=len(sizes))


@pytest.fixture
def two_classes():
    return gaussian_classes((40, 25), 4, seed=2)


@pytest.fixture
def three_classes():
    return gaussian_classes((30, 50, 20), 5, seed=3)


@pytest.fixture
def wide():
    """More features than rows."""
    return gaussian_classes((12, 9, 7), 40, seed=5)
