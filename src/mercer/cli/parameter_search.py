"""Choosing parameters, on the rows that are not held out."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.cli.learning_table import learning_table
from mercer.cli.machine_options import check_wishes, make_for
from mercer.cli.option_groups import Columns, ItemWishes, MachineWishes, Reading
from mercer.cli.row_splits import Plan, fold_pairs, take
from mercer.cli.screen import Screen
from mercer.cli.trainer import Trainer
from mercer.cli.user_error import UserError
from mercer.selection.scoring import score_words


def supervised(
    data: str, columns: Columns, reading: Reading, wishes: MachineWishes, plan: Plan, screen: Screen
) -> tuple[Any, Trainer]:
    """Return an unfitted pipeline for a table with a target, and what fits it: how searches begin."""
    check_wishes(wishes)
    learning = learning_table(data, columns, reading, screen, wishes.kernel)
    if learning.task == "novelty":
        raise UserError("a search needs a target")
    if learning.ordered:
        raise UserError("--task ordinal has no search: use scikit-learn's GridSearchCV(OrdinalSVC(), ...)")
    machine, decided = make_for(learning, wishes, ItemWishes())
    for words in decided if learning.task == "classify" else []:
        screen.say(words)
    plan = replace(plan, task=learning.task)
    trainer = Trainer(plan, learning.X, learning.y, learning.weight, screen)
    return learning.preparation.pipeline(machine), trainer


def searched(model: Any, trainer: Trainer, rows: np.ndarray, screen: Screen, **options: Any) -> Any:
    """Return the fitted search over a pipeline's default grid, on some rows."""
    from mercer.selection import SVCSearch, SVRSearch

    task = trainer.plan.task
    if task == "novelty":
        raise UserError("a search needs a target; novelty detection has none")
    kind: Any = SVCSearch if task == "classify" else SVRSearch
    place = {int(row): k for k, row in enumerate(rows)}
    pairs = fold_pairs(trainer.plan, rows, trainer.y)
    if not pairs:
        raise UserError("a search needs folds: give --folds 5 and at least two rows of each class")
    folds = [(np.array([place[int(r)] for r in a]), np.array([place[int(r)] for r in b])) for a, b in pairs]
    on_interrupt = "keep" if trainer.keep_partial else "raise"
    options = {"scoring": trainer.plan.scoring} | options
    search = kind(estimator=clone(model), cv=folds, refit=False, on_interrupt=on_interrupt, **options)
    assert trainer.y is not None
    with (
        warnings.catch_warnings(record=True) as found,
        screen.steps(None) as steps,
        steps.searching(),
    ):
        warnings.simplefilter("always")
        steps.now("settings and folds")
        search.fit(take(trainer.X, rows), trainer.y[rows], sample_weight=trainer.weight_of(rows))
    for warning in found:
        trainer.caught[str(warning.message)] = None
    return search


@dataclass(frozen=True)
class RankedSettings:
    """The best settings of a search, best first.

    Attributes
    ----------
    results : dict
        ``cv_results_`` of the search.
    order : sequence of int
        Which settings, best first.
    best_params : dict
        The choice.
    """

    results: dict[str, Any]
    order: Sequence[int]
    best_params: dict[str, Any]

    @property
    def best(self) -> dict[str, Any]:
        """The choice, under the names of the options."""
        return {plain_name(name): value for name, value in self.best_params.items()}

    def grid(self) -> tuple[list[str], list[list[str]], range]:
        """Return the table: its head, its rows, and which columns are numbers."""
        names = list(self.results["params"][0])
        head = ["", *(plain_name(name) for name in names), "score", "± standard error"]
        body = []
        for k in self.order:
            params, error = self.results["params"][k], self.results["standard_error"][k]
            body.append(
                [
                    "chosen" if params == self.best_params else "",
                    *(f"{params[name]:.4g}" for name in names),
                    f"{self.results['mean_test_score'][k]:.4f}",
                    f"{error:.4f}" if np.isfinite(error) else "",
                ]
            )
        return head, body, range(1, len(head))

    def documents(self) -> list[dict[str, Any]]:
        """Return the settings for JSON."""
        return [
            {
                **{plain_name(name): value for name, value in self.results["params"][k].items()},
                "score": self.results["mean_test_score"][k],
                "standard_error": self.results["standard_error"][k],
            }
            for k in self.order
        ]


def ranked_settings(search: Any, top: int) -> RankedSettings:
    """Return the best settings of a fitted search, and the chosen one if that is none of them."""
    means = np.nan_to_num(search.cv_results_["mean_test_score"], nan=-np.inf)
    order = [int(k) for k in np.argsort(-means, kind="stable")[:top]]
    if search.best_index_ not in order:  # a simpler tie further down
        order.append(int(search.best_index_))
    return RankedSettings(search.cv_results_, order, search.best_params_)


def plain_name(name: str) -> str:
    """Return a parameter without the pipeline's step."""
    return name.removeprefix("machine__")


def search_settings(model: Any, trainer: Trainer, rows: np.ndarray, screen: Screen) -> tuple[Any, float]:
    """Return the pipeline with the parameters that a search found, and its score."""
    screen.say(f"searching, using {rows.size} rows ...")
    search = searched(model, trainer, rows, screen)
    if search.status_ == "interrupted":
        trainer.interrupted.append("the search")
    best = ", ".join(f"{plain_name(k)} = {_short(v)}" for k, v in search.best_params_.items())
    count = len(search.cv_results_["params"])
    how = "" if trainer.weight is None else ", rows counted by their weights"
    top = search.cv_results_["mean_test_score"][search.best_candidate_index_]
    error = float(search.cv_results_["standard_error"][search.best_candidate_index_])
    tied = (
        f"; the best score, {top:.3g} ± {error:.1g}, is within one standard error"
        if top > search.best_score_
        else ""
    )
    name = score_words(search.scoring_)
    screen.say(f"chosen from {count} settings: {best} ({name} {search.best_score_:.3g}{how}{tied})")
    return clone(model).set_params(**search.best_params_), float(search.best_score_)


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)
