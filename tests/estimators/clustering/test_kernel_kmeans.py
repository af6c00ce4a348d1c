"""Kernel k-means: k-means itself for the linear kernel, the objective and its bound for the others."""

import itertools
import signal
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import KernelKMeans
from mercer.kernels import RBF, Linear, Spectrum

pytestmark = pytest.mark.core

X, TRUE = make_blobs(120, centers=4, random_state=0)
ROWS = np.array([3, 30, 60, 100])


def objective(K, labels, weight):
    """Return the sum of squared distances from the means, from the definition."""
    value = 0.0
    for c in np.unique(labels):
        here = labels == c
        w = weight[here]
        value += w @ np.diagonal(K)[here] - w @ K[np.ix_(here, here)] @ w / w.sum()
    return value


def naive_lloyd(K, labels, weight):
    """Return the partition that assigning points to the nearest means ends with."""
    while True:
        columns = []
        for c in range(labels.max() + 1):
            part = np.where(labels == c, weight, 0.0)
            part = part / part.sum()
            columns.append(np.diagonal(K) - 2 * K @ part + part @ K @ part)
        new = np.argmin(columns, axis=0)
        if (new == labels).all():
            return labels
        labels = new


def test_the_linear_kernel_is_k_means():
    mine = KernelKMeans(4, kernel="linear", init=ROWS).fit(X)
    theirs = KMeans(4, init=X[ROWS], n_init=1, tol=0).fit(X)
    assert (mine.labels_ == theirs.labels_).all()
    assert mine.inertia_ == pytest.approx(theirs.inertia_)
    np.testing.assert_allclose(mine.transform(X), theirs.transform(X), atol=1e-6)
    new = np.random.default_rng(0).normal(size=(50, 2)) * 4
    assert (mine.predict(new) == theirs.predict(new)).all()
    assert mine.score(new) == pytest.approx(theirs.score(new))
    np.testing.assert_allclose(mine.coef_, theirs.cluster_centers_, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_iteration_has_a_naive_twin(weighted):
    rng = np.random.default_rng(1)
    weight = rng.uniform(0.5, 3.0, 120) if weighted else np.ones(120)
    K = rbf_kernel(X, gamma=0.1)
    start = np.argmin(2.0 - 2.0 * K[:, ROWS], axis=1)
    model = KernelKMeans(4, kernel=RBF(0.1), init=ROWS).fit(X, sample_weight=weight)
    assert (model.labels_ == naive_lloyd(K, start, weight)).all()
    assert model.inertia_ == pytest.approx(objective(K, model.labels_, weight))
    assert (model.predict(X) == model.labels_).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_the_bound_is_below_every_partition(weighted):
    rng = np.random.default_rng(2)
    few = X[rng.permutation(120)[:9]]
    weight = rng.uniform(0.5, 3.0, 9) if weighted else np.ones(9)
    K = rbf_kernel(few, gamma=0.05)
    best = min(objective(K, np.array(labels), weight) for labels in itertools.product(range(3), repeat=9))
    model = KernelKMeans(3, kernel=RBF(0.05), n_init=20, random_state=0).fit(few, sample_weight=weight)
    root = np.sqrt(weight)
    values = np.linalg.eigvalsh(root[:, None] * K * root)
    proof = model.certificate_
    assert proof.status == "stationary"
    assert proof.primal == pytest.approx(best)
    assert proof.dual == pytest.approx((weight * np.diagonal(K)).sum() - values[-3:].sum(), abs=1e-9)
    assert proof.dual <= best
    assert proof.gap == pytest.approx(proof.primal - proof.dual)
    again = model.certify(few, sample_weight=weight)
    assert again.primal == pytest.approx(proof.primal)
    assert again.dual == pytest.approx(proof.dual)


def test_orthogonal_clusters_have_no_gap():
    K = np.kron(np.eye(3), np.ones((5, 5)))
    model = KernelKMeans(3, kernel="precomputed", random_state=0, n_init=10).fit(K)
    assert model.certificate_.gap <= 1e-9
    assert len({tuple(part) for part in model.labels_.reshape(3, 5)}) == 3
    assert (model.predict(K) == model.labels_).all()
    np.testing.assert_allclose(model.transform(K, diag=np.ones(15)).min(axis=1), 0.0, atol=1e-6)
    with pytest.raises(ValueError, match="diag"):
        model.transform(K)


def test_large_problems_use_products_only(monkeypatch):
    """The bound of a matrix that is not decomposed is that of one that is."""
    dense = KernelKMeans(4, kernel=RBF(0.1), init=ROWS).fit(X)
    monkeypatch.setattr("mercer.solvers.clustering.leading_sum.DENSE", 10)
    products = KernelKMeans(4, kernel=RBF(0.1), init=ROWS, cache_size=0.01).fit(X)
    assert products.certificate_.dual <= dense.certificate_.dual + 1e-9
    assert products.certificate_.dual == pytest.approx(dense.certificate_.dual, rel=1e-2)
    assert (products.labels_ == dense.labels_).all()


def test_more_starts_are_no_worse():
    values = [
        KernelKMeans(6, n_init=n, random_state=3, init=init).fit(X).inertia_
        for init in ("random", "k-means++")
        for n in (1, 10)
    ]
    assert values[1] <= values[0] + 1e-9
    assert values[3] <= values[2] + 1e-9
    one, two = (KernelKMeans(6, random_state=5).fit(X) for _ in range(2))
    assert (one.labels_ == two.labels_).all()


def test_weights_are_repeated_rows():
    weight = np.where(np.arange(120) % 3 == 0, 2.0, 1.0)
    weight[5] = 0.0
    rows = np.repeat(np.arange(120), weight.astype(int))
    one = KernelKMeans(4, kernel=RBF(0.1), init=ROWS).fit(X, sample_weight=weight)
    starts = np.array([np.flatnonzero(rows == r)[0] for r in ROWS])
    two = KernelKMeans(4, kernel=RBF(0.1), init=starts).fit(X[rows])
    assert (one.labels_[rows] == two.labels_).all()
    assert one.inertia_ == pytest.approx(two.inertia_)
    assert one.certificate_.dual == pytest.approx(two.certificate_.dual)
    assert one.labels_[5] == one.predict(X[5:6])[0]


def test_items_and_sparse_data():
    words = ["banana", "bananas", "ananas", "kiwi", "kiwis", "kiwano"]
    labels = KernelKMeans(2, kernel=Spectrum(2).normalized(), random_state=0).fit_predict(words)
    assert len(set(labels[:3])) == len(set(labels[3:])) == 1
    assert labels[0] != labels[3]


def test_fewer_points_than_clusters():
    with pytest.raises(ValueError, match="n_clusters"):
        KernelKMeans(5).fit(X[:4])
    with pytest.warns(ConvergenceWarning, match="found 2 clusters"):
        model = KernelKMeans(3, kernel="linear").fit(np.array([[0.0], [0.0], [1.0], [1.0]]))
    assert model.inertia_ == pytest.approx(0.0, abs=1e-12)
    assert np.isfinite(model.predict([[0.4]])).all()


@pytest.mark.parametrize("init", [[0, 1], [0.0, 1.0, 2.0, 3.0], [0, 1, 2, 500]])
def test_bad_starts_are_refused(init):
    with pytest.raises(ValueError, match="init must name 4 rows"):
        KernelKMeans(4, init=init).fit(X)


def test_limits():
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        model = KernelKMeans(6, max_iter=1, n_init=1, random_state=1).fit(X)
    assert model.certificate_.status == "iteration_limit"
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = KernelKMeans(6, time_limit=1e-9).fit(X)
    assert model.certificate_.status == "time_limit"
    assert model.predict(X).shape == (120,)


def test_ctrl_c_keeps_what_was_reached():
    calls = []

    def kernel(A, B):
        calls.append(1)
        if len(calls) == 1:
            signal.raise_signal(signal.SIGINT)
        return A @ B.T

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KernelKMeans(3, kernel=kernel, on_interrupt="keep").fit(X)
        assert model.certificate_.status == "interrupted"
        calls.clear()
        with pytest.raises(KeyboardInterrupt):
            KernelKMeans(3, kernel=kernel).fit(X)


def test_trace_and_warm_start(capsys):
    model = KernelKMeans(6, n_init=1, random_state=0, trace=True, verbose=2).fit(X)
    values = [line["primal"] for line in model.history_]
    assert len(values) == model.n_iter_
    assert all(b <= a + 1e-9 for a, b in itertools.pairwise(values))
    assert values[-1] == pytest.approx(model.inertia_)
    assert "KernelKMeans" in capsys.readouterr().out
    model.set_params(warm_start=True, verbose=False).fit(X)
    assert model.n_iter_ == 1


def test_files(tmp_path):
    model = KernelKMeans(4, random_state=0).fit(X)
    same = mercer.load(mercer.save(model, tmp_path / "clusters.mercer"))
    assert (same.predict(X) == model.predict(X)).all()
    assert same.certify(X).gap == pytest.approx(model.certificate_.gap)


@pytest.mark.parametrize("init", ["k-means++", "random"])
@pytest.mark.parametrize("kind", ["dense", "sparse", "strings"])
def test_starts_depend_on_the_distinct_points_only(init, kind):
    """Repetition, order and rows of no weight change nothing, not even which cluster is which."""
    rng = np.random.default_rng(7)
    n = 40
    weight = rng.integers(0, 4, n)
    rows = rng.permutation(np.repeat(np.arange(n), weight))
    if kind == "strings":
        data = np.array(["".join(rng.choice(list("abc"), size=6)) for _ in range(n)])
        few, many, kernel = data.tolist(), data[rows].tolist(), Spectrum(2).normalized()
    else:
        data = rng.normal(size=(n, 3)) * (rng.random((n, 3)) < 0.8)
        data = csr_array(data) if kind == "sparse" else data
        few, many, kernel = data, data[rows], RBF(0.5)
    for seed in range(5):
        model = KernelKMeans(6, kernel=kernel, init=init, n_init=1, random_state=seed)
        one = clone(model).fit(few, sample_weight=weight)
        two = clone(model).fit(many)
        assert (one.labels_[rows] == two.labels_).all()
        assert one.inertia_ == pytest.approx(two.inertia_)


@parametrize_with_checks([KernelKMeans(), KernelKMeans(3, kernel=Linear(), n_init=2)])
@pytest.mark.filterwarnings("ignore:KernelKMeans found:sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn(estimator, check):
    check(estimator)
