"""Penalties that rounding chose once, and matrices beyond what LAPACK can square."""

import numpy as np
import pytest

import mercer
from mercer.solvers.linear_algebra.tridiagonal import Tridiagonal

from .code import Code
from .data import Data
from .fits import Fit
from .given import given
from .judged import judged

pytest.importorskip("clarabel")
pytest.importorskip("psutil")


@pytest.mark.parametrize("machine", ["KernelRidge", "KernelRidgeClassifier"])
def test_all_penalties_are_equally_good(worker, machine):
    """No row tells anything of another: the errors are the same for all penalties, up to rounding."""
    y = np.arange(11) % 2 if machine.endswith("Classifier") else np.random.default_rng(0).normal(size=11)
    judged(
        worker, given(machine, {"kernel": "precomputed", "alpha": "loo"}, np.eye(11), y, kind="matrix"),
        refusable=False,
    )  # fmt: skip
    model = getattr(mercer, machine)(kernel="precomputed", alpha="loo").fit(np.eye(11), y)
    assert np.ravel(model.alpha_)[0] == model.alphas_.max()


@pytest.mark.exhaustive
@pytest.mark.parametrize("exponent", [-160, 100])
@pytest.mark.parametrize("seed", [3, 5, 9])
@pytest.mark.parametrize("machine", ["KernelRidge", "KernelRidgeClassifier"])
def test_matrices_of_wild_scales(worker, machine, seed, exponent):
    shape = "wild_scales" if exponent > 0 else "cauchy"
    data = Data(
        "matrix", shape, 4 + seed, 1 + seed % 3, exponent, "dense", "feature", 0, 2, "integers", None, seed
    )
    judged(worker, Fit(machine, {"kernel": "precomputed", "alpha": "loo", "n_jobs": 1}, data))


@pytest.mark.parametrize("exponent", [-600, -160, 0, 160, 500])
def test_a_tridiagonal_form_does_not_depend_on_the_unit(exponent):
    A = np.random.default_rng(0).normal(size=(6, 6))
    M, unit = A @ A.T, 2.0**exponent
    low, high = Tridiagonal.of(unit * M).ends
    known = np.linalg.eigvalsh(M)
    np.testing.assert_allclose([low / unit, high / unit], known[[0, -1]], rtol=1e-10, atol=1e-13 * known[-1])


def test_a_trend_far_from_the_origin_is_certified_as_it_is_shipped(worker):
    """The solver has seen the kernel without its trend; what predictions lose beside it counts as well."""
    x = np.array([[9999979.026645647], [9999999.409345564], [10000002.812160555], [9999995.277069036]])
    judged(worker, given("KernelRidge", {"kernel": "spline"}, x, x[:, 0]))


def test_single_precision_is_certified_in_double(worker):
    rng = np.random.default_rng(0)
    X = np.vstack([[824758.6, 728753.1, 932381.8], 100.0 * rng.normal(size=(6, 3))])
    params = {"kernel": Code("mercer.kernels.Linear().centered()"), "precision": "single"}
    judged(worker, given("KernelRidge", params, X, X[:, 0]))
