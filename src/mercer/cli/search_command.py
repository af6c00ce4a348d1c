"""``mercer search``: which parameters are good."""

from __future__ import annotations

import shlex
from typing import Any

from mercer.cli import options as o
from mercer.cli.exits import end_partial
from mercer.cli.option_groups import Columns, MachineWishes, Reading, Shown, spread
from mercer.cli.screen import Screen
from mercer.cli.user_error import UserError


@spread
def search(
    data: o.Data,
    columns: Columns,
    reading: Reading,
    shown: Shown,
    kernel: o.Kernel = "rbf",
    method: o.Method = "kfold",
    simplest: o.Simplest = True,
    scoring: o.Scoring = None,
    tolerance: o.Tolerance = None,
    top: o.Top = 10,
    folds: o.Folds = 5,
    seed: o.Seed = 0,
    time_limit: o.TimeLimit = None,
    jobs: o.Jobs = None,
    keep_partial: o.KeepPartial = False,
) -> None:
    """Search a grid of parameters by cross-validation and show the best settings."""
    from mercer.cli.parameter_search import ranked_settings, searched, supervised
    from mercer.cli.row_splits import Plan
    from mercer.selection.scoring import score_words

    screen = Screen(shown.as_json, shown.quiet)
    wishes = MachineWishes(kernel=kernel, jobs=jobs)
    plan = Plan("classify", 0.0, folds, seed, scoring=scoring)
    model, trainer = supervised(data, columns, reading, wishes, plan, screen)
    trainer.keep_partial = keep_partial
    options = _options(trainer.plan.task, method, simplest, tolerance, time_limit)
    found = searched(model, trainer, trainer.every_row, screen, **options)
    for words in trainer.caught:
        screen.warn(words)
    ranked = ranked_settings(found, top)
    screen.say(f"scored by {score_words(found.scoring_)}")
    screen.grid(*ranked.grid())
    flags = [word for name, value in ranked.best.items() for word in (f"--{name}", f"{value:.6g}")]
    flags += [] if kernel == "rbf" else ["--kernel", kernel]
    words = shlex.join(["mercer", "train", data, *columns.flags(), *flags, *reading.flags()])
    screen.line(f"train with this setting: {words}")
    screen.finish(
        {
            "command": "search",
            "method": method,
            "scoring": found.scoring_ if isinstance(found.scoring_, str) else None,
            "status": found.status_,
            "settings": len(found.cv_results_["params"]),
            "best": ranked.best,
            "best_score": float(found.best_score_),
            "results": ranked.documents(),
        }
    )
    if found.status_ == "interrupted":
        end_partial("this is the best of the settings tried so far")


def _options(
    task: str, method: str, simplest: bool, tolerance: float | None, time_limit: float | None
) -> dict[str, Any]:
    """Return the parameters of the search."""
    select = "one_standard_error" if simplest else "best"
    options: dict[str, Any] = {"method": method, "time_limit": time_limit, "select": select}
    if task == "regress":
        if method == "bound" and tolerance is None:
            raise UserError("--method bound needs --tolerance, the size of an error that matters")
        options["tolerance"] = tolerance
    elif tolerance is not None:
        raise UserError("--tolerance is for regression; this task is classify")
    return options
