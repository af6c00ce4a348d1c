"""Single precision is used where it is enough, and only there."""

import numpy as np
import pytest
import scipy.sparse as sp

from clouds import blobs
from mercer import SVC
from mercer.gram import gram
from mercer.kernels import RBF, Linear

pytestmark = pytest.mark.core

TRANSFORMS = {
    "as they are": lambda X: X,
    "shifted by 1e4": lambda X: X + 1e4,
    "times 1e-4": lambda X: X * 1e-4,
    "times 1e6": lambda X: X * 1e6,
    "shifted, times 1e-4": lambda X: (X + 1e4) * 1e-4,
}
CONTAINERS = {"float64": np.asarray, "float32": lambda X: X.astype(np.float32), "sparse": sp.csr_matrix}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("d", [5, 40])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_the_answer_of_double_precision(transform, kernel, d, container):
    plain, y = blobs(1300, d, 2, seed=0, spread=1.5)
    X = TRANSFORMS[transform](plain)
    C = 1.0 / X.var() if kernel == "linear" else 1.0
    X = CONTAINERS[container](X)
    model = SVC(kernel=kernel, C=C, time_limit=30.0).fit(X, y)
    double = SVC(kernel=kernel, C=C, precision="double", time_limit=30.0).fit(X, y)
    assert model.certificate_.dual == pytest.approx(double.certificate_.dual, rel=1e-4)
    np.testing.assert_allclose(model.decision_function(X), double.decision_function(X), atol=2e-2)
    again = model.certify(X, y)
    assert again.kkt_violation <= 1.1e-3
    assert again.gap == pytest.approx(model.certificate_.gap, abs=1e-4 * again.primal)
    if transform == "as they are":
        # The optimum does not depend on the place of the origin (there is a bias), nor on the unit.
        return
    original = SVC(kernel=kernel, C=1.0 / plain.var() if kernel == "linear" else 1.0).fit(plain, y)
    if container != "float32":  # rounding the shifted data changes the data
        ratio = C * plain.var() if kernel == "linear" else 1.0
        assert model.certificate_.dual / ratio == pytest.approx(original.certificate_.dual, rel=1e-3)
        np.testing.assert_allclose(model.decision_function(X), original.decision_function(plain), atol=2e-2)


def test_float32_is_chosen_for_harmless_data_and_refused_for_others():
    X, _ = blobs(1300, 5, 2, seed=0)
    assert gram(RBF(gamma=0.2), X).dtype == np.float32
    assert gram(RBF(gamma=0.2), X + 1e4).dtype == np.float32  # distances are of centred data
    assert gram(Linear(), X).dtype == np.float32
    assert gram(Linear(), X + 1e4).dtype == np.float64
    assert gram(RBF(gamma=0.2), X, tol=1e-6).dtype == np.float64
    assert gram(RBF(gamma=0.2), X, precision="double").dtype == np.float64
    assert gram(Linear(), X + 1e4, precision="single").dtype == np.float32


def test_float32_data_are_not_copied_to_float64():
    import tracemalloc

    X = np.random.default_rng(0).normal(size=(20000, 40)).astype(np.float32)
    tracemalloc.start()
    gram(RBF(gamma=0.01), X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.9 * X.nbytes  # one layout in float32, no float64 copy


def test_single_precision_on_request_ends_in_the_right_place():
    X, y = blobs(300, 4, 2, seed=2)
    single = SVC(C=10.0, precision="single", tol=1e-6, time_limit=30.0).fit(X, y)
    double = SVC(C=10.0, precision="double", tol=1e-6).fit(X, y)
    assert single.certificate_.status == "optimal"
    assert single.certify(X, y).kkt_violation <= 1.01e-6
    np.testing.assert_allclose(single.decision_function(X), double.decision_function(X), atol=1e-4)
