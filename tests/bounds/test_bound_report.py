"""The report: what it picks, how it takes assumptions, and how it reads."""

import pickle
import re

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import mercer
from mercer import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM, SphereAndSlab
from mercer.bounds import Fact, Report, Reports, report
from mercer.kernels import RBF, Linear


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X / X.max(axis=0), y


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X, y - 150.0


def statuses(line):
    return {a.status for a in line.assumptions}


def fact(found, name):
    return next(f.value for f in found.facts if f.name == name)


# -- what applies --------------------------------------------------------------------------------------------

CLASSIFIER = ["number of support vectors", "support vectors, on average"]


@pytest.mark.parametrize(
    ("model", "first", "theorem"),
    [
        (SVC(gamma=1.0), "margin and slack", "7.30"),
        (SVC(gamma=1.0, loss="squared_hinge"), "margin and slack", "7.38"),
        (NuSVC(gamma=1.0, nu=0.2), "margin and slack", "7.33"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_soft_margin_machines(cancer, model, first, theorem):
    found = report(model.fit(*cancer), *cancer)
    names = [line.name for line in found]
    assert names[:3] == [first, *CLASSIFIER]
    assert theorem in found[first].source
    assert "random weights around w" in names
    assert "margin and radius" not in names  # the training points are not separated
    assert "VC dimension" not in names
    rate = next(line for line in found if line.kind == "rate")
    assert rate.vacuous is None
    assert rate.verdict == "constant unknown"
    assert ("5.3" if theorem == "7.38" else "5.4") in rate.source


def test_hard_margin_machine(cancer):
    X, y = cancer
    model = SVC(C=np.inf, kernel=RBF(5.0)).fit(X, y)
    found = report(model, X, y)
    names = [line.name for line in found]
    assert names[:4] == ["margin", *CLASSIFIER, "margin and radius"]
    assert "7.22" in found["margin"].source
    assert found["margin"].value > 1
    assert [a.status for a in found["VC dimension"].broken] == ["broken"]
    assert found["VC dimension"].verdict in ("says nothing", "not a promise")


def test_regressors(diabetes):
    X, y = diabetes
    for model in (SVR(C=10.0, gamma=1.0), NuSVR(C=10.0, gamma=1.0)):
        found = report(model.fit(X, y), X, y, tolerance=100.0, target_bound=250.0)
        assert [line.name for line in found] == ["errors beyond 100", "squared error"]
        assert "7.49" in found["errors beyond 100"].source
        assert found["squared error"].trivial == 250.0**2
        w = model.dual_coef_[0]
        K = RBF(1.0)(X[model.support_])
        assert fact(found, "norm of w") == pytest.approx(np.sqrt(w @ K @ w), rel=1e-6)
    waiting = report(model, X, y)
    assert waiting["squared error"].value is None
    assert "target_bound=" in str(waiting)
    with pytest.raises(ValueError, match="target_bound=10 is too small"):
        report(model, X, y, target_bound=10.0)


def test_kernel_ridge_of_scikit_learn(diabetes):
    X, y = diabetes
    model = KernelRidge(alpha=1.0, kernel="rbf", gamma=1.0).fit(X, y)
    found = report(model, X, y, target_bound=250.0)
    w = model.dual_coef_
    assert fact(found, "norm of w") == pytest.approx(np.sqrt(w @ RBF(1.0)(X) @ w), rel=1e-8)
    assert fact(found, "trace of K") == pytest.approx(len(y))
    assert "7.39" in found["squared error"].source
    assert not any("coordinate" in a.text for a in found.assumptions)  # it has no bias


def test_kernel_ridge(diabetes):
    X, y = diabetes
    ours = report(mercer.KernelRidge(alpha=1.0, kernel=RBF(1.0)).fit(X, y), X, y, target_bound=250.0)
    theirs = report(KernelRidge(alpha=1.0, kernel="rbf", gamma=1.0).fit(X, y), X, y, target_bound=250.0)
    assert ours["squared error"].value == pytest.approx(theirs["squared error"].value, rel=1e-6)
    assert [f.name for f in ours.facts] == [f.name for f in theirs.facts]
    biased = mercer.KernelRidge(alpha=1.0, kernel=RBF(1.0), fit_intercept=True).fit(X, y)
    found = report(biased, X, y, target_bound=250.0)
    assert any("coordinate" in a.text for a in found.assumptions)
    residuals = y - biased.predict(X)
    assert fact(found, "mean squared error") == pytest.approx(np.square(residuals).mean())
    inner = biased.predict(X) - biased.intercept_
    assert fact(found, "norm of w") == pytest.approx(np.sqrt(biased.dual_coef_ @ inner), rel=1e-6)


def test_a_penalty_chosen_on_the_rows_is_paid_for_or_named(diabetes):
    X, y = diabetes
    spread = mercer.KernelRidge(alpha="loo", kernel=RBF(1.0)).fit(X, y)
    assert "penalty" in report(spread, X, y, target_bound=250.0)["squared error"].broken[0].text
    listed = mercer.KernelRidge(alpha="loo", alphas=[0.1, 1.0, 10.0], kernel=RBF(1.0)).fit(X, y)
    found = report(listed, X, y, target_bound=250.0)
    assert not found["squared error"].broken
    assert any("3 settings" in a.text for a in found.assumptions)


@pytest.mark.parametrize(
    "model", [mercer.OnlineSVR(gamma=1.0), mercer.KernelWidrowHoff(gamma=50.0, alpha=20.0)], ids=str
)
def test_regressors_that_learn_from_streams(diabetes, model):
    X, y = diabetes
    model.set_params(tol=1.0).fit(X, y)
    found = report(model, X, y, tolerance=100.0, target_bound=250.0)
    assert [line.name for line in found] == ["errors beyond 100", "squared error"]
    assert not any("coordinate" in a.text for a in found.assumptions)
    assert fact(found, "norm of w") == pytest.approx(model._norms()[0], rel=1e-6)


def test_detectors(cancer):
    X, y = cancer
    normal, odd = X[y == 1], X[y == 0]
    model = SVDD(nu=0.1, gamma=0.05).fit(normal[:300])
    found = report(model, normal[:300], X_test=normal[300:], rate=0.6)
    assert found["false alarms"].verdict == "a promise"
    assert found["radius for a rate of 0.6"].value > model.radius_
    assert found["held-out points"].value < 0.4
    assert fact(found, "training points outside") == pytest.approx(model.outside_fraction_)
    linear = report(OneClassSVM(nu=0.1, kernel="linear").fit(normal), normal)
    assert "(7.8) for one label" in linear["false alarms"].source
    with pytest.raises(TypeError, match="SphereAndSlab"):
        report(SphereAndSlab().fit(odd), odd)


class Corrections(BaseEstimator):
    """A perceptron as the report wants to see one: classes, a kernel, multipliers, a count of mistakes."""

    kernel, fit_intercept = "linear", False

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.kernel_, self.X_fit_ = Linear(), X
        sign = np.where(y == self.classes_[1], 1.0, -1.0)
        self.dual_coef_, self.mistakes_, wrong = np.zeros(len(y)), 0, True
        while wrong:
            wrong = False
            for i, row in enumerate(X):
                if sign[i] * (self.dual_coef_ @ (X @ row)) <= 0:
                    self.dual_coef_[i] += sign[i]
                    self.mistakes_ += 1
                    wrong = True
        return self

    def decision_function(self, X):
        return X @ (self.X_fit_.T @ self.dual_coef_)

    def __sklearn_is_fitted__(self):
        return hasattr(self, "dual_coef_")


def test_perceptrons():
    rng = np.random.default_rng(0)
    y = rng.choice([0, 1], 400)
    X = np.stack([(2 * y - 1) * rng.uniform(0.5, 1, 400), rng.uniform(-0.3, 0.3, 400)], axis=1)
    model = Corrections().fit(X, y)
    found = report(model, X, y)
    assert {"number of updates", "margin, by the number of updates"} <= {line.name for line in found}
    assert found["number of updates"].verdict == "a promise"
    assert found["number of updates"].value <= found["margin, by the number of updates"].value
    assert fact(found, "updates") == model.mistakes_
    assert fact(found, "norm of w") == pytest.approx(np.linalg.norm(X.T @ model.dual_coef_))
    assert not any("support" in line.name for line in found)


@pytest.mark.parametrize(
    "model",
    [mercer.Perceptron(), mercer.KernelPerceptron(kernel="linear"), mercer.KernelPerceptron(kernel=RBF(1.0))],
    ids=str,
)
def test_the_perceptrons_of_this_library(model):
    X, y = load_iris(return_X_y=True)
    X, y = X[:100], y[:100]
    found = report(model.fit(X, y), X, y)
    k, n = int(model.n_updates_[0]), 100
    remembered = int(not isinstance(model.get_params().get("kernel"), RBF))  # R = 1 is known of that kernel
    expected = ((k + remembered) * np.log(n) + np.log(n / 0.1)) / (n - k - remembered)
    assert found["number of updates"].value == pytest.approx(expected)
    assert fact(found, "updates") == k <= fact(found, "updates allowed")
    assert found["number of updates"].value <= found["margin, by the number of updates"].value
    assert any("farthest" in a.text for a in found.assumptions) == bool(remembered)
    norm = np.linalg.norm(model.coef_) if not isinstance(model.get_params().get("kernel"), RBF) else None
    assert norm is None or fact(found, "norm of w") == pytest.approx(norm)
    fixed = report(model.set_params(radius=10.0).fit(X, y), X, y)
    assert not any("farthest" in a.text for a in fixed.assumptions)


def test_novikoff_in_the_report_is_the_formula():
    X, y = np.array([[2.0, 0.0], [-2.0, 0.5]] * 20), np.array([1, 0] * 20)
    model = mercer.Perceptron().fit(X, y)
    w, b = model.coef_[0], model.intercept_[0]
    margin = (np.where(y, 1, -1) * (X @ w + b)).min() / np.linalg.norm(w)
    R2 = 4.25
    expected = 2 * (R2 + b**2 / (w @ w)) / margin**2
    assert fact(report(model, X, y), "updates allowed") == pytest.approx(expected)
    line = report(model, X, y)["margin, by the number of updates"]
    assert line.value == pytest.approx(2 / 40 * ((expected + 1) * np.log(40) + np.log(40 / 0.1)))


def test_perceptrons_that_are_not_done_promise_nothing_by_their_updates(cancer):
    X, y = cancer
    with pytest.warns(ConvergenceWarning):
        model = mercer.KernelPerceptron(kernel=RBF(0.5), max_iter=2).fit(X, y)
    found = report(model, X, y)
    assert "until it made no more mistakes" in found["number of updates"].broken[0].text
    assert "margin, by the number of updates" not in [line.name for line in found]


def test_one_report_per_machine_of_a_perceptron():
    X, y = load_iris(return_X_y=True)
    model = mercer.KernelPerceptron(kernel=RBF(2.0), max_iter=1000).fit(X, y)
    found = report(model, X, y)
    assert [part.title.rsplit(", ", 1)[1] for part in found] == [f"{c} against the rest" for c in range(3)]
    for o, part in enumerate(found):
        assert fact(part, "updates") == model.n_updates_[o]
        assert fact(part, "training errors") == 0
        assert fact(part, "norm of w") == pytest.approx(model._norms()[o])
    K = RBF(2.0)(X)
    by_matrix = report(
        mercer.KernelPerceptron(kernel="precomputed", max_iter=1000).fit(K, y), K, y, radius=1.0
    )
    for part, same in zip(by_matrix, found, strict=True):
        assert fact(part, "norm of w") == pytest.approx(fact(same, "norm of w"))


def test_the_adatron_is_read_as_the_machine_that_it_converges_to(cancer):
    X, y = cancer
    kernel = RBF(1.0)
    ours = report(mercer.KernelAdatron(kernel=kernel, tol=1e-6).fit(X, y), X, y)
    theirs = report(SVC(kernel=kernel, tol=1e-7, fit_intercept=False).fit(X, y), X, y)
    for line, same in zip(ours, theirs, strict=True):
        assert (line.name, line.value) == (same.name, pytest.approx(same.value, rel=1e-3))
    stream = mercer.KernelAdatron(kernel=kernel).partial_fit(X, y, classes=[0, 1])
    found = report(stream, X, y)
    assert fact(found, "updates") == stream.n_updates_[0]
    assert "updates allowed" not in [f.name for f in found.facts]  # Novikoff's theorem is the perceptron's


def test_more_classes_give_one_report_per_machine():
    X, y = load_iris(return_X_y=True)
    model = SVC(gamma=1.0).fit(X[::2], y[::2])
    found = report(model, X[::2], y[::2], X_test=X[1::2], y_test=y[1::2])
    assert isinstance(found, Reports)
    assert len(found) == 3
    assert [part.title.split(", ", 1)[1] for part in found] == ["0 against 1", "0 against 2", "1 against 2"]
    assert [part.n for part in found] == [50, 50, 50]
    assert found.lines[0].seen == pytest.approx((model.predict(X[1::2]) != y[1::2]).mean())
    assert "held-out points" in str(found)
    assert found._repr_html_().count("<summary>") == 6
    pair = np.flatnonzero(y[::2] != 0)
    alone = report(SVC(gamma=1.0, tol=1e-5).fit(X[::2][pair], y[::2][pair]), X[::2][pair], y[::2][pair])
    for line, same in zip(found[2], alone, strict=True):
        assert line.value == pytest.approx(same.value, rel=0.02)
    rest = report(SVC(gamma=1.0, multiclass="ovr").fit(X, y), X, y)
    assert rest[0].title.endswith("0 against the rest")


# -- assumptions ---------------------------------------------------------------------------------------------


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
    assert found["random weights around w"].verdict in ("not a promise", "says nothing")
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


# -- numbers -------------------------------------------------------------------------------------------------


def test_a_report_can_be_stored(cancer):
    X, y = cancer
    found = report(SVC(gamma=1.0).fit(X, y), X, y)
    again = pickle.loads(pickle.dumps(found))
    assert str(again) == str(found)
    assert again.facts[-1] == Fact(*(getattr(found.facts[-1], name) for name in ("name", "value", "note")))


def test_the_facts(cancer):
    X, y = cancer
    model = SVC(gamma=1.0, tol=1e-6).fit(X, y)
    found = report(model, X, y)
    assert isinstance(found, Report)
    assert fact(found, "margin") == pytest.approx(model.margin_, rel=1e-6)
    assert fact(found, "support vectors") == model.support_.size
    assert fact(found, "training errors") == (model.predict(X) != y).sum()
    assert fact(found, "mean slack") == pytest.approx(model.slacks(X, y).mean())
    assert fact(found, "trace of K") == pytest.approx(len(y))
    exact = SVDD(nu=0, gamma=1.0).fit(X).radius_
    assert exact <= fact(found, "radius of the smallest ball") * (1 + 1e-6) <= 1.05 * exact
    assert all(
        line.seen == pytest.approx((model.predict(X) != y).mean()) for line in found if line.kind != "rate"
    )


@pytest.mark.parametrize("kind", ["dense", "sparse", "precomputed"])
def test_kinds_of_data_give_the_same_report(cancer, kind):
    X, y = cancer
    X, y = X[:200], y[:200]
    expected = report(SVC(kernel=RBF(1.0), tol=1e-7).fit(X, y), X, y, radius=1.0)
    if kind == "precomputed":
        K = RBF(1.0)(X)
        found = report(SVC(kernel="precomputed", tol=1e-7).fit(K, y), K, y, radius=1.0)
    else:
        data = csr_matrix(X) if kind == "sparse" else X
        found = report(SVC(kernel=RBF(1.0), tol=1e-7).fit(data, y), data, y, radius=1.0)
    for line, same in zip(found, expected, strict=True):
        assert line.value == pytest.approx(same.value, rel=1e-4)


def test_estimates_from_elsewhere_promise_nothing(cancer):
    X, y = cancer
    found = report(SVC(gamma=1.0).fit(X, y), X, y, estimates={"leave-one-out": 0.03, "span": 0.05})
    assert found["span"].value == 0.05
    assert found["span"].verdict == "an estimate"
    assert found.best is None or found.best.kind != "estimate"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m, X, y: report(m, X[:50], y[:50]), "trained on 569"),
        (lambda m, X, y: report(m, X, y[:50]), "y has 50 entries"),
        (lambda m, X, y: report(m, X), "needs y"),
        (lambda m, X, y: report(m, X, y, delta=0), "delta=0"),
        (lambda m, X, y: report(m, X, y, radius=-1), "radius=-1"),
        (lambda m, X, y: report(m, X, y, candidates=0), "candidates=0"),
        (lambda m, X, y: report(m, X, y, X_test=X), "y_test"),
        (lambda m, X, y: report(m, X, y, rate=2), "rate=2"),
    ],
)
def test_bad_arguments_are_named(cancer, call, message):
    X, y = cancer
    model = SVC(gamma=1.0).fit(X, y)
    with pytest.raises(ValueError, match=message):
        call(model, X, y)


# -- reading -------------------------------------------------------------------------------------------------


def test_it_reads_without_the_books(cancer):
    X, y = cancer
    model = SVC(gamma="scale").fit(X[:400], y[:400])
    found = report(model, X[:400], y[:400], X_test=X[400:], y_test=y[400:])
    text = str(found)
    assert repr(found) == text
    assert max(map(len, text.splitlines())) <= 100
    lines = text.splitlines()
    assert lines[0].startswith("What may be promised of SVC()")
    assert lines[3].startswith("Best promise: A new point is misclassified with probability at most 0.0")
    for line in found:
        assert any(row.startswith(line.name) and line.verdict in row for row in lines)
        assert re.search(rf"^  {re.escape(line.name)}: ", text, re.MULTILINE)
    assert "BROKEN: The kernel's gamma" in text
    assert "yours to vouch for: The training points were drawn independently" in text
    assert not re.search(r"\bnan\b|\binf\b|None|\{value\}", text)


def test_html(cancer):
    X, y = cancer
    model = SVC(gamma=1.0).fit(X, y)
    found = report(model, X, y)
    page = found._repr_html_()
    for tag in ("div", "table", "tr", "td", "ul", "li", "details", "h4"):
        assert len(re.findall(rf"<{tag}[ >]", page)) == page.count(f"</{tag}>")
    assert all(line.name in page and line.verdict in page for line in found)
    named = report(SVC(gamma=1.0).fit(X, np.where(y, "<b>", "a&b")), X, np.where(y, "<b>", "a&b"))
    assert "&lt;b&gt;" in named._repr_html_()
    assert "'<b>'" not in named._repr_html_()


@pytest.mark.parametrize("detector", [False, True])
def test_a_kernel_without_a_feature_space_is_promised_nothing(cancer, detector):
    X, y = cancer
    model = (OneClassSVM if detector else SVC)(kernel="sigmoid", gamma=1.0, coef0=-2.0).fit(X, y)
    found = report(model, X, y, X_test=X[:100], y_test=y[:100])
    assert [line.value is None for line in found] == [True, False]
    assert "not positive semi-definite" in str(found)


def test_a_machine_without_a_weight_vector_says_so():
    X = np.zeros((10, 1))
    y = np.array([0, 1] * 5)
    found = report(SVC(kernel="linear").fit(X, y), X, y)
    assert "constant" in str(found)
