"""Fit and predict: rounds in which the libraries take turns, each model checked before its time counts."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from benchmarks.checks import Check, Checker, MalformedModelError, judge
from benchmarks.problem import Problem, Settings
from benchmarks.workers import Crew, JobError, Remote

OURS = "mercer"
REPEAT_SECONDS = 0.25  # short work is repeated for so long, and its median taken
SAME_ANSWERS = 0.99  # share of predictions (or of variance) in which two libraries must agree


@dataclass(frozen=True)
class Plan:
    """How a problem is measured.

    Attributes
    ----------
    settings : Settings
        Tolerance, cache, threads.
    rounds : int
        Turns for each library.
    slow_after, slow_rounds : float, int
        A library whose fit took longer than this gets only so many rounds.
    predict_rows : int
        Rows to predict after each fit; 0 for none.
    other_caches : tuple of float
        Further cache sizes at which our own memory is measured.
    """

    settings: Settings
    rounds: int = 3
    slow_after: float = 30.0
    slow_rounds: int = 2
    predict_rows: int = 0
    other_caches: tuple[float, ...] = ()


def measure(
    crew: Crew, problem: Problem, plan: Plan, checker: Checker, say: Callable[[str], None]
) -> dict[str, Any]:
    """Return everything that was measured on one problem, ready for JSON."""
    say(f"{problem.name}: {problem.n} x {problem.d}, C={problem.C:g}, gamma={problem.gamma:.4g}")
    records: dict[str, dict[str, Any]] = {
        remote.name: {"fit": {}, "predict": {}, "peak_bytes": {}, "checks": {}, "error": None}
        for remote in crew.remotes
    }
    answers: dict[str, np.ndarray] = {}
    path = crew.save(problem)
    for remote in crew.remotes:
        crew.rest()
        _guard(records[remote.name], say, remote, lambda r: r.load(path, plan.settings))
    for number in range(plan.rounds):
        for remote in crew.turn(number):
            record = records[remote.name]
            if record["error"] is None and not _slow_enough(record, number, plan):
                crew.rest()
                _guard(record, say, remote, _Round(number, problem, plan, checker, record, answers, say))
    _measure_memory(crew, records, plan, say)
    path.unlink(missing_ok=True)
    _conclude(records, answers, plan.settings.tol)
    return {
        "set": problem.name, "n": problem.n, "d": problem.d, "classes": problem.classes,
        "layout": "sparse" if problem.sparse else "dense", "C": problem.C, "gamma": problem.gamma,
        "epsilon": problem.epsilon, "data_bytes": problem.data_bytes, "settings": asdict(plan.settings),
        "predict_rows": plan.predict_rows, "libraries": records,
    }  # fmt: skip


def _guard(
    record: dict[str, Any], say: Callable[[str], None], remote: Remote, work: Callable[[Remote], Any]
) -> None:
    try:
        work(remote)
    except (JobError, MalformedModelError) as error:
        record["error"] = str(error)
        say(f"  {remote.name}: {error}")


def _slow_enough(record: dict[str, Any], number: int, plan: Plan) -> bool:
    longest = max(record["fit"].values(), default=0.0)
    return number >= plan.slow_rounds and longest > plan.slow_after


@dataclass
class _Round:
    """One turn of one library."""

    number: int
    problem: Problem
    plan: Plan
    checker: Checker
    record: dict[str, Any]
    answers: dict[str, np.ndarray]
    say: Callable[[str], None]

    def __call__(self, remote: Remote) -> None:
        got = remote.fit(self.plan.settings, REPEAT_SECONDS)
        fitted = got["fitted"]
        found = self.checker(self.problem, fitted)
        record, number = self.record, self.number
        record["fit"][number] = got["seconds"]
        record.setdefault("fit_repeats", {})[number] = got["all_seconds"]
        record["peak_bytes"][number] = got["peak_bytes"]
        record["checks"][number] = {**asdict(found), "claimed": fitted.claimed}
        record["n_support"] = int(fitted.support.size)
        text = f"  round {number + 1} {remote.name:>10}: fit {got['seconds']:.3f} s"
        if self.plan.predict_rows:
            guess = remote.ask("predict", rows=self.plan.predict_rows, repeat_seconds=REPEAT_SECONDS)
            record["predict"][number] = guess["seconds"]
            record.setdefault("predict_repeats", {})[number] = guess["all_seconds"]
            self.answers[remote.name] = guess["values"]
            text += f", predict {guess['seconds']:.4f} s"
        self.say(f"{text}, {fitted.support.size} support vectors, KKT {found.violation:.2e}")


def _measure_memory(
    crew: Crew, records: dict[str, dict[str, Any]], plan: Plan, say: Callable[[str], None]
) -> None:
    for remote in crew.remotes:
        record = records[remote.name]
        if remote.name != OURS or record["error"] is not None:
            continue
        record["peak_at_cache"] = {
            f"{plan.settings.cache_size:g}": max(record["peak_bytes"].values(), default=None)
        }
        for size in plan.other_caches:

            def at_size(r: Remote, size: float = size, record: dict[str, Any] = record) -> None:
                got = r.fit(replace(plan.settings, cache_size=size), 0.0)
                record["peak_at_cache"][f"{size:g}"] = got["peak_bytes"]
                record.setdefault("fit_at_cache", {})[f"{size:g}"] = got["seconds"]

            _guard(record, say, remote, at_size)


def _conclude(records: dict[str, dict[str, Any]], answers: dict[str, np.ndarray], tol: float) -> None:
    """Give each library its verdict: the worst of its rounds."""
    duals = [c["dual"] for r in records.values() for c in r["checks"].values() if c["violation"] <= 10 * tol]
    best = max(duals, default=float("nan"))
    for name, record in records.items():
        verdicts = []
        for stored in record["checks"].values():
            numbers = {key: value for key, value in stored.items() if key != "claimed"}
            verdicts.append(judge(Check(**numbers), best, tol, ours=name == OURS))
        kinds = [v.kind for v in verdicts]
        for kind in ("wrong", "early", "ok"):
            if kind in kinds:
                record["verdict"], record["why"] = kind, verdicts[kinds.index(kind)].why
                break
        else:
            record["verdict"], record["why"] = "none", record["error"] or "not run"
        if name in answers:
            record["agreement"] = _agreement(answers, name)
    for record in records.values():
        record["median_fit"] = statistics.median(record["fit"].values()) if record["fit"] else None
        record["median_predict"] = (
            statistics.median(record["predict"].values()) if record["predict"] else None
        )


def _agreement(answers: dict[str, np.ndarray], name: str) -> float:
    """Return how far a library's predictions agree with the others': the median over them, 1 at best."""
    mine = answers[name]
    shares = []
    for other, theirs in answers.items():
        if other == name:
            continue
        if np.array_equal(theirs, np.round(theirs)):
            shares.append(float(np.mean(mine == theirs)))
        else:
            shares.append(1.0 - float(np.var(mine - theirs) / max(np.var(theirs), 1e-300)))
    return statistics.median(shares) if shares else 1.0
