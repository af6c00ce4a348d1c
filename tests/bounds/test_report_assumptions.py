"""The report: what it assumes, what it was told, and what that costs."""

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from mercer import SVC
from mercer.bounds import report
from mercer.kernels import RBF


def test_the_radius_is_never_quietly_that_of_the_sample(cancer):
    X, y = cancer
    bounded = report(SVC(gamma=1.0).fit(X, y), X, y)
    assert any("R = 1 " in a.text and a.status == "met" for a in bounded.assumptions)
    linear = SVC(kernel="linear", C=100.0).fit(X[:100], y[:100])
    without = report(linear, X[:100], y[:100])
    missing = [line for line in without if line.value is None]
    assert missing
    assert all("radius=" in line.why for line in missing)
    given = report(linear, X[:100], y[:100], radius=6.0)
    assert all(line.value is not None for line in given)
    assert any("R = 6 " in a.text and a.status == "yours" for a in given.assumptions)
    wider = report(linear, X[:100], y[:100], radius=60.0)
    name = next(line.name for line in given if line.kind == "rate")
    assert wider[name].value > given[name].value


def test_what_was_computed_from_the_rows_breaks_the_theorems(cancer):
    X, y = cancer
    model = SVC(gamma="scale").fit(X, y)
    found = report(model, X, y)
    assert all("gamma" in line.broken[0].text for line in found)
    assert found.best is None
    assert found["random weights around w"].verdict in ("assumption violated", "vacuous")
    sworn = report(model, X, y, chosen_elsewhere=True)
    assert not any(line.broken for line in sworn)
    assert report(SVC(gamma="auto").fit(X, y), X, y)["margin and slack"].broken == ()
    centred = report(SVC(kernel=RBF(1.0).centered()).fit(X, y), X, y)
    assert "centre" in centred["margin and slack"].broken[0].text
    balanced = report(SVC(gamma=1.0, class_weight="balanced").fit(X, y), X, y)
    assert "balanced" in balanced["margin and slack"].broken[0].text


def test_pipelines_and_searches(cancer):
    X, y = cancer
    pipe = make_pipeline(StandardScaler(), SVC(gamma=0.01)).fit(X, y)
    assert "standardscaler" in report(pipe, X, y)["margin and slack"].broken[0].text
    stateless = make_pipeline(FunctionTransformer(np.sqrt), SVC(gamma=1.0)).fit(X, y)
    assert report(stateless, X, y)["margin and slack"].broken == ()
    search = GridSearchCV(SVC(), {"C": [0.1, 1.0], "gamma": [0.5, 1.0, 2.0]}, cv=2).fit(X, y)
    found = report(search, X, y)
    assert any("6 settings" in a.text for a in found.assumptions)
    alone = report(search.best_estimator_, X, y, candidates=6)
    assert [line.value for line in found] == [line.value for line in alone]
    fixed = report(search.best_estimator_, X, y)
    assert found["random weights around w"].value > fixed["random weights around w"].value
    assert found["support vectors, on average"].broken  # an average has no delta to share


def test_a_union_pays_for_the_margin_and_a_coordinate_for_the_bias(cancer):
    X, y = cancer
    free = report(SVC(gamma=1.0).fit(X, y), X, y)["margin and slack"]
    assert any("union over 7 values" in a.text for a in free.assumptions)
    assert any("tau = 1" in a.text for a in free.assumptions)
    through = report(SVC(gamma=1.0, fit_intercept=False).fit(X, y), X, y)["margin and slack"]
    assert not any("tau" in a.text for a in through.assumptions)
    model = SVC(gamma=1.0).fit(X, y)
    small, large = (report(model, X, y, tau=tau)["random weights around w"].value for tau in (0.01, 1.0))
    assert small != large


def test_a_bias_that_is_not_determined_is_named():
    """All multipliers at their bounds: the machine on the support vectors alone may have another bias."""
    X = np.array([[-1.0], [-0.9], [0.9], [1.0]] * 3)
    y = np.array([0, 0, 1, 1] * 3)
    model = SVC(kernel="linear", C=0.01).fit(X, y)
    assert np.allclose(np.abs(model.dual_coef_), 0.01)
    assert report(model, X, y)["number of support vectors"].broken
