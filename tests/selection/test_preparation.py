"""Tables as people have them: text, dates and gaps become numbers, in one place for all."""

import numpy as np
import pytest

import mercer
from mercer.selection import DateFeatures
from mercer.selection.date_features import are_dates, day_first

pandas = pytest.importorskip("pandas")


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    n = 90
    table = pandas.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "city": rng.choice(["Rome", "Oslo", "Lima"], n),
            "since": (np.datetime64("2022-01-01") + rng.integers(0, 900, n)).astype(str),
        }
    )
    table["buys"] = np.where(table["age"] + 20 * (table["city"] == "Oslo") > 55, "yes", "no")
    table.loc[[3, 40], "age"] = np.nan
    table.loc[7, "city"] = None
    return table


def test_everything_is_prepared_and_said(frame):
    ready = mercer.prepare(frame, "buys")
    words = "; ".join(ready.said)
    for part in (
        "replaced missing values of 'age' by the median, with an indicator column",
        "standardised 1 numeric column",
        "turned the dates in 'since' into numbers",
        "missing values of 'city' are a category of their own",
        "one-hot encoded 1 text column as 4 columns: 'city'",
    ):
        assert part in words
    assert (ready.target, list(ready.X.columns)) == ("buys", ["age", "city", "since"])
    model = ready.pipeline(mercer.SVC()).fit(ready.X, ready.y)
    assert model.score(ready.X, ready.y) > 0.8
    Z = model[:-1].transform(ready.X)
    assert Z.shape == (90, 2 + 5 + 4)  # age and its gaps; days, season, weekday; three cities and none
    assert np.isfinite(Z).all()


def test_searches_and_recommendations_take_such_frames(frame, tmp_path):
    X, y = frame.drop(columns="buys"), frame["buys"]
    search = mercer.SVCSearch(param_grid={"C": [0.1, 10.0]}, cv=3).fit(X, y)
    assert set(search.best_params_) == {"machine__C"}
    path = mercer.save(search, tmp_path / "search.mercer")
    np.testing.assert_array_equal(mercer.load(path).predict(X), search.predict(X))
    advice = mercer.recommend(X, y, time_budget=120)
    assert any("dates in 'since'" in reason for reason in advice.reasons)
    assert advice.fit(X, y).score(X, y) > 0.8


def test_frames_of_numbers_are_left_alone():
    X = pandas.DataFrame(np.random.default_rng(0).normal(size=(40, 2)), columns=["a", "b"])
    search = mercer.SVCSearch(param_grid={"C": [1.0]}, cv=2).fit(X, X["a"] > 0)
    assert isinstance(search.best_estimator_, mercer.SVC)


def test_polars_frames_too(frame):
    polars = pytest.importorskip("polars")
    table = polars.from_pandas(frame)
    ready = mercer.prepare(table, "buys")
    assert ready.pipeline(mercer.SVC()).fit(ready.X, ready.y).score(ready.X, ready.y) > 0.8


def test_dates_can_be_left_out(frame):
    ready = mercer.prepare(frame, "buys", dates=False)
    assert list(ready.X.columns) == ["age", "city"]
    assert "dropped the dates in 'since'" in ready.said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"target": "buy"}, "Did you mean 'buys'"),
        ({"target": "buys", "impute": "none"}, "'age' has missing values"),
        ({"target": "buys", "impute": "guess"}, "impute='guess' is invalid"),
        ({"target": "city"}, "missing in 1 row"),
    ],
)
def test_refusals_say_what_to_do(frame, options, words):
    with pytest.raises(ValueError, match=words):
        mercer.prepare(frame, **options)


def test_names_of_rows_are_refused(frame):
    frame["who"] = [f"person {k}" for k in range(len(frame))]
    with pytest.raises(ValueError, match="'who' has 90 different texts"):
        mercer.prepare(frame, "buys")


@pytest.mark.parametrize(
    ("texts", "days"),
    [
        (["2024-02-29", "2024/3/1"], [19782, 19783]),
        (["29.02.2024", "1.3.24"], [19782, 19783]),
        (["02/29/2024", "03/01/2024"], [19782, 19783]),
        (["29/02/2024", "01/03/2024"], [19782, 19783]),
        (["2024-02-29T06:00", "2024-02-29 18:00:00"], [19782.25, 19782.75]),
        (["1969-12-31", None], [-1, np.nan]),
    ],
)
def test_ways_to_write_a_date(texts, days):
    column = np.array(texts, dtype=object)[:, None]
    assert are_dates(texts)
    made = DateFeatures().fit(column)
    np.testing.assert_allclose(made.transform(column)[:, 0], days)
    assert made.transform(column).shape[1] == len(made.get_feature_names_out())


@pytest.mark.parametrize(
    "texts", [["2024-13-01"], ["30.02.2024"], ["2024-01-01 or so"], ["12"], ["a.b.cccc"]]
)
def test_what_is_no_date(texts):
    assert not are_dates(texts)


def test_days_and_months_are_told_apart_by_the_rows():
    assert day_first(["13/01/2024", "02/03/2024"])
    assert not day_first(["01/13/2024", "02/03/2024"])


def test_weeks_and_years_close():
    monday = np.array([["2024-01-01"], ["2024-01-08"], ["2025-01-01"]], dtype="datetime64[ns]")
    Z = DateFeatures().fit_transform(monday)
    np.testing.assert_allclose(Z[0, 3:5], Z[1, 3:5], atol=1e-9)
    np.testing.assert_allclose(Z[0, 1:3], Z[2, 1:3], atol=0.02)
