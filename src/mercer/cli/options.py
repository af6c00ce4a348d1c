"""The options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

DATA = "CSV, Parquet, Feather, LIBSVM/svmlight, ARFF, NPZ, gzip of any; - for standard input; or a data set "
DATA += "that comes with scikit-learn: iris, wine, breast_cancer, digits, diabetes"

# Known here, so that help and completion need not load what does the work.
KERNELS = ("rbf", "linear", "poly", "sigmoid", "laplacian")
IMPUTE = ("median", "mean", "most_frequent", "zero")

FORMAT = "How to read the data"
MACHINE = "The machine"
MEASURE = "How to measure"
SHOWN = "What is shown and written"

Data = Annotated[str, typer.Argument(metavar="DATA", help=DATA, show_default=False)]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.", show_default=False)]
Target = Annotated[
    str,
    typer.Option(
        help="The column to predict: its name, its number from 0, last, first or none.",
        rich_help_panel=FORMAT,
    ),
]
Exclude = Annotated[
    Optional[list[str]],  # noqa: UP045 - typer reads it at run time
    typer.Option(help="A column to leave out; may be given often.", rich_help_panel=FORMAT),
]
Weights = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(help="The column with the rows' weights.", rich_help_panel=FORMAT),
]
Format = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--format", help="csv, parquet, feather, svmlight, arff or npz.", rich_help_panel=FORMAT),
]
Header = Annotated[
    Optional[bool],  # noqa: UP045
    typer.Option(
        "--header/--no-header",
        help="Whether the first row of a CSV file holds names.",
        rich_help_panel=FORMAT,
        show_default="found out",
    ),
]
Separator = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        help="What separates the cells of a CSV file.", rich_help_panel=FORMAT, show_default="found out"
    ),
]
Decimal = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(help="The decimal point of a CSV file.", rich_help_panel=FORMAT, show_default="found out"),
]
Encoding = Annotated[
    str,
    typer.Option(
        help="How the letters of a text file are written, such as cp1252 or latin-1.", rich_help_panel=FORMAT
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document.", rich_help_panel=SHOWN)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No words on the way.", rich_help_panel=SHOWN)]
