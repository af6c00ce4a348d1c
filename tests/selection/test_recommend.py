"""Recommendations: sound, in words, within their budget."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_wine, make_circles
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import RobustScaler, StandardScaler

import mercer
from clouds import blobs
from mercer import SVC, SVR
from mercer.selection.table_survey import survey_table

pytestmark = pytest.mark.core


def test_units_that_differ_are_standardised():
    X, y = load_wine(return_X_y=True)
    X, y = X[:, [0, 5, 11, 12]][y < 2], y[y < 2]
    advice = mercer.recommend(X, y, cv=3)
    assert isinstance(advice.pipeline[0], StandardScaler)
    assert any("standard deviations differ" in reason for reason in advice.reasons)
    again = cross_val_score(advice.pipeline, X, y, cv=3)
    assert again.mean() == pytest.approx(advice.score, abs=0.08)
    assert advice.score > advice.baseline + 0.2
    assert "Gaussian, columns as they are" in {t.name for t in advice.tried}
    assert advice.fit(X, y).predict(X).shape == y.shape
    assert not hasattr(advice.pipeline, "classes_")  # ready to fit, not fitted


def test_the_text_says_what_and_why():
    X, y = make_circles(150, noise=0.1, factor=0.4, random_state=0)
    advice = mercer.recommend(X, y, cv=3)
    assert "linear" not in (advice.pipeline[-1].kernel,)
    text, page = str(advice), advice._repr_html_()
    for word in ("make_pipeline", "Why:", "cross-validated accuracy", "guessing: 0.5"):
        assert word in text
    assert advice.pipeline[-1].__class__.__name__ in page
    assert "<li>" in page
    assert repr(advice) == text


def test_a_straight_boundary_gets_a_linear_machine():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X @ [1.0, -1.0, 0.5] + 0.3 * rng.normal(size=200) > 0).astype(int)
    advice = mercer.recommend(X, y, cv=3)
    assert advice.pipeline[-1].kernel == "linear"
    assert any("simpler" in reason or "scores best" in reason for reason in advice.reasons)


def test_regression():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 6, size=(80, 1))
    y = 50.0 * np.sin(x[:, 0]) + 3.0 * rng.normal(size=80)
    advice = mercer.recommend(x, y, cv=3)
    assert isinstance(advice.pipeline[-1], SVR)
    assert advice.score > 0.9
    assert advice.scoring == "r2"


def test_rare_classes_are_counted():
    X, y = blobs(200, 2, 2, seed=0)
    keep = np.flatnonzero((y == 0) | (np.arange(200) % 8 == 1))
    advice = mercer.recommend(X[keep], y[keep], cv=3)
    assert advice.scoring == "balanced_accuracy"
    assert isinstance(advice.pipeline[-1], SVC)
    assert advice.pipeline[-1].class_weight == "balanced"
    assert any("balanced accuracy" in reason for reason in advice.reasons)


def test_a_budget_is_kept():
    X, y = blobs(1500, 4, 2, seed=0)
    advice = mercer.recommend(X, y, time_budget=0.01, n_jobs=1)
    assert any("drawn at random" in reason for reason in advice.reasons)
    assert any("time_budget=0.01" in reason for reason in advice.reasons)
    assert 0.5 < advice.score <= 1.0
    assert advice.fit(X, y).score(X, y) > 0.5


def test_looking():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] > 0).astype(int)
    assert survey_table(X, y, "auto").scaler is None
    far = X.copy()
    far[:3, 1] = 1e6
    assert isinstance(survey_table(far, y, "auto").scaler, RobustScaler)
    assert survey_table(X, X[:, 1], "auto").task == "regression"
    assert survey_table(X, np.arange(200), "auto").task == "regression"
    assert survey_table(X, y, "regression").task == "regression"
    assert any("constant" in r for r in survey_table(np.column_stack([X, np.ones(200)]), y, "auto").reasons)
    assert "sparse" in survey_table(sp.csr_matrix(X * [1, 100, 1]), y, "auto").reasons[0]


def test_words_become_columns():
    pandas = pytest.importorskip("pandas")
    X, y = blobs(80, 2, 2, seed=0)
    frame = pandas.DataFrame({"a": X[:, 0], "where": np.where(X[:, 1] > 0, "north", "south")})
    advice = mercer.recommend(frame, y, cv=3)
    assert any("encoded 1 text column as 2 columns" in reason for reason in advice.reasons)
    assert advice.fit(frame, y).predict(frame).shape == (80,)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task": "guess"}, r"task='guess' must be"),
        ({"time_budget": 0}, r"time_budget=0 must be"),
        ({"cv": 1}, r"cv=1 must be"),
    ],
)
def test_bad_options(options, message):
    X, y = blobs(40, 2, 2, seed=0)
    with pytest.raises(ValueError, match=message):
        mercer.recommend(X, y, **options)


def test_bad_data():
    X, y = blobs(40, 2, 2, seed=0)
    with pytest.raises(ValueError, match="one class"):
        mercer.recommend(X, np.zeros(40))
    with pytest.raises(ValueError, match="has one row"):
        mercer.recommend(X, np.r_[np.zeros(39), 1])
    with pytest.raises(ValueError, match="NaN"):
        mercer.recommend(np.where(X > 2, np.nan, X), y)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        mercer.recommend(X, y[:30])


def test_a_gaussian_process_is_tried_where_it_is_quick():
    x = np.random.default_rng(0).uniform(0.0, 6.0, size=(60, 1))
    y = np.sin(x[:, 0]) + 0.1 * np.random.default_rng(1).normal(size=60)
    advice = mercer.recommend(x, y, task="regression", cv=2)
    process = next(t for t in advice.tried if t.name == "Gaussian process")
    assert process.score > 0.9
    assert "Gaussian process" in str(advice)
