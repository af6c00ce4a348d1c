"""Data of the tests of Gaussian processes."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def data():
    """Return points, two targets and new points."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    Y = np.c_[np.sin(X[:, 0]) + 2.0, 3.0 * X[:, 1] ** 2] + 0.1 * rng.normal(size=(60, 2))
    return X, Y, rng.normal(size=(9, 3))
