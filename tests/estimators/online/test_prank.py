"""The perceptron of ordered classes: the rule step by step, its bound, streams, files."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

import mercer
from mercer import PRank


def ladder(seed=0, n=120, gap=0.2):
    """Return points of four ordered classes that a plane with thresholds separates."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    height = X @ [1.0, 0.5, -0.5]
    away = np.abs(height[:, None] - [-1.0, 0.0, 1.0]).min(axis=1) > gap
    return X[away], np.digitize(height[away], [-1.0, 0.0, 1.0])


def pranked(K, y, k, passes):
    """Return coefficients, thresholds, missed thresholds and wrong predictions, by the published rule."""
    coef, theta, missed, wrong = np.zeros(y.size), np.zeros(k - 1), 0, 0
    for _ in range(passes):
        before = missed
        for i in range(y.size):
            f = K[i] @ coef
            sign = np.where(y[i] > np.arange(k - 1), 1.0, -1.0)
            step = np.where(sign * (f - theta) <= 0, sign, 0.0)
            missed += int(np.count_nonzero(step))
            wrong += bool(step.any())
            coef[i] += step.sum()
            theta -= step
            assert (np.diff(theta) >= 0).all()
        if missed == before:
            break
    return coef, theta, missed, wrong


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_steps_are_those_of_the_published_rule(kernel):
    X, y = ladder()
    K = X @ X.T if kernel == "linear" else rbf_kernel(X, gamma=0.5)
    model = PRank(kernel=kernel, gamma=0.5, max_iter=500).fit(X, y)
    coef, theta, missed, wrong = pranked(K, y, 4, 500)
    assert model.status_ == "no_mistakes"
    assert model.thresholds_ == pytest.approx(theta)
    assert (model.loss_, model.mistakes_) == (missed, wrong)
    found = np.zeros(y.size)
    found[model.support_] = model.dual_coef_.sum(axis=0)
    assert found == pytest.approx(coef)
    assert model.score(X, y) == 1.0
    assert (model.margins(X, y) > 0).all()
    assert np.array_equal(model.decision_function(X).argmax(axis=1), y)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_separable_data_keep_within_the_published_bound(kernel, seed):
    X, y = ladder(seed)
    model = PRank(kernel=kernel, gamma=0.5, max_iter=-1, shuffle=True, random_state=seed).fit(X, y)
    bound = model.mistake_bound(X, y)
    assert model.status_ == "no_mistakes"
    assert np.isfinite(bound)
    assert 0 < model.loss_ <= bound


def test_what_no_plane_separates_has_no_bound():
    X, y = ladder()
    assert PRank(kernel="linear", max_iter=500).fit(X, y).mistake_bound(X[:40], np.arange(40) % 4) == np.inf


def test_a_stream_in_batches_is_one_stream():
    X, y = ladder()
    whole = PRank(kernel="rbf", gamma=0.5).partial_fit(X, y, classes=range(4))
    parts = PRank(kernel="rbf", gamma=0.5)
    for rows in np.array_split(np.arange(y.size), 5):
        parts.partial_fit(X[rows], y[rows], classes=range(4))
    assert parts.thresholds_ == pytest.approx(whole.thresholds_)
    assert parts.mistakes_ == whole.mistakes_
    assert parts.predict(X).tolist() == whole.predict(X).tolist()
    assert whole.status_ == "streaming"


def test_two_classes_and_labels_of_any_kind():
    X, y = ladder()
    model = PRank(kernel="linear", max_iter=500).fit(X, np.where(y > 1, "b", "a"))
    assert model.thresholds_.shape == (1,)
    assert set(model.predict(X)) == {"a", "b"}
    assert model.coef_.shape == (1, 3)


def test_a_file_keeps_function_and_thresholds(tmp_path):
    X, y = ladder()
    model = PRank(kernel="rbf").fit(X, y)
    mercer.save(model, tmp_path / "prank.mercer")
    again = mercer.load(tmp_path / "prank.mercer")
    assert again.thresholds_ == pytest.approx(model.thresholds_)
    assert again.decision_function(X) == pytest.approx(model.decision_function(X))
    assert again.partial_fit(X, y).t_ == model.t_ + y.size
