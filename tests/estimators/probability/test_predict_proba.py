"""predict_proba of the classifiers: it agrees with predict, always, and touches nothing but the model."""

import pickle
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_predict
from sklearn.utils.estimator_checks import estimator_checks_generator

import mercer
from clouds import blobs
from mercer import SVC, NuSVC
from mercer.kernels import RBF

pytestmark = pytest.mark.core


def check_agreement(model, X):
    p = model.predict_proba(X)
    assert p.shape == (len(X) if not hasattr(X, "shape") else X.shape[0], model.classes_.size)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    assert ((p > 0) & (p < 1)).all()
    predicted = model.predict(X)
    assert (model.classes_[p.argmax(axis=1)] == predicted).all()
    logarithms = model.predict_log_proba(X)
    np.testing.assert_array_equal(logarithms, np.log(p))
    assert (model.classes_[logarithms.argmax(axis=1)] == predicted).all()
    return p


MODELS = [
    SVC(),
    SVC(C=0.01),
    SVC(C=1000.0, gamma=3.0),
    SVC(kernel="linear", loss="squared_hinge"),
    SVC(class_weight="balanced", fit_intercept=False),
    SVC(kernel="sigmoid", coef0=0.1, gamma=0.01),
    NuSVC(nu=0.3),
]


@pytest.mark.filterwarnings("ignore::mercer.estimators.machine.IndefiniteKernelWarning")
@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_largest_probability_is_that_of_predict(model, n_classes):
    X, y = blobs(160, 3, n_classes, seed=n_classes)
    new = np.random.default_rng(0).normal(size=(500, 3)) * 3
    for options in ({}, {"multiclass": "ovr"}, {"break_ties": True}):
        if n_classes == 2 and options:
            continue
        check_agreement(clone(model).set_params(probability=True, **options).fit(X, y), new)


def test_points_on_the_boundary_are_given_to_the_class_that_predict_gives_them():
    X = np.array([[-2.0], [-1.0], [-1.5], [1.0], [2.0], [1.5]])
    model = SVC(kernel="linear", C=10.0, probability=True).fit(X, [0, 0, 0, 1, 1, 1])
    model.intercept_[:] = 0.0  # a decision of exactly zero at zero
    points = np.array([[0.0], [1e-300], [-1e-300], [1e-20], [-1e-20]])
    p = check_agreement(model, points)
    np.testing.assert_allclose(p, 0.5, atol=1e-11)


def test_ties_between_votes_are_led_by_the_class_that_predict_chooses():
    angle = 2 * np.pi * np.arange(3) / 3
    centres = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    rng = np.random.default_rng(0)
    X = np.repeat(centres, 40, axis=0) + 0.4 * rng.normal(size=(120, 2))
    model = SVC(probability=True, gamma=2.0).fit(X, np.repeat(["a", "b", "c"], 40))
    p = check_agreement(model, rng.normal(size=(3000, 2)) * 3)
    assert (p.max(axis=1) < 0.5).any()  # far away every pair is unsure, and votes run in circles


def test_probabilities_rise_with_the_decision():
    X, y = blobs(200, 3, 2, seed=5)
    model = SVC(probability=True).fit(X, y)
    f = model.decision_function(X)
    order = np.argsort(f)
    p = model.predict_proba(X)[order, 1]
    assert (np.diff(p)[np.diff(f[order]) > 1e-9] > 0).all()


def test_two_classes_with_names():
    X, y = blobs(120, 3, 2, seed=1)
    numbers = SVC(probability=True).fit(X, y)
    names = SVC(probability=True).fit(X, np.array(["no", "yes"])[y])
    assert list(names.classes_) == ["no", "yes"]
    np.testing.assert_array_equal(numbers.predict_proba(X), names.predict_proba(X))
    check_agreement(names, X)


def test_swapping_the_classes_swaps_the_probabilities():
    X, y = blobs(200, 3, 2, seed=8)
    one = SVC(probability=True, tol=1e-8).fit(X, y).predict_proba(X)
    other = SVC(probability=True, tol=1e-8).fit(X, 1 - y).predict_proba(X)
    # The folds are dealt class by class, so they differ: equal up to what a deal of the folds changes.
    assert np.abs(one - other[:, ::-1]).max() < 0.15
    assert np.abs(one - other[:, ::-1]).mean() < 0.02


def test_without_probability_there_is_no_method():
    X, y = blobs(60, 2, 2, seed=0)
    for model in (SVC(), NuSVC(), SVC().fit(X, y)):
        assert not hasattr(model, "predict_proba")
        assert not hasattr(model, "predict_log_proba")
        with pytest.raises(AttributeError) as caught:
            model.predict_proba(X)
        assert "probability=True" in str(caught.value.__cause__)
    assert hasattr(SVC(probability=True), "predict_proba")
    assert SVC().probability == "deprecated"  # as in scikit-learn


def test_switching_probability_on_after_the_fit_asks_for_another_fit():
    X, y = blobs(60, 2, 2, seed=0)
    model = SVC().fit(X, y).set_params(probability=True)
    with pytest.raises(NotFittedError, match="fit it again"):
        model.predict_proba(X)
    model.fit(X, y).predict_proba(X)
    model.set_params(probability=SVC().probability).fit(X, y)
    assert not hasattr(model, "link_slopes_")
    with pytest.raises(NotFittedError):
        SVC(probability=True).predict_proba(X)


def test_probability_changes_nothing_else():
    X, y = blobs(150, 3, 3, seed=2)
    plain, calibrated = SVC().fit(X, y), SVC(probability=True).fit(X, y)
    np.testing.assert_array_equal(plain.dual_coef_, calibrated.dual_coef_)
    np.testing.assert_array_equal(plain.intercept_, calibrated.intercept_)
    np.testing.assert_array_equal(plain.n_iter_, calibrated.n_iter_)
    assert plain.certificate_.gap == calibrated.certificate_.gap


def test_the_same_seed_gives_the_same_model_and_no_global_state_is_touched():
    X, y = blobs(150, 3, 2, seed=3)
    np.random.seed(11)  # noqa: NPY002  the state under test
    before = np.random.get_state()  # noqa: NPY002
    first = SVC(probability=True).fit(X, y).predict_proba(X)
    after = np.random.get_state()  # noqa: NPY002
    assert before[2:] == after[2:]
    np.testing.assert_array_equal(before[1], after[1])
    np.random.seed(12)  # noqa: NPY002
    np.testing.assert_array_equal(SVC(probability=True).fit(X, y).predict_proba(X), first)
    np.testing.assert_array_equal(SVC(probability=True, random_state=0).fit(X, y).predict_proba(X), first)
    state = np.random.RandomState(0)
    np.testing.assert_array_equal(SVC(probability=True, random_state=state).fit(X, y).predict_proba(X), first)
    other = SVC(probability=True, random_state=1).fit(X, y).predict_proba(X)
    assert not np.array_equal(other, first)
    np.testing.assert_allclose(other, first, atol=0.1)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_fits_in_several_threads_are_identical(n_classes):
    X, y = blobs(200, 3, n_classes, seed=4)
    alone = SVC(probability=True, n_jobs=1).fit(X, y).predict_proba(X)
    found = [None] * 6
    start = threading.Barrier(len(found))

    def work(k):
        start.wait()
        found[k] = SVC(probability=True, n_jobs=1 + k % 2).fit(X, y).predict_proba(X)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(found))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for p in found:
        np.testing.assert_array_equal(p, alone)


def test_a_pickled_model_gives_the_same_probabilities():
    X, y = blobs(120, 3, 3, seed=6)
    model = SVC(probability=True).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert clone(model).get_params()["probability"] is True


def test_all_kinds_of_data_give_the_same_probabilities():
    X, y = blobs(150, 4, 2, seed=7)
    expected = SVC(gamma=0.3, probability=True).fit(X, y).predict_proba(X)
    K = RBF(gamma=0.3)(X, X)
    for model, data in (
        (SVC(kernel="precomputed", probability=True), K),
        (SVC(kernel=RBF(gamma=0.3), probability=True), X),
        (SVC(kernel=lambda A, B: RBF(gamma=0.3)(A, B), probability=True), X),
        (SVC(gamma=0.3, probability=True), sp.csr_matrix(X)),
        (SVC(gamma=0.3, probability=True, cache_size=0.1), X),
    ):
        np.testing.assert_allclose(model.fit(data, y).predict_proba(data), expected, atol=0.02)


@mercer.kernel
def same_letters(a, b):
    return float(len(set(a) & set(b)))


def test_strings_have_probabilities_too():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcxyz"), size=4)) for _ in range(60)]
    y = np.array([sum(c in "abc" for c in w) > 2 for w in words])
    check_agreement(SVC(kernel=same_letters, probability=True).fit(words, y), words)


def test_sample_weights_count():
    """Labels that nothing explains, one of them weighted three times: its probability is three quarters."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 2))
    y = rng.integers(0, 2, size=600)
    weight = np.where(y == 1, 3.0, 1.0)
    plain = SVC(probability=True, gamma=0.05, C=0.1).fit(X, y).predict_proba(X)[:, 1]
    weighted = SVC(probability=True, gamma=0.05, C=0.1).fit(X, y, sample_weight=weight).predict_proba(X)[:, 1]
    assert abs(plain.mean() - 0.5) < 0.05
    assert abs(weighted.mean() - 0.75) < 0.05


def test_rows_of_weight_zero_change_nothing():
    X, y = blobs(200, 3, 2, seed=9)
    absent = np.arange(200) % 4 == 0
    kept = SVC(gamma=0.3, probability=True, random_state=5).fit(X[~absent], y[~absent])
    weighted = SVC(gamma=0.3, probability=True, random_state=5).fit(
        X, y, sample_weight=np.where(absent, 0.0, 1.0)
    )
    np.testing.assert_allclose(weighted.predict_proba(X), kept.predict_proba(X), atol=1e-6)


def test_class_weights_move_the_decision_but_probabilities_stay_those_of_the_rows():
    rng = np.random.default_rng(2)
    y = (rng.random(2000) < 0.15).astype(int)
    X = rng.normal(size=(2000, 3)) + 1.2 * y[:, None]
    model = SVC(class_weight="balanced", probability=True).fit(X, y)
    p = check_agreement(model, X)[:, 1]
    called = model.predict(X) == 1
    assert called.mean() > 0.2  # balanced classes are called more often than they come
    assert abs(p[~called].mean() - y[~called].mean()) < 0.03
    # Above the boundary no probability may be below one half: as near to the share as that allows.
    assert p[called].mean() < max(0.5, y[called].mean()) + 0.1


def test_tiny_classes():
    X, _ = blobs(30, 2, 2, seed=3)
    check_agreement(SVC(probability=True).fit(X[:4], [0, 1, 0, 1]), X)
    check_agreement(SVC(probability=True).fit(X[:2], [0, 1]), X)
    check_agreement(SVC(probability=True).fit(X[:12], [0] * 11 + [1]), X)
    check_agreement(SVC(probability=True).fit(X[:12], [0] * 5 + [1] * 5 + [2, 3]), X)


@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_calibrated_classifier_works_on_top(ensemble, n_classes):
    X, y = blobs(120, 3, n_classes, seed=0)
    for inner in (SVC(), SVC(probability=True)):
        outer = CalibratedClassifierCV(inner, cv=3, ensemble=ensemble).fit(X, y)
        np.testing.assert_allclose(outer.predict_proba(X).sum(axis=1), 1.0)
        assert outer.score(X, y) > 0.5


def test_cross_validated_probabilities():
    X, y = blobs(120, 3, 3, seed=0)
    p = cross_val_predict(SVC(probability=True), X, y, cv=3, method="predict_proba")
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


def test_interrupted_fits_have_probabilities():
    X, y = blobs(400, 3, 2, seed=0)
    with pytest.warns(UserWarning, match="time_limit"):
        model = SVC(C=1e4, time_limit=1e-9, probability=True).fit(X, y)
    assert model.certificate_.status == "time_limit"
    check_agreement(model, X)


# Repeated rows may fall into different folds, so a weight of two is not the row twice for probabilities.
REPETITION = "check_sample_weight_equivalence"


def _name(check):
    return check.func.__name__ if hasattr(check, "func") else check.__name__


@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        (e, c)
        for e, c in estimator_checks_generator(SVC(probability=True))
        if REPETITION not in _name(c)
        and ("proba" in _name(c) or "classif" in _name(c) or "subset" in _name(c))
    ],
    ids=lambda v: _name(v) if callable(v) and not hasattr(v, "fit") else "SVC",
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)
