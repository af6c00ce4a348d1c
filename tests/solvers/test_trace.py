"""Traces, lines of ``verbose`` and scikit-learn's callbacks."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.utils.fixes import parse_version

from clouds import blobs
from mercer import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM, SphereAndSlab
from mercer.solvers import SOLVERS, Ascent, Chunking, Decomposition
from mercer.solvers.needs import A_DUAL

pytestmark = pytest.mark.core

X, y = blobs(90, 3, 2, seed=0)
target = np.sin(X[:, 0]) + 0.3 * X[:, 1]
KEYS = {
    "n_iter", "seconds", "dual", "primal", "gap", "kkt_violation", "margin", "n_support",
    "kernel_evaluations",
}  # fmt: skip
HAS_CALLBACKS = parse_version(sklearn.__version__) >= parse_version("1.9")
needs_callbacks = pytest.mark.skipif(not HAS_CALLBACKS, reason="scikit-learn before 1.9 has no callbacks")


@pytest.mark.parametrize(
    "solver", [name for name, solver in SOLVERS.items() if A_DUAL in solver.needs and name != "subgradient"]
)
def test_a_trace_of_each_solver(solver):
    model = SVC(kernel="linear", solver=solver, criterion="gap", tol=1e-2, trace=True).fit(X, y)
    (history,) = model.history_
    assert len(history) >= 2
    assert all(set(row) == KEYS for row in history)
    for key in ("n_iter", "seconds", "kernel_evaluations"):
        assert all(later[key] >= earlier[key] for earlier, later in pairwise(history))
    if solver not in (
        "dual_newton",
        "lagrangian",
        "interior_point",
    ):  # these do not climb the dual step by step
        assert all(b["dual"] >= a["dual"] - 1e-9 * abs(b["dual"]) for a, b in pairwise(history))
    best = SVC(kernel="linear", solver="interior_point").fit(X, y).certificate_.dual
    for row in history:
        assert row["gap"] >= 0
        if solver != "ascent":  # which solves another problem: its bias is penalised
            assert row["dual"] <= best * (1 + 1e-9)
            assert row["primal"] >= best * (1 - 1e-9)
        if np.isfinite(row["gap"]):
            assert row["primal"] - row["dual"] == pytest.approx(row["gap"], abs=1e-9 * abs(row["primal"]))
    last = history[-1]
    assert last["dual"] == pytest.approx(model.certificate_.dual, rel=1e-6)
    assert last["n_support"] == model.support_.size
    assert last["margin"] == pytest.approx(model.margin_, rel=1e-6)
    assert (last["kernel_evaluations"] > 0) == (
        solver not in ("dual_newton", "lagrangian")  # which work on the features
    )


def test_the_margin_of_the_hard_margin_as_it_grows():
    """The margin as a function of the iterations: from below, to the margin of the fit."""
    for solver in ("ascent", "smo", "decomposition"):
        model = SVC(C=np.inf, gamma=5.0, solver=solver, trace=True, tol=1e-6).fit(X, y)
        margins = [row["margin"] for row in model.history_[0]]
        assert margins[-1] == pytest.approx(model.margin_, rel=1e-5)
        assert len(margins) >= 3


def _margin_of(f, sign, squared_norm):
    return (f[sign > 0].min() - f[sign < 0].max()) / (2.0 * np.sqrt(squared_norm))


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("steps", [3, 60, 100000])
def test_the_margin_of_an_unfinished_hard_margin_is_that_of_the_points(steps, fit_intercept):
    """The margin <w, phi> leaves between the classes, negative where it is; never above the largest one."""
    sign = np.where(y == np.unique(y)[1], 1.0, -1.0)
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    best = SVC(C=np.inf, gamma=0.5, tol=1e-8, fit_intercept=fit_intercept).fit(X, y).margin_
    seen = []
    for solver in ("ascent", "smo"):
        model = SVC(C=np.inf, gamma=0.5, solver=solver, max_iter=steps, trace=True, tol=1e-7,
                    fit_intercept=fit_intercept)  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
        beta = np.zeros(y.size)
        beta[model.support_] = model.dual_coef_[0]
        f = K @ beta
        norm = float(beta @ f)
        expected = _margin_of(f, sign, norm) if fit_intercept else (sign * f).min() / np.sqrt(norm)
        assert model.margin_ == pytest.approx(expected, rel=1e-6, abs=1e-9)
        assert model.history_[0][-1]["margin"] == pytest.approx(expected, rel=1e-6, abs=1e-9)
        for row in model.history_[0]:
            assert row["margin"] <= best * (1 + 1e-6)
        seen.append(model.margin_)
    if steps == 3:
        assert min(seen) < 0  # the classes are not separated yet, and the number says so
    if steps == 100000:
        assert max(seen) == pytest.approx(best, rel=1e-4)


def test_tracing_changes_no_result():
    for solver in ("smo", "chunking", "ascent", "interior_point"):
        plain = SVC(solver=solver, tol=1e-6).fit(X, y)
        traced = SVC(solver=solver, tol=1e-6, trace=True).fit(X, y)
        np.testing.assert_array_equal(plain.dual_coef_, traced.dual_coef_)
        assert not hasattr(plain, "history_")
    plain, traced = SVC(tol=1e-6).fit(X, y), SVC(tol=1e-6, trace=True).fit(X, y)
    np.testing.assert_allclose(plain.decision_function(X), traced.decision_function(X), atol=1e-5)


def test_where_nobody_looks_there_is_no_listener(monkeypatch):
    seen = []
    solve = Decomposition.solve
    monkeypatch.setattr(
        Decomposition, "solve", lambda self, *given: seen.append(self.listener) or solve(self, *given)
    )
    SVC().fit(X, y)
    SVC(trace=True).fit(X, y)
    assert seen[0] is None
    assert seen[1] is not None


def test_kernel_evaluations_of_working_sets_count():
    Z, labels = blobs(3500, 4, 2, seed=0)
    history = SVC(trace=True, cache_size=20).fit(Z, labels).history_[0]
    assert len(history) >= 3
    assert history[1]["kernel_evaluations"] >= 500**2


def test_chunking_sees_fewer_kernel_values_than_all():
    Z, labels = blobs(1200, 4, 2, seed=0)
    Z = Z + 1.5 * np.where(labels == labels.max(), 1.0, -1.0)[:, None]
    model = SVC(solver=Chunking(chunk=50), trace=True).fit(Z, labels)
    assert model.certificate_.status == "optimal"
    assert 0 < model.history_[0][-1]["kernel_evaluations"] < 1200**2


def test_verbose_lines(capsys):
    SVC(solver="smo", verbose=2, tol=1e-6).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 3
    assert lines[0].startswith("[SVC]")
    assert "proved within" in lines[-1]
    SVC(solver="smo", verbose=True, tol=1e-6).fit(X, y)
    assert len(capsys.readouterr().out.splitlines()) < len(lines)


# -- callbacks ---------------------------------------------------------------------------------------------


class Recorder:
    """A callback that writes down what it is told, and asks for an end after ``most`` rounds."""

    def __init__(self, most=None, score=False):
        self.most, self.score = most, score
        self.log = []
        self.scores = []

    def setup(self, estimator, context):
        self.log.append("setup")

    def teardown(self, estimator, context):
        self.log.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.log.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self.log.append(f"end {context.task_name}")
        if self.score and fitted_estimator is not None and context.task_name == "round":
            self.scores.append(fitted_estimator.score(X, y))
        return self.most is not None and self.log.count("end round") >= self.most


@needs_callbacks
@pytest.mark.parametrize(
    "machine",
    [SVC(), NuSVC(nu=0.3), SVR(), NuSVR(), SVDD(), OneClassSVM(), SphereAndSlab(), SVC(solver="smo")],
    ids=repr,
)
def test_callbacks_are_called_around_the_fit_and_each_round(machine):
    recorder = Recorder()
    model = clone(machine).set_callbacks(recorder)
    model.fit(X, y if is_classifier(model) else target)
    assert recorder.log[:2] == ["setup", "begin fit"]
    assert recorder.log[-2:] == ["end fit", "teardown"]
    assert recorder.log.count("begin round") == recorder.log.count("end round") >= 2


@needs_callbacks
def test_a_callback_scores_the_machine_so_far():
    for model, labels in ((SVC(solver="smo", tol=1e-6), y), (SVR(solver=Ascent(), tol=1e-6), target)):
        recorder = Recorder(score=True)
        model.set_callbacks(recorder).fit(X, labels)
        assert len(recorder.scores) >= 3
        assert recorder.scores[-1] == pytest.approx(model.score(X, labels), abs=1e-6)
        assert max(recorder.scores) > recorder.scores[0]


@needs_callbacks
def test_a_callback_can_ask_for_an_early_end():
    for model in (SVC(solver="smo", tol=1e-10), SVC(solver=Ascent(omega=0.1), tol=1e-10)):
        recorder = Recorder(most=3)
        model.set_callbacks(recorder).fit(X, y)  # whatever on_interrupt says about Ctrl-C
        assert recorder.log.count("end round") == 3
        assert model.certificate_.status == "interrupted"
        assert np.isfinite(model.certificate_.gap)
        assert model.predict(X).shape == y.shape


@needs_callbacks
def test_each_problem_of_a_multiclass_fit_is_a_task():
    Z, labels = blobs(80, 4, 4, seed=1)
    recorder = Recorder()
    model = SVC().set_callbacks(recorder).fit(Z, labels)
    assert [line for line in recorder.log if line.startswith("begin problem")] == [
        f"begin problem {k}" for k in range(1, 7)
    ]
    assert sum(line.startswith("end problem") for line in recorder.log) == 6
    np.testing.assert_array_equal(model.predict(Z), SVC().fit(Z, labels).predict(Z))


@needs_callbacks
def test_scikit_learns_own_callbacks():
    from sklearn.callback import ScoringMonitor
    from sklearn.model_selection import GridSearchCV

    monitor = ScoringMonitor(scoring="accuracy")
    SVC(solver="smo", tol=1e-5).set_callbacks(monitor).fit(X, y)
    rows = monitor.get_logs().data
    assert len(rows) >= 3
    recorder = Recorder()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GridSearchCV(SVC().set_callbacks(recorder), {"C": [1.0, 2.0]}, cv=2).fit(X, y)
    assert recorder.log.count("begin fit") == recorder.log.count("end fit") == 5


def test_callbacks_are_offered_exactly_where_scikit_learn_has_them():
    assert hasattr(SVC(), "set_callbacks") == HAS_CALLBACKS
