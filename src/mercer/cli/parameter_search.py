"""Choosing parameters, on the rows that are not held out."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.cli.exits import UserError
from mercer.cli.screen import Screen
from mercer.cli.trainer import Trainer, fold_pairs, take


def searched(model: Any, trainer: Trainer, rows: np.ndarray, screen: Screen, **options: Any) -> Any:
    """Return the fitted search over a pipeline's default grid, on some rows."""
    from mercer.selection import SVCSearch, SVRSearch

    task = trainer.plan.task
    if task == "novelty":
        raise UserError("a search needs a target to judge by: there is none for novelty detection")
    kind: Any = SVCSearch if task == "classify" else SVRSearch
    place = {int(row): k for k, row in enumerate(rows)}
    pairs = fold_pairs(trainer.plan, rows, trainer.y)
    if not pairs:
        raise UserError("a search needs folds: give --folds 5, and at least two rows of each class")
    folds = [(np.array([place[int(r)] for r in a]), np.array([place[int(r)] for r in b])) for a, b in pairs]
    search = kind(estimator=clone(model), cv=folds, refit=False, **options)
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


def plain_name(name: str) -> str:
    """Return a parameter without the pipeline's step."""
    return name.removeprefix("machine__")


def search_settings(model: Any, trainer: Trainer, rows: np.ndarray, screen: Screen) -> tuple[Any, float]:
    """Return the pipeline with the parameters that a search found, and its score."""
    screen.say(f"searching on {rows.size} rows ...")
    search = searched(model, trainer, rows, screen)
    best = ", ".join(f"{plain_name(k)} = {_short(v)}" for k, v in search.best_params_.items())
    count = len(search.cv_results_["params"])
    how = "" if trainer.weight is None else ", rows counted by their weights"
    screen.say(f"chosen among {count} settings: {best} (score {search.best_score_:.4g}{how})")
    return clone(model).set_params(**search.best_params_), float(search.best_score_)


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)
