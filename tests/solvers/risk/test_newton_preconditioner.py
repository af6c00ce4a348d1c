"""The low-rank preconditioner of Newton's systems against its definition."""

import numpy as np
import pytest

from mercer.gram import gram
from mercer.kernels import RBF
from mercer.problems.risk import Root
from mercer.solvers.risk.newton_step import Landmarks, preconditioner

pytestmark = pytest.mark.core


@pytest.mark.parametrize("outputs", [1, 3])
def test_it_is_the_inverse_of_its_matrix(outputs):
    rng = np.random.default_rng(0)
    n = 60
    landmarks = Landmarks(gram(RBF(0.5), rng.normal(size=(n, 2))), 12)
    point = np.sort(rng.integers(0, n, 90)) if outputs > 1 else np.arange(0, n, 2)
    root = Root(rng.normal(size=(point.size, outputs)), point)
    apply = preconditioner(landmarks, root)
    used = max(1, min(50 // outputs, landmarks.F.shape[1]))
    F = landmarks.F[:, -used:]
    Z = (root.T[:, :, None] * F[point][:, None, :]).reshape(point.size, -1)
    v = rng.normal(size=point.size)
    np.testing.assert_allclose(apply(v + Z @ (Z.T @ v)), v, atol=1e-9)


def test_the_factor_is_that_of_nystrom():
    X = np.random.default_rng(1).normal(size=(40, 2))
    landmarks = Landmarks(gram(RBF(0.5), X), 40)
    np.testing.assert_allclose(landmarks.F @ landmarks.F.T, RBF(0.5)(X), atol=1e-6)
