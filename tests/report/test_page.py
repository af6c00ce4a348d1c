"""What is on the page about a fitted model, and what it needs to be seen: nothing."""

import re
import warnings
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import mercer
from clouds import blobs
from mercer._report.hardest_rows import multipliers, ranking
from mercer._report.step_words import rounded, step_in_words
from mercer._report.subject import subject

pytest.importorskip("matplotlib")

VOID = {"meta", "img", "br", "hr", "link", "input"}


class Reader(HTMLParser):
    """Notes the text, the tables' rows, and whatever a browser would fetch; checks that tags are closed."""

    def __init__(self, html):
        super().__init__()
        self.open, self.text, self.rows, self.fetched, self.tags = [], [], [], [], []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        self.fetched += [
            v for k, v in attrs if k in ("src", "href", "srcset", "action") and not v.startswith("data:")
        ]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style",):
            self.text.append(data)
            if any(tag in ("td", "th") for tag in self.open):
                self.rows[-1][-1] += data

    def row(self, name):
        return next(row for row in self.rows if row and row[0] == name)

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())


@pytest.fixture(scope="module")
def classifier():
    X, y = blobs(80, 2, 2, seed=0)
    more = blobs(60, 2, 2, seed=3)
    model = mercer.SVC(C=2.0, probability=True).fit(X, y)
    return model, X, y, mercer.report(model, X, y, X_test=more[0], y_test=more[1]), more


def test_nothing_is_fetched_or_run(classifier):
    page = classifier[3]
    reader = Reader(page)
    assert reader.fetched == []
    assert not {"script", "link", "iframe", "object"} & set(reader.tags)
    assert "default-src &#x27;none&#x27;" in page
    assert not re.findall(r"url\(|@import|https?:", page)


def test_it_says_how_good_and_how_sure(classifier):
    model, X, y, page, (X_test, y_test) = classifier
    reader = Reader(page)
    assert reader.row("60 held-out rows")[1] == f"{model.score(X_test, y_test):.4g}"
    assert reader.row("the 80 training rows themselves")[1] == f"{model.score(X, y):.4g}"
    assert str(model.certificate_) in reader.words
    assert "Generalisation bounds" in reader.words
    assert f"{model.support_.size} of 80 rows" in reader.words
    assert (
        reader.tags.count("img") == 8
    )  # importance, confusion, two curves, calibration, regions, margins, kernel


@pytest.mark.parametrize(("errors", "tone"), [(0, "good"), (60, "fair")])
def test_a_promise_that_is_worse_than_a_coin_is_not_green(errors, tone, two_clouds):
    X, y = two_clouds
    low, high = np.unique(y)
    truth = np.where(np.arange(len(y)) < errors, np.where(y == low, high, low), y)  # some labels changed
    page = mercer.report(mercer.SVC(gamma=0.1).fit(X, y), X, y, X_test=X, y_test=truth)
    found = re.search(r'<div class="name">bound</div><div class="value (\w+)">≤ ([\d.]+) %', page)
    assert found is not None
    assert (found[1], float(found[2]) < 50) == (tone, tone == "good")


def test_the_confusion_matrix_counts_each_row_once(classifier):
    reader = Reader(classifier[3])
    counts = [int(cell) for name in ("true 0", "true 1") for cell in reader.row(name)[1:]]
    assert sum(counts) == 60


def test_hardest_rows_are_ranked_by_multiplier_then_margin(classifier):
    model, X, y, page, _ = classifier
    order, alpha, _ = ranking(subject(model, X, y, None, None))
    np.testing.assert_allclose(alpha[model.support_], np.abs(model.dual_coef_[0]))
    assert (np.diff(np.round(alpha[order], 9)) <= 0).all()
    at_bound = order[np.isclose(alpha[order], 2.0)]
    assert (np.diff(model.margins(X, y)[at_bound]) >= -1e-9).all()
    assert set(order) == set(model.support_)
    assert str(order[0]) in [row[0] for row in Reader(page).rows]


def test_wrong_labels_come_first():
    """Guyon, Matic and Vapnik's use of the ranking: swapped labels are found at its top."""
    y = np.arange(120) % 2
    X = np.random.default_rng(0).normal(size=(120, 3)) + 3.0 * y[:, None]
    swapped = [7, 40, 99]
    y[swapped] = 1 - y[swapped]
    order, _, _ = ranking(subject(mercer.SVC(C=1.0).fit(X, y), X, y, None, None))
    assert set(swapped) <= set(order[:6])


def test_several_classes_add_up_their_multipliers(four_clouds):
    X, y = four_clouds
    model = mercer.SVC().fit(X, y)
    alpha = multipliers(model, len(y))
    np.testing.assert_allclose(alpha.sum(), np.abs(model.dual_coef_).sum())


def test_names_from_the_data_are_text_and_nothing_else(two_clouds):
    pandas = pytest.importorskip("pandas")
    X, y = two_clouds
    evil = "<script>alert(1)</script>"
    frame = pandas.DataFrame(X, columns=[evil, "b", "c"])
    labels = np.where(y == 1, "<img src=x>", "no & yes")
    page = mercer.report(mercer.SVC().fit(frame, labels), frame, labels, title="<b>", cv=0)
    reader = Reader(page)
    assert "script" not in reader.tags
    assert evil in reader.words
    assert reader.fetched == []


def test_pipelines_and_searches_are_looked_into():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), mercer.SVC(C=2.0)).fit(X, y)
    reader = Reader(mercer.report(model, X, y, cv=3, facts=[("target", "species")]))
    assert reader.row("preparation")[1] == "standardised (StandardScaler)"
    assert reader.row("target")[1] == "species"
    assert "3-fold cross-validation" in reader.words
    search = GridSearchCV(mercer.SVC(), {"C": [1.0, 10.0]}, cv=2).fit(X, y)
    assert Reader(mercer.report(search, X, y, cv=0)).row("C")[1] == str(search.best_params_["C"])


def test_regression_and_its_tube():
    x = np.linspace(0.0, 6.0, 50)[:, None]
    y = np.sin(x[:, 0])
    reader = Reader(mercer.report(mercer.SVR(C=10.0).fit(x, y), x, y, cv=3))
    assert "mean absolute error" in reader.row("rows")
    assert reader.tags.count("img") == 5  # the tube, agreement, residuals, coverage, kernel


def test_a_detector_needs_no_target(two_clouds):
    X = two_clouds[0][:, :2]
    reader = Reader(mercer.report(mercer.SVDD(nu=0.2).fit(X), X, cv=0))
    assert "fraction called novel" in reader.row("rows")
    assert reader.tags.count("img") == 3


def test_what_rounding_keeps_from_zero_is_shown_as_zero(two_clouds):
    X, _ = two_clouds
    model = mercer.SVDD(kernel="linear", nu=0.0, tol=1e-8).fit(X)  # all its support lies on the sphere
    page = Reader(mercer.report(model, X, cv=0))
    at, column = next((k, row.index("decision")) for k, row in enumerate(page.rows) if "decision" in row)
    shown = [row[column] for row in page.rows[at + 1 :]]
    assert len(shown) == min(15, model.support_.size)
    assert "0" in shown
    assert all(abs(float(value)) > 1e-9 for value in shown if value != "0")


def test_items_without_features():
    @mercer.kernel(psd=True)
    def shared(a, b):
        return float(len(set(a) & set(b)))

    words = ["cat", "tack", "act", "coat", "dog", "hood", "good", "dough"]
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    reader = Reader(mercer.report(mercer.SVC(kernel=shared).fit(words, y), words, y, cv=2))
    assert any("coat" in row for row in reader.rows)


def test_machines_without_multipliers_or_certificates(two_clouds):
    X, y = two_clouds
    reader = Reader(mercer.report(mercer.LinearDiscriminantAnalysis().fit(X, y), X, y, cv=2))
    assert "Certificate" not in reader.words
    assert "accuracy" in reader.row("rows")


@pytest.mark.parametrize("name", ["KernelPerceptron", "KernelRidgeClassifier", "NuSVC", "SVCPath"])
def test_other_classifiers(name, two_clouds):
    X, y = two_clouds
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the perceptron's, of clouds that overlap
        model = getattr(mercer, name)().fit(X, y)
    reader = Reader(mercer.report(model, X, y, cv=0))
    assert f"{model.score(X, y):.3g}" in reader.row("the 80 training rows themselves")


@pytest.mark.parametrize("name", ["KernelRidge", "NuSVR", "OnlineSVR"])
def test_other_regressors(name, two_clouds):
    X, y = two_clouds
    model = getattr(mercer, name)().fit(X, X[:, 0] + 0.5 * y)
    reader = Reader(mercer.report(model, X, X[:, 0] + 0.5 * y, cv=0))
    assert "R²" in reader.row("rows")


def test_the_file_is_the_page(tmp_path, two_clouds):
    X, y = two_clouds
    target = tmp_path / "page.html"
    page = mercer.report(mercer.SVC().fit(X, y), X, y, target, cv=0)
    assert target.read_text(encoding="utf-8") == page
    assert page.startswith("<!DOCTYPE html>")
    assert page.save(tmp_path / "again.html").read_text(encoding="utf-8") == page
    assert "<iframe srcdoc=" in page._repr_html_()
    assert repr(page).startswith("Page(")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"cv": 1}, "cv=1"),
        ({"y": None}, "y is needed"),
        ({"y": np.zeros(3)}, r"y has shape \(3,\)"),
        ({"y_test": np.zeros(80)}, "without X_test"),
    ],
)
def test_refusals_name_what_is_wrong(wrong, words, two_clouds):
    X, y = two_clouds
    model = mercer.SVC().fit(X, y)
    with pytest.raises(ValueError, match=words):
        mercer.report(model, X, **{"y": y} | wrong)


def test_only_what_predicts_is_reported(two_clouds):
    X, y = two_clouds
    with pytest.raises(TypeError, match="neither a classifier"):
        mercer.report(StandardScaler().fit(X), X, y)
    with pytest.raises(TypeError, match="must be a fitted estimator"):
        mercer.report("model", X, y)


def test_steps_are_told_in_words():
    step = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), ["age", "pay"]),
        (OneHotEncoder(), ["town"]),
        ("passthrough", [f"c{k}" for k in range(9)]),
    )
    assert step_in_words(step) == (
        "age, pay: missing values replaced by median (SimpleImputer), standardised (StandardScaler); "
        "town: one-hot encoded (OneHotEncoder); "
        "c0, c1, c2, c3, c4, c5, ... (9 columns): as they are"
    )
    assert step_in_words(SimpleImputer(strategy="constant", fill_value=0.0)).startswith(
        "missing values replaced by 0.0"
    )
    assert step_in_words(FunctionTransformer(np.log)).startswith("FunctionTransformer(")


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("RBF(gamma=0.2692307692307693)", "RBF(gamma=0.26923)"),
        ("RBF(gamma=1.2345678e-07)", "RBF(gamma=1.2346e-07)"),
        ("0.5 * RBF(gamma=0.25) + Linear()", "0.5 * RBF(gamma=0.25) + Linear()"),
    ],
)
def test_numbers_are_cut_to_what_can_be_read(text, short):
    assert rounded(text) == short


def test_missing_values_are_called_so():
    pandas = pytest.importorskip("pandas")
    X, y = blobs(60, 2, 2, 3)
    X = X.copy()
    X[:, 0] = np.nan
    X[::2, 0] = 1.0
    model = make_pipeline(SimpleImputer(), mercer.SVC()).fit(pandas.DataFrame(X, columns=list("ab")), y)
    page = mercer.report(model, pandas.DataFrame(X, columns=list("ab")), y, cv=0)
    rows = [row for row in Reader(page).rows if len(row) > 5]
    assert any("missing" in row for row in rows)
    assert not any("nan" in row for row in rows)


def test_a_perfect_ranking_of_few_rows_is_not_certain():
    from mercer._report.scores import drawn_interval, share_interval

    truth = np.repeat([False, True], [40, 7])
    assert drawn_interval(lambda rows: 1.0, truth, 0.05) == share_interval(7, 7, 0.05)
    assert 0.5 < share_interval(7, 7, 0.05)[0] < 0.65


def test_conformal_models_show_their_guarantee_and_their_coverage():
    from mercer import ConformalClassifier, ConformalRegressor

    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = X[:, 0] + 0.3 * rng.normal(size=120)
    page = str(mercer.report(ConformalRegressor(mercer.SVR()).fit(X, y), X, y, cv=3))
    assert "conformal intervals; coverage on 3-fold cross-validation" in page
    assert "coverage of new rows at least 0.9 guaranteed, 0.9 asked for" in page
    labels = np.where(y > 0, "up", "down")
    page = str(mercer.report(ConformalClassifier(mercer.SVC()).fit(X, labels), X, labels, cv=3))
    assert "coverage of new rows at least 0.9 guaranteed, 0.9 asked for" in page
