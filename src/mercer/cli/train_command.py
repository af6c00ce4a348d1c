"""``mercer train``."""

from __future__ import annotations

import re
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from mercer.cli import options as o
from mercer.cli.exits import end_partial
from mercer.cli.option_groups import Columns, ItemWishes, MachineWishes, Measuring, Reading, Shown, spread
from mercer.cli.screen import Screen
from mercer.cli.user_error import UserError

if TYPE_CHECKING:
    from mercer.cli.learning_table import LearningTable
    from mercer.cli.trainer import Run, Trainer


@spread
def train(
    data: o.Data,
    columns: Columns,
    wishes: MachineWishes,
    items: ItemWishes,
    measuring: Measuring,
    reading: Reading,
    shown: Shown,
    group: o.Group = None,
    search: o.Search = False,
    updatable: o.Updatable = False,
    update: o.Update = None,
    output: o.ModelOutput = None,
    report: o.ReportToo = None,
    force: o.Force = False,
    keep_partial: o.KeepPartial = False,
) -> None:
    """Train a model on a file, evaluate it on held-out rows, certify the fit and save it."""
    from mercer.cli.gaussian_process import check_process, slow_words
    from mercer.cli.learning_table import learning_table
    from mercer.cli.machine_options import check_wishes, keeping_rows, make_for
    from mercer.cli.model_files import replaced_words
    from mercer.cli.row_splits import Plan
    from mercer.cli.trainer import Trainer
    from mercer.cli.whole_files import check_place
    from mercer.selection.scoring import chosen_scoring

    if update is not None:
        from mercer.cli.update_commands import refuse_other_wishes
        from mercer.cli.update_commands import update as update_model

        refuse_other_wishes(wishes, items, measuring)
        update_model(update, data, columns, reading, shown, output)
        return
    screen = Screen(shown.as_json, shown.quiet)
    check_wishes(wishes)
    check_process(wishes, search, columns.weights, measuring.threshold)
    place = output or Path(f"{stem(data)}.mercer")
    if columns.task == "rank":
        from mercer.cli.rank_task import check_rank, train_ranker

        others = {
            "--search": search,
            "--updatable": updatable,
            "--report": report,
            "--keep-partial": keep_partial,
        }
        check_rank(wishes, items, measuring, others)
        train_ranker(data, group, columns, wishes, measuring, reading, shown, place, force)
        return
    if group is not None:
        raise UserError("--group names the queries of --task rank")
    for path in (place,) if report is None else (place, report):
        check_place(path)
    learning = learning_table(data, columns, reading, screen, wishes.kernel)
    if learning.ordered and (search or measuring.threshold is not None):
        option = "--search" if search else "--threshold"
        raise UserError(f"--task ordinal does not support {option}: use --task classify")
    replaced = replaced_words(place, learning.table.target_name if learning.y is not None else None, force)
    machine, decided = make_for(learning, wishes, items)
    if updatable:
        machine = keeping_rows(machine)
    decided += slow_words(wishes, learning.table.n_rows)
    if learning.task == "classify" and measuring.scoring is None:
        decided += [words for words in [chosen_scoring(learning.y, True, learning.weight)[1]] if words]
    for words in [one for one in decided if not search or "=" not in one] + replaced:
        screen.say(words)
    plan = Plan(learning.task, **asdict(measuring))
    trainer = Trainer(plan, learning.X, learning.y, learning.weight, screen, keep_partial, learning.novel)
    run = _measured(learning, learning.preparation.pipeline(machine), trainer, search)
    for words in run.warnings:
        screen.warn(words)
    _write(run, trainer, learning, place, report)
    _show(run, trainer, learning, decided, place, report, screen)
    if trainer.interrupted:
        end_partial(f"{' and '.join(trainer.interrupted)} ended early; partial results are in {place}")


def _measured(learning: LearningTable, model: object, trainer: Trainer, search: bool) -> Run:
    """Search if asked to, measure, and fit on all rows."""
    from mercer.cli.parameter_search import search_settings
    from mercer.cli.row_splits import split_rows

    split = split_rows(trainer.plan, learning.table.n_rows, learning.y)
    chosen = None
    if search:
        model, chosen = search_settings(model, trainer, split[0], trainer.screen)
    return trainer.run(model, split, chosen)


def _write(run: Run, trainer: Trainer, learning: LearningTable, place: Path, report: Path | None) -> None:
    """Write the model and the page: both of them, or none."""
    import mercer
    from mercer.cli.train_results import report_page
    from mercer.cli.whole_files import whole_file

    page = None if report is None else report_page(run, trainer, learning)
    with ExitStack() as files:
        part = files.enter_context(whole_file(place))
        name = None if learning.y is None else learning.table.target_name
        mercer.save(run.model, part, X=trainer.X, y=learning.y, sample_weight=learning.weight, target=name)
        if page is not None and report is not None:
            page.save(files.enter_context(whole_file(report)))


def _show(
    run: Run,
    trainer: Trainer,
    learning: LearningTable,
    decided: list[str],
    place: Path,
    report: Path | None,
    screen: Screen,
) -> None:
    from mercer.cli.train_results import result_rows, train_document

    n = learning.table.n_rows
    rows = [*result_rows(run, trainer.plan, n, learning.y), ("model", f"{place}, fitted on all {n} rows")]
    if report is not None:
        rows.append(("report", str(report)))
    screen.gap()
    if not screen.quiet:
        screen.pairs(rows)  # type: ignore[arg-type]
    screen.finish(train_document(run, learning, decided, place, report))


def stem(data: str) -> str:
    """Return the name of a model file without its ending: in the current folder, named after the data."""
    name = "model" if data == "-" else Path(data).name
    return re.sub(r"(\.[A-Za-z]+)?(\.gz)?$", "", name) or "model"
