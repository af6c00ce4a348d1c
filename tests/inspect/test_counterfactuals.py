"""Counterfactuals: wanted, inside the ranges, and close, against closed forms and a grid."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC, SVR, KernelLogisticRegression, OneClassSVM
from mercer.inspect import counterfactual
from mercer.kernels import RBF, Laplacian

pytestmark = pytest.mark.core

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3)) * [1.0, 10.0, 0.1]
SIDE = X @ [2.0, 0.1, -5.0] > 0


def test_a_line_is_left_along_the_column_that_costs_least():
    """min sum |d_j| / s_j subject to w d >= -f: one column moves, the one with the largest |w_j| s_j."""
    model = SVC(kernel="linear", C=100.0).fit(X, SIDE)
    for i in range(5):
        found = counterfactual(model, X[i], X)
        f = model.decision_function(X[i : i + 1])[0]
        assert found.distance == pytest.approx(
            abs(f) / (np.abs(model.coef_[0]) * X.std(axis=0)).max(), rel=1e-3
        )
        assert [name for name, _, _ in found.changes] == ["x0"]
        assert found.before != found.after
        assert model.predict(found.row)[0] == found.after


@pytest.mark.parametrize("kernel", [RBF(1.0), Laplacian(0.7)], ids=["smooth", "not_smooth"])
def test_in_the_plane_a_grid_finds_hardly_anything_closer(kernel):
    points = np.random.default_rng(1).normal(size=(150, 2))
    y = np.hypot(*points.T) < 1.0
    model = SVC(kernel=kernel, C=10.0).fit(points, y)
    sides = [np.linspace(points[:, j].min(), points[:, j].max(), 150) for j in range(2)]
    grid = np.column_stack([side.ravel() for side in np.meshgrid(*sides)])
    said = model.predict(grid)
    for i in range(8):
        found = counterfactual(model, points[i], points)
        other = grid[said != found.before]
        best = (np.abs(other - points[i]) / points.std(axis=0)).sum(axis=1).min()
        assert found.distance <= 1.25 * best
        assert (found.row[0] >= points.min(axis=0)).all()
        assert (found.row[0] <= points.max(axis=0)).all()


def test_only_the_columns_that_may_change_do():
    model = make_pipeline(StandardScaler(), SVC(kernel=RBF(0.3), C=10.0)).fit(X, SIDE)
    found = counterfactual(model, X[:1], X, columns=[1])
    np.testing.assert_array_equal(found.row[0, [0, 2]], X[0, [0, 2]])
    assert [name for name, _, _ in found.changes] == ["x1"]
    free = counterfactual(model, X[:1], X)
    assert free.distance <= found.distance
    assert "x" in str(free)
    assert "→" in str(free)


def test_classes_of_choice_and_models_of_others():
    A, b = load_iris(return_X_y=True)
    for model in (
        SVC().fit(A, b),
        KernelLogisticRegression().fit(A, b),
        LogisticRegression(max_iter=500).fit(A, b),
    ):
        for to in (1, 2):
            found = counterfactual(model, A[0], A, to=to, starts=4)
            assert (found.before, found.after) == (0, to)
            # On the boundary: a little less of the change is not enough.
            less = found.row + 1e-3 * (A[:1] - found.row)
            assert model.predict(less)[0] != to


def test_regressors_reach_a_number_or_a_range():
    y = np.sin(X[:, 0]) + 0.05 * X[:, 1]
    model = make_pipeline(StandardScaler(), SVR(C=10.0)).fit(X, y)
    start = model.predict(X[:1])[0]
    up = counterfactual(model, X[0], X, to=start + 0.3)
    assert up.after == pytest.approx(start + 0.3, abs=1e-3)
    down = counterfactual(model, X[0], X, to=start - 0.3)
    assert down.after == pytest.approx(start - 0.3, abs=1e-3)
    inside = counterfactual(model, X[0], X, to=(start + 0.1, start + 0.2))
    assert start + 0.1 <= inside.after <= start + 0.2


def test_detectors():
    model = OneClassSVM(nu=0.2).fit(X / [1.0, 10.0, 0.1])
    rows = X / [1.0, 10.0, 0.1]
    normal = int(np.flatnonzero(model.predict(rows) == 1)[0])
    found = counterfactual(model, rows[normal], rows)
    assert (found.before, found.after) == (1, -1)


def test_text_and_whole_numbers_stay_what_they_are():
    pandas = pytest.importorskip("pandas")
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    draw = np.random.default_rng(3)
    frame = pandas.DataFrame(
        {
            "age": draw.integers(18, 80, 150),
            "city": draw.choice(["Rome", "Oslo", "Lima"], 150),
            "dose": draw.normal(size=150),
        }
    )
    y = np.where(
        (frame["age"] - 45) / 15 + 2.0 * (frame["city"] == "Oslo") + frame["dose"] > 0.5, "yes", "no"
    )
    ready = make_column_transformer((StandardScaler(), ["age", "dose"]), (OneHotEncoder(), ["city"]))
    model = make_pipeline(ready, SVC(C=10.0)).fit(frame, y)
    for i in range(3):
        found = counterfactual(model, frame.iloc[[i]], frame, starts=4)
        assert model.predict(found.row)[0] == found.after != found.before
        assert float(found.row["age"].iloc[0]).is_integer()
        assert found.row["city"].iloc[0] in ("Rome", "Oslo", "Lima")
        assert list(found.row.columns) == list(frame.columns)
        told = {name: new for name, _, new in found.changes}
        for name in frame.columns:
            assert found.row[name].iloc[0] == told.get(name, frame[name].iloc[i])
    no = int(np.flatnonzero((model.predict(frame) == "no") & (frame["city"] != "Oslo").to_numpy())[0])
    try:
        moved = counterfactual(model, frame.iloc[[no]], frame, columns=["city"], starts=4)
    except ValueError as error:
        assert "let more columns change" in str(error)  # noqa: PT017 - either is right, and both are told
    else:
        assert moved.changes == [("city", frame["city"].iloc[no], "Oslo")]


def test_a_missing_value_stays_missing():
    pandas = pytest.importorskip("pandas")
    from sklearn.impute import SimpleImputer

    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    frame.loc[0, "b"] = np.nan
    frame.loc[5, "a"] = np.nan
    model = make_pipeline(SimpleImputer(), StandardScaler(), SVC()).fit(frame, SIDE)
    found = counterfactual(model, frame.iloc[[0]], frame)
    assert np.isnan(found.row["b"].iloc[0])
    assert found.after != found.before


def test_what_cannot_be_is_refused():
    model = SVC().fit(X, SIDE)
    with pytest.raises(ValueError, match="already"):
        counterfactual(model, X[0], X, to=bool(model.predict(X[:1])[0]))
    with pytest.raises(ValueError, match="'blue' is not a class"):
        counterfactual(model, X[0], X, to="blue")
    with pytest.raises(ValueError, match="no counterfactual found: no row of data"):
        counterfactual(model, X[0], X[:1])
    with pytest.raises(ValueError, match="x has 2 columns, data has 3"):
        counterfactual(model, X[0, :2], X)
    with pytest.raises(ValueError, match="starts=0"):
        counterfactual(model, X[0], X, starts=0)
    with pytest.raises(ValueError, match="columns is empty"):
        counterfactual(model, X[0], X, columns=[])
    with pytest.raises(ValueError, match="single row; it has 2"):
        counterfactual(model, X[:2], X)
    numbers = SVR().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="to is needed"):
        counterfactual(numbers, X[0], X)
    with pytest.raises(ValueError, match="low < high"):
        counterfactual(numbers, X[0], X, to=(2.0, 1.0))
    with pytest.raises(ValueError, match="prediction of at least 100"):
        counterfactual(numbers, X[0], X, to=100.0)
