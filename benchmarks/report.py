"""Markdown tables of what was measured."""

from __future__ import annotations

import math
import statistics
from typing import Any

from benchmarks import targets
from benchmarks.checks import ALLOWANCE_OURS, ALLOWANCE_PEERS
from benchmarks.fits import OURS
from benchmarks.peers import LIBRARIES
from benchmarks.stats import paired_ratios, spread

Record = dict[str, Any]
MARK = {"early": " †", "wrong": " ‡"}


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    rule = ["---"] + ["---:"] * (len(head) - 1)
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *rows])


def _names(records: list[Record]) -> list[str]:
    return list(dict.fromkeys(name for record in records for name in record["libraries"]))


def _peers(records: list[Record]) -> list[str]:
    return [name for name in _names(records) if name != OURS]


def _seconds(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if value >= 1 else f"{value:.3f}" if value >= 0.01 else f"{value:.5f}"


def _times(records: list[Record], what: str) -> str:
    """Return seconds of each library and each peer's time over ours."""
    peers = _peers(records)
    head = ["set", "n x d", f"{OURS} s"]
    for peer in peers:
        head += [f"{peer} s", f"{peer} / {OURS}"]
    rows = []
    for record in records:
        ours = record["libraries"].get(OURS, {})
        row = [record["set"], f"{record['n']} x {record['d']}"]
        row.append(_seconds(ours.get(f"median_{what}")) + MARK.get(ours.get("verdict", ""), ""))
        for peer in peers:
            theirs = record["libraries"].get(peer, {})
            row.append(_seconds(theirs.get(f"median_{what}")) + MARK.get(theirs.get("verdict", ""), ""))
            ratios = spread(paired_ratios(theirs.get(what, {}), ours.get(what, {})))
            row.append(str(ratios) if ratios and "wrong" not in (theirs["verdict"], ours["verdict"]) else "-")
        rows.append(row)
    return table(head, rows)


def _proof(records: list[Record]) -> str:
    """Return the table of what each model is worth: the worst round of each library."""
    head = [
        "set", "library", "KKT violation", "with its bias", "dual objective", "below the best",
        "relative gap", "support vectors", "same answers", "verdict",
    ]  # fmt: skip
    rows = []
    for record in records:
        known = {n: r for n, r in record["libraries"].items() if r["checks"]}
        best = max((c["dual"] for r in known.values() for c in r["checks"].values()), default=math.nan)
        for name, result in record["libraries"].items():
            if name not in known:
                rows.append([record["set"], name, *["-"] * 7, result["error"] or "not run"])
                continue
            worst = max(result["checks"].values(), key=lambda c: c["violation"])
            scale = max(abs(best), 1e-300)
            rows.append(
                [
                    record["set"], name, f"{worst['violation']:.2e}", f"{worst['bias_violation']:.2e}",
                    f"{worst['dual']:.8g}", f"{(best - worst['dual']) / scale:.1e}",
                    f"{worst['gap'] / scale:.1e}", str(result["n_support"]),
                    f"{100 * result['agreement']:.2f} %" if "agreement" in result else "-",
                    result["verdict"] + (f": {result['why']}" if result["why"] else "")
                    + (f"; then {result['error']}" if result["error"] else ""),
                ]
            )  # fmt: skip
    return table(head, rows)


def _megabytes(value: float | None) -> str:
    return "-" if value is None else f"{value / 1e6:.0f}"


def _memory(records: list[Record]) -> str:
    peers = _peers(records)
    caches = list(
        dict.fromkeys(c for r in records for c in r["libraries"].get(OURS, {}).get("peak_at_cache", {}))
    )
    head = ["set", "data MB"]
    for cache in caches:
        head += [f"{OURS} at {cache}", f"allowed at {cache}"]
    head += [f"{peer} at {records[0]['settings']['cache_size']:g}" for peer in peers]
    rows = []
    for record in records:
        row = [record["set"], _megabytes(record["data_bytes"])]
        for cache in caches:
            row.append(_megabytes(record["libraries"].get(OURS, {}).get("peak_at_cache", {}).get(cache)))
            row.append(_megabytes(targets.memory_allowed(record, float(cache))))
        for peer in peers:
            known = [
                p for p in record["libraries"].get(peer, {}).get("peak_bytes", {}).values() if p is not None
            ]
            row.append(_megabytes(max(known, default=None)))
        rows.append(row)
    return table(head, rows)


def _growth(growth: Record) -> str:
    names = _names(growth["records"])
    rows = []
    for name in names:
        row = [name]
        for record in growth["records"]:
            result = record["libraries"].get(name, {})
            row.append(_seconds(result.get("median_fit")) + MARK.get(result.get("verdict", ""), ""))
        p = growth["exponents"].get(name)
        rows.append([*row, "-" if p is None else f"{p:.3f}"])
    return table(["library", *[f"n = {r['n']}, s" for r in growth["records"]], "exponent"], rows)


def _cold(cold: Record) -> str:
    rows = [[name, _seconds(statistics.median(v)), ""] for name, v in cold["imports"].items()]
    for kind, runs in cold["first_fits"].items():
        for state, words in (("cached", "compiled code on disk"), ("empty", "nothing cached")):
            if f"{state}_over_warm" in runs:
                over, whole = runs[f"{state}_over_warm"], runs[f"{state}_with_import"]
                rows.append([f"first fit over a warm one, {kind}, {words}", _seconds(over), _seconds(whole)])
            else:
                rows.append([f"first fit, {kind}, {words}", runs["error"] or "-", ""])
    return table(["", "s", "with the import, s"], rows)


def _targets(results: dict[str, Any]) -> str:
    words = {True: "yes", False: "**no**", None: "-"}
    rows = []
    for line in targets.lines(results):
        met = "yes, on what was run" if line.met and not line.complete else words[line.met]
        rows.append([line.text, line.limit, line.value, met])
    return table(["target", "limit", "measured", "met"], rows)


def _conditions(results: dict[str, Any]) -> str:
    o, machine = results["options"], results["machine"]
    libraries = ", ".join(
        f"{name} {facts['version']}" + (f" ({LIBRARIES[name].note})" if LIBRARIES[name].note else "")
        for name, facts in results["libraries"].items()
    )
    lines = [
        f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gb']:.0f} GB, "
        f"Python {machine['python']}; {libraries}. {o['threads']} threads, tol={o['tol']:g}, "
        f"cache_size={o['cache_size']:g}, rounds: {o['rounds']}; "
        f"a ratio is the median (least to largest) over rounds of peer / {OURS} within a round."
    ]
    lines += [f"{name} was not run: {why}." for name, why in results["absent"].items()]
    if machine["load"] > 0.5:
        lines.append(
            f"**The machine was not quiet when the run began (load {machine['load']:.1f}): believe no time.**"
        )
    return "\n\n".join(lines)


LEGEND = (
    "KKT violations are recomputed in float64 over all pairs of classes; they may exceed tol by a factor of "
    f"{ALLOWANCE_OURS} (ours) or {ALLOWANCE_PEERS} (peers, whose gradients drift). † stopped early: the time "
    "is too short. ‡ not the solution: the time means nothing."
)


def markdown(results: dict[str, Any]) -> str:
    """Return the whole report."""
    parts = ["# Benchmark", _conditions(results)]
    fits, svr, small = (results.get(key, []) for key in ("fit", "svr", "small"))
    if fits:
        parts += ["## Fit", _times(fits, "fit"), LEGEND]
        if any(r["predict_rows"] for r in fits):
            parts += [f"## Predict {fits[0]['predict_rows']} rows", _times(fits, "predict")]
    if svr:
        parts += ["## Regression", _times(svr, "fit")]
        if any(r["predict_rows"] for r in svr):
            parts += [_times(svr, "predict")]
    if small:
        parts += ["## Small problems", _times(small, "fit")]
    if results.get("growth"):
        parts += [f"## Growth on {results['growth']['set']}", _growth(results["growth"])]
        if results["growth"].get("picture"):
            parts += [f"![time against n]({results['growth']['picture']})"]
    if fits or svr:
        parts += ["## Peak memory above the data, MB", _memory([*fits, *svr])]
    if results.get("cold"):
        parts += ["## Cold start", _cold(results["cold"])]
    everything = [*fits, *svr, *small, *(results.get("growth") or {"records": []})["records"]]
    if everything:
        parts += ["## Proof", _proof(everything)]
    parts += [f"## Skipped\n\n{name}: {why}" for name, why in results["skipped"].items()]
    parts += ["## Targets", _targets(results)]
    return "\n\n".join(parts) + "\n"
