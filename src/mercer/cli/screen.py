"""What is shown: tables and progress for people, JSON for machines, plain text for pipes."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table

TONES = {"good": "green", "fair": "yellow", "poor": "red", "": ""}


class Steps:
    """Counts the steps of a long work; without a screen it only counts."""

    def __init__(self, progress: Progress | None, total: int | None) -> None:
        self._progress = progress
        self._done = 0.0
        self._task = None if progress is None else progress.add_task("", total=total)

    def now(self, words: str) -> None:
        """Say what is being done."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, description=words)

    def done(self, count: int = 1) -> None:
        """Count steps that are done."""
        self._done += count
        self.part(0.0)

    def part(self, share: float) -> None:
        """Say how much of the next step is done: 0 to 1."""
        self.at(self._done + share)

    def at(self, done: float, total: int | None = None) -> None:
        """Say how many steps are done, parts of them included, and how many there are if that is new."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=done, total=total)

    @contextmanager
    def fitting(self) -> Iterator[None]:
        """Let the fits inside the block move the bar as they come nearer to their tolerance."""
        if self._progress is None:  # nobody looks: the solvers need not
            yield
            return
        from mercer.solvers.completion import waiting

        with waiting(self.part):
            yield

    @contextmanager
    def searching(self) -> Iterator[None]:
        """Let the search inside the block move the bar."""
        if self._progress is None:
            yield
            return
        from mercer.selection.progress import listening

        with listening(self.at):
            yield


class Screen:
    """Standard output for results, standard error for everything on the way.

    Parameters
    ----------
    as_json : bool
        Results as one JSON document, nothing else.
    quiet : bool
        Nothing on the way.
    """

    def __init__(self, as_json: bool = False, quiet: bool = False) -> None:
        self.as_json = as_json
        self.quiet = quiet or as_json
        self.out = Console(highlight=False)
        self.err = Console(stderr=True, highlight=False)
        self.notes: list[str] = []

    def say(self, text: str) -> None:
        """Tell what is done, on standard error."""
        self.notes.append(text)
        if not self.quiet:
            self._print(self.err, text, "dim" if self.err.is_terminal else "")

    def warn(self, text: str) -> None:
        """Tell what should not be overlooked."""
        self.notes.append(text)
        if not self.as_json:
            self._print(self.err, f"warning: {text}", "yellow")

    @staticmethod
    def _print(console: Console, text: str, style: str) -> None:
        # A pipe gets whole lines: who reads it wraps them.
        console.print(escape(text), style=style or None, soft_wrap=not console.is_terminal)

    def pairs(self, rows: Iterable[tuple[str, str] | tuple[str, str, str]]) -> None:
        """Show names and values, one a line; a third entry is the value's tone."""
        if self.as_json:
            return
        found = [(row[0], row[1], row[2] if len(row) > 2 else "") for row in rows]
        if not self.out.is_terminal:
            width = max((len(name) for name, _, _ in found), default=0)
            for name, value, _ in found:
                sys.stdout.write(f"{name:<{width}}  {value}\n")
            return
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        table.add_column(style="bold", no_wrap=True)
        table.add_column(overflow="fold")
        for name, value, tone in found:
            colour = TONES[tone]
            table.add_row(escape(name), f"[{colour}]{escape(value)}[/]" if colour else escape(value))
        self.out.print(table)

    def grid(self, head: Sequence[str], rows: Iterable[Sequence[Any]], numbers: Sequence[int] = ()) -> None:
        """Show a table; the columns in ``numbers`` are flush right."""
        if self.as_json:
            return
        text = [[str(cell) for cell in row] for row in rows]
        if not self.out.is_terminal:
            self._plain_grid([list(head), *text], set(numbers))
            return
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
        for k, name in enumerate(head):
            table.add_column(escape(name), justify="right" if k in numbers else "left", overflow="fold")
        for row in text:
            table.add_row(*(escape(cell) for cell in row))
        self.out.print(table)

    @staticmethod
    def _plain_grid(rows: list[list[str]], right: set[int]) -> None:
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        for row in rows:
            cells = [
                cell.rjust(widths[k]) if k in right else cell.ljust(widths[k]) for k, cell in enumerate(row)
            ]
            sys.stdout.write("  ".join(cells).rstrip() + "\n")

    def title(self, text: str) -> None:
        """Show a heading."""
        if not self.as_json:
            self._print(self.out, text, "bold" if self.out.is_terminal else "")

    def gap(self) -> None:
        """Leave a line free between what was said and the result, where both are on one screen."""
        if self.out.is_terminal and self.err.is_terminal and not self.quiet:
            self.out.print()

    def line(self, text: str = "") -> None:
        """Show a line of the result."""
        if not self.as_json:
            self._print(self.out, text, "")

    def finish(self, document: dict[str, Any]) -> None:
        """Write the result for machines, where that was asked for."""
        if self.as_json:
            sys.stdout.write(json.dumps(plain(document), indent=2, ensure_ascii=False) + "\n")

    @property
    def shows_steps(self) -> bool:
        """Whether anybody looks at how far a work has come."""
        return not self.quiet and self.err.is_terminal

    @contextmanager
    def steps(self, total: int | None) -> Iterator[Steps]:
        """Show how far a work of some steps has come and how long the rest will take, if someone looks."""
        if not self.shows_steps:
            yield Steps(None, total)
            return
        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TaskProgressColumn() if total == 1 else MofNCompleteColumn(),
            TextColumn("time left"),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=self.err, transient=True) as progress:
            yield Steps(progress, total)


def plain(value: Any) -> Any:
    """Return a value as JSON knows it; what is not a finite number becomes null."""
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain(inner) for inner in value]
    if hasattr(value, "tolist") and not isinstance(value, str):  # NumPy's arrays and numbers
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (str, int, bool)):
        return value
    return str(value)
