"""``mercer explain``: which columns and training rows carry a prediction, and what would change it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mercer.cli import options as o
from mercer.cli.model_commands import same_kind, warn_of_texts
from mercer.cli.option_groups import Reading, spread
from mercer.cli.screen import Screen
from mercer.cli.user_error import UserError

if TYPE_CHECKING:
    from mercer.cli.model_files import Loaded
    from mercer.cli.row_explanation import RowExplanation
    from mercer.io import Table

MOST_ROWS = 1000  # that importance is measured on
REPEATS = 10  # shuffles of each column
SHOWN = 15  # columns in a table; a JSON document has all
CARRIERS = 8  # training rows in a table


@spread
def explain(
    model: o.Model,
    data: o.Data,
    reading: Reading,
    row: o.ExplainedRow = None,
    to: o.Wanted = None,
    change: o.Change = None,
    target: o.Target = "last",
    seed: o.Seed = 0,
    as_json: o.Json = False,
) -> None:
    """Explain a model: the importance of its columns, or with --row why a row gets its prediction."""
    from mercer.cli.model_files import load_model, read_for

    screen = Screen(as_json)
    loaded = load_model(model)
    kernel = getattr(loaded.machine, "kernel_", None)
    if kernel is not None and not getattr(kernel, "is_vector", True):
        raise UserError(f"{model} compares whole items, not columns: use mercer.inspect.feature_weights")
    if row is None and (to is not None or change):
        raise UserError("--to and --change are about the counterfactual of a row: give --row NUMBER")
    X, table = read_for(loaded, data, target if row is None else _ignored(loaded, target), reading)
    warn_of_texts(loaded.strangers(table), screen)
    seen = loaded.learned_from(X)
    X = X.toarray() if hasattr(X, "toarray") else X
    if row is None:
        _importance(loaded, X, table, seen, seed, screen)
        return
    if row >= table.n_rows:
        raise UserError(f"--row {row}: {table.source} has {table.n_rows} rows, counted from 0")
    from mercer.cli.row_explanation import explain_row

    with screen.steps(1) as steps:
        steps.now("columns, training rows, counterfactual")
        found = explain_row(loaded, X, table, row, to, change, seed)
    _show_row(found, seen, screen)


def _ignored(loaded: Loaded, target: str) -> str:
    """Return the target to read a file with whose target need not be there: none where names are known."""
    return "none" if loaded.names is not None else target


def _importance(loaded: Loaded, X: Any, table: Table, seen: bool, seed: int, screen: Screen) -> None:
    import numpy as np

    from mercer.inspect import permutation_importance
    from mercer.inspect.tables import Table as Columns

    if loaded.kind == "detector":
        raise UserError("a novelty detector has no errors to compare: give --row NUMBER to explain one row")
    if table.y is None:
        raise UserError("importance needs the true values: give --target COLUMN, or --row NUMBER for one row")
    y = np.asarray(table.y)
    if loaded.kind == "classifier":
        y = same_kind(y, loaded.machine.classes_, table.target_name)
    if table.n_rows > MOST_ROWS:
        kept = np.sort(np.random.default_rng(seed).choice(table.n_rows, MOST_ROWS, replace=False))
        X, y = Columns(X).rows(kept), y[kept]
        screen.say(f"measured on {MOST_ROWS} of {table.n_rows} rows, drawn at random")
    if seen:
        screen.warn("the model was trained on these rows: the importance on new rows may differ")
    with screen.steps(1) as steps:
        steps.now("importance")
        found = permutation_importance(loaded.model, X, y, repeats=REPEATS, random_state=seed)
    what = "errors (fraction of rows)" if loaded.kind == "classifier" else "mean squared error"
    names = found.names if table.named else list(table.feature_names)
    order = found.order()
    screen.pairs([("rows", str(len(y))), ("loss", f"{what} {found.loss:.4g}")])
    if not screen.out.is_terminal:
        screen.line()
    body = [
        [names[j], f"{found.mean[j]:.4g}", f"{found.low[j]:.4g} to {found.high[j]:.4g}"]
        for j in order[:SHOWN]
    ]
    screen.grid(["column", "growth of the loss if shuffled", "95 % interval"], body, [1, 2])
    _more(len(order), SHOWN, "columns", screen)
    screen.finish(
        {
            "command": "explain",
            "rows": len(y),
            "trained_on": seen,
            "loss": {"name": what, "value": found.loss},
            "columns": [
                {"name": names[j], "importance": found.mean[j], "low": found.low[j], "high": found.high[j]}
                for j in order
            ],
        }
    )


def _show_row(found: RowExplanation, same_rows: bool, screen: Screen) -> None:
    average = f"{short(found.mean)} on average over {found.background} rows"
    value = f"{short(found.value)} ({average})"
    top = [("row", str(found.row))]
    if found.function == "prediction":
        top.append(("prediction", value))
    else:
        top += [("prediction", short(found.prediction)), (found.function, value)]
    screen.pairs(top)
    _heading("Columns", screen)
    error = any(column["error"] > 0 for column in found.columns)
    slope = any(column["slope"] is not None for column in found.columns)
    head = [
        "column",
        "value",
        "share",
        *(["± standard error"] if error else []),
        *(["slope"] if slope else []),
    ]
    body = []
    for one in found.columns[:SHOWN]:
        line = [one["name"], short(one["value"]), f"{one['share']:+.4g}"]
        line += [f"{one['error']:.2g}"] if error else []
        line += [f"{one['slope']:+.4g}" if one["slope"] is not None else ""] if slope else []
        body.append(line)
    screen.grid(head, body, range(1, len(head)))
    _more(len(found.columns), SHOWN, "columns", screen)
    screen.line(f"The shares add up to the {found.function} less its average.")
    _heading("Training rows", screen)
    if found.carriers:
        if found.between is not None:
            screen.line(f"in the decision between {found.between[0]} and {found.between[1]}")
        body = [
            [str(one["row"]), f"{one['contribution']:+.4g}", f"{one['similarity']:.4g}"]
            for one in found.carriers[:CARRIERS]
        ]
        screen.grid(["training row", "contribution", "similarity"], body, [0, 1, 2])
        _more(len(found.carriers), CARRIERS, "training rows", screen)
        if same_rows:
            screen.line("These are rows of the same file, counted from 0.")
    else:
        screen.line(f"not available: {found.no_carriers}")
    _heading("A close counterfactual", screen)
    if found.changes:
        screen.grid(
            ["column", "from", "to"], [[c["column"], short(c["from"]), short(c["to"])] for c in found.changes]
        )
        screen.line(f"prediction then: {short(found.after)}; another change may be smaller")
    else:
        screen.line(f"not available: {found.no_changes}")
    screen.finish(found.document())


def _heading(text: str, screen: Screen) -> None:
    screen.line()
    screen.title(text)


def _more(count: int, shown: int, what: str, screen: Screen) -> None:
    if count > shown:
        screen.line(f"... and {count - shown} more {what} (all with --json)")


def short(value: Any) -> str:
    """Return a value for a table."""
    import numpy as np

    return f"{value:.5g}" if isinstance(value, (float, np.floating)) else str(value)
