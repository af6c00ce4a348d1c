"""The benchmark's one command.

    python -m benchmarks.run --data FOLDER                     everything
    python -m benchmarks.run --data FOLDER --sets satimage     fit, predict and memory on one set
    python -m benchmarks.run                                   everything, on synthetic data

Results go to ``benchmarks/out``: ``report.md``, ``results.json``, ``growth.png``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

if __package__ in (
    None,
    "",
):  # run as a file: its folder must not be where modules are found, its parent must
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

import psutil

from benchmarks import cold, growth, report, sets, synthetic
from benchmarks.checks import Checker
from benchmarks.files import DataError
from benchmarks.fits import OURS, Plan, measure
from benchmarks.peers import LIBRARIES
from benchmarks.problem import Problem, Settings
from benchmarks.workers import Crew

TASKS = ("fit", "predict", "svr", "small", "growth", "memory", "cold")
OF_NAMED_SETS = ("fit", "predict", "svr", "memory")
DEFAULT_CACHE = 200.0  # the estimators' own default: memory is measured there too


def parser() -> argparse.ArgumentParser:
    """Return the options."""
    p = argparse.ArgumentParser(prog="benchmarks.run", description=__doc__.split("\n")[0])
    p.add_argument(
        "--data", type=Path, help="folder of LIBSVM text, .npz, CSV or ARFF files; none: synthetic data"
    )
    p.add_argument("--sets", nargs="+", metavar="NAME", help=f"of {', '.join(sets.REGISTRY)}, or a file name")
    p.add_argument(
        "--peers", nargs="+", choices=[n for n in LIBRARIES if n != OURS], help="default: all installed"
    )
    p.add_argument(
        "--tasks", nargs="+", choices=TASKS, help="default: all; with --sets: those about the sets"
    )
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--cache-size", type=float, default=1000.0, help="MB")
    p.add_argument("--tol", type=float, default=1e-3)
    p.add_argument(
        "--sizes", type=int, nargs="+", default=[5000, 10000, 20000, 40000], help="rows, for growth"
    )
    p.add_argument(
        "--small-sizes", type=int, nargs="+", default=[100, 200, 500, 1000], help="rows, for small"
    )
    p.add_argument("--growth-set", default="cod-rna", choices=[e.name for e in sets.FIT])
    p.add_argument("--limit", type=int, help="use at most so many rows of each set (a random sample)")
    p.add_argument("--target", help="column of the target in CSV files: name or number")
    p.add_argument("--predict-rows", type=int, default=5000)
    p.add_argument(
        "--slow-after", type=float, default=30.0, help="a fit longer than this (s) gets fewer rounds"
    )
    p.add_argument("--slow-rounds", type=int, default=2, help="how many")
    p.add_argument("--job-limit", type=float, default=1800.0, help="seconds after which a fit is given up")
    p.add_argument(
        "--touch-gb", type=float, default=2.0, help="memory each process touches before the first clock"
    )
    p.add_argument("--out", type=Path, default=Path(__file__).resolve().parent / "out")
    return p


def chosen_peers(asked: list[str] | None) -> tuple[list[str], dict[str, str]]:
    """Return the peers that can be run, and why others cannot."""
    names = asked or [name for name in LIBRARIES if name != OURS]
    absent = {name: "not installed" for name in names if not LIBRARIES[name]().available()}
    return [name for name in names if name not in absent], absent


def chosen_problems(options: argparse.Namespace, tasks: set[str], skipped: dict[str, str]) -> list[Problem]:
    """Return the problems of the tasks fit and svr."""
    if options.data is None:
        problems = synthetic.suite(options.limit)
        wanted = set(options.sets or [p.name for p in problems])
        for name in wanted - {p.name for p in problems}:
            skipped[name] = "needs --data FOLDER"
        return [p for p in problems if p.name in wanted]
    default = [e.name for e in sets.FIT if tasks & {"fit", "predict", "memory"}]
    default += [e.name for e in sets.SVR if "svr" in tasks]
    problems = []
    for name in sets.expand(options.sets or default):
        try:
            problems.append(sets.load(name, options.data, options.limit, options.target))
        except DataError as error:
            skipped[name] = str(error)
    return problems


def small_problems(options: argparse.Namespace, skipped: dict[str, str]) -> list[Problem]:
    """Return the problems of a few hundred rows."""
    problems = [synthetic.classification(n, d=10, name=f"two classes, n={n}") for n in options.small_sizes]
    problems += [
        synthetic.classification(n, d=10, classes=3, name=f"three classes, n={n}")
        for n in options.small_sizes
    ]
    for entry in sets.SMALL if options.data is not None else ():
        try:
            problems.append(sets.load(entry.name, options.data))
        except DataError as error:
            skipped[entry.name] = str(error)
    return problems


def machine() -> dict[str, Any]:
    """Return what the numbers depend on."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        named = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if "model name" in line
        ]
        cpu = named[0] if named else cpu
    return {
        "cpu": cpu, "cores": os.cpu_count(), "memory_gb": psutil.virtual_memory().total / 1e9,
        "python": platform.python_version(), "system": platform.platform(), "load": os.getloadavg()[0],
        "date": time.strftime("%Y-%m-%d"),
    }  # fmt: skip


def say(text: str) -> None:
    """Report progress where it does not mix with the report."""
    print(text, file=sys.stderr, flush=True)


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Measure; return all raw numbers."""
    tasks = set(options.tasks or (OF_NAMED_SETS if options.sets else TASKS))
    settings = Settings(options.tol, options.cache_size, options.threads)
    plan = Plan(settings, options.rounds, options.slow_after, options.slow_rounds)
    options.out.mkdir(parents=True, exist_ok=True)
    peers, absent = chosen_peers(options.peers)
    results: dict[str, Any] = {
        "machine": machine(), "absent": absent, "skipped": {}, "tasks": sorted(tasks),
        "options": {key: value for key, value in vars(options).items() if key not in ("data", "out")},
    }  # fmt: skip
    checker = Checker(options.out / "checks.json")
    crew = Crew(
        [OURS, *peers],
        threads=options.threads,
        folder=options.out,
        touch_gb=options.touch_gb,
        limit=options.job_limit,
    )
    with crew:
        results["libraries"] = crew.facts()
        absent |= crew.lost
        if tasks & set(OF_NAMED_SETS):
            for_sets = Plan(
                settings,
                options.rounds,
                options.slow_after,
                options.slow_rounds,
                options.predict_rows if "predict" in tasks else 0,
                (DEFAULT_CACHE,) if "memory" in tasks and options.cache_size != DEFAULT_CACHE else (),
            )
            for problem in chosen_problems(options, tasks, results["skipped"]):
                kind = "svr" if problem.regression else "fit"
                if options.sets or kind in tasks or (kind == "fit" and tasks & {"predict", "memory"}):
                    results.setdefault(kind, []).append(measure(crew, problem, for_sets, checker, say))
                    save(results, options.out)
        if "small" in tasks:
            for problem in small_problems(options, results["skipped"]):
                results.setdefault("small", []).append(measure(crew, problem, plan, checker, say))
            save(results, options.out)
        if "growth" in tasks:
            problem = sets.named_or_synthetic(options.growth_set, options.data)
            results["growth"] = growth.run(crew, problem, options.sizes, plan, checker, say)
            if growth.picture(results["growth"], options.out / "growth.png"):
                results["growth"]["picture"] = "growth.png"
            save(results, options.out)
    if "cold" in tasks:
        results["cold"] = cold.run(options.rounds, options.threads, say)
    save(results, options.out)
    return results


def save(results: dict[str, Any], out: Path) -> None:
    """Write the raw numbers and the report; after each set, so that an interrupted run leaves something."""
    (out / "results.json").write_text(json.dumps(results, indent=1, default=float))
    (out / "report.md").write_text(report.markdown(results))


def main(arguments: list[str] | None = None) -> int:
    """Run and print the report; the exit code tells whether every model of ours was certified."""
    options = parser().parse_args(arguments)
    if options.data is not None and not options.data.is_dir():
        parser().error(f"--data {options.data} is not a folder")
    results = run(options)
    print(report.markdown(results))
    say(f"written to {options.out}")
    records = [*results.get("fit", []), *results.get("svr", []), *results.get("small", [])]
    return int(any(r["libraries"].get(OURS, {}).get("verdict") in ("early", "wrong") for r in records))


if __name__ == "__main__":
    sys.exit(main())
