"""Fits on very many rows: what they forecast, and where they start."""

import numpy as np
import pytest

from mercer import SVC, SVR, KernelLogisticRegression, OneClassSVM
from mercer.estimators import forecast, machine
from mercer.estimators.forecast import Forecast, LongFitWarning, extrapolated
from mercer.gram import gram
from mercer.kernels import RBF
from mercer.problems import soft_margin, squared_hinge
from mercer.solvers import Decomposition, Limits
from mercer.solvers.dual import sampled_start

rng = np.random.default_rng(0)
X = rng.normal(size=(900, 3))
score = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=900)
y = score > 0


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(forecast, "SMALL", 100)
    monkeypatch.setattr(forecast, "LARGE", 200)
    monkeypatch.setattr(machine, "FORESEEN", 500)


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (SVC(), y),
        (SVC(multiclass="ovr"), np.digitize(score, [-0.5, 0.5])),
        (SVR(), score),
        (OneClassSVM(nu=0.2), None),
        (KernelLogisticRegression(), y),
    ],
    ids=lambda m: type(m).__name__,
)
def test_a_long_fit_is_announced_before_it_begins(model, target, small, monkeypatch, capsys):
    quiet = model.fit(X, target)
    monkeypatch.setattr(forecast, "LONG", 0.0)
    with pytest.warns(LongFitWarning, match="approximation='nystroem'.*distance_from_exact_") as told:
        model.set_params(verbose=True).fit(X, target)
    assert "support vectors for 900 rows (by fits on 100 and 200 of them)" in str(told[0].message)
    assert "forecast: about" in capsys.readouterr().out
    np.testing.assert_allclose(model.certificate_.primal, quiet.certificate_.primal, rtol=1e-2)


def test_support_vectors_are_foreseen_within_a_factor_of_two(small, monkeypatch):
    seen = []
    monkeypatch.setattr(machine, "foresee", lambda fit, matrix: seen.append(forecast.forecast(fit, matrix)))
    model = SVC(gamma=0.5).fit(X, y)
    assert 0.5 < seen[0].support / model.n_support_.sum() < 2.0
    assert seen[0].n == 900
    assert seen[0].seconds > 0
    linear = SVC(kernel="linear").fit(X, y)
    assert linear.n_support_.sum() > 0
    rare = np.arange(900) == 0
    SVC().fit(X, rare)
    model.set_params(warm_start=True).fit(X, y)  # starts where it is
    assert seen[1:] == [None, None, None]


def test_a_time_limit_that_does_not_suffice_is_announced(small, monkeypatch):
    monkeypatch.setattr(forecast, "forecast", lambda fit, matrix: Forecast(900, 850, 500.0))
    with pytest.warns(LongFitWarning, match=r"about 8.3 minutes and 850 .*time_limit leaves") as told:
        SVC(time_limit=100.0).fit(X, y)
    assert len(told) == 1
    SVC().fit(X, y)  # less than ten minutes is nothing to speak of


def test_powers_are_extrapolated_between_their_limits():
    assert extrapolated(8000, 10.0, 20.0, 0.0, 1.0) == pytest.approx(40.0)
    assert extrapolated(8000, 10.0, 80.0, 0.0, 1.0) == pytest.approx(160.0)
    assert extrapolated(8000, 10.0, 10.0, 0.0, 1.0) == pytest.approx(10.0)
    assert extrapolated(8000, 0.0, 0.0, 0.0, 1.0) == 0.0
    text = str(Forecast(1_000_000, 123_456, 7.3 * 3600))
    assert text.startswith("about 7.3 hours and 120,000 support vectors for 1,000,000 rows")
    assert str(Forecast(1, 12, 90.0)).startswith("about 90 seconds and 12")


@pytest.mark.parametrize("stated", [soft_margin, squared_hinge], ids=lambda s: s.__name__)
@pytest.mark.parametrize("bias", [True, False])
def test_the_start_from_a_sample_leads_to_the_same_optimum(stated, bias, monkeypatch):
    K = gram(RBF(0.5), X)
    problem = stated(np.where(y, 1.0, -1.0), np.full(900, 2.0), fit_intercept=bias)
    alone = Decomposition(tol=1e-6, block_bytes=500_000).solve(K, problem)
    monkeypatch.setattr(sampled_start, "MANY", 500)
    taken = []
    before = Decomposition.run
    monkeypatch.setattr(
        Decomposition, "run", lambda self, K, p, start: taken.append(p.n) or before(self, K, p, start)
    )
    sampled = Decomposition(tol=1e-6, block_bytes=500_000).solve(K, problem)
    assert taken == [900, 14, 56, 225]
    assert sampled.status == "optimal"
    np.testing.assert_allclose(sampled.values.dual, alone.values.dual, rtol=1e-8)


def test_limits_and_interrupts_hold_inside_the_samples(monkeypatch):
    monkeypatch.setattr(sampled_start, "MANY", 500)
    K = gram(RBF(0.5), X)
    problem = soft_margin(np.where(y, 1.0, -1.0), np.full(900, 2.0))
    late = Decomposition(limits=Limits(time_limit=0.0)).solve(K, problem)
    assert late.status == "time_limit"
    assert Decomposition(limits=Limits(max_iter=5)).solve(K, problem).status == "iteration_limit"
    before = Decomposition.run

    def interrupted(self, K, p, start):
        reached = before(self, K, p, start)
        return sampled_start.replace(reached, stopped="interrupted") if p.n < 900 else reached

    monkeypatch.setattr(Decomposition, "run", interrupted)
    stopped = Decomposition().solve(K, problem)
    assert stopped.reached.stopped == "interrupted"
    assert stopped.values.gap >= 0
