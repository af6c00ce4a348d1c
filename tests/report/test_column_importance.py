"""The importance of columns on the page: on rows that the model has not seen, and in time."""

import re

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import inspect

pytest.importorskip("matplotlib")

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3))
Y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, "yes", "no")
SECTION = re.compile(r"<section><h2>Explanations</h2>(.*?)</section>", re.DOTALL)


def part(page):
    found = SECTION.search(page)
    return "" if found is None else found[1]


def rows(html):
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", html)[1:]]


def test_held_out_rows_come_first():
    model = mercer.SVC().fit(X[:80], Y[:80])
    shown = part(mercer.report(model, X[:80], Y[:80], X_test=X[80:], y_test=Y[80:]))
    found = inspect.permutation_importance(model, X[80:], Y[80:], repeats=10)
    assert "on 40 held-out rows." in shown
    assert f"fraction of errors ({found.loss:.4g})" in shown
    assert shown.count("<img") == 1
    assert [row[0] for row in rows(shown)] == [found.names[j] for j in found.order()]
    top = found.order()[0]
    assert rows(shown)[0][1:] == [f"{found.mean[top]:.3g}", f"{found.low[top]:.3g} to {found.high[top]:.3g}"]


def test_a_fold_stands_in_for_held_out_rows():
    target = X[:, 0] + 0.1 * rng.normal(size=120)
    model = make_pipeline(StandardScaler(), mercer.SVR()).fit(X, target)
    shown = part(mercer.report(model, X, target))
    assert "24 rows by a model fitted on the others" in shown
    assert "mean squared error" in shown
    assert rows(shown)[0][0] == "x0"
    assert not part(mercer.report(model, X, target, cv=0))  # all rows were seen


def test_where_there_are_no_columns_there_is_no_section():
    assert not part(mercer.report(mercer.OneClassSVM().fit(X), X))
    texts = ["abab", "abba", "cdcd", "cddc"] * 15
    model = mercer.SVC(kernel=mercer.kernels.Spectrum(2)).fit(texts, [0, 0, 1, 1] * 15)
    assert not part(mercer.report(model, texts, [0, 0, 1, 1] * 15))
    gram = mercer.SVC(kernel="precomputed").fit(X @ X.T, Y)
    assert not part(mercer.report(gram, X @ X.T, Y, X_test=X @ X.T, y_test=Y))


def test_many_columns_take_few_predictions():
    calls = []
    wide = rng.normal(size=(90, 120))
    model = mercer.SVC().fit(wide[:60], wide[:60, 0] > 0)
    predict = model.predict
    model.predict = lambda rows: (calls.append(1), predict(rows))[1]
    shown = part(mercer.report(model, wide[:60], wide[:60, 0] > 0, X_test=wide[60:], y_test=wide[60:, 0] > 0))
    assert len(calls) <= 320
    assert "108 less important columns are not shown" in shown
    wider = rng.normal(size=(60, 400))
    model = mercer.SVC().fit(wider, wider[:, 0] > 0)
    shown = part(mercer.report(model, wider, wider[:, 0] > 0))
    assert "takes too long for a report" in shown


def test_names_are_text():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["<b>a", "$x^2$", "c & d"])
    shown = part(mercer.report(mercer.SVC().fit(frame, Y), frame, Y))
    assert "&lt;b&gt;a" in shown
    assert "<b>" not in shown


def test_the_command_measures_before_the_refit(tmp_path, monkeypatch):
    pytest.importorskip("typer")
    pandas = pytest.importorskip("pandas")
    from mercer.cli import run

    monkeypatch.chdir(tmp_path)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"]).assign(y=Y)
    frame.to_csv("data.csv", index=False)
    assert run(["train", "data.csv", "--target", "y", "--report", "page.html", "--quiet"]) == 0
    shown = part((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "on 30 held-out rows, before the refit" in shown
    assert rows(shown)[0][0] == "a"
