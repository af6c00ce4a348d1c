"""Features whose inner products are nearly a kernel: how nearly, and that scikit-learn's are found again."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.kernel_approximation as theirs
from sklearn.datasets import load_digits
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import Nystroem, RandomFeatures, TensorSketch
from mercer.kernels import RBF, Laplacian, Linear, Matern, Polynomial

X = load_digits().data[:300] / 16.0
SMALL = X[:, 20:28]


@parametrize_with_checks(
    [
        Nystroem(n_components=3),
        Nystroem(n_components=3, landmarks="leverage"),
        RandomFeatures(n_components=5),
        RandomFeatures("additive_chi2"),
        TensorSketch(n_components=5),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "params",
    [
        {"gamma": 0.2},
        {},
        {"kernel": "polynomial", "degree": 2},
        {"kernel": "cosine"},
        {"kernel": "laplacian", "gamma": 0.1},
    ],
)
def test_uniform_landmarks_are_scikit_learns(params):
    ours = Nystroem(n_components=40, random_state=3, **params).fit(X)
    known = theirs.Nystroem(n_components=40, random_state=3, **params).fit(X)
    assert (ours.component_indices_ == known.component_indices_).all()
    np.testing.assert_allclose(ours.components_, known.components_)
    A, B = ours.transform(X), known.transform(X)
    np.testing.assert_allclose(A @ A.T, B @ B.T, atol=1e-6)


@pytest.mark.parametrize("landmarks", ["uniform", "k-means++", "leverage", "cholesky"])
def test_the_features_are_the_kernel_on_landmarks_and_no_longer_elsewhere(landmarks):
    model = Nystroem(RBF(0.2), n_components=50, landmarks=landmarks, random_state=0).fit(X)
    assert np.unique(model.component_indices_).size == 50
    Z, K = model.transform(X), RBF(0.2)(X)
    near = model.component_indices_
    np.testing.assert_allclose((Z @ Z.T)[near], K[near], atol=1e-8)
    assert np.linalg.eigvalsh(K - Z @ Z.T).min() > -1e-8
    np.testing.assert_allclose(model.trace_error(X), 1.0 - np.trace(Z @ Z.T) / np.trace(K), atol=1e-10)


def test_greedy_landmarks_know_their_error_and_stop_at_it():
    model = Nystroem(RBF(0.2), n_components=300, landmarks="cholesky", tol=0.3).fit(X)
    np.testing.assert_allclose(model.trace_error_, model.trace_error(X), atol=1e-9)
    assert model.trace_error_ <= 0.3
    assert model.component_indices_.size < 300
    worse = Nystroem(RBF(0.2), n_components=model.component_indices_.size, random_state=0).fit(X)
    assert model.trace_error_ < worse.trace_error(X)
    assert not hasattr(worse, "trace_error_")


def test_leverage_scores_find_the_few_rows_that_differ():
    rng = np.random.default_rng(0)
    crowd = 0.01 * rng.normal(size=(2000, 2))
    few = 5.0 + rng.normal(size=(20, 2))
    data = np.vstack([crowd, few])
    chosen = {
        how: Nystroem(RBF(1.0), n_components=20, landmarks=how, random_state=0).fit(data).component_indices_
        for how in ("uniform", "leverage", "k-means++")
    }
    counts = {how: int((rows >= 2000).sum()) for how, rows in chosen.items()}
    assert counts["leverage"] >= 5 > counts["uniform"]
    assert counts["k-means++"] >= 5


def test_all_rows_make_the_features_exact():
    Z = Nystroem(RBF(0.2), n_components=1000).fit_transform(X[:80])
    assert Z.shape == (80, 80)
    np.testing.assert_allclose(Z @ Z.T, RBF(0.2)(X[:80]), atol=1e-8)


def test_landmarks_may_be_given_and_data_may_be_anything():
    points = X[:7] + 0.01
    model = Nystroem(RBF(0.2), landmarks=points).fit(X)
    np.testing.assert_allclose(model.components_, points)
    assert not hasattr(model, "component_indices_")
    with pytest.raises(ValueError, match="features"):
        Nystroem(RBF(0.2), landmarks=points[:, :3]).fit(X)

    @mercer.kernel(psd=True)
    def shared_letters(a, b):
        return float(len(set(a) & set(b)))

    words = ["cat", "act", "dog", "god", "tag"]
    Z = Nystroem(shared_letters, n_components=5, landmarks="cholesky").fit_transform(words)
    np.testing.assert_allclose(Z @ Z.T, shared_letters(words), atol=1e-8)
    K = RBF(0.2)(X)
    given = Nystroem("precomputed", n_components=20, random_state=0).fit(K)
    computed = Nystroem(RBF(0.2), n_components=20, random_state=0).fit(X)
    np.testing.assert_allclose(given.transform(K[:9]), computed.transform(X[:9]), atol=1e-7)


def test_parameters_beside_a_kernel_are_refused():
    with pytest.raises(ValueError, match="gamma does not apply to"):
        Nystroem(RBF(0.2), gamma=0.1).fit(X)
    model = Nystroem("matern", kernel_params={"length_scale": 2.0, "nu": 0.5}, n_components=5).fit(X)
    assert model.kernel_ == Matern(2.0, 0.5)


def mean_error(kernel, seeds=8, **params):
    K = kernel(SMALL[:60])
    maps = [RandomFeatures(kernel, random_state=seed, **params).fit(SMALL) for seed in range(seeds)]
    return np.sqrt(np.mean([(Z @ Z.T - K) ** 2 for Z in (m.transform(SMALL[:60]) for m in maps)]))


KERNELS = [
    RBF(0.5),
    RBF(np.linspace(0.1, 1.0, 8)),
    Laplacian(0.3),
    Matern(1.0, 0.5),
    Matern(2.0, 1.5),
    Matern(1.0, np.inf),
]


@pytest.mark.parametrize("sampling", ["independent", "orthogonal", "quasi"])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_random_features_come_near_as_they_grow_in_number(kernel, sampling):
    if sampling == "orthogonal" and isinstance(kernel, Laplacian):
        with pytest.raises(ValueError, match="Euclidean"):
            RandomFeatures(kernel, sampling=sampling).fit(SMALL)
        return
    few, many = (mean_error(kernel, n_components=m, sampling=sampling) for m in (32, 513))
    assert many < 0.4 * few  # the error of independent ones falls by four
    assert many < 0.06


def test_orthogonal_frequencies_are_better_than_independent_ones():
    hows = ("orthogonal", "independent")
    errors = {how: mean_error(RBF(0.5), n_components=64, sampling=how) for how in hows}
    assert errors["orthogonal"] < 0.9 * errors["independent"]


def test_chi_squared_features_are_scikit_learns():
    for steps in (1, 2, 3):
        ours = RandomFeatures("additive_chi2", sample_steps=steps).fit_transform(X)
        known = theirs.AdditiveChi2Sampler(sample_steps=steps).fit_transform(X)
        np.testing.assert_allclose(ours, known, atol=1e-12)
    with pytest.raises(ValueError, match="non-negative"):
        RandomFeatures("additive_chi2").fit(X - 1.0)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_arc_cosine_features_have_the_closed_form(order):
    model = RandomFeatures("arc_cosine", order=order, n_components=200_000, random_state=0)
    Z = model.fit_transform(SMALL[:5])
    norms = np.linalg.norm(SMALL[:5], axis=1)
    t = np.arccos(np.clip(SMALL[:5] @ SMALL[:5].T / np.outer(norms, norms), -1.0, 1.0))
    J = {
        0: np.pi - t,
        1: np.sin(t) + (np.pi - t) * np.cos(t),
        2: 3 * np.sin(t) * np.cos(t) + (np.pi - t) * (1 + 2 * np.cos(t) ** 2),
    }[order]
    K = np.outer(norms, norms) ** order * J / np.pi
    np.testing.assert_allclose(Z @ Z.T, K, atol=0.03 * K.max())


@pytest.mark.parametrize("params", [{}, {"degree": 3, "gamma": 0.3, "coef0": 1.0}])
def test_sketches_come_near_polynomials(params):
    kernel = Polynomial(**{"degree": 2, "gamma": 1.0, "coef0": 0.0, **params})
    K = kernel(SMALL)
    Z = TensorSketch(n_components=4096, random_state=0, **params).fit_transform(SMALL)
    assert np.sqrt(np.mean((Z @ Z.T - K) ** 2)) < 0.05 * np.sqrt(np.mean(K**2))


@pytest.mark.parametrize(
    "model",
    [
        Nystroem(Linear(), n_components=4),
        RandomFeatures(n_components=7),
        RandomFeatures("arc_cosine"),
        TensorSketch(),
    ],
)
def test_sparse_and_single_precision_data_give_the_same_features(model):
    model.set_params(random_state=0).fit(SMALL)
    Z = model.transform(SMALL)
    np.testing.assert_allclose(model.transform(sp.csr_array(SMALL)), Z, atol=1e-10)
    single = model.transform(SMALL.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, Z, atol=1e-4)
    for threads in (1, 3):
        np.testing.assert_allclose(model.set_params(n_jobs=threads).transform(SMALL), Z, atol=1e-12)
