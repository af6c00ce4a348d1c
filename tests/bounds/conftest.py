"""Data of the tests of bounds."""

import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X / X.max(axis=0), y


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X, y - 150.0
