"""The same attributes, shapes, types, signs and orders as scikit-learn's SVC."""

import inspect
import pickle
import threading
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from clouds import blobs
from mercer import SVC, NuSVC
from mercer.kernels import RBF, Linear, Polynomial

pytestmark = pytest.mark.core

TIGHT = 1e-8


def both(X, y, *, weight=None, **params):
    ours = SVC(tol=TIGHT, **params).fit(X, y, sample_weight=weight)
    theirs = sklearn.svm.SVC(tol=TIGHT, **params).fit(X, y, sample_weight=weight)
    return ours, theirs


def dense(A):
    return A.toarray() if sp.issparse(A) else np.asarray(A)


def assert_same_model(ours, theirs, X, atol=1e-5):
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    assert ours.classes_.dtype == theirs.classes_.dtype
    for name in ("support_", "n_support_"):
        one, other = getattr(ours, name), getattr(theirs, name)
        np.testing.assert_array_equal(one, other, err_msg=name)
        assert one.dtype == other.dtype, name
    for name in ("dual_coef_", "intercept_", "support_vectors_", "class_weight_"):
        one, other = getattr(ours, name), getattr(theirs, name)
        assert sp.issparse(one) == sp.issparse(other), name
        assert one.shape == other.shape, name
        assert one.dtype == other.dtype, name
        np.testing.assert_allclose(dense(one), dense(other), atol=atol, rtol=1e-4, err_msg=name)
    assert ours.n_iter_.shape == theirs.n_iter_.shape
    assert ours.n_iter_.dtype == theirs.n_iter_.dtype
    assert (ours.fit_status_, ours.shape_fit_) == (theirs.fit_status_, theirs.shape_fit_)
    assert ours.n_features_in_ == theirs.n_features_in_
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_attributes_and_decisions(kernel, n_classes, shape):
    X, y = blobs(90, 4, n_classes, seed=n_classes)
    ours, theirs = both(X, y, kernel=kernel, coef0=1.0, C=0.7, decision_function_shape=shape)
    assert_same_model(ours, theirs, X)
    if kernel == "linear":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
        assert ours.coef_.shape == theirs.coef_.shape
        assert not ours.coef_.flags.writeable
    else:
        assert not hasattr(ours, "coef_")


def test_parameters_have_the_same_names_and_defaults():
    theirs = inspect.signature(sklearn.svm.SVC).parameters
    ours = inspect.signature(SVC).parameters
    for name, parameter in theirs.items():
        assert name in ours
        if name != "probability" or parameter.default == "deprecated":  # since scikit-learn 1.9
            assert ours[name].default == parameter.default, name
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in ours.values())


def test_a_gamma_of_zero_is_allowed():
    X, _ = blobs(30, 3, 2, seed=0)
    ours, theirs = both(X, X[:, 0] > 0, gamma=0.0)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)


def test_string_labels_in_any_order():
    X, y = blobs(60, 3, 3, seed=0)
    names = np.array(["pear", "apple", "quince"])[y]
    ours, theirs = both(X, names)
    assert_same_model(ours, theirs, X)
    assert list(ours.classes_) == ["apple", "pear", "quince"]
    as_objects = SVC(tol=TIGHT).fit(X, names.astype(object))
    np.testing.assert_array_equal(as_objects.predict(X), ours.predict(X))


def test_negative_and_boolean_labels():
    X, y = blobs(50, 3, 2, seed=4)
    assert_same_model(*both(X, np.where(y == 1, 1, -1)), X)
    assert_same_model(*both(X, y == 1), X)


def test_positive_decision_means_the_second_class():
    X = np.array([[-1.0], [1.0]])
    model = SVC(kernel="linear", C=10.0).fit(X, ["no", "yes"])
    np.testing.assert_allclose(model.decision_function(X), [-1.0, 1.0], atol=1e-6)
    np.testing.assert_allclose(model.dual_coef_, [[-0.5, 0.5]], atol=1e-6)
    np.testing.assert_allclose(model.coef_, [[1.0]], atol=1e-6)
    assert model.margin_ == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 1.0, 1: 5.0, 2: 0.3}, {1: 2.0}])
def test_class_weight(class_weight):
    X, y = blobs(70, 3, 3, seed=8)
    y = np.where((y == 2) & (np.arange(70) % 3 > 0), 0, y)  # unequal sizes
    assert_same_model(*both(X, y, class_weight=class_weight), X)


def test_class_weight_by_name_of_the_class():
    X, y = blobs(50, 3, 2, seed=8)
    names = np.array(["a", "b"])[y]
    assert_same_model(*both(X, names, class_weight={"b": 3.0}), X)


def test_sample_weight_against_libsvm_and_repetition():
    X, y = blobs(50, 3, 3, seed=5)
    weight = np.random.default_rng(0).integers(1, 4, 50).astype(float)
    gamma = 0.3  # "scale" is the one documented departure: ours is of the weighted data
    ours, theirs = both(X, y, weight=weight, gamma=gamma)
    assert_same_model(ours, theirs, X)
    times = weight.astype(int)
    repeated = SVC(tol=TIGHT).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    weighted = SVC(tol=TIGHT).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(repeated.decision_function(X), weighted.decision_function(X), atol=1e-6)
    assert repeated.kernel_.gamma == pytest.approx(weighted.kernel_.gamma, rel=1e-12)


def test_zero_weights_leave_rows_out():
    X, y = blobs(50, 3, 3, seed=5)
    weight = np.ones(50)
    weight[::3] = 0.0
    kept = weight > 0
    weighted = SVC(tol=TIGHT).fit(X, y, sample_weight=weight)
    without = SVC(tol=TIGHT).fit(X[kept], y[kept])
    np.testing.assert_allclose(weighted.decision_function(X), without.decision_function(X), atol=1e-6)
    assert set(weighted.support_) <= set(np.flatnonzero(kept))
    np.testing.assert_array_equal(weighted.support_vectors_, X[weighted.support_])


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.coo_array])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_sparse(container, kernel):
    X, y = blobs(60, 5, 3, seed=6)
    X = np.where(np.abs(X) < 0.8, 0.0, X)
    ours, theirs = both(container(X), y, kernel=kernel, coef0=1.0)
    assert_same_model(ours, theirs, sp.csr_matrix(X))
    if kernel == "linear":
        assert sp.issparse(ours.coef_)
        np.testing.assert_allclose(ours.coef_.toarray(), theirs.coef_.toarray(), atol=1e-5)
    plain = SVC(tol=TIGHT, kernel=kernel, coef0=1.0).fit(X, y)
    np.testing.assert_allclose(plain.decision_function(X), ours.decision_function(X), atol=1e-5)
    with pytest.raises(ValueError, match="fitted on dense data and is given sparse data"):
        plain.decision_function(sp.csr_matrix(X))


def test_sparse_with_64_bit_indices():
    X, y = blobs(60, 5, 3, seed=6)
    small = sp.csr_matrix(np.where(np.abs(X) < 0.8, 0.0, X))
    large = small.copy()
    large.indices, large.indptr = large.indices.astype(np.int64), large.indptr.astype(np.int64)
    one, other = SVC(tol=TIGHT).fit(small, y), SVC(tol=TIGHT).fit(large, y)
    np.testing.assert_allclose(one.dual_coef_.toarray(), other.dual_coef_.toarray(), atol=1e-10)
    np.testing.assert_allclose(one.decision_function(large), other.decision_function(small), atol=1e-10)


def test_sparse_rows_with_unsorted_indices_and_duplicates_are_not_touched():
    data, indices, indptr = np.array([1.0, 2.0, 1.0, 4.0]), np.array([2, 0, 0, 1]), np.array([0, 2, 3, 4])
    X = sp.csr_matrix((data.copy(), indices.copy(), indptr.copy()), shape=(3, 3))
    X = sp.vstack([X, X], format="csr")
    before = X.indices.copy()
    model = SVC(kernel="linear").fit(X, [0, 1, 0, 1, 0, 1])
    np.testing.assert_array_equal(X.indices, before)
    np.testing.assert_allclose(model.decision_function(X), model.decision_function(X.toarray()), atol=1e-10)


def test_float32_keeps_its_type():
    X, y = blobs(80, 3, 2, seed=3)
    single = SVC(tol=1e-6).fit(X.astype(np.float32), y)
    double = SVC(tol=1e-6).fit(X, y)
    assert single.support_vectors_.dtype == np.float32
    assert single.dual_coef_.dtype == single.intercept_.dtype == np.float64
    np.testing.assert_allclose(
        single.decision_function(X.astype(np.float32)), double.decision_function(X), atol=1e-4
    )


def test_integers_and_lists():
    X, y = blobs(40, 3, 2, seed=3)
    whole = np.round(3 * X).astype(int)
    assert_same_model(*both(whole, y), whole)
    assert_same_model(*both(whole.tolist(), y.tolist()), whole)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_precomputed(n_classes, dtype):
    X, y = blobs(60, 3, n_classes, seed=7)
    K = RBF(gamma=0.4)(X).astype(dtype)
    ours, theirs = both(K, y, kernel="precomputed")
    direct = SVC(tol=TIGHT, kernel=RBF(gamma=0.4)).fit(X, y)
    np.testing.assert_allclose(
        ours.decision_function(K), direct.decision_function(X), atol=1e-6 if dtype == np.float64 else 1e-3
    )
    np.testing.assert_array_equal(ours.predict(K), theirs.predict(K))
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    assert ours.support_vectors_.shape == theirs.support_vectors_.shape == (0, 0)
    again = ours.certify(K, y)
    assert again.primal == pytest.approx(ours.certificate_.primal, rel=1e-6)
    assert again.dual == pytest.approx(ours.certificate_.dual, rel=1e-6)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_callable(n_classes):
    X, y = blobs(60, 3, n_classes, seed=7)

    def kernel(A, B):
        return (A @ B.T + 1.0) ** 2

    ours, theirs = both(X, y, kernel=kernel)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-5)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    named = SVC(tol=TIGHT, kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), named.decision_function(X), atol=1e-5)
    assert ours.certificate_.status == "optimal"  # the matrix was looked at and found positive semi-definite
    assert ours.n_features_in_ == 3


@pytest.mark.parametrize("break_ties", [False, True])
def test_voting_and_ties(break_ties):
    # Three clusters in a triangle and a fourth class in the middle: cycles of votes happen.
    X, y = blobs(80, 2, 4, seed=11, spread=1.5)
    grid = np.stack(np.meshgrid(np.linspace(-4, 4, 25), np.linspace(-4, 4, 25)), axis=-1).reshape(-1, 2)
    ours, theirs = both(X, y, break_ties=break_ties, gamma=0.5)
    np.testing.assert_array_equal(ours.predict(grid), theirs.predict(grid))
    np.testing.assert_allclose(ours.decision_function(grid), theirs.decision_function(grid), atol=1e-4)
    if not break_ties:
        broken = SVC(tol=TIGHT, gamma=0.5, break_ties=True).fit(X, y)
        assert (broken.predict(grid) != ours.predict(grid)).any()  # otherwise nothing was tested


def test_points_on_the_boundary_go_where_libsvm_puts_them():
    X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    ours, theirs = both(X, y, kernel="linear")
    np.testing.assert_array_equal(ours.predict([[0.0]]), theirs.predict([[0.0]]))


def test_one_versus_rest():
    X, y = blobs(90, 4, 3, seed=9)
    model = SVC(multiclass="ovr", tol=TIGHT).fit(X, y)
    F = model.decision_function(X)
    assert F.shape == (90, 3)
    for c in range(3):
        alone = SVC(tol=TIGHT, gamma=model.kernel_.gamma).fit(X, y == c)
        np.testing.assert_allclose(F[:, c], alone.decision_function(X), atol=1e-6)
    np.testing.assert_array_equal(model.predict(X), F.argmax(axis=1))
    assert model.dual_coef_.shape == (3, model.support_.size)
    assert len(model.certificate_.parts) == 3
    linear = SVC(multiclass="ovr", kernel="linear", tol=TIGHT).fit(X, y)
    np.testing.assert_allclose(X @ linear.coef_.T + linear.intercept_, linear.decision_function(X), atol=1e-8)
    again = model.certify(X, y)
    assert again.primal == pytest.approx(model.certificate_.primal, rel=1e-6)


# -- the ecosystem -----------------------------------------------------------------------------------------


def test_grid_search_over_a_kernels_parameters():
    X, y = blobs(80, 3, 2, seed=2)
    pipeline = make_pipeline(StandardScaler(), SVC(kernel=RBF(gamma=1.0)))
    search = GridSearchCV(pipeline, {"svc__kernel__gamma": [1e-3, 0.1, 1.0], "svc__C": [0.1, 10.0]}, cv=3)
    search.fit(X, y)
    best = search.best_estimator_[-1]
    assert best.kernel == RBF(gamma=search.best_params_["svc__kernel__gamma"])
    assert best.kernel_ == best.kernel
    assert pipeline[-1].kernel == RBF(gamma=1.0)  # the search changed copies
    reference = GridSearchCV(
        make_pipeline(StandardScaler(), sklearn.svm.SVC()),
        {"svc__gamma": [1e-3, 0.1, 1.0], "svc__C": [0.1, 10.0]},
        cv=3,
    ).fit(X, y)
    assert reference.best_score_ == pytest.approx(search.best_score_)


def test_clone_and_set_params():
    model = SVC(kernel=Polynomial(degree=2) + Linear(), C=3.0)
    copy = clone(model)
    assert copy.kernel == model.kernel
    assert copy.get_params()["kernel__k1__degree"] == 2
    copy.set_params(kernel__k1__degree=4, C=1.0)
    assert copy.kernel.k1.degree == 4
    assert model.kernel.k1.degree == 2


def test_one_kernel_object_shared_by_two_estimators():
    X, y = blobs(60, 3, 2, seed=2)
    kernel = RBF()
    one, other = SVC(kernel=kernel).fit(X, y), SVC(kernel=kernel).fit(10 * X, y)
    assert kernel.gamma == "scale"
    assert one.kernel_.gamma == pytest.approx(100 * other.kernel_.gamma)


def test_pickle(four_clouds):
    X, y = four_clouds
    model = SVC().fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.certificate_ == model.certificate_
    assert again.certify(X, y).gap == pytest.approx(model.certificate_.gap, rel=1e-6)


@pytest.mark.parametrize("sparse", [False, True])
def test_cross_validation_in_parallel_processes(four_clouds, sparse):
    X, y = four_clouds
    X = sp.csr_matrix(X) if sparse else X
    alone = cross_val_score(SVC(C=2.0), X, y, cv=3, n_jobs=1)
    beside = cross_val_score(SVC(C=2.0), X, y, cv=3, n_jobs=2)
    theirs = cross_val_score(sklearn.svm.SVC(C=2.0), X, y, cv=3)
    np.testing.assert_array_equal(alone, beside)
    np.testing.assert_array_equal(alone, theirs)


def test_cross_validation_of_a_precomputed_kernel(two_clouds):
    X, y = two_clouds
    K = RBF(gamma=0.5)(X)
    np.testing.assert_array_equal(
        cross_val_score(SVC(kernel="precomputed"), K, y, cv=4), cross_val_score(SVC(gamma=0.5), X, y, cv=4)
    )


def test_iris():
    X, y = load_iris(return_X_y=True)
    assert_same_model(*both(X, y), X)


def test_one_against_the_rest_on_two_threads_ends():
    # Each machine sees all rows, hence the whole matrix, whose own threads are busy with the machines.
    X, y = np.random.default_rng(0).normal(size=(600, 40)), np.arange(600) % 4
    one, two = (SVC(multiclass="ovr", n_jobs=n, precision="double").fit(X, y) for n in (1, 2))
    np.testing.assert_allclose(two.decision_function(X), one.decision_function(X), atol=1e-9)


def test_a_function_a_given_matrix_and_a_name_for_one_kernel_give_one_machine():
    X, y = load_iris(return_X_y=True)
    named = SVC(kernel="linear").fit(X, y)
    of_function = SVC(kernel=lambda a, b: np.dot(a, b.T)).fit(X, y)
    of_matrix = SVC(kernel="precomputed").fit(np.dot(X, X.T), y)
    for other in (of_function, of_matrix):
        np.testing.assert_array_equal(other.support_, named.support_)
        np.testing.assert_allclose(other.dual_coef_, named.dual_coef_, atol=1e-6)
        np.testing.assert_allclose(other.intercept_, named.intercept_, atol=1e-6)


def test_predict_calls_a_function_once_in_the_thread_that_asks():
    X, y = blobs(60, 3, 2, seed=0)
    calls = []

    def inner(A, B):
        calls.append((len(A), threading.get_ident()))
        return A @ B.T

    model = SVC(kernel=inner, n_jobs=2).fit(X, y)
    calls.clear()
    model.predict(X)
    assert calls == [(len(X), threading.get_ident())]


def fills_a_square_matrix(A, B):
    K = np.zeros((len(A), len(B)))
    for i in range(len(A)):
        for j in range(i, len(B)):
            K[i, j] = K[j, i] = A[i].count("A") * B[j].count("A") + A[i].count("B") * B[j].count("B")
    return K


def test_a_function_that_fills_a_square_matrix_is_called_with_all_training_items(tmp_path):
    texts, y = ["A A", "A", "B", "B B", "A B"], [1, 1, 2, 2, 1]
    counts = np.array([[2, 0], [1, 0], [0, 1], [0, 2], [1, 1]])
    named = SVC(kernel="linear").fit(counts, y)
    model = SVC(kernel=fills_a_square_matrix).fit(texts, y)
    assert model.support_.size < len(texts)  # else nothing is tested
    np.testing.assert_allclose(model.decision_function(texts), named.decision_function(counts), atol=1e-9)
    assert model.certify(texts, y).status == "optimal"
    theirs = sklearn.svm.SVC(kernel=fills_a_square_matrix).fit(texts, y)
    np.testing.assert_allclose(
        SVC.from_sklearn(theirs).decision_function(texts), named.decision_function(counts), atol=1e-3
    )
    path = tmp_path / "texts.mercer"
    mercer.save(model, path)
    again = mercer.load(path, kernels={"fills_a_square_matrix": fills_a_square_matrix})
    np.testing.assert_allclose(again.decision_function(texts), model.decision_function(texts), rtol=1e-12)
    model.set_params(kernel=RBF(gamma=1.0)).fit(counts, y)
    assert model.decision_function(counts).shape == (5,)


@pytest.mark.parametrize("cls", [SVC, NuSVC])
def test_probability_is_scikit_learns_to_its_default(cls):
    X, y = blobs(40, 3, 2, seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = cls().fit(X, y)
        probable = cls(probability=True).fit(X, y)
        clone(plain).fit(X, y)
    assert not hasattr(plain, "predict_proba")
    assert probable.predict_proba(X).shape == (40, 2)
    theirs = getattr(sklearn.svm, cls.__name__)
    deprecated = inspect.signature(theirs).parameters["probability"].default == "deprecated"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cls(probability=False).fit(X, y)
    assert [w.category for w in caught] == ([FutureWarning] if deprecated else [])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain.to_sklearn().fit(X, y)
    with pytest.raises(ValueError, match="'probability' parameter of"):
        cls(probability="yes").fit(X, y)


def test_updates_keep_the_items_that_a_function_is_called_with():
    X, y = blobs(60, 3, 2, seed=0)

    def kernel(A, B):
        return (A @ B.T + 1.0) ** 2

    model = SVC(kernel=kernel, updatable=True, tol=1e-6).fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])
    model.forget(np.arange(5))
    anew = SVC(kernel=kernel, tol=1e-6).fit(X[5:], y[5:])
    np.testing.assert_allclose(model.decision_function(X), anew.decision_function(X), atol=1e-3)
