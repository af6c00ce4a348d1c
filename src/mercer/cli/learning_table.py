"""A table made ready to learn from: read, its task chosen, its preparation planned, its oddities told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.cli.data_warnings import doubtful_columns
from mercer.cli.input_tables import read_table, split_weights, words_of_names
from mercer.cli.option_groups import Columns, Reading
from mercer.cli.options import TASKS
from mercer.cli.preparation import Preparation, features_of, prepare
from mercer.cli.screen import Screen
from mercer.cli.task_choice import TaskName, choose_task, told
from mercer.cli.user_error import UserError
from mercer.io import Table


@dataclass(frozen=True)
class LearningTable:
    """What a command learns from.

    Attributes
    ----------
    table : Table
        As it was read, without the excluded columns and the weights.
    weight : ndarray or None
        The rows' weights.
    task : str
        What is learned.
    y : ndarray or None
        The targets; None for novelty detection.
    preparation : Preparation
        The steps before the machine.
    doubts : list of str
        What was warned of.
    """

    table: Table
    weight: np.ndarray | None
    task: TaskName
    y: np.ndarray | None
    preparation: Preparation
    doubts: list[str]

    @property
    def X(self) -> Any:  # noqa: N802
        """The features as they are given to fit."""
        return features_of(self.table)


def learning_table(data: str, columns: Columns, reading: Reading, screen: Screen) -> LearningTable:
    """Read a table and say what it is, what is learned from it and what is done to it."""
    if columns.task not in TASKS:
        raise UserError(f"--task {columns.task} is not known; it must be one of {', '.join(TASKS)}")
    table = read_table(data, columns.target, reading, columns.exclude)
    table, weight = split_weights(table, columns.weights)
    task, why = choose_task(table, columns.task)
    screen.say(told(table, task, why))
    for words in words_of_names(table, reading):
        screen.say(words)
    preparation = prepare(table, columns.scale, columns.impute)
    for words in preparation.said:
        screen.say(words)
    doubts = doubtful_columns(table, task)
    for words in doubts:
        screen.warn(words)
    return LearningTable(table, weight, task, None if task == "novelty" else table.y, preparation, doubts)
