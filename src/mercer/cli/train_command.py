"""``mercer train``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from mercer.cli import options as o
from mercer.cli.exits import UserError
from mercer.cli.options import IMPUTE, KERNELS
from mercer.cli.screen import Screen

if TYPE_CHECKING:
    from mercer.cli.trainer import Run, Trainer

TASKS = ("auto", "classify", "regress", "novelty")

KernelOption = Annotated[
    str, typer.Option(help=f"What similar means: {', '.join(KERNELS)}.", rich_help_panel=o.MACHINE)
]
COption = Annotated[
    Optional[float],  # noqa: UP045 - typer reads it at run time
    typer.Option("--C", help="Price of errors.", rich_help_panel=o.MACHINE, show_default="1"),
]
GammaOption = Annotated[
    str, typer.Option(help="Width of the kernel: scale, auto or a number.", rich_help_panel=o.MACHINE)
]
ScaleOption = Annotated[
    bool, typer.Option("--scale/--no-scale", help="Standardise numbers.", rich_help_panel=o.FORMAT)
]
ImputeOption = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        help=f"Fill in missing values: {', '.join(IMPUTE)}.", rich_help_panel=o.FORMAT, show_default="refuse"
    ),
]
TaskOption = Annotated[str, typer.Option(help=f"{', '.join(TASKS)}.", rich_help_panel=o.MACHINE)]
SeedOption = Annotated[int, typer.Option(help="Of splits and folds.", rich_help_panel=o.MEASURE)]
FoldsOption = Annotated[
    int, typer.Option(help="Folds of the cross-validation; 0 for none.", rich_help_panel=o.MEASURE)
]
HoldoutOption = Annotated[
    float, typer.Option(help="Share of the rows that are held out.", rich_help_panel=o.MEASURE)
]
TimeOption = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(help="Most seconds for each fit.", rich_help_panel=o.MACHINE),
]
JobsOption = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option("--jobs", help="Threads.", rich_help_panel=o.MACHINE, show_default="all cores"),
]


def train(
    data: o.Data,
    target: o.Target = "last",
    task: TaskOption = "auto",
    kernel: KernelOption = "rbf",
    c: COption = None,
    gamma: GammaOption = "scale",
    degree: Annotated[float, typer.Option(help="Of --kernel poly.", rich_help_panel=o.MACHINE)] = 3,
    coef0: Annotated[
        float, typer.Option(help="Constant of poly and sigmoid.", rich_help_panel=o.MACHINE)
    ] = 0.0,
    epsilon: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(help="Errors below it are free (regression).", rich_help_panel=o.MACHINE),
    ] = None,
    nu: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(
            help="Share of errors, instead of C; of novelty: of rows outside.", rich_help_panel=o.MACHINE
        ),
    ] = None,
    class_weight: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="balanced: rare classes count as much as common ones.", rich_help_panel=o.MACHINE),
    ] = None,
    probability: Annotated[
        bool, typer.Option("--probability", help="Learn probabilities, too.", rich_help_panel=o.MACHINE)
    ] = False,
    search: Annotated[
        bool, typer.Option("--search", help="Choose C, gamma and the like.", rich_help_panel=o.MACHINE)
    ] = False,
    tol: Annotated[float, typer.Option(help="Tolerance of the solver.", rich_help_panel=o.MACHINE)] = 1e-3,
    time_limit: TimeOption = None,
    cache_size: Annotated[
        float, typer.Option(help="Memory for kernel values, in MB.", rich_help_panel=o.MACHINE)
    ] = 500.0,
    jobs: JobsOption = None,
    scale: ScaleOption = True,
    impute: ImputeOption = None,
    exclude: o.Exclude = None,
    weights: o.Weights = None,
    holdout: HoldoutOption = 0.25,
    folds: FoldsOption = 5,
    seed: SeedOption = 0,
    delta: Annotated[
        float, typer.Option(help="Probability with which the bound may fail.", rich_help_panel=o.MEASURE)
    ] = 0.05,
    tolerance: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(help="The size of an error of regression that matters.", rich_help_panel=o.MEASURE),
    ] = None,
    output: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "--output", "-o", help="The model file.", rich_help_panel=o.SHOWN, show_default="DATA.mercer"
        ),
    ] = None,
    report: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Write an HTML page about the model, too.", rich_help_panel=o.SHOWN),
    ] = None,
    file_format: o.Format = None,
    header: o.Header = None,
    separator: o.Separator = None,
    decimal: o.Decimal = None,
    encoding: o.Encoding = "utf-8",
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Train a machine on a file, measure it on rows it has not seen, prove how good the fit is, save it."""
    import mercer
    from mercer.cli.data_warnings import doubtful_columns
    from mercer.cli.input_tables import How, read_table, split_weights, words_of_names
    from mercer.cli.machine_options import Wishes, make
    from mercer.cli.parameter_search import search_settings
    from mercer.cli.preparation import choose_task, features_of, prepare, told
    from mercer.cli.trainer import Plan, Trainer, result_rows, split_rows

    screen = Screen(as_json, quiet)
    if task not in TASKS:
        raise UserError(f"--task {task} is not known; it must be one of {', '.join(TASKS)}")
    if class_weight not in (None, "balanced"):
        raise UserError(f"--class-weight {class_weight} is not known; the only one is balanced")
    if kernel not in KERNELS:
        raise UserError(f"--kernel {kernel} is not known; it must be one of {', '.join(KERNELS)}")
    place = output or Path(f"{stem(data)}.mercer")
    _check_folder(place)
    if report is not None:
        _check_folder(report)
    how = How(file_format, header, separator, decimal, encoding)
    table = read_table(data, target, how, exclude)
    table, weight = split_weights(table, weights)
    kind, why = choose_task(table, task)
    screen.say(told(table, kind, why))
    for words in words_of_names(table, how):
        screen.say(words)
    preparation = prepare(table, scale, impute)
    for words in preparation.said:
        screen.say(words)
    doubts = doubtful_columns(table, kind)
    for words in doubts:
        screen.warn(words)
    wishes = Wishes(
        kernel, c, gamma, degree, coef0, epsilon, nu, class_weight, probability, tol, time_limit, cache_size,
        jobs,
    )  # fmt: skip
    y = None if kind == "novelty" else table.y
    machine, decided = make(wishes, kind, y)
    for words in [] if search else decided:
        screen.say(words)
    model = preparation.pipeline(machine)
    X = features_of(table)
    plan = Plan(kind, holdout, folds, seed, delta, tolerance)
    trainer = Trainer(plan, X, y, weight, screen)
    split = split_rows(plan, table.n_rows, y)
    chosen = None
    if search:
        model, chosen = search_settings(model, trainer, split[0], screen)
    run = trainer.run(model, split, chosen)
    for words in run.warnings:
        screen.warn(words)
    mercer.save(run.model, place, X=X, y=y, sample_weight=weight)
    if report is not None:
        write_report(run, trainer, report, table.target_name)
    rows = [*result_rows(run, plan, table.n_rows), ("model", f"{place}, fitted on all {table.n_rows} rows")]
    if report is not None:
        rows.append(("report", str(report)))
    screen.gap()
    if not quiet:
        screen.pairs(rows)  # type: ignore[arg-type]
    run.warnings[:0] = doubts
    screen.finish(_document(run, table, kind, preparation.said + decided, place, report))


def stem(data: str) -> str:
    """Return the name of a model file without its ending: in the current folder, named after the data."""
    name = "model" if data == "-" else Path(data).name
    return re.sub(r"(\.[A-Za-z]+)?(\.gz)?$", "", name) or "model"


def _check_folder(path: Path) -> None:
    """Refuse a place that cannot be written to before any work is done."""
    if path.is_dir():
        raise UserError(f"{path} is a folder; give the name of a file")
    if not path.parent.is_dir():
        raise UserError(f"the folder {path.parent} does not exist")


def write_report(run: Run, trainer: Trainer, path: Path, target: str | None) -> None:
    """Write the page about the final machine, with the measures of the one before the refit."""
    import numpy as np

    import mercer

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
    mercer.report(run.model, trainer.X, trainer.y, path, cv=folds, delta=trainer.plan.delta, facts=facts)


def _document(run: Run, table: Any, kind: str, said: list[str], place: Path, report: Path | None) -> Any:
    import numpy as np

    from mercer.cli.trainer import certificate_document

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
        "task": kind,
        "preparation": said,
        "machine": type(machine).__name__,
        "kernel": repr(machine.kernel_),
        "parameters": {name: known[name] for name in names if name in known},
        "held_out": held_out,
        "cross_validation": cross,
        "support_vectors": int(machine.support_.size),
        "certificate": certificate_document(getattr(machine, "certificate_", None)),
        "bound": run.bound,
        "seconds": run.seconds,
        "warnings": run.warnings,
        "model": str(place),
        "report": None if report is None else str(report),
    }
