"""What a training found: the closing table, the document for machines, the page."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

import mercer
from mercer.cli.learning_table import LearningTable
from mercer.cli.row_splits import Plan
from mercer.cli.trainer import Run, Trainer


def certificate_document(certificate: Any) -> dict[str, Any] | None:
    """Return a certificate for JSON."""
    if certificate is None:
        return None
    names = ("status", "primal", "dual", "gap", "relative_gap", "kkt_violation", "n_iter", "criterion")
    return {"words": str(certificate), **{name: getattr(certificate, name) for name in names}}


def certificate_row(certificate: Any) -> tuple[str, str, str]:
    """Return a certificate in words, with its tone."""
    if certificate is None:
        return ("certificate", "none: this kind of machine has no gap to show", "")
    good = certificate.status == "optimal" and math.isfinite(certificate.relative_gap)
    return ("certificate", str(certificate), "good" if good else "fair")


def result_rows(run: Run, plan: Plan, n: int) -> list[tuple[str, ...]]:
    """Return the closing table."""
    rows: list[tuple[str, ...]] = []
    if run.held_out is not None:
        name, value = run.held_out.headline
        more = [f"{k} {v:.4g}" for k, v in run.held_out.values.items() if k != name]
        tail = f"; {', '.join(more)}" if more else ""
        rows.append(("held-out score", f"{name} {value:.4g} on {run.held_out.rows}{tail}"))
    rest = n - run.split[1].size
    if len(run.folds) > 1:
        mean, spread = float(np.mean(run.folds)), float(np.std(run.folds, ddof=1))
        words = (
            f"{run.metric} {mean:.4g} ± {spread:.2g} ({len(run.folds)} folds over {rest} rows{run.by_weight})"
        )
        rows.append(("cross-validation", words))
    elif run.folds:
        where = f"the best of the search, on {rest} rows{run.by_weight}"
        words = f"{run.metric or 'score'} {run.folds[0]:.4g} ({where})"
        rows.append(("cross-validation", words))
    machine = run.model[-1]
    rows.append(("support vectors", f"{machine.support_.size} of {n} rows ({machine.support_.size / n:.1%})"))
    rows.append(certificate_row(getattr(machine, "certificate_", None)))
    if run.bound is not None:
        sure = f"with probability {run.bound['with_probability']:.0%}"
        rows.append(
            (
                "bound",
                f"at most {run.bound['at_most']:.2%} of new rows {run.bound['of_new_rows']}, {sure} "
                f"({run.bound['from']})",
            )
        )
    elif plan.task == "regress" and run.held_out is not None:
        rows.append(("bound", "give --tolerance, the size of an error that matters"))
    rows.append(("time", f"{run.seconds:.2g} s" if run.seconds < 100 else f"{run.seconds:.0f} s"))
    return rows


def report_page(run: Run, trainer: Trainer, target: str | None) -> Any:
    """Return the page about the final machine, with the measures of the one before the refit."""
    facts: list[tuple[str, Any]] = [("target", target)] if target else []
    if run.held_out is not None:
        name, value = run.held_out.headline
        facts.append((f"held-out {name}, before the refit", f"{value:.4g} on {run.held_out.rows}"))
    if len(run.folds) > 1:
        mean, spread = np.mean(run.folds), np.std(run.folds, ddof=1)
        words = (
            f"{mean:.4g} ± {spread:.2g}, {len(run.folds)} folds{run.by_weight and ' of rows' + run.by_weight}"
        )
        facts.append((f"cross-validated {run.metric}", words))
    folds = trainer.plan.folds if trainer.weight is None else 0
    return mercer.report(run.model, trainer.X, trainer.y, cv=folds, delta=trainer.plan.delta, facts=facts)


def train_document(
    run: Run, learning: LearningTable, decided: list[str], place: Path, report: Path | None
) -> dict[str, Any]:
    """Return what ``--json`` shows."""
    table = learning.table
    machine = run.model[-1]
    held_out = None
    if run.held_out is not None:
        held_out = {"rows": len(run.held_out.predicted), "weighted": run.weighted, **run.held_out.values}
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
        "task": learning.task,
        "preparation": learning.preparation.said + decided,
        "machine": type(machine).__name__,
        "kernel": repr(machine.kernel_),
        "parameters": {name: known[name] for name in names if name in known},
        "held_out": held_out,
        "cross_validation": cross,
        "support_vectors": int(machine.support_.size),
        "certificate": certificate_document(getattr(machine, "certificate_", None)),
        "bound": run.bound,
        "seconds": run.seconds,
        "interrupted": run.interrupted,
        "warnings": learning.doubts + run.warnings,
        "model": str(place),
        "report": None if report is None else str(report),
    }
