"""``mercer play``: the local page to play on."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from mercer.cli import options as o
from mercer.cli.option_groups import Columns, Reading, spread
from mercer.cli.screen import Screen

if TYPE_CHECKING:
    from mercer.play import FileRows

File = Annotated[
    Optional[str],  # noqa: UP045 - typer reads it at run time
    typer.Argument(metavar="[DATA]", help="A table to look at with kernel PCA.", show_default=False),
]
Port = Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 for any free one.", min=0, max=65535)]
Browser = Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")]


@spread
def play(
    columns: Columns,
    reading: Reading,
    data: File = None,
    port: Port = 0,
    browser: Browser = True,
    quiet: o.Quiet = False,
) -> None:
    """Open a local page: draw points, choose an estimator, watch boundary, margin and certificate."""
    from mercer.io.extras import require

    require("bokeh", "play", "mercer play")
    from mercer.play import serve

    screen = Screen(quiet=quiet)
    rows = None if data is None else _rows(data, columns, reading, screen)

    def ready(address: str) -> None:
        typer.echo(f"The page is at {address} (this computer only). Press Ctrl-C to stop.")
        if browser:
            webbrowser.open(address)

    try:
        serve(Path.cwd(), rows, port, ready)
    except KeyboardInterrupt:  # how a person ends it
        screen.say("stopped")


def _rows(data: str, columns: Columns, reading: Reading, screen: Screen) -> FileRows:
    """Return the table as the page needs it: prepared features, target, what to show of each row."""
    from mercer.cli.learning_table import learning_table
    from mercer.cli.row_splits import take
    from mercer.cli.user_error import UserError
    from mercer.play.file_rows import FileRows, row_text, sample_rows

    learning = learning_table(data, columns, reading, screen)
    if learning.items is not None:
        what = learning.items.what
        raise UserError(f"mercer play shows tables of numbers and categories; this file holds {what}")
    X, n = learning.X, int(learning.X.shape[0])
    kept = sample_rows(n)
    steps = learning.preparation.pipeline("passthrough")[:-1]
    ready = steps.fit_transform(X) if len(steps) else X
    shown = take(X, kept)
    names = [str(c) for c in getattr(X, "columns", [f"x{j}" for j in range(X.shape[1])])]
    cells = shown.to_numpy() if hasattr(shown, "to_numpy") else _dense(shown)
    told = [row_text(int(k), names, list(values)) for k, values in zip(kept, cells, strict=True)]
    target = None if learning.y is None else list(learning.y[kept])
    return FileRows(Path(data).name, take(ready, kept), target, told, n - kept.size)


def _dense(part: Any) -> Any:
    return part.toarray() if hasattr(part, "toarray") else part
