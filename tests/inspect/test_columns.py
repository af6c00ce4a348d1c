"""Shares and importances of columns, against scikit-learn, closed forms and definitions."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from sklearn import inspection
from sklearn.decomposition import KernelPCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC, SVR, KernelRidge, OneClassSVM
from mercer.inspect import partial_dependence, permutation_importance, shapley
from mercer.kernels import RBF, Linear, Spline

pytestmark = pytest.mark.core

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
TARGET = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]


def test_importance_of_a_line_is_twice_the_variance_it_explains():
    """E (f(x') - f(x))^2 = 2 w^2 var x where only x_j is drawn anew, and the noise adds nothing."""
    n = 4000
    data = np.random.default_rng(1).normal(size=(n, 3)) * [1.0, 2.0, 1.0]
    model = KernelRidge(kernel="linear", alpha=1e-6).fit(data, data @ [2.0, -1.0, 0.0])
    y = data @ [2.0, -1.0, 0.0] + np.random.default_rng(2).normal(size=n)
    found = permutation_importance(model, data, y, repeats=10)
    assert found.loss == pytest.approx(((y - data @ [2.0, -1.0, 0.0]) ** 2).mean(), rel=1e-6)
    assert (found.low[:2] <= 8.0).all()
    assert (found.high[:2] >= 8.0).all()
    assert (found.high - found.low)[:2].max() < 1.5
    np.testing.assert_allclose([found.mean[2], found.low[2], found.high[2]], 0.0, atol=1e-6)
    assert set(found.order()[:2]) == {0, 1}
    assert str(found).count("\n") == 2


def test_intervals_cover_what_many_rows_give():
    """The model is fixed, rows and shuffles are drawn anew: nine intervals of ten hold the true value."""
    model = SVC(kernel="linear").fit(X, X[:, 0] + 0.5 * X[:, 1] > 0)

    def draw(n, seed):
        generator = np.random.default_rng(seed)
        rows = generator.normal(size=(n, 3))
        return rows, rows[:, 0] + 0.5 * rows[:, 1] + 0.3 * generator.normal(size=n) > 0

    truth = permutation_importance(model, *draw(60_000, 0), repeats=2).mean
    inside = 0
    for seed in range(1, 101):
        one = permutation_importance(model, *draw(150, seed), repeats=5, coverage=0.9, random_state=seed)
        inside += int(one.low[0] <= truth[0] <= one.high[0])
    assert inside >= 80


def test_importance_is_scikit_learns():
    y = TARGET > 0
    model = SVC().fit(X, y)
    ours = permutation_importance(model, X, y, repeats=200)
    theirs = inspection.permutation_importance(model, X, y, n_repeats=200, random_state=1)
    np.testing.assert_allclose(ours.mean, theirs.importances_mean, atol=0.015)
    assert ours.loss == pytest.approx(1 - model.score(X, y))


def test_partial_dependence_is_scikit_learns():
    y = TARGET > 0
    for model, response in ((SVR().fit(X, TARGET), "auto"), (SVC().fit(X, y), "decision_function")):
        ours = partial_dependence(model, X, 1, points=20)
        theirs = inspection.partial_dependence(
            model, X, [1], custom_values={1: ours.values}, method="brute", kind="both",
            response_method=response,
        )  # fmt: skip
        np.testing.assert_allclose(ours.mean[:, 0], theirs["average"][0], atol=1e-10)
        np.testing.assert_allclose(ours.single[:, :, 0], theirs["individual"][0], atol=1e-10)
    assert ours.name == "x1"
    assert ours.values.size == 20
    given = partial_dependence(model, X, 0, values=[0.0, 1.0])
    assert given.mean.shape == (2, 1)


def by_definition(f, x, background):
    """Return Shapley's values by the sum over all sets of columns."""
    d = x.size

    def v(columns):
        rows = background.copy()
        rows[:, list(columns)] = x[list(columns)]
        return f(rows).mean()

    out = np.zeros(d)
    for j in range(d):
        others = [k for k in range(d) if k != j]
        for size in range(d):
            for S in combinations(others, size):
                out[j] += (v((*S, j)) - v(S)) / (d * comb(d - 1, size))
    return out


def test_shapley_values_are_those_of_the_definition():
    model = SVR(kernel=RBF(0.4), C=5.0).fit(X, TARGET)
    found = shapley(model, X[:4], X[:20], orders=6)  # 3! orders
    assert found.exact
    for i in range(4):
        np.testing.assert_allclose(found.values[i, 0], by_definition(model.predict, X[i], X[:20]), atol=1e-10)
    assert not found.error.any()


def test_shapley_values_of_additive_kernels_need_one_order():
    calls = []
    wide = rng.normal(size=(50, 10))
    y = np.sin(wide[:, 0]) + wide[:, 1]
    for kernel in (Spline(), Linear(), RBF(1.0).on([0]) + 2.0 * RBF(1.0).on([1]) + Linear()):
        model = SVR(kernel=kernel, tol=1e-6).fit(wide, y)
        predict = model.predict
        model.predict = lambda rows, f=predict: (calls.append(1), f(rows))[1]
        calls.clear()
        found = shapley(model, wide[:3], wide[:30])
        assert found.exact
        assert len(calls) <= 40  # ten columns of three rows, the background, and a look at the function
        # In closed form: f_j(x_j) less its mean over the background.
        for j in (0, 1, 5):
            moved = wide[:30].copy()
            moved[:, j] = wide[0, j]
            expected = predict(moved).mean() - predict(wide[:30]).mean()
            assert found.values[0, 0, j] == pytest.approx(expected, abs=1e-9)
        np.testing.assert_allclose(
            found.values.sum(axis=2)[:, 0], predict(wide[:3]) - predict(wide[:30]).mean(), atol=1e-8
        )


def test_sampled_shapley_values_sum_up_and_have_error_bars():
    wide = rng.normal(size=(80, 7))
    y = wide[:, 0] * wide[:, 1] + np.sin(wide[:, 2] * wide[:, 3])
    model = make_pipeline(StandardScaler(), SVR(kernel=RBF(0.1), C=5.0)).fit(wide, y)
    found = shapley(model, wide[:2], wide[:25], orders=60, random_state=3)
    assert not found.exact
    total = model.predict(wide[:2]) - model.predict(wide[:25]).mean()
    np.testing.assert_allclose(found.values.sum(axis=2)[:, 0], total, atol=1e-8)
    expected = np.array([by_definition(model.predict, wide[i], wide[:25]) for i in range(2)])
    off = np.abs(found.values[:, 0] - expected)
    assert (off <= 4.0 * found.error[:, 0] + 1e-9).all()
    assert found.error.max() < 0.1 * np.abs(expected).max()


def test_votes_among_classes_are_not_taken_for_additive():
    y = np.digitize(X[:, 0], [-0.4, 0.4])
    model = SVC(kernel="linear").fit(X, y)  # decision values with votes of pairs
    found = shapley(model, X[:2], X[:10], orders=6)
    assert found.values.shape == (2, 3, 3)
    values = model.decision_function(X[:2]) - model.decision_function(X[:10]).mean(axis=0)
    np.testing.assert_allclose(found.values.sum(axis=2), values, atol=1e-8)
    for k in range(3):
        expected = by_definition(lambda rows, k=k: model.decision_function(rows)[:, k], X[0], X[:10])
        np.testing.assert_allclose(found.values[0, k], expected, atol=1e-10)


def test_data_frames_keep_their_names_and_kinds():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["age", "dose", "weight"])
    model = SVR().fit(frame, TARGET)
    found = permutation_importance(model, frame, TARGET, repeats=2)
    assert found.names == ["age", "dose", "weight"]
    assert partial_dependence(model, frame, "dose").name == "dose"
    shares = shapley(model, frame[:2], frame[:10], orders=6)
    plain = shapley(SVR().fit(X, TARGET), X[:2], X[:10], orders=6)
    np.testing.assert_allclose(shares.values, plain.values, atol=1e-9)
    with pytest.raises(ValueError, match=r"'doze' does not exist\. Did you mean 'dose'\?"):
        partial_dependence(model, frame, "doze")


def test_what_makes_no_sense_is_refused():
    model = SVR().fit(X, TARGET)
    with pytest.raises(ValueError, match="60 rows, y has 3"):
        permutation_importance(model, X, TARGET[:3])
    with pytest.raises(ValueError, match="repeats=0"):
        permutation_importance(model, X, TARGET, repeats=0)
    with pytest.raises(ValueError, match=r"coverage=1\.5"):
        permutation_importance(model, X, TARGET, coverage=1.5)
    with pytest.raises(TypeError, match="no loss"):
        permutation_importance(OneClassSVM().fit(X), X, TARGET)
    with pytest.raises(TypeError, match="not a classifier"):
        partial_dependence(KernelPCA().fit(X), X, 0)
    with pytest.raises(ValueError, match="column=7 does not exist"):
        partial_dependence(model, X, 7)
    with pytest.raises(ValueError, match="points=1"):
        partial_dependence(model, X, 0, points=1)
    with pytest.raises(ValueError, match="X has 3 columns, background has 2"):
        shapley(model, X, X[:, :2])
    with pytest.raises(ValueError, match="orders=1"):
        shapley(model, X, X, orders=1)
    with pytest.raises(TypeError, match="it has 1 dimensions"):
        partial_dependence(model, X[:, 0], 0)
