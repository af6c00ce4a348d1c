"""The commands, put together."""

from __future__ import annotations

from typing import Annotated

import typer

from mercer._version import __version__
from mercer.cli import libsvm
from mercer.cli.exit_codes import CODES
from mercer.cli.exits import guarded
from mercer.cli.explain_command import explain
from mercer.cli.model_commands import convert, evaluate, predict, report, show, verify
from mercer.cli.path_command import path
from mercer.cli.play_command import play
from mercer.cli.search_command import search
from mercer.cli.train_command import train
from mercer.cli.update_commands import forget

app = typer.Typer(
    name="mercer",
    help="Kernel machines with certificates: train, evaluate and apply models from files.",
    epilog=f"Exit codes: {CODES}",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

EXAMPLES = {
    "train": (
        "mercer train flowers.csv --target species",
        "mercer train flowers.csv --target species --search --report flowers.html",
        "mercer train houses.parquet --target price --task regress --tolerance 10000",
        "mercer train breast_cancer",
        "mercer train flowers.csv --target species --updatable",
        "mercer train more.csv --target species --update flowers.mercer",
    ),
    "forget": ("mercer forget flowers.mercer --rows 3,17,20-25",),
    "predict": (
        "mercer predict flowers.mercer new.csv -o predicted.csv",
        "cat new.csv | mercer predict flowers.mercer - --proba",
    ),
    "evaluate": ("mercer evaluate flowers.mercer tested.csv --target species",),
    "explain": (
        "mercer explain flowers.mercer tested.csv --target species",
        "mercer explain flowers.mercer new.csv --row 17",
        "mercer explain houses.mercer houses.parquet --row 17 --to 250000 --change garden --change garage",
    ),
    "verify": ("mercer verify flowers.mercer flowers.csv --target species && echo proved",),
    "search": ("mercer search flowers.csv --target species --simplest",),
    "path": ("mercer path breast_cancer --C-max 1000",),
    "show": ("mercer show flowers.mercer", "mercer show flowers.mercer --json"),
    "convert": ("mercer convert flowers.mercer flowers.onnx", "mercer convert old.model new.mercer"),
    "play": ("mercer play", "mercer play flowers.csv --target species"),
    "report": ("mercer report flowers.mercer flowers.csv --target species -o flowers.html",),
}


def _examples(name: str) -> str:
    return "Examples:\n\n" + "\n\n".join(f"  {line}" for line in EXAMPLES[name])


for command in (train, predict, evaluate, explain, verify, forget, show, search, path, convert, report, play):
    app.command(command.__name__, epilog=_examples(command.__name__))(guarded(command))

PASSED_ON = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}


def _tool(name: str, words: str) -> None:
    # The tools are called before this table is ever made; they stand in it for --help and completion.
    def tool(context: typer.Context) -> None:
        raise typer.Exit(libsvm.run(name, context.args))

    tool.__doc__ = words
    app.command(name, context_settings=PASSED_ON, add_help_option=False, rich_help_panel="LIBSVM's tools")(
        tool
    )


_tool("svm-train", "Train with LIBSVM's flags, output and model file.")
_tool("svm-predict", "Predict with a LIBSVM model file.")
_tool("svm-scale", "Scale data in LIBSVM's format.")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mercer {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Kernel machines with certificates: train, evaluate and apply models from files."""


def call(arguments: list[str]) -> int:
    """Run the command; return its exit code."""
    try:
        app(args=arguments, prog_name="mercer")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0
