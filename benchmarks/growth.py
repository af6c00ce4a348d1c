"""Time against the number of rows: nested samples of one set, the fitted exponents, and a picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.checks import Checker
from benchmarks.fits import Plan, measure
from benchmarks.problem import Problem
from benchmarks.stats import growth_exponent
from benchmarks.workers import Crew


def run(
    crew: Crew, problem: Problem, sizes: list[int], plan: Plan, checker: Checker, say: Callable[[str], None]
) -> dict[str, Any]:
    """Return the measurements at each size and the exponent of each library."""
    sizes = sorted({min(n, problem.n) for n in sizes})
    records = [
        measure(crew, problem.take(problem.sample(n), f"{problem.name}[{n}]"), plan, checker, say)
        for n in sizes
    ]
    return {"set": problem.name, "records": records, "exponents": exponents(records)}


def curves(records: list[dict[str, Any]]) -> dict[str, tuple[list[int], list[float]]]:
    """Return (sizes, median seconds) of each library, without models that solved nothing."""
    names = list(dict.fromkeys(name for record in records for name in record["libraries"]))
    out = {}
    for name in names:
        points = [
            (record["n"], record["libraries"][name]["median_fit"])
            for record in records
            if record["libraries"].get(name, {}).get("verdict") in ("ok", "early")
        ]
        if points:
            out[name] = ([n for n, _ in points], [t for _, t in points])
    return out


def exponents(records: list[dict[str, Any]]) -> dict[str, float]:
    """Return the growth exponent of each library that was measured at every size."""
    return {
        name: growth_exponent(sizes, seconds)
        for name, (sizes, seconds) in curves(records).items()
        if len(sizes) == len(records) >= 2
    }


def picture(result: dict[str, Any], path: Path) -> bool:
    """Draw time against n on logarithmic axes; return False where matplotlib is missing."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.ticker import FixedLocator, NullFormatter, StrMethodFormatter
    except ImportError:
        return False
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for name, (sizes, seconds) in curves(result["records"]).items():
        p = result["exponents"].get(name)
        label = name if p is None else f"{name}: $n^{{{p:.2f}}}$"
        axes.plot(sizes, seconds, "o-", label=label, linewidth=2.4 if name == "mercer" else 1.2)
    axes.set(
        xscale="log", yscale="log", xlabel="rows n", ylabel="seconds to fit (median)",
        title=f"Fit time on {result['set']}, RBF",
    )  # fmt: skip
    axes.xaxis.set_major_locator(FixedLocator([record["n"] for record in result["records"]]))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:.0f}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(True, which="both", alpha=0.25)
    if axes.lines:
        axes.legend()
    figure.savefig(path, dpi=150)
    return True
