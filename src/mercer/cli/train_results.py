"""What a training found: the closing table, the document for machines, the page."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

import mercer
from mercer._report.verdict import Measured, form, intervals, percent, rest, use
from mercer.cli.gaussian_process import noise_deviation, process_rows
from mercer.cli.learning_table import LearningTable
from mercer.cli.row_splits import Plan
from mercer.cli.trainer import Run, Trainer


def certificate_document(certificate: Any) -> dict[str, Any] | None:
    """Return a certificate for JSON."""
    if certificate is None:
        return None
    names = ("status", "primal", "dual", "gap", "relative_gap", "kkt_violation", "n_iter", "criterion")
    return {"words": str(certificate), **{name: getattr(certificate, name) for name in names}}


def certificate_row(certificate: Any, useful: bool) -> tuple[str, str, str]:
    """Return a certificate in words, with its tone: beside a useless model it is nothing to be glad of."""
    if certificate is None:
        return ("certificate", "none: there is no duality gap for this kind of model", "")
    good = certificate.status == "optimal" and math.isfinite(certificate.relative_gap)
    return ("certificate", str(certificate), "fair" if not good else "good" if useful else "")


def folds_words(run: Run, n: int) -> str:
    """Return what cross-validation found."""
    rest = n - run.split[1].size
    if len(run.folds) > 1:
        mean, spread = form(run.metric)(float(np.mean(run.folds))), f"{np.std(run.folds, ddof=1):.2g}"
        return f"{run.metric} {mean} ± {spread} ({len(run.folds)} folds over {rest} rows{run.by_weight})"
    where = f"chosen by the search, on {rest} rows{run.by_weight}"
    return f"{run.metric or 'score'} {form(run.metric)(run.folds[0])} ({where})"


def result_rows(run: Run, plan: Plan, n: int, y: np.ndarray | None = None) -> list[tuple[str, ...]]:
    """Return the closing table: of what use the model is first, how well it was optimised last."""
    rows: list[tuple[str, ...]] = []
    tone = ""
    if run.best is not None:
        words, tone = use(run.best)
        rows.append(("use", words, tone))
        if more := rest(run.best):
            rows.append(("also", more))
    if run.promise is not None:
        rows.append(("bound", run.promise.words))
    elif plan.task == "regress" and run.held_out is not None:
        rows.append(("bound", "give --tolerance, the size of an error that matters"))
    if run.coverage is not None:
        rows.append(("intervals", intervals(run.coverage)))
    if run.folds:
        rows.append(("cross-validation", folds_words(run, n)))
    if run.threshold:
        rows.append(("threshold", run.threshold))
    machine = run.model[-1]
    if hasattr(machine, "support_"):
        size = machine.support_.size
        rows.append(("support vectors", f"{size} of {n} rows ({percent(size / n)})"))
    else:
        rows += process_rows(machine, y)
    rows.append(certificate_row(getattr(machine, "certificate_", None), tone != "poor"))
    rows.append(("time", f"{run.seconds:.2g} s" if run.seconds < 100 else f"{run.seconds:.0f} s"))
    return rows


def report_page(run: Run, trainer: Trainer, learning: LearningTable) -> Any:
    """Return the page about the final machine, with the measures of the one before the refit."""
    table = learning.table
    facts: list[tuple[str, Any]] = [("data", table.source)]
    if learning.y is not None:
        facts.append(("target", table.target_name))
    if run.folds:
        facts.append(("cross-validation", folds_words(run, table.n_rows)))
    if run.threshold:
        facts.append(("threshold", run.threshold))
    scores = [one for one in (run.held_out, run.pooled) if one is not None]
    measured = Measured(scores, run.promise, run.coverage, run.unseen) if scores else None
    what = "Novelties in" if learning.y is None else f"Predicting {table.target_name} from"
    return mercer.report(
        run.model, trainer.X, trainer.y, cv=0, delta=trainer.plan.delta, scoring=trainer.plan.scoring,
        title=f"{what} {table.source}", facts=facts, measured=measured,
    )  # fmt: skip


def train_document(
    run: Run, learning: LearningTable, decided: list[str], place: Path, report: Path | None
) -> dict[str, Any]:
    """Return what ``--json`` shows."""
    table = learning.table
    machine = run.model[-1]
    held_out: dict[str, Any] | None = None
    if run.held_out is not None:
        held_out = {"rows": len(run.held_out.predicted), "weighted": run.weighted, **run.held_out.values}
        held_out["interval"] = run.held_out.interval
        held_out["guess"] = None if run.held_out.guess is None else run.held_out.guess[1]
    cross = None
    if run.folds:
        cross = {"metric": run.metric, "weighted": run.weighted, "mean": float(np.mean(run.folds))}
        cross["scores"] = run.folds
    known = machine.get_params(deep=False)
    names = ("C", "nu", "epsilon", "gamma", "degree", "coef0", "tol", "class_weight")
    return {
        "command": "train",
        "data": {"source": table.source, "rows": table.n_rows, "features": table.n_features},
        "target": table.target_name,
        "task": "ordinal" if learning.ordered else learning.task,
        "preparation": learning.preparation.said + decided,
        "machine": type(machine).__name__,
        "kernel": repr(machine.kernel_),
        "parameters": {name: known[name] for name in names if name in known},
        "use": None if run.best is None else use(run.best)[0],
        "scoring": run.metric,
        "held_out": held_out,
        "cross_validation": cross,
        "support_vectors": int(machine.support_.size) if hasattr(machine, "support_") else None,
        "noise_deviation": noise_deviation(machine),
        "intervals": None if run.coverage is None else run.coverage.document(),
        "certificate": certificate_document(getattr(machine, "certificate_", None)),
        "bound": None if run.promise is None else run.promise.document(),
        "threshold": getattr(machine, "threshold", None),
        "seconds": run.seconds,
        "interrupted": run.interrupted,
        "warnings": learning.doubts + run.warnings,
        "model": str(place),
        "report": None if report is None else str(report),
    }
