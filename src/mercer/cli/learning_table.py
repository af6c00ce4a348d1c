"""A table made ready to learn from: read, its task chosen, its preparation planned, its oddities told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.cli.data_warnings import doubtful_columns
from mercer.cli.input_tables import read_table, split_weights, words_of_names
from mercer.cli.item_columns import ItemColumn, item_column, only_items
from mercer.cli.option_groups import Columns, Reading
from mercer.cli.options import TASKS
from mercer.cli.preparation import prepare_table
from mercer.cli.screen import Screen
from mercer.cli.task_choice import TaskName, choose_task, known_novelties, novelty_words, told
from mercer.cli.user_error import UserError
from mercer.io import Table
from mercer.selection.preparation import Prepared


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
    preparation : Prepared
        The features and the steps before the machine.
    doubts : list of str
        What was warned of.
    novel : ndarray of bool or None
        Which rows are known to be novel, for novelty detection.
    items : ItemColumn or None
        Where the items are that a kernel compares; None for a table of numbers and kinds.
    ordered : bool
        Whether the classes have an order.
    """

    table: Table
    weight: np.ndarray | None
    task: TaskName
    y: np.ndarray | None
    preparation: Prepared
    doubts: list[str]
    novel: np.ndarray | None = None
    items: ItemColumn | None = None
    ordered: bool = False

    @property
    def X(self) -> Any:  # noqa: N802
        """The features as they are given to fit."""
        return self.preparation.X


def learning_table(
    data: str, columns: Columns, reading: Reading, screen: Screen, kernel: str = "rbf"
) -> LearningTable:
    """Read a table and say what it is, what is learned from it and what is done to it."""
    if columns.task not in TASKS:
        raise UserError(f"--task {columns.task} is invalid; choose one of {', '.join(TASKS)}")
    if columns.task == "rank":
        raise UserError("--task rank is for mercer train")
    table = read_table(data, columns.target, reading, columns.exclude)
    table, weight = split_weights(table, columns.weights)
    task, why = choose_task(table, columns.task)
    ordered = columns.task == "ordinal"
    screen.say(told(table, "ordinal" if ordered else task, why))
    for words in words_of_names(table, reading):
        screen.say(words)
    column = item_column(table, kernel)
    if column is None:
        preparation = prepare_table(table, columns.scale, columns.impute, columns.dates)
    else:
        table, preparation = only_items(table, column)
    for words in preparation.said:
        screen.say(words)
    doubts = doubtful_columns(table, task) if column is None else []
    for words in doubts:
        screen.warn(words)
    if task != "novelty":
        return LearningTable(table, weight, task, table.y, preparation, doubts, items=column, ordered=ordered)
    novel = known_novelties(table.y)
    if novel is not None:
        screen.say(novelty_words(table.y, novel, table.target_name))
    return LearningTable(table, weight, task, None, preparation, doubts, novel, column)
