"""Indefinite kernels: told apart, and mended by a change of their spectrum that applies to new points."""

import warnings

import numpy as np
import pytest
from sklearn import svm
from sklearn.base import clone

import mercer
from mercer import SVC
from mercer.estimators.verdict import IndefiniteKernelWarning
from mercer.kernels import RBF, Linear, Sigmoid, check_psd

pytestmark = pytest.mark.core

rng = np.random.default_rng(0)
X, NEW = rng.normal(size=(60, 3)), rng.normal(size=(20, 3))
y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, 1, -1)
TANH = Sigmoid(0.7, -0.5)


def tanh(A, B):
    return np.tanh(0.7 * A @ B.T - 0.5)


def test_the_verdict_is_that_of_the_eigenvalues():
    values = np.linalg.eigvalsh(tanh(X, X))
    assert values[0] < -1
    for found in (check_psd(TANH, X), check_psd(tanh(X, X))):
        assert found.verdict == "indefinite"
        assert not found
        assert found.smallest_eigenvalue == pytest.approx(values[0])
        assert found.largest_eigenvalue == pytest.approx(values[-1])
        assert f"{-values[0]:.4g}" in found.remedy
        share = np.abs(values[values < 0]).sum() / np.abs(values).sum()
        assert f"{share:.1%}" in str(found)
    assert check_psd(RBF(5.0), X).verdict == "positive definite"
    flat = check_psd(Linear(), X)
    assert flat.verdict == "positive semi-definite"
    assert flat.remedy == ""
    assert flat.is_psd
    lopsided = tanh(X, X)
    lopsided[0, 1] += 0.1
    assert check_psd(lopsided).verdict == "not symmetric"
    assert check_psd(lopsided).asymmetry == pytest.approx(0.1)


def test_what_is_no_matrix_is_refused_in_words():
    with pytest.raises(TypeError, match="needs X"):
        check_psd(TANH)
    with pytest.raises(ValueError, match=r"square.*\(3, 2\)"):
        check_psd(np.ones((3, 2)))
    with pytest.raises(ValueError, match="the matrix itself"):
        check_psd("precomputed", np.eye(3))
    with pytest.raises(ValueError, match="amount"):
        TANH.shifted(-1.0)(X)


def test_a_large_matrix_is_judged_by_a_sample(monkeypatch):
    monkeypatch.setattr("mercer.kernels.definiteness.LARGEST", 30)
    found = check_psd(TANH, X)
    assert (found.n, found.looked_at) == (60, 30)
    assert found.verdict == "indefinite"
    assert np.linalg.eigvalsh(tanh(X, X))[0] <= found.smallest_eigenvalue
    assert "sample of 30 of 60" in str(found)


def test_clip_and_flip_on_training_and_new_points():
    """U f(L) U' on the training items; k(x, T) U f(L) / L^2 U' k(T, z) elsewhere."""
    values, U = np.linalg.eigh(tanh(X, X))
    for kernel, changed in ((TANH.clipped(), np.maximum(values, 0.0)), (TANH.flipped(), np.abs(values))):
        fitted = kernel.resolve(X)
        np.testing.assert_allclose(fitted(X), (U * changed) @ U.T, atol=1e-9)
        M = (U * (changed / values**2)) @ U.T
        np.testing.assert_allclose(fitted(NEW, X), tanh(NEW, X) @ M @ tanh(X, X), atol=1e-7)
        np.testing.assert_allclose(fitted(NEW), tanh(NEW, X) @ M @ tanh(X, NEW), atol=1e-7)
        np.testing.assert_allclose(fitted.diag(NEW), np.diagonal(fitted(NEW)), atol=1e-9)
        both = np.vstack([X[:10], NEW])
        assert np.linalg.eigvalsh(fitted(both))[0] > -1e-9
        assert check_psd(kernel, X)


def test_a_weight_of_two_is_the_item_twice():
    weight = np.ones(60)
    weight[:5], weight[7] = 2.0, 0.0
    kept = np.flatnonzero(weight > 0)
    twice = np.vstack([X[kept], X[:5]])
    for kernel in (TANH.clipped(), TANH.flipped(), TANH.shifted()):
        weighed, repeated = kernel.resolve(X, weight), kernel.resolve(twice)
        np.testing.assert_allclose(weighed(NEW, X), repeated(NEW, X), atol=1e-7)


def test_shift_adds_to_equal_items_only():
    least = np.linalg.eigvalsh(tanh(X, X))[0]
    fitted = TANH.shifted().resolve(X)
    assert fitted.amount == pytest.approx(-least)
    np.testing.assert_allclose(fitted(X), tanh(X, X) - least * np.eye(60), atol=1e-12)
    np.testing.assert_allclose(fitted(NEW, X), tanh(NEW, X), atol=1e-12)
    again = np.vstack([X[3], NEW[0]]).astype(np.float64)
    expected = tanh(again, X)
    expected[0, 3] -= least
    np.testing.assert_allclose(fitted(again, X), expected, atol=1e-12)
    doubled = TANH.shifted().resolve(np.vstack([X, X[:7]]))
    assert doubled.amount == pytest.approx(fitted.amount)
    assert np.linalg.eigvalsh(doubled(np.vstack([X, X[:7]])))[0] > -1e-9
    assert RBF(0.5).shifted().resolve(X).amount == 0.0


@pytest.mark.parametrize("kernel", [TANH.clipped(), TANH.flipped(), TANH.shifted()], ids=repr)
def test_a_machine_on_a_mended_kernel_is_certified_and_agrees_with_its_matrix(kernel, tmp_path):
    model = SVC(kernel=kernel, C=2.0, tol=1e-8).fit(X, y)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.relative_gap < 1e-6
    fitted = kernel.resolve(X)
    other = svm.SVC(kernel="precomputed", C=2.0, tol=1e-10).fit(fitted(X), y)
    theirs = other.decision_function(fitted(NEW, X))
    np.testing.assert_allclose(model.decision_function(NEW), theirs, atol=1e-5)
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    np.testing.assert_allclose(again.decision_function(NEW), model.decision_function(NEW), atol=1e-12)
    assert clone(model).kernel == kernel
    alone = SVC(kernel=kernel, C=2.0, tol=1e-8).fit(X[:40], y[:40])  # fitted anew on other rows
    assert np.abs(alone.decision_function(NEW) - model.decision_function(NEW)).max() > 1e-3


def test_a_known_indefinite_kernel_is_reported_like_a_matrix():
    with pytest.warns(IndefiniteKernelWarning, match="smallest eigenvalue is about") as caught:
        model = SVC(kernel=TANH).fit(X, y)
    assert len(caught) == 1
    assert "clipped" in str(caught[0].message)
    assert model.smallest_eigenvalue_ == pytest.approx(np.linalg.eigvalsh(tanh(X, X))[0], rel=1e-4)
    assert model.certificate_.status == "stationary"
    few = np.array([[0.1, 0.0], [0.0, 0.1], [0.1, 0.1], [0.2, 0.0]])  # where tanh is as good as linear
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SVC(kernel=Sigmoid(1e-4)).fit(few, [0, 1, 0, 1])
    assert model.smallest_eigenvalue_ > -1e-12
