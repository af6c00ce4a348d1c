"""Ordinary machines on features that stand for their kernel: against exact ones, and against pipelines."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import mercer
from mercer import (
    SVC,
    SVR,
    KernelClassifier,
    KernelLogisticRegression,
    KernelRegressor,
    KernelRidge,
    LinearSVC,
    Nystroem,
    OneClassSVM,
    RandomFeatures,
    TensorSketch,
)
from mercer.gram.mapped import MappedFeatures, RowMap
from mercer.kernels import RBF, Polynomial, Spectrum
from mercer.threads import Workers

rng = np.random.default_rng(0)
X = rng.normal(size=(160, 3))
noise = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 - 1 + 0.3 * rng.normal(size=160)
y = noise > 0
three = np.digitize(noise, [-0.5, 0.5])
gamma = 0.3
ALL = {"approximation": "nystroem", "n_components": 160, "gamma": gamma}

MACHINES = [
    (SVC(tol=1e-6), y),
    (SVC(tol=1e-6, loss="squared_hinge", fit_intercept=False, class_weight="balanced"), y),
    (SVC(tol=1e-6), three),
    (SVC(tol=1e-6, multiclass="ovr"), three),
    (SVR(tol=1e-6), noise),
    (SVR(tol=1e-6, loss="squared_epsilon_insensitive"), noise),
    (KernelRegressor(loss="huber"), noise),
    (KernelRegressor(loss="pinball"), np.stack([noise, -noise], axis=1)),
    (KernelClassifier(loss="hinge"), y),
    (KernelLogisticRegression(), y),
    (KernelRidge(alpha=0.5, kernel="rbf"), noise),
    (KernelRidge(alpha=0.5, kernel="rbf", fit_intercept=True), np.stack([noise, noise**2], axis=1)),
    (OneClassSVM(nu=0.2, tol=1e-6), None),
]


def values(model, points):
    return getattr(model, "decision_function", model.predict)(points)


@pytest.mark.parametrize(("machine", "target"), MACHINES, ids=lambda m: type(m).__name__)
def test_with_all_landmarks_it_is_the_exact_machine(machine, target):
    weight = rng.integers(1, 4, size=160).astype(float)
    exact = clone(machine).set_params(gamma=gamma).fit(X, target, sample_weight=weight)
    model = clone(machine).set_params(**ALL).fit(X, target, sample_weight=weight)
    assert model.certificate_.status == "optimal"
    assert model.n_components_ == 160
    np.testing.assert_allclose(model.certificate_.primal, exact.certificate_.primal, rtol=3e-5)
    np.testing.assert_allclose(values(model, X), values(exact, X), atol=0.02)
    distance = model.distance_from_exact_
    assert distance.kind == "bound"
    assert distance.relative_gap < 1e-4
    assert distance.dual <= exact.certificate_.primal * (1 + 1e-12) + 1e-12
    again = model.certify(X, target, sample_weight=weight)
    np.testing.assert_allclose(
        [again.primal, again.gap], [model.certificate_.primal, model.certificate_.gap], rtol=1e-6, atol=1e-7
    )
    if isinstance(model, OneClassSVM):
        np.testing.assert_allclose(model.outside_fraction_, exact.outside_fraction_, atol=0.02)
        assert model.offset_.shape == exact.offset_.shape


@pytest.mark.parametrize("m", [10, 40])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_few_landmarks_are_nystroem_before_a_linear_machine(m, loss):
    model = SVC(gamma=gamma, approximation="nystroem", n_components=m, tol=1e-7, loss=loss).fit(X, y)
    linear = LinearSVC(loss=loss, fit_intercept="unpenalised", tol=1e-9, max_iter=10_000)
    pipeline = make_pipeline(clone(model.feature_map_), linear).fit(X, y)
    np.testing.assert_allclose(model.certificate_.primal, pipeline[-1].certificate_.primal, rtol=1e-6)
    np.testing.assert_allclose(model.decision_function(X), pipeline.decision_function(X), atol=2e-3)
    Z = model.feature_map_.transform(X)
    by_hand = Z @ model.feature_weights_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(X), by_hand, atol=1e-8)


def test_the_bound_holds_and_is_what_the_definitions_say():
    C, K = 2.0, RBF(gamma)(X)
    exact = SVC(gamma=gamma, C=C, tol=1e-7).fit(X, y).certificate_
    before = math.inf
    for m in (8, 30, 90):
        model = SVC(gamma=gamma, C=C, approximation="nystroem", n_components=m, tol=1e-6).fit(X, y)
        distance = model.distance_from_exact_
        coef = model.feature_map_.normalization_ @ model.feature_weights_[0]
        landmarks = RBF(gamma)(model.feature_map_.components_)
        sign = np.where(y, 1.0, -1.0)
        slack = np.maximum(0.0, 1.0 - sign * model.decision_function(X))
        primal = 0.5 * coef @ landmarks @ coef + C * slack.sum()
        np.testing.assert_allclose(distance.primal, primal, rtol=1e-7)
        beta = model.dual_coef_.toarray()[0]
        assert (sign * beta >= 0).all()
        assert np.abs(beta).max() <= C * (1 + 1e-12)
        np.testing.assert_allclose(beta.sum(), 0.0, atol=1e-9)
        np.testing.assert_allclose(distance.dual, sign @ beta - 0.5 * beta @ K @ beta, rtol=1e-7)
        assert distance.dual <= exact.primal
        assert distance.primal >= exact.dual
        assert distance.gap < before
        before = distance.gap
    assert "within" in str(distance)


def test_random_features_are_estimated_by_the_kernel_machine_with_their_multipliers():
    model = SVC(gamma=gamma, approximation="features", n_components=64, random_state=1).fit(X, y)
    distance = model.distance_from_exact_
    beta, sign = model.dual_coef_.toarray()[0], np.where(y, 1.0, -1.0)
    f = RBF(gamma)(X) @ beta
    primal = 0.5 * beta @ f + np.maximum(0.0, 1.0 - sign * (f + model.intercept_[0])).sum()
    np.testing.assert_allclose(distance.primal, primal, rtol=1e-7)
    np.testing.assert_allclose(distance.dual, sign @ beta - 0.5 * beta @ f, rtol=1e-6)
    assert distance.kind == "estimate"
    assert "estimate" in str(distance)


@pytest.mark.parametrize("kind", ["nystroem", "features"])
def test_a_sample_of_rows_estimates_what_all_of_them_say(kind, monkeypatch):
    from mercer.estimators.approximation import _distance

    model = SVC(gamma=gamma, approximation=kind, n_components=24)
    whole = clone(model).fit(X, y).distance_from_exact_
    monkeypatch.setattr(_distance, "EVALUATIONS", 1)
    monkeypatch.setattr(_distance, "FEWEST", 40)
    some = model.fit(X, y).distance_from_exact_
    assert (whole.error, some.kind) == (0.0, "estimate")
    assert 0.0 < some.error < whole.gap
    assert abs(some.gap - whole.gap) < 1.5 * some.error


def test_maps_may_be_given_and_take_the_kernel_of_the_machine():
    given = Nystroem(landmarks="cholesky", n_components=50)
    model = SVC(gamma=gamma, approximation=given).fit(X, y)
    assert model.feature_map_.landmarks == "cholesky"
    assert model.feature_map_.kernel_ == RBF(gamma)
    assert not hasattr(given, "components_")
    assert model.n_components_ == 50
    assert SVC(gamma=gamma, approximation=given, n_components=20).fit(X, y).n_components_ == 20
    waves = RandomFeatures(sampling="independent", n_components=60, random_state=0)
    assert SVR(gamma=gamma, approximation=waves).fit(X, noise).score(X, noise) > 0.5
    sketch = TensorSketch(n_components=40, random_state=0)
    kernel = Polynomial(degree=2, gamma=1.0, coef0=1.0)
    poly = SVC(kernel=kernel, approximation=sketch).fit(X, y)
    assert poly.feature_map_.degree == 2
    with pytest.raises(ValueError, match="sketches polynomial kernels"):
        SVC(approximation=sketch).fit(X, y)


def test_auto_finds_a_number_that_is_near_enough():
    model = SVC(gamma=0.05, approximation="nystroem").fit(X, y)
    assert model.n_components_ == 100
    assert model.distance_from_exact_.relative_gap < 0.01


def test_strings_sparse_rows_and_given_matrices():
    words = ["".join(rng.choice(list("ab"), 6)) for _ in range(60)]
    label = np.array(["ab" in word[:3] for word in words])
    model = SVC(kernel=Spectrum(2), approximation="nystroem", n_components=30).fit(words, label)
    exact = SVC(kernel=Spectrum(2)).fit(words, label)
    assert (model.predict(words) == exact.predict(words)).mean() > 0.9
    sparse = SVC(**ALL).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(
        sparse.decision_function(sp.csr_array(X)), SVC(**ALL).fit(X, y).decision_function(X), atol=1e-6
    )
    K = RBF(gamma)(X)
    given = SVC(kernel="precomputed", approximation="nystroem", n_components=160, tol=1e-6).fit(K, y)
    np.testing.assert_allclose(
        given.certificate_.primal, SVC(gamma=gamma, tol=1e-6).fit(X, y).certificate_.primal, rtol=1e-5
    )
    single, double = SVC(**ALL).fit(X.astype(np.float32), y), SVC(**ALL).fit(X, y)
    np.testing.assert_allclose(single.certificate_.primal, double.certificate_.primal, rtol=1e-3)


def test_a_warm_start_keeps_the_features_and_another_kernel_does_not():
    model = SVC(gamma=gamma, approximation="nystroem", n_components=30, warm_start=True, tol=1e-5)
    cold = clone(model).set_params(C=3.0).fit(X, y)
    features = model.fit(X, y).feature_map_
    model.set_params(C=3.0).fit(X, y)
    assert model.feature_map_ is features
    np.testing.assert_allclose(model.certificate_.primal, cold.certificate_.primal, rtol=1e-4)
    model.set_params(gamma=0.1).fit(X, y)
    assert model.feature_map_.kernel_ == RBF(0.1)


def test_an_exact_fit_forgets_the_features_and_the_other_way_round():
    model = SVC(gamma=gamma, warm_start=True).fit(X, y)
    model.set_params(approximation="nystroem", n_components=20).fit(X, y)
    assert not hasattr(model, "support_vectors_")
    model.set_params(approximation=None).fit(X, y)
    assert not hasattr(model, "feature_map_")
    assert model.support_vectors_.shape[1] == 3
    np.testing.assert_allclose(model.decision_function(X), SVC(gamma=gamma).fit(X, y).decision_function(X))


@pytest.mark.parametrize(("machine", "target"), MACHINES, ids=lambda m: type(m).__name__)
def test_files_keep_them(machine, target, tmp_path):
    model = clone(machine).set_params(gamma=gamma, approximation="nystroem", n_components=20).fit(X, target)
    mercer.save(model, tmp_path / "model.mercer")
    back = mercer.load(tmp_path / "model.mercer")
    np.testing.assert_array_equal(values(back, X), values(model, X))
    np.testing.assert_allclose(back.certify(X, target).gap, model.certificate_.gap, rtol=1e-6, atol=1e-9)
    assert back.distance_from_exact_ == model.distance_from_exact_


@pytest.mark.parametrize(
    ("model", "target", "words"),
    [
        (SVC(approximation="nystroem", probability=True), y, "probability=True"),
        (SVC(approximation="nystroem", C=np.inf), y, "C=inf"),
        (SVC(approximation="nystroem", solver="smo"), y, "solver='smo'"),
        (SVC(approximation="nystroem", kernel="sigmoid", n_components=9), y, "positive semi-definite"),
        (SVC(approximation="nystroem", parametric="linear", n_components=9), y, "parametric"),
        (KernelRidge(approximation="nystroem", alpha="loo"), noise, "alpha='loo'"),
        (KernelLogisticRegression(approximation="nystroem", n_components=9), three, "all classes at once"),
        (KernelLogisticRegression(approximation="nystroem", import_vectors=5), y, "import_vectors"),
        (SVC(approximation="best"), y, "approximation"),
    ],
)
def test_what_does_not_go_together_is_refused_in_words(model, target, words):
    with pytest.raises(ValueError, match=words):
        model.fit(X, target)


def test_what_needs_support_vectors_says_so():
    model = SVC(gamma=gamma, approximation="nystroem", n_components=9).fit(X, y)
    report = mercer.bounds.report(model, X, y)
    assert "approximation" in str(report)
    with pytest.raises(ValueError, match="approximation"):
        model.to_sklearn()
    with pytest.raises(ValueError, match="approximation"):
        mercer.selection.leave_one_out(model, X, y)


def test_blocks_that_are_made_again_give_the_products_of_all_features():
    root = rng.normal(size=(7, 7))
    W = rng.normal(size=(3, 7))
    rows = RowMap(lambda part: np.tanh(part @ W), None, 7, root)
    Z = np.tanh(X @ W) @ root
    lengths = np.linalg.norm(Z, axis=1)
    raw = np.linalg.norm(np.tanh(X @ W), axis=1)
    for cache in (0, 10**6):
        features = MappedFeatures(X, rows, lengths, raw, Workers(2), cache)
        assert (features.kept is None) == (cache == 0)
        v, w = rng.normal(size=160), rng.normal(size=7)
        d = np.maximum(rng.normal(size=160), 0.0)
        np.testing.assert_allclose(features.times(w), Z @ w, atol=1e-12)
        np.testing.assert_allclose(features.transposed_times(v), Z.T @ v, atol=1e-11)
        got, total = features.curved_times(d, w, 0.5)
        np.testing.assert_allclose(got, Z.T @ (d * (Z @ w + 0.5)), atol=1e-10)
        np.testing.assert_allclose(total, (d * (Z @ w + 0.5)).sum(), atol=1e-10)
        H, line, product = features.gram_of_columns(d, v)
        np.testing.assert_allclose(H, Z.T @ (d[:, None] * Z), atol=1e-10)
        np.testing.assert_allclose(line, Z.T @ d, atol=1e-11)
        np.testing.assert_allclose(product, Z.T @ v, atol=1e-11)
        np.testing.assert_allclose(features.column_squares(d), d @ Z**2, atol=1e-10)
        np.testing.assert_allclose(features.diag(), (Z**2).sum(axis=1), atol=1e-11)
        some, other = np.array([3, 9, 4]), np.array([1, 2])
        np.testing.assert_allclose(features.block(some, other), Z[some] @ Z[other].T, atol=1e-11)
        np.testing.assert_allclose(features.subset(some).times(w), Z[some] @ w, atol=1e-12)
        np.testing.assert_allclose(features.rows_times(some, w), Z[some] @ w, atol=1e-12)
        np.testing.assert_allclose(features.combined(some, v[:3]), Z[some].T @ v[:3], atol=1e-12)
        assert (np.abs(features.times(w) - Z @ w) <= features.weight_noise(w)).all()
        assert np.linalg.norm(features.transposed_times(v) - Z.T @ v) <= features.sum_noise(v)


def test_a_fit_on_blocks_is_the_one_on_kept_features():
    model = SVC(gamma=gamma, approximation="nystroem", n_components=20, tol=1e-5)
    kept, made = clone(model).fit(X, y), clone(model).set_params(cache_size=1e-6).fit(X, y)
    np.testing.assert_allclose(kept.certificate_.primal, made.certificate_.primal, rtol=1e-5)


def test_many_rows_begin_where_a_sample_of_them_ends(monkeypatch):
    from mercer.solvers.linear import weights_newton

    model = SVC(gamma=gamma, approximation="nystroem", n_components=20, tol=1e-5)
    weight = rng.integers(0, 3, size=160)
    squared = clone(model).set_params(loss="squared_hinge")
    plane = OneClassSVM(nu=0.3, approximation="nystroem", n_components=20)
    for machine, target in ((model, y), (squared, y), (plane, None)):
        monkeypatch.setattr(weights_newton, "MANY_ROWS", 10**9)
        alone = clone(machine).fit(X, target, sample_weight=weight)
        monkeypatch.setattr(weights_newton, "MANY_ROWS", 100)
        monkeypatch.setattr(weights_newton, "SHARE", 2)
        monkeypatch.setattr(weights_newton, "FEWEST", 5)
        sampled = clone(machine).fit(X, target, sample_weight=weight)
        assert sampled.certificate_.status == "optimal"
        np.testing.assert_allclose(sampled.certificate_.primal, alone.certificate_.primal, rtol=2e-3)
