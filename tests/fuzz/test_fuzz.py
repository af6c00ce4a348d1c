"""A little of the fuzzer with every run of the tests, a minute of it under ``-m fuzz``; and its own parts."""

import json
import math
import os
import time

import numpy as np
import pytest

import mercer

from . import claims, log, true_optimum
from .commands import Command
from .damage import damaged
from .fits import Fit
from .given import given
from .judging import judge
from .kinds import KINDS
from .misbehaving import Deadly, Endless, Harmless
from .report import Report, is_refusal
from .rounds import explore
from .table_files import TableFile
from .worker import Worker

pytest.importorskip("clarabel")
pytest.importorskip("psutil")

EXAMPLES = {"fits": 40, "files": 60, "commands": 12}


def failures(rounds):
    found = [(this.seed, f) for this in rounds for f in this.found.values()]
    return "\n\n".join(f"seed {seed}: {f.key}\n{f.message}\n{f.snippet}" for seed, f in found)


@pytest.fixture(scope="module")
def worker():
    worker = Worker()
    yield worker
    worker.close()


@pytest.mark.parametrize("kind", sorted(EXAMPLES))
def test_a_few_examples_of_each_kind(worker, kind):
    """The same ones each time."""
    this = explore(kind, KINDS[kind](), 0, worker, set(), examples=EXAMPLES[kind], shrink=False)
    assert this.examples >= EXAMPLES[kind] // 2
    assert not this.found, failures([this])


@pytest.mark.fuzz
@pytest.mark.slow
def test_a_minute_of_examples(worker, request):
    """The same seeds each time, so that a run can be repeated anywhere; ``make fuzz`` draws new ones."""
    if "fuzz" not in request.config.getoption("-m"):
        pytest.skip("a minute of new examples, asked for by -m fuzz")
    until = time.monotonic() + float(os.environ.get("FUZZ_SECONDS", "55"))
    number = int(os.environ.get("FUZZ_SEED", "1")) * 1000
    rounds = []
    while time.monotonic() < until:
        for kind in EXAMPLES:
            done = explore(
                kind, KINDS[kind](), number, worker, set(), examples=EXAMPLES[kind],
                stop=lambda: time.monotonic() > until, shrink=False,
            )  # fmt: skip
            rounds.append(done)
        number += 1
    assert sum(done.examples for done in rounds) > 0
    assert not any(done.found for done in rounds), failures(rounds)


# -- the watchdog ----------------------------------------------------------------------------------------


def test_what_does_not_end_and_what_dies_is_seen_and_survived():
    worker = Worker()
    try:
        assert worker.run(Harmless()).ending == "done"
        worker.seconds = 0.5
        (late,) = worker.run(Endless()).failures
        assert late.key == "ends in time | endless"
        worker.seconds = 25.0
        (died,) = worker.run(Deadly()).failures
        assert died.key == "the process never dies | deadly"
        assert "3" in died.message
        assert worker.run(Harmless()).ending == "done"
    finally:
        worker.close()


# -- the judge -------------------------------------------------------------------------------------------


def two_classes(n=30):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)


def statements():
    X, labels = two_classes()
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    y = np.where(labels == 1, 1.0, -1.0)
    w = np.random.default_rng(1).gamma(1.0, size=len(X))
    return {
        "svc": true_optimum.svc(K, y, 2.0 * w),
        "svc without bias": true_optimum.svc(K, y, 2.0 * w, intercept=False),
        "squared svc": true_optimum.svc(K, y, 2.0 * w, squared=True),
        "hard margin": true_optimum.svc(K, y, np.full(len(X), np.inf)),
        "nusvc": true_optimum.nusvc(K, y, w, 0.3),
        "svr": true_optimum.svr(K, X[:, 0], 2.0 * w, 0.1),
        "squared svr": true_optimum.svr(K, X[:, 0], 2.0 * w, 0.1, squared=True),
        "nusvr": true_optimum.nusvr(K, X[:, 0], 2.0 * w, 0.3),
        "one class": true_optimum.one_class(K, w, 0.3),
        "ball": true_optimum.ball(K, w / (0.3 * w.sum())),
        "hard ball": true_optimum.ball(K, np.full(len(X), np.inf)),
    }


@pytest.mark.parametrize("name", sorted(statements()))
def test_the_bounds_on_the_optimum_meet(name):
    """Lower and upper bound come from two definitions: where they meet, both are right."""
    lower, upper = true_optimum.interval(statements()[name])
    assert lower <= upper + 1e-12 * abs(upper)
    assert upper - lower <= 1e-6 * abs(upper)


@pytest.mark.parametrize("machine", claims.MACHINES)
def test_claims_are_made_of_every_machine_and_hold(machine):
    X, y = two_classes()
    target = {"SVR": X[:, 0], "NuSVR": X[:, 0], "SVRPath": X[:, 0], "OneClassSVM": None, "SVDD": None}.get(
        machine, y
    )
    fit = given(machine, {"tol": 1e-6}, X, target)
    model = fit.model().fit(X, target)
    (claim,) = claims.claims(machine, model, X, target, None)
    lower, upper = true_optimum.interval(claim.statement, [claims.candidate(claim)])
    assert claim.certificate.dual <= upper + 1e-9 * abs(upper)
    assert claim.certificate.primal >= lower - 1e-9 * abs(lower)
    assert claim.own == pytest.approx(claim.certificate.primal, rel=1e-9)
    assert upper - lower <= 1e-4 * abs(upper)


def lie(monkeypatch, **changes):
    """Let every SVC ship a certificate with other numbers."""
    from dataclasses import replace

    honest = mercer.SVC.fit

    def fit(self, X, y, sample_weight=None):
        honest(self, X, y, sample_weight)
        part = self.certificate_.parts[0]
        wrong = replace(part, **{key: change(part) for key, change in changes.items()})
        self.certificate_ = replace(wrong, parts=(wrong,))
        return self

    monkeypatch.setattr(mercer.SVC, "fit", fit)


LIES = {
    "a false lower bound": {"dual": lambda c: c.primal + 0.1},
    "a false upper bound": {"primal": lambda c: c.dual - 0.1},
    "decisions cost what is certified": {"primal": lambda c: 2 * c.primal, "gap": lambda c: c.gap},
    "gap >= 0": {"gap": lambda c: -1.0},
    '"optimal" has finite values': {"gap": lambda c: math.inf},
    '"optimal" has a gap': {"gap": lambda c: math.nan},
    '"optimal" meets tol': {
        "kkt_violation": lambda c: 1.0,
        "gap": lambda c: 1.0,
        "relative_gap": lambda c: 0.5,
    },
    "certify agrees": {"dual": lambda c: c.dual - 1.0},
    "a known status": {"status": lambda c: "splendid"},
}


@pytest.mark.parametrize("name", sorted(LIES))
def test_the_judge_sees_through_a_false_certificate(monkeypatch, name):
    X, y = two_classes()
    fit = given("SVC", {}, X, y)
    assert not judge(fit).failures
    lie(monkeypatch, **LIES[name])
    assert name in {failure.name for failure in judge(fit).failures}


@pytest.mark.parametrize(
    ("method", "name"),
    [("predict", "predict agrees with decisions"), ("decision_function", "nan never leaves")],
)
def test_the_judge_sees_wrong_outputs(monkeypatch, method, name):

    X, y = two_classes()
    honest = getattr(mercer.SVC, method)
    wrong = {
        "predict": lambda self, X: 1 - honest(self, X),
        "decision_function": lambda self, X: np.nan * honest(self, X),
    }
    monkeypatch.setattr(mercer.SVC, method, wrong[method])
    assert name in {failure.name for failure in judge(given("SVC", {}, X, y)).failures}


def test_the_judge_tells_refusals_from_accidents():
    def error_of(kind, words):
        try:
            raise kind(words)
        except kind as error:
            return error

    with pytest.raises(ValueError, match="C") as refusal:
        mercer.SVC(C=-1.0).fit([[0.0], [1.0]], [0, 1])
    assert not is_refusal(refusal.value, ["C"])
    assert is_refusal(error_of(np.linalg.LinAlgError, "X is singular"))
    assert is_refusal(error_of(IndexError, "row 3"))
    assert is_refusal(error_of(ValueError, "X is wrong"))  # raised by nobody that we know


# -- shrinking, seeds, log -------------------------------------------------------------------------------


class Here:
    """Runs cases in this process."""

    def run(self, case):
        return case.run()


class Fails:
    def __init__(self, number):
        self.number = number

    def __repr__(self):
        return f"Fails({self.number})"

    def snippet(self):
        return repr(self)

    def run(self):
        report = Report(fits=1, ending="done")
        if self.number >= 17:
            report.fail("is small", "here", self.number)
        return report


def test_failures_are_made_small_and_seeds_repeat():
    from hypothesis import strategies as st

    strategy = st.integers(0, 10**6).map(Fails)
    known = set()
    this = explore("numbers", strategy, 5, Here(), known, examples=50)
    (found,) = this.found.values()
    assert found.snippet == "Fails(17)"
    assert known == {"is small | here"}
    again = explore("numbers", strategy, 5, Here(), set(), examples=50)
    assert (again.examples, again.found.keys()) == (this.examples, this.found.keys())


def test_runs_go_on_from_the_log(tmp_path):
    from hypothesis import strategies as st

    path = tmp_path / "log.jsonl"
    for expected in (0, 1, 2):
        kept = log.Log(path)
        assert kept.next_seed("numbers") == expected
        kept.add(explore("numbers", st.integers(0, 9).map(Fails), expected, Here(), set(), examples=5))
    kept = log.Log(path)
    assert kept.next_seed("other") == 0
    (line,) = kept.totals()
    assert line.startswith(f"numbers: {sum(entry['examples'] for entry in kept.lines)} examples")
    assert all(json.loads(text)["library"] == kept.library for text in path.read_text().splitlines())


# -- examples can be pasted ------------------------------------------------------------------------------


def test_a_snippet_runs_by_itself():
    from hypothesis import given as examples
    from hypothesis import settings

    ran = []

    @settings(max_examples=25)
    @examples(KINDS["fits"]())
    def check(fit):
        assert isinstance(fit, Fit)
        *lines, _ = [
            line for line in fit.snippet().splitlines() if not line.startswith(("print", "from tests"))
        ]
        names = {}
        exec("\n".join(lines), names)
        ran.append(names["X"])

    check()
    assert ran


def test_repr_of_other_cases_is_code():
    for case in (TableFile("csv", ((1.0, 2.0),), (), False, (), ()), Command(("show", "x"))):
        assert eval(repr(case)) == case


def test_damage_is_what_it_says():
    content = b"abcdef"
    assert damaged(content, ()) == content
    assert damaged(content, [("cut", 0.5, 1, b"")]) == b"abc"
    assert damaged(content, [("delete", 0.5, 2, b"")]) == b"abcf"
    assert damaged(content, [("insert", 0.0, 1, b"xy")]) == b"xyabcdef"
    assert damaged(content, [("reverse", 0.0, 3, b"")]) == b"cbadef"
    assert damaged(content, [("double", 0.0, 2, b"")]) == b"ababcdef"
    assert damaged(content, [("flip", 0.0, 0, b"")]) == b"`bcdef"
