"""Kernel PCA against scikit-learn, against PCA, and against its own definition."""

import json
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as Reference
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import mercer
from mercer import KernelPCA
from mercer.estimators.verdict import IndefiniteKernelWarning
from mercer.kernels import RBF

pytestmark = pytest.mark.core


@pytest.fixture(name="X")
def points():
    """200 points whose leading eigenvalues are well apart."""
    return np.random.default_rng(0).standard_normal((200, 5)) * [3.0, 2.0, 1.4, 0.9, 0.5]


@pytest.fixture
def new():
    return np.random.default_rng(1).standard_normal((30, 5))


def centred(K):
    return K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()


@pytest.mark.parametrize(
    ("kernel", "params", "theirs"),
    [
        ("rbf", {"gamma": 0.05}, {"gamma": 0.05}),
        ("poly", {"degree": 2, "gamma": 0.1, "coef0": 1.0}, {"degree": 2, "gamma": 0.1, "coef0": 1.0}),
        ("linear", {}, {}),
    ],
)
@pytest.mark.parametrize("solver", ["auto", "dense", "arpack", "randomized"])
def test_equals_scikit_learn(X, new, kernel, params, theirs, solver):
    ours = KernelPCA(n_components=4, kernel=kernel, eigen_solver=solver, random_state=0, **params).fit(X)
    other = Reference(n_components=4, kernel=kernel, eigen_solver="dense", **theirs).fit(X)
    scale = np.abs(other.transform(X)).max()
    signs = np.sign((ours.transform(X) * other.transform(X)).sum(axis=0))
    assert_allclose(ours.eigenvalues_, other.eigenvalues_, rtol=1e-8)
    assert_allclose(ours.transform(X) * signs, other.transform(X), atol=1e-8 * scale)
    assert_allclose(ours.transform(new) * signs, other.transform(new), atol=1e-8 * scale)
    assert ours.residual_ < 1e-10


def test_a_larger_set_takes_the_block_method_and_equals_scikit_learn():
    X = np.random.default_rng(2).standard_normal((1200, 5)) * [3.0, 2.0, 1.4, 0.9, 0.5]
    ours = KernelPCA(n_components=3, kernel="rbf", gamma=0.05, random_state=0).fit(X)
    other = Reference(n_components=3, kernel="rbf", gamma=0.05, eigen_solver="dense").fit(X)
    assert ours.n_iter_ > 1
    assert_allclose(ours.transform(X), other.transform(X), atol=1e-8)  # signs too


def test_linear_is_pca(X, new):
    ours, other = KernelPCA(kernel="linear").fit(X), PCA().fit(X)
    signs = np.sign((ours.transform(X) * other.transform(X)).sum(axis=0))
    assert ours.eigenvalues_.size == 5  # as many as there are dimensions
    assert_allclose(ours.transform(new) * signs, other.transform(new), atol=1e-10)
    assert_allclose(ours.explained_variance_, other.explained_variance_, rtol=1e-10)
    assert_allclose(ours.explained_variance_ratio_, other.explained_variance_ratio_, rtol=1e-10)
    few, fewer = KernelPCA(n_components=2, preimages="direct").fit(X), PCA(n_components=2).fit(X)
    assert_allclose(
        few.inverse_transform(few.transform(new)), fewer.inverse_transform(fewer.transform(new)), atol=1e-10
    )


def test_definition(X):
    model = KernelPCA(n_components=5, kernel="rbf", gamma=0.1).fit(X)
    K = centred(RBF(gamma=0.1)(X))
    A = model.eigenvectors_ / np.sqrt(model.eigenvalues_)
    assert_allclose(A.T @ K @ A, np.eye(5), atol=1e-10)  # orthonormal directions
    assert_allclose(K @ model.eigenvectors_, model.eigenvectors_ * model.eigenvalues_, atol=1e-10)
    Z = model.transform(X)
    assert_allclose(model.fit_transform(X), Z, atol=1e-10)
    assert_allclose(Z.var(axis=0, ddof=1), model.explained_variance_, rtol=1e-10)
    assert_allclose(model.explained_variance_ratio_, model.eigenvalues_ / np.trace(K))


def test_reconstruction_error(X, new):
    model = KernelPCA(n_components=3, kernel="rbf", gamma=0.1).fit(X)
    k = RBF(gamma=0.1)
    A = model.eigenvectors_ / np.sqrt(model.eigenvalues_)
    # ||phi(x) - P phi(x)||^2 from the expansion of P phi(x) in the training points
    gamma = model.transform(new) @ A.T + 1.0 / len(X)
    expected = 1.0 - 2.0 * (gamma * k(new, X)).sum(axis=1) + np.einsum("pi,ij,pj->p", gamma, k(X), gamma)
    assert_allclose(model.reconstruction_error(new), expected, atol=1e-10)
    assert model.reconstruction_error(X).mean() == pytest.approx(model.reconstruction_error_)
    everything = KernelPCA(kernel="rbf", gamma=0.1).fit(X)
    assert everything.reconstruction_error(X).max() < 1e-8
    far = model.reconstruction_error(np.full((1, 5), 50.0))
    assert far > 2 * model.reconstruction_error(X).mean()


def test_sign_convention(X):
    vectors = KernelPCA(n_components=6, kernel="rbf").fit(X).eigenvectors_
    assert (vectors[np.abs(vectors).argmax(axis=0), np.arange(6)] > 0).all()


@pytest.mark.parametrize("solver", ["arpack", "randomized"])
def test_matrix_free_equals_dense(X, solver):
    X = np.vstack([X, X[:, ::-1] + 1.0, -X])
    expected = KernelPCA(n_components=3, kernel="rbf", gamma=0.05, eigen_solver="dense").fit(X)
    for precision, atol in (("double", 1e-9), ("single", 1e-4)):
        model = KernelPCA(
            n_components=3,
            kernel="rbf",
            gamma=0.05,
            eigen_solver=solver,
            cache_size=0.1,
            precision=precision,
            random_state=0,
        ).fit(X)
        assert_allclose(model.transform(X), expected.transform(X), atol=atol)
        assert model.residual_ < (1e-11 if precision == "double" else 2e-6)
        assert_allclose(model.explained_variance_ratio_, expected.explained_variance_ratio_, rtol=1e-5)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "laplacian", "rational_quadratic", "anova", "spline"])
def test_any_vector_kernel_matrix_free(X, kernel):
    X = 0.2 * np.abs(X)
    dense = KernelPCA(n_components=2, kernel=kernel, eigen_solver="dense").fit(X)
    free = KernelPCA(
        n_components=2, kernel=kernel, eigen_solver="randomized", cache_size=0.05, random_state=0
    )
    free.set_params(precision="double").fit(X)
    scale = np.abs(dense.transform(X)).max()
    assert_allclose(np.abs(free.transform(X)), np.abs(dense.transform(X)), atol=1e-8 * scale)


@pytest.mark.slow
def test_memory_at_twenty_thousand_points():
    """In a child process: the kernel matrix would take 3200 MB, single precision 1600."""
    code = """
import json, resource, numpy as np
from mercer import KernelPCA
X = np.random.default_rng(0).standard_normal((20000, 3)) * [3.0, 1.0, 0.5]
small = KernelPCA(n_components=2, kernel="rbf", gamma=0.05, eigen_solver="randomized", cache_size=1)
small.fit(X[:1500])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model = KernelPCA(n_components=3, kernel="rbf", gamma=0.05, tol=1e-4, random_state=0).fit(X)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
seen = {"mb": (after - before) / 1024, "residual": model.residual_, "rows": len(model.eigenvectors_)}
print(json.dumps(seen))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seen = json.loads(run.stdout)
    assert seen["rows"] == 20000
    assert seen["residual"] < 1e-4
    assert seen["mb"] < 120


class TestPreimages:
    def test_gaussian_fixed_point_removes_noise(self):
        rng = np.random.default_rng(0)
        angle = rng.uniform(0.0, 2.0 * np.pi, 200)
        clean = np.zeros((200, 10))
        clean[:, 0], clean[:, 1] = 2.0 * np.cos(angle), 2.0 * np.sin(angle)
        noisy = clean + 0.3 * rng.standard_normal(clean.shape)
        model = KernelPCA(preimages="direct", n_components=4, kernel="rbf", gamma=0.1).fit(noisy)
        back = model.inverse_transform(model.transform(noisy))
        assert back.shape == clean.shape
        assert ((back - clean) ** 2).sum() < 0.5 * ((noisy - clean) ** 2).sum()

    def test_gaussian_fixed_point_is_stationary_and_no_worse_than_any_training_point(self, X):
        model = KernelPCA(preimages="direct", n_components=6, kernel="rbf", gamma=0.1).fit(X)
        Z = model.transform(X[:20])
        back = model.inverse_transform(Z)
        A = model.eigenvectors_ / np.sqrt(model.eigenvalues_)
        gamma = Z @ A.T + 1.0 / len(X)
        k = RBF(gamma=0.1)
        weight = gamma * k(back, X)
        assert_allclose((weight @ X) / weight.sum(axis=1)[:, None], back, atol=1e-6)
        # the images of the pre-images are nearer to the target than those of all training points
        assert ((gamma * k(back, X)).sum(axis=1) >= (gamma @ k(X)).max(axis=1) - 1e-12).all()

    def test_all_components_give_the_points_back(self, X):
        model = KernelPCA(preimages="direct", kernel="rbf", gamma=0.1).fit(X)
        assert_allclose(model.inverse_transform(model.transform(X[:10])), X[:10], atol=1e-4)

    def test_one_width_for_each_feature(self, X):
        model = KernelPCA(preimages="direct", kernel=RBF(gamma=[0.1, 0.2, 0.1, 0.3, 0.2])).fit(X)
        assert_allclose(model.inverse_transform(model.transform(X[:5])), X[:5], atol=1e-4)

    def test_learned_map(self, X):
        model = KernelPCA(
            preimages="direct", n_components=5, kernel="laplacian", fit_inverse_transform=True, alpha=1e-3
        ).fit(X)
        back = model.inverse_transform(model.transform(X))
        assert ((back - X) ** 2).sum() < 0.2 * ((X - X.mean(axis=0)) ** 2).sum()
        with pytest.raises(NotFittedError, match="fit_inverse_transform=True"):
            KernelPCA(preimages="direct", n_components=2, kernel="laplacian").fit(X).inverse_transform(
                [[0.0, 0.0]]
            )

    def test_other_items_get_the_nearest_one(self):
        words = ["ant", "ants", "pant", "zebra", "zebras", "bra", "want", "wants"]
        model = KernelPCA(preimages="direct", kernel=shared_letters).fit(words)
        assert list(model.inverse_transform(model.transform(words))) == words

    def test_refusals(self, X):
        model = KernelPCA(preimages="direct", n_components=2, kernel="rbf").fit(X)
        with pytest.raises(ValueError, match="X has 3 columns; there are 2 components"):
            model.inverse_transform(np.zeros((1, 3)))
        given = KernelPCA(preimages="direct", n_components=2, kernel="precomputed").fit(RBF(gamma=0.1)(X))
        with pytest.raises(ValueError, match="no training points"):
            given.inverse_transform(np.zeros((1, 2)))
        with pytest.raises(ValueError, match="needs data that are vectors"):
            KernelPCA(preimages="direct", kernel="precomputed", fit_inverse_transform=True).fit(
                RBF(gamma=0.1)(X)
            )

    @pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
    def test_ridge_is_that_of_scikit_learn(self, X, new, kernel):
        params = {
            "n_components": 3,
            "kernel": kernel,
            "gamma": 0.1,
            "fit_inverse_transform": True,
            "alpha": 0.5,
        }
        ours, theirs = KernelPCA(**params).fit(X), Reference(**params).fit(X)
        assert_allclose(ours.X_transformed_fit_, theirs.X_transformed_fit_, atol=1e-8)
        assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-7)
        Z = ours.transform(new)
        assert_allclose(ours.inverse_transform(Z), theirs.inverse_transform(Z), atol=1e-7)

    def test_ridge_on_what_memory_holds(self, X):
        model = KernelPCA(
            n_components=3, kernel="rbf", fit_inverse_transform=True, cache_size=8 * 40**2 / 1e6
        )
        assert model.fit(X).dual_coef_.shape == (40, 5)
        back = model.inverse_transform(model.transform(X))
        assert ((back - X) ** 2).sum() < ((X - X.mean(axis=0)) ** 2).sum()

    def test_nothing_was_learned(self, X):
        with pytest.raises(NotFittedError, match="fit_inverse_transform parameter was not set to True"):
            KernelPCA(n_components=2, kernel="rbf").fit(X).inverse_transform(np.zeros((1, 2)))
        with pytest.raises(ValueError, match="a vector gamma is not supported"):
            KernelPCA(kernel=RBF(gamma=[0.1, 0.2, 0.1, 0.3, 0.2]), fit_inverse_transform=True).fit(X)
        with pytest.raises(NotImplementedError, match="not implemented for sparse"):
            KernelPCA(fit_inverse_transform=True).fit(sp.csr_matrix(X))


@mercer.kernel
def shared_letters(a, b):
    return float(sum(a.count(c) * b.count(c) for c in set(a)))


class TestData:
    def test_precomputed(self, X, new):
        k = RBF(gamma=0.1)
        direct = KernelPCA(n_components=3, kernel=k).fit(X)
        given = KernelPCA(n_components=3, kernel="precomputed").fit(k(X))
        assert_allclose(given.transform(k(new, X)), direct.transform(new), atol=1e-10)
        assert_allclose(
            given.reconstruction_error(k(new, X), diag=np.ones(30)),
            direct.reconstruction_error(new),
            atol=1e-10,
        )
        with pytest.raises(ValueError, match="pass it as diag="):
            given.reconstruction_error(k(new, X))

    def test_sparse(self, X, new):
        X = np.where(np.abs(X) > 1.0, X, 0.0)
        dense = KernelPCA(n_components=3, kernel="rbf", gamma=0.1).fit(X)
        sparse = KernelPCA(n_components=3, kernel="rbf", gamma=0.1, preimages="direct").fit(sp.csr_matrix(X))
        assert_allclose(sparse.transform(sp.csr_matrix(new)), dense.transform(new), atol=1e-10)
        assert_allclose(sparse.inverse_transform(dense.transform(X[:3])).shape, (3, 5))

    def test_strings(self):
        words = ["ant", "ants", "pant", "zebra", "zebras", "bra"]
        model = KernelPCA(n_components=2, kernel=shared_letters).fit(words)
        assert not hasattr(model, "n_features_in_")
        Z = model.transform(["ante", "zebu"])
        near = np.argmin(np.linalg.norm(Z[:, None] - model.transform(words)[None], axis=2), axis=1)
        assert words[near[0]] in ("ant", "ants", "pant")
        assert words[near[1]] in ("zebra", "zebras", "bra")
        free = KernelPCA(n_components=2, kernel=shared_letters, eigen_solver="randomized", cache_size=1e-4)
        assert_allclose(free.fit(words).transform(words), model.transform(words), atol=1e-8)


class TestEdges:
    def test_no_more_components_than_there_is_variance(self):
        X = np.random.default_rng(0).standard_normal((30, 2))
        assert KernelPCA().fit(X).eigenvalues_.size == 2
        padded = KernelPCA(n_components=4).fit(X)
        assert_array_equal(padded.transform(X)[:, 2:], 0.0)
        assert KernelPCA(n_components=4, remove_zero_eig=True).fit(X).eigenvalues_.size == 2

    def test_no_component_at_all(self):
        model = KernelPCA().fit(np.ones((4, 2)))
        assert model.transform(np.zeros((3, 2))).shape == (3, 0)
        assert model.get_feature_names_out().size == 0

    def test_parameters_and_functions_as_in_scikit_learn(self, X, new):
        def overlap(x, z, power=1):
            return float(np.minimum(np.abs(x), np.abs(z)).sum()) ** power

        for params in (
            {"kernel": "poly"},
            {"kernel": "rbf"},
            {"kernel": overlap},
            {"kernel": overlap, "kernel_params": {"power": 2}},
        ):
            ours, theirs = KernelPCA(3, **params).fit(X), Reference(3, **params).fit(X)
            assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-8)
            assert_allclose(np.abs(ours.transform(new)), np.abs(theirs.transform(new)), rtol=1e-6, atol=1e-8)
            assert ours.gamma_ == theirs.gamma_

    def test_iterated_power_is_enough_when_asked_for(self, X):
        few = KernelPCA(3, kernel="rbf", eigen_solver="randomized", iterated_power=1, random_state=0).fit(X)
        assert few.n_iter_ <= 2

    def test_a_matrix_that_centring_makes_symmetric(self, X, new):
        k = RBF(gamma=0.1)
        shift = np.arange(len(X)) / 10.0
        plain = KernelPCA(3, kernel="precomputed").fit(k(X))
        shifted = KernelPCA(3, kernel="precomputed").fit(k(X) + shift)
        assert_allclose(shifted.eigenvalues_, plain.eigenvalues_, rtol=1e-8)
        assert_allclose(shifted.transform(k(new, X) + shift), plain.transform(k(new, X)), atol=1e-8)

    def test_negative_eigenvalues_are_refused_when_asked_for(self):
        K = np.diag([4.0, 2.0, -1.0, -3.0])
        with pytest.warns(IndefiniteKernelWarning), pytest.raises(ValueError, match="significant negative"):
            KernelPCA(4, kernel="precomputed").fit(K)
        with pytest.warns(IndefiniteKernelWarning):
            assert (KernelPCA(kernel="precomputed").fit(K).eigenvalues_ > 0).all()

    def test_training_data_may_change_afterwards(self, X):
        mine = X.copy()
        model = KernelPCA(2, kernel="rbf").fit(mine)
        before = model.transform(X[:3])
        mine[:] = 0.0
        assert_allclose(model.transform(X[:3]), before)

    def test_constant_data(self):
        model = KernelPCA(n_components=2, kernel="rbf").fit(np.ones((10, 3)))
        assert_allclose(model.transform(np.ones((2, 3))), 0.0, atol=1e-12)
        assert_array_equal(model.explained_variance_ratio_, 0.0)

    def test_far_from_the_origin(self, X):
        near, far = KernelPCA(n_components=2).fit(X), KernelPCA(n_components=2).fit(X + 1e4)
        assert_allclose(far.transform(X + 1e4), near.transform(X), atol=1e-5)

    def test_limit_gives_a_usable_model(self, X):
        model = KernelPCA(n_components=3, kernel="rbf", eigen_solver="randomized", max_iter=2, random_state=0)
        with pytest.warns(ConvergenceWarning, match="max_iter=2 with residual"):
            model.fit(X)
        exact = KernelPCA(n_components=3, kernel="rbf").fit(X)
        assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=0.05)
        assert 1e-12 < model.residual_ < 1.0

    def test_infinite_kernel_values_are_named(self):
        X = np.array([[1e200, 0.0], [0.0, 1.0], [1.0, 0.0]])
        with (
            np.errstate(over="ignore"),
            pytest.raises(ValueError, match=r"column 0 of X reaches 1e\+200 .* square overflows"),
        ):
            KernelPCA(kernel="linear").fit(X)
