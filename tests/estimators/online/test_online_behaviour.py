"""Budgets, limits, interruptions, and what is refused."""

import os
import pickle
import signal
import threading

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import KernelAdatron, KernelPerceptron, KernelWidrowHoff, OnlineSVR, Perceptron
from mercer.kernels import RBF, Linear
from mercer.solvers.online import stream as online

pytestmark = pytest.mark.core


def noisy(n=300, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0).astype(int)


# -- budgets -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("removal", ["weakest", "oldest"])
@pytest.mark.parametrize(
    "model", [KernelPerceptron(budget=4), KernelAdatron(budget=4), KernelWidrowHoff(budget=4)], ids=str
)
def test_never_more_than_the_budget_after_any_step(model, removal):
    X, y = noisy(60)
    model = clone(model).set_params(kernel=RBF(1.0), removal=removal)
    sizes = []
    for x, label in zip(X, y, strict=True):
        more = {} if isinstance(model, KernelWidrowHoff) else {"classes": [0, 1]}
        model.partial_fit(x[None], [label], **more)
        sizes.append(model.n_support_)
        assert model.dual_coef_.shape[1] == len(model.support_vectors_) == model.n_support_
    assert max(sizes) == sizes[-1] == 4
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])


def test_the_weakest_makes_room():
    """Norms 1, 2, 3 and coefficients of size one: the first is the weakest, then the newcomer of norm 1.5."""
    X = np.array([[1.0, 0, 0, 0], [0, 2.0, 0, 0], [0, 0, 3.0, 0], [0, 0, 0, 1.5], [0, 2.5, 0, 0]])
    y = [1, 1, 1, 1, 0]
    model = KernelPerceptron(kernel=Linear(), fit_intercept=False, budget=3)
    model.partial_fit(X[:3], y[:3], classes=[0, 1])
    assert model.support_.tolist() == [0, 1, 2]
    model.partial_fit(X[3:4], y[3:4])
    assert sorted(model.support_) == [1, 2, 3]
    model.partial_fit(X[4:], y[4:])
    assert sorted(model.support_) == [1, 2, 4]


def test_the_oldest_makes_room():
    X, y = 3.0 * np.eye(5) - 1.0, [1, 0, 1, 0, 1]
    model = KernelPerceptron(kernel=RBF(100.0), fit_intercept=False, budget=2, removal="oldest")
    for i in range(5):
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1])
        assert sorted(model.support_) == [max(0, i - 1), i][-min(2, i + 1) :]
        assert model.entered_.tolist() == model.support_.tolist()


def test_equal_weights_make_the_first_go():
    X = 3.0 * np.eye(6)
    model = KernelPerceptron(kernel=RBF(100.0), fit_intercept=False, budget=3)
    model.partial_fit(X, [1, 0, 1, 0, 1, 0], classes=[0, 1])
    assert sorted(model.support_) == [3, 4, 5]


@pytest.mark.parametrize("removal", ["weakest", "oldest"])
def test_a_budget_that_is_cut_is_kept_to_at_once(removal):
    X, y = noisy(60)
    model = KernelAdatron(kernel=RBF(1.0), removal=removal).partial_fit(X, y, classes=[0, 1])
    before = dict(zip(model.support_, np.abs(model.dual_coef_[0]), strict=True))
    model.set_params(budget=5).partial_fit(X[:1], model.predict(X[:1]))
    old = model.support_[model.support_ < 60]
    assert model.n_support_ <= 5
    assert len(old) >= 4
    if removal == "weakest":
        assert min(before[i] for i in old) >= np.sort(list(before.values()))[-5]
    else:
        assert set(old) <= set(sorted(before)[-5:])


def test_a_budget_holds_in_batch_mode_too():
    X, y = noisy()
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        model = KernelPerceptron(kernel=RBF(1.0), budget=25, max_iter=3).fit(X, y)
    assert model.n_support_ <= 25
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    assert model.t_ == 900


# -- limits and interruptions --------------------------------------------------------------------------------


def test_the_end_is_told():
    X, y = noisy()
    with pytest.warns(ConvergenceWarning, match="after 2 passes, still making mistakes"):
        model = KernelPerceptron(kernel="linear", max_iter=2).fit(X, y)
    assert (model.status_, model.n_iter_) == ("iteration_limit", 2)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = Perceptron(max_iter=-1, time_limit=0.05).fit(X, y)
    assert model.status_ == "time_limit"
    with pytest.warns(ConvergenceWarning, match="KKT violation"):
        model = KernelAdatron(C=1e5, kernel=RBF(1.0), max_iter=2).fit(X, y)
    assert model.certificate_.status == model.status_ == "iteration_limit"
    assert model.certificate_.gap > 0
    assert KernelPerceptron(kernel=RBF(20.0)).fit(X, y).status_ == "no_mistakes"


def test_progress_is_printed_when_asked_for(capsys):
    X, y = noisy(50)
    model = KernelPerceptron(kernel=RBF(20.0), verbose=True).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == model.n_iter_
    assert "mistakes       0" in lines[-1]


def interrupt_soon():
    threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT)).start()


@pytest.mark.parametrize("model", [Perceptron(max_iter=-1), KernelPerceptron(kernel="linear", max_iter=-1)])
def test_an_interrupted_fit_is_kept_if_that_is_wished(model):
    X, y = noisy()
    with pytest.warns(ConvergenceWarning):
        clone(model).set_params(max_iter=1).fit(X, y)  # a signal that arrives in the compiler may be lost
    interrupt_soon()
    model.set_params(on_interrupt="keep").fit(X, y)
    assert model.status_ == "interrupted"
    assert model.t_ >= 300
    assert model.predict(X).shape == (300,)
    interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        model.set_params(on_interrupt="raise").fit(X, y)


def test_an_interrupted_stream_is_as_before(monkeypatch):
    """Between any two slices: the model is as it was, and goes on as if nothing had been."""
    X, y = noisy(600)
    smooth = KernelPerceptron(kernel=RBF(1.0), radius=1.0).partial_fit(X[:200], y[:200], classes=[0, 1])
    rough = pickle.loads(pickle.dumps(smooth))
    smooth.partial_fit(X[200:], y[200:])
    monkeypatch.setattr(online, "SLICE", 1.0)  # slices of 16 steps
    runs, run = [], online._Work._run

    def stopped(self, *args):
        runs.append(args)
        if len(runs) == 5:
            raise KeyboardInterrupt
        return run(self, *args)

    monkeypatch.setattr(online._Work, "_run", stopped)
    before = pickle.dumps(rough)
    with pytest.raises(KeyboardInterrupt):
        rough.partial_fit(X[200:], y[200:])
    assert pickle.dumps(rough) == before
    rough.partial_fit(X[200:], y[200:])
    np.testing.assert_array_equal(smooth.dual_coef_, rough.dual_coef_)
    np.testing.assert_array_equal(smooth.loss_curve_, rough.loss_curve_)


def test_an_interrupted_stream_that_is_kept_says_how_far_it_came(monkeypatch):
    X, y = noisy(600)
    whole = KernelPerceptron(kernel=RBF(1.0), radius=1.0).partial_fit(X, y, classes=[0, 1])
    model = KernelPerceptron(kernel=RBF(1.0), radius=1.0, on_interrupt="keep")
    monkeypatch.setattr(online, "SLICE", 1.0)
    runs, run = [], online._Work._run

    def stopped(self, *args):
        runs.append(args)
        if len(runs) == 5:
            os.kill(os.getpid(), signal.SIGINT)
        return run(self, *args)

    monkeypatch.setattr(online._Work, "_run", stopped)
    model.partial_fit(X, y, classes=[0, 1])
    assert model.status_ == "interrupted"
    assert model.t_ == 80
    model.partial_fit(X[80:], y[80:])
    np.testing.assert_array_equal(whole.dual_coef_, model.dual_coef_)
    np.testing.assert_array_equal(whole.support_, model.support_)


# -- life in scikit-learn ------------------------------------------------------------------------------------


def test_pipelines_and_searches():
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), KernelAdatron()),
        {"kerneladatron__C": [0.1, 1.0], "kerneladatron__gamma": [0.1, 1.0]},
        cv=3,
    )
    assert search.fit(X, y).best_score_ > 0.9


def test_fit_forgets():
    X, y = noisy(50)
    model = KernelPerceptron(kernel=RBF(20.0)).fit(X, y)
    once = model.mistakes_
    assert model.fit(X, y).mistakes_ == once
    model.partial_fit(X, y)
    assert model.fit(X, y).t_ == 50 * model.n_iter_


def test_margins():
    X, y = noisy(80)
    model = KernelPerceptron(kernel=RBF(20.0)).fit(X, y)
    assert (model.margins(X, y) > 0).all()
    X, y = load_iris(return_X_y=True)
    model = Perceptron(max_iter=50, shuffle=True, random_state=1)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    np.testing.assert_array_equal(model.margins(X, y) > 0, model.predict(X) == y)


def test_the_radius_is_that_of_the_data_or_of_the_first_batch_or_given():
    X = np.array([[1.0, 0.0], [0.0, 2.0], [4.0, 3.0]])
    y = [0, 1, 1]
    for model in (Perceptron(), KernelPerceptron(kernel="linear")):
        assert model.fit(X, y).radius_ == 5.0
        fresh = type(model)(**model.get_params()).partial_fit(X[:2], y[:2], classes=[0, 1])
        assert fresh.partial_fit(X[2:], y[2:]).radius_ == 2.0
        assert model.set_params(radius=7.0).fit(X, y).radius_ == 7.0
        assert abs(model.intercept_[0]) % 49.0 == 0.0
    assert KernelPerceptron(kernel=RBF(1.0)).fit(X, y).radius_ == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: KernelPerceptron(budget=0).fit(X, y), "budget"),
        (lambda X, y: KernelPerceptron(removal="random").fit(X, y), "removal"),
        (lambda X, y: KernelPerceptron(radius=0.0).fit(X, y), "radius"),
        (lambda X, y: Perceptron(max_iter=0).fit(X, y), "max_iter"),
        (lambda X, y: KernelAdatron(learning_rate=2.0).fit(X, y), "learning_rate"),
        (lambda X, y: KernelAdatron(C=0.0).fit(X, y), "C"),
        (lambda X, y: OnlineSVR(epsilon=-1.0).fit(X, y), "epsilon"),
        (lambda X, y: KernelWidrowHoff(alpha=-1.0).fit(X, y), "alpha"),
        (lambda X, y: Perceptron().partial_fit(X, y), "classes must be passed on the first call"),
        (lambda X, y: Perceptron().partial_fit(X, y, classes=[1]), "greater than one"),
        (lambda X, y: KernelPerceptron().partial_fit(X, y, classes=[1, 2]), "label"),
        (lambda X, y: Perceptron().fit(X, y).partial_fit(X, y, classes=[0, 1, 2]), "not the same"),
        (lambda X, y: Perceptron().fit(X, y[:3]), "inconsistent"),
        (lambda X, y: OnlineSVR().fit(X, ["a"] * len(y)), "numbers"),
        (lambda X, y: KernelAdatron().fit(X, y).certify(X[:5], y[:5]), "was given 40"),
    ],
)
def test_what_is_wrong_is_named(call, message):
    X, _ = noisy(40)
    y = (X[:, 0] > 0).astype(int)
    with pytest.raises(ValueError, match=message):
        call(X, y)


def test_an_unfitted_machine_says_so():
    for model in (Perceptron(), KernelPerceptron(), OnlineSVR()):
        with pytest.raises(NotFittedError):
            model.predict(np.zeros((1, 2)))
    model = KernelPerceptron(kernel=lambda X, Z: np.full((len(X), len(Z)), np.inf))
    with pytest.raises(ValueError, match="not finite at 2 of 2 rows"):
        model.fit(np.zeros((2, 2)), [0, 1])
    with pytest.raises(NotFittedError):
        model.predict(np.zeros((1, 2)))
