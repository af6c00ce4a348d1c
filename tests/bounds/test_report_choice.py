"""The report: which theorems it picks for which machine."""

import numpy as np
import pytest
from report_lines import fact
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge

import mercer
from mercer import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM, SphereAndSlab
from mercer.bounds import Reports, report
from mercer.kernels import RBF, Linear

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
    assert found["VC dimension"].verdict in ("vacuous", "assumption violated")


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
    assert found["false alarms"].verdict == "guarantee"
    assert found["radius for a rate of 0.6"].value > model.radius_
    assert found["held-out points"].value < 0.4
    assert fact(found, "training points outside") == pytest.approx(model.outside_fraction_)
    linear = report(OneClassSVM(nu=0.1, kernel="linear").fit(normal), normal)
    assert "(7.8) for one label" in linear["false alarms"].source
    both = report(SphereAndSlab(gamma=0.05).fit(odd), odd)
    assert "Remark 7.15" in both["false alarms"].source


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
    assert found["number of updates"].verdict == "guarantee"
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
