"""Train a certified classifier of handwritten digits: choose C and gamma, fit, prove, score on unseen rows.

Run it by ``make demo``, or by ``python examples/demo.py`` where mercer and rich are installed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import ParameterGrid, StratifiedKFold, train_test_split

import mercer
from mercer.problems import Certificate

try:
    from rich import box
    from rich.console import Console
    from rich.panel import Panel
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.table import Table
    from rich.text import Text
except ImportError as error:
    raise SystemExit(f"The demo draws with rich ({error}). Install it with: pip install '.[cli]'") from None

GRID = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.01, 0.03, 0.1, 0.3]}
FOLDS = 3
SEED = 0


def main() -> None:
    console = Console(highlight=False)
    started = time.perf_counter()
    X, y = load_digits(return_X_y=True)
    X = X / 16.0  # pixels from 0 to 1
    X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=1000, stratify=y, random_state=SEED)
    console.print(f"[bold]mercer {mercer.__version__}[/]: a support vector machine with a proof\n")
    console.print(
        f"{len(y)} handwritten digits of 8 × 8 pixels: {len(y_train)} to learn from, {len(y_test)} held out"
    )

    compile_loops(console, X_train, y_train)
    scores = search(console, X_train, y_train)
    show_scores(console, scores)
    C, gamma = max(scores, key=lambda key: scores[key])

    with console.status("fitting all training rows until the gap is at most 0.1 % ..."):
        model = mercer.SVC(C=C, gamma=gamma, criterion="gap", tol=1e-3).fit(X_train, y_train)
        again = model.certify(X_train, y_train)
    right = int((model.predict(X_test) == y_test).sum())
    console.print(result(model, again, right, len(y_test)))
    seconds = time.perf_counter() - started
    console.print(f"[dim]{seconds:.0f} s in all. The script is examples/demo.py; next: README.md.[/]")


def compile_loops(console: Console, X: np.ndarray, y: np.ndarray) -> None:
    """Fit a few rows, so that the search's time left is not that of the compiler."""
    with console.status("compiling the inner loops, once per machine ..."):
        mercer.SVC().fit(X[:200], y[:200]).predict(X[:10])


def search(console: Console, X: np.ndarray, y: np.ndarray) -> dict[tuple[float, float], float]:
    """Return the mean accuracy over the folds for each (C, gamma)."""
    settings = list(ParameterGrid(GRID))
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(X, y))
    scores = {}
    for setting in progress(console, settings, fits_each=FOLDS):
        accuracies = []
        for train, test in folds:
            model = mercer.SVC(C=setting["C"], gamma=setting["gamma"]).fit(X[train], y[train])
            accuracies.append(model.score(X[test], y[test]))
        scores[setting["C"], setting["gamma"]] = float(np.mean(accuracies))
    return scores


def progress(
    console: Console, settings: list[dict[str, float]], fits_each: int
) -> Iterator[dict[str, float]]:
    """Yield the settings behind a bar with the time left; in a pipe, behind one line of text."""
    total = len(settings) * fits_each
    if not console.is_terminal:
        console.print(f"Choosing C and gamma by {fits_each}-fold cross-validation: {total} fits")
        yield from settings
        return
    columns = (
        TextColumn("Choosing C and gamma"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("fits,"),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("", total=total)
        for setting in settings:
            yield setting
            bar.advance(task, fits_each)


def show_scores(console: Console, scores: dict[tuple[float, float], float]) -> None:
    best = max(scores, key=lambda key: scores[key])
    table = Table(box=box.SIMPLE_HEAD, header_style="dim", padding=(0, 2))
    table.add_column("accuracy, %", style="dim")
    for gamma in GRID["gamma"]:
        table.add_column(f"gamma {gamma:g}", justify="right")
    for C in GRID["C"]:
        row = [Text(f"C {C:g}")]
        for gamma in GRID["gamma"]:
            chosen = (C, gamma) == best
            percent = f"{100 * scores[C, gamma]:.1f}"
            row.append(Text(f"best {percent}", "bold green") if chosen else Text(percent))
        table.add_row(*row)
    console.print(table)


def result(model: mercer.SVC, again: Certificate, right: int, rows: int) -> Panel:
    c = model.certificate_
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column()
    grid.add_row("chosen", f"C = {model.C:g}, gamma = {model.gamma:g}")
    grid.add_row("held-out accuracy", f"[bold green]{100 * right / rows:.1f} %[/] ({right} of {rows} digits)")
    grid.add_row("support vectors", f"{model.support_.size} of {model.shape_fit_[0]} rows")
    grid.add_row()
    grid.add_row("certificate", f"[bold]{c}[/]")
    grid.add_row("  primal value", f"{c.primal:>9.4f}  what this machine costs")
    grid.add_row("  dual value", f"{c.dual:>9.4f}  less than this no machine can cost")
    grid.add_row("  gap", f"{c.gap:>9.4f}  over {len(c.parts)} pairs of digits, {c.n_iter} steps")
    grid.add_row("  KKT violation", f"{c.kkt_violation:>9.4f}  at most")
    grid.add_row("  recomputed gap", f"{again.gap:>9.4f}  from nothing but the model and the data")
    return Panel(grid, title="Result", title_align="left", expand=False, padding=(1, 2))


if __name__ == "__main__":
    main()
