"""``mercer search`` and ``mercer path``: which parameters are good."""

from __future__ import annotations

import shlex
import warnings
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from mercer.cli import options as o
from mercer.cli.exits import UserError
from mercer.cli.screen import Screen
from mercer.cli.train_command import (
    FoldsOption,
    GammaOption,
    HoldoutOption,
    ImputeOption,
    JobsOption,
    KernelOption,
    ScaleOption,
    SeedOption,
    TaskOption,
    TimeOption,
)

if TYPE_CHECKING:
    import numpy as np

    from mercer.cli.machine_options import Wishes
    from mercer.cli.trainer import Plan, Trainer
    from mercer.io import Table

METHODS = "kfold, path, sv_fraction, xi_alpha, span_bound, span_rule, alignment, bound"


def search(
    data: o.Data,
    target: o.Target = "last",
    task: TaskOption = "auto",
    kernel: KernelOption = "rbf",
    method: Annotated[
        str, typer.Option(help=f"How a setting is judged: {METHODS}.", rich_help_panel=o.MEASURE)
    ] = "kfold",
    simplest: Annotated[
        bool,
        typer.Option(
            "--simplest",
            help="The simplest setting within one standard error of the best.",
            rich_help_panel=o.MEASURE,
        ),
    ] = False,
    tolerance: Annotated[
        Optional[float],  # noqa: UP045 - typer reads it at run time
        typer.Option(
            help="For --method bound of regression: the size of an error that matters.",
            rich_help_panel=o.MEASURE,
        ),
    ] = None,
    top: Annotated[int, typer.Option(help="How many settings to show.", rich_help_panel=o.SHOWN, min=1)] = 10,
    folds: FoldsOption = 5,
    seed: SeedOption = 0,
    time_limit: TimeOption = None,
    jobs: JobsOption = None,
    scale: ScaleOption = True,
    impute: ImputeOption = None,
    exclude: o.Exclude = None,
    weights: o.Weights = None,
    file_format: o.Format = None,
    header: o.Header = None,
    separator: o.Separator = None,
    decimal: o.Decimal = None,
    encoding: o.Encoding = "utf-8",
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Try a grid of parameters and show the best; all kernel matrices and solutions are shared."""
    import numpy as np

    from mercer.cli.input_tables import How, read_table, split_weights
    from mercer.cli.machine_options import Wishes
    from mercer.cli.parameter_search import plain_name, searched
    from mercer.cli.trainer import Plan

    screen = Screen(as_json, quiet)
    how = How(file_format, header, separator, decimal, encoding)
    table, weight = split_weights(read_table(data, target, how, exclude), weights)
    wishes, plan = Wishes(kernel=kernel, jobs=jobs), Plan("classify", 0.0, folds, seed)
    model, trainer = _begin(screen, table, task, scale, impute, wishes, plan, weight)
    rows = np.arange(trainer.n)
    select = "one_standard_error" if simplest else "best"
    options: dict[str, Any] = {"method": method, "time_limit": time_limit, "select": select}
    if trainer.plan.task == "regress":
        if method == "bound" and tolerance is None:
            raise UserError("--method bound needs --tolerance, the size of an error that matters")
        options["tolerance"] = tolerance
    elif tolerance is not None:
        raise UserError("--tolerance is for regression; this task is classify")
    found = searched(model, trainer, rows, screen, **options)
    for words in trainer.caught:
        screen.warn(words)
    results = found.cv_results_
    order = np.argsort(-np.nan_to_num(results["mean_test_score"], nan=-np.inf), kind="stable")[:top]
    names = list(results["params"][0])
    head = ["", *(plain_name(name) for name in names), "score", "± standard error"]
    spread = results.get("standard_error", np.full(len(results["params"]), np.nan))
    body = [
        [
            "chosen" if results["params"][k] == found.best_params_ else "",
            *(f"{results['params'][k][name]:.4g}" for name in names),
            f"{results['mean_test_score'][k]:.4f}",
            f"{spread[k]:.4f}" if np.isfinite(spread[k]) else "",
        ]
        for k in order
    ]
    best = {plain_name(k): v for k, v in found.best_params_.items()}
    screen.grid(head, body, range(1, len(head)))
    flags = [word for name, value in best.items() for word in (f"--{name}", f"{value:.6g}")]
    if kernel != "rbf":
        flags += ["--kernel", kernel]
    if task != "auto":
        flags += ["--task", task]
    flags += [] if scale else ["--no-scale"]
    given = (("--impute", impute), ("--weights", weights), *(("--exclude", name) for name in exclude or ()))
    flags += [word for name, value in given if value is not None for word in (name, value)]
    words = shlex.join(["mercer", "train", data, "--target", target, *flags, *how.flags()])
    screen.line(f"to train with the chosen setting: {words}")
    screen.finish(
        {
            "command": "search",
            "method": method,
            "status": found.status_,
            "settings": len(results["params"]),
            "best": best,
            "best_score": float(found.best_score_),
            "results": [
                {
                    **{plain_name(n): results["params"][k][n] for n in names},
                    "score": results["mean_test_score"][k],
                    "standard_error": spread[k],
                }
                for k in order
            ],
        }
    )


def _begin(
    screen: Screen,
    table: Table,
    task: str,
    scale: bool,
    impute: str | None,
    wishes: Wishes,
    plan: Plan,
    weight: np.ndarray | None,
) -> tuple[Any, Trainer]:
    """Choose the task and prepare: what both commands begin with."""
    from mercer.cli.data_warnings import doubtful_columns
    from mercer.cli.machine_options import make
    from mercer.cli.preparation import choose_task, features_of, prepare, told
    from mercer.cli.trainer import Plan, Trainer

    kind, why = choose_task(table, task)
    screen.say(told(table, kind, why))
    if kind == "novelty":
        raise UserError("without a target there is nothing to judge settings by")
    preparation = prepare(table, scale, impute)
    for words in preparation.said:
        screen.say(words)
    for words in doubtful_columns(table, kind):
        screen.warn(words)
    machine, _ = make(wishes, kind, table.y)
    plan = Plan(kind, plan.holdout, plan.folds, plan.seed)
    return preparation.pipeline(machine), Trainer(plan, features_of(table), table.y, weight, screen)


def path(
    data: o.Data,
    target: o.Target = "last",
    task: TaskOption = "auto",
    kernel: KernelOption = "rbf",
    gamma: GammaOption = "scale",
    c_max: Annotated[
        float, typer.Option("--C-max", help="Where the path ends.", rich_help_panel=o.MACHINE)
    ] = 1e4,
    points: Annotated[int, typer.Option(help="Values of C to show.", rich_help_panel=o.SHOWN, min=2)] = 15,
    holdout: HoldoutOption = 0.25,
    seed: SeedOption = 0,
    time_limit: TimeOption = None,
    scale: ScaleOption = True,
    impute: ImputeOption = None,
    exclude: o.Exclude = None,
    weights: o.Weights = None,
    file_format: o.Format = None,
    header: o.Header = None,
    separator: o.Separator = None,
    decimal: o.Decimal = None,
    encoding: o.Encoding = "utf-8",
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Follow the exact solution through every price of errors C; see which one serves unseen rows best."""
    import numpy as np
    from sklearn.base import clone

    from mercer.cli.input_tables import How, read_table, split_weights
    from mercer.cli.machine_options import Wishes
    from mercer.cli.trainer import Plan, split_rows, take

    screen = Screen(as_json, quiet)
    how = How(file_format, header, separator, decimal, encoding)
    table, weight = split_weights(read_table(data, target, how, exclude), weights)
    wishes, plan = Wishes(kernel=kernel, gamma=gamma), Plan("classify", holdout, 0, seed)
    model, trainer = _begin(screen, table, task, scale, impute, wishes, plan, weight)
    trainer.plan.check()
    train, test = split_rows(trainer.plan, trainer.n, trainer.y)
    steps = clone(model)[:-1]
    inside = steps.fit_transform(take(trainer.X, train)) if len(steps) else take(trainer.X, train)
    outside = steps.transform(take(trainer.X, test)) if len(steps) else take(trainer.X, test)
    assert trainer.y is not None
    followed = _follow(model[-1], trainer, inside, train, c_max, time_limit, screen)
    low, high = followed.C_range_
    knots = followed.Cs_ if isinstance(followed.Cs_, list) else [followed.Cs_]
    shown = np.geomspace(max(low, min(float(c[0]) for c in knots)), high, points)
    rows, documents = [], []
    for C in shown:
        machine = followed.at(min(max(float(C), low), high))
        one = {
            "C": float(C),
            "support_vectors": int(machine.support_.size),
            "training": float(machine.score(inside, trainer.y[train], trainer.weight_of(train))),
            "held_out": float(machine.score(outside, trainer.y[test], trainer.weight_of(test)))
            if test.size
            else None,
            "relative_gap": float(machine.certificate_.relative_gap),
        }
        documents.append(one)
    judged = [float(d["held_out"] or 0.0) if test.size else float(d["training"] or 0.0) for d in documents]
    best = int(np.argmax(judged))
    for k, one in enumerate(documents):
        held = "" if one["held_out"] is None else f"{one['held_out']:.4f}"
        rows.append(
            ["best" if k == best and test.size else "", f"{one['C']:.4g}", one["support_vectors"],
             f"{one['training']:.4f}", held]
        )  # fmt: skip
    metric = "accuracy" if trainer.plan.task == "classify" else "R²"
    events = sum(len(c) for c in knots)
    screen.say(f"{events} knots: between them the solution is known exactly")
    head = ["", "C", "support vectors", f"training {metric}", f"held-out {metric}"]
    screen.grid(head, rows, (1, 2, 3, 4))
    screen.finish(
        {"command": "path", "knots": events, "range": [low, high], "metric": metric, "path": documents}
    )


def _follow(
    machine: Any, trainer: Trainer, X: Any, rows: np.ndarray, c_max: float, time_limit: Any, screen: Screen
) -> Any:
    import mercer

    assert trainer.y is not None
    known = machine.get_params(deep=False)
    common = {name: known[name] for name in ("kernel", "gamma", "degree", "coef0")}
    common |= {"C_max": c_max, "time_limit": time_limit}
    if trainer.plan.task == "classify":
        made: Any = mercer.SVCPath(**common)
    else:
        made = mercer.SVRPath(epsilon=known["epsilon"], **common)
    with warnings.catch_warnings(record=True) as found, screen.steps(1) as steps, steps.fitting():
        warnings.simplefilter("always")
        steps.now("following the path")
        made.fit(X, trainer.y[rows], sample_weight=trainer.weight_of(rows))
    for words in dict.fromkeys(str(w.message) for w in found):
        screen.warn(words)
    return made
