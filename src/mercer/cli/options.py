"""Every option of the command, defined once.

An option that one command has stands here, too: whoever looks for ``--tolerance`` finds one place.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

# Known here, so that help and completion need not load what does the work; tests hold them against it.
KERNELS = (
    "rbf", "linear", "poly", "sigmoid", "laplacian", "chi2", "additive_chi2", "histogram_intersection",
    "matern", "rational_quadratic", "anova", "spline",
)  # fmt: skip
METHODS = ("kfold", "path", "sv_fraction", "xi_alpha", "span_rule", "span_bound", "alignment", "bound")
FORMATS = ("csv", "parquet", "feather", "svmlight", "arff", "npz")
DATA_SETS = ("iris", "wine", "breast_cancer", "digits", "diabetes")
TASKS = ("auto", "classify", "regress", "novelty")
MODEL_FORMATS = ("mercer", "libsvm", "onnx")
IMPUTE = ("median", "mean", "most_frequent", "zero")

DATA = "CSV, Parquet, Feather, LIBSVM/svmlight, ARFF, NPZ, gzip of any; - for standard input; or a data set "
DATA += f"that comes with scikit-learn: {', '.join(DATA_SETS)}"

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
    typer.Option("--format", help=f"{', '.join(FORMATS)}.", rich_help_panel=FORMAT),
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

# How the data are prepared.
Scale = Annotated[
    bool, typer.Option("--scale/--no-scale", help="Standardise numbers.", rich_help_panel=FORMAT)
]
Impute = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        help=f"Fill in missing values: {', '.join(IMPUTE)}.", rich_help_panel=FORMAT, show_default="refuse"
    ),
]

# The machine.
Task = Annotated[str, typer.Option(help=f"{', '.join(TASKS)}.", rich_help_panel=MACHINE)]
Kernel = Annotated[
    str, typer.Option(help=f"What similar means: {', '.join(KERNELS)}.", rich_help_panel=MACHINE)
]
C = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option("--C", help="Price of errors.", rich_help_panel=MACHINE, show_default="1"),
]
Gamma = Annotated[
    str, typer.Option(help="Width of the kernel: scale, auto or a number.", rich_help_panel=MACHINE)
]
Degree = Annotated[float, typer.Option(help="Of --kernel poly and anova.", rich_help_panel=MACHINE)]
Coef0 = Annotated[float, typer.Option(help="Constant of poly and sigmoid.", rich_help_panel=MACHINE)]
Epsilon = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(help="Errors below it are free (regression).", rich_help_panel=MACHINE),
]
Nu = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(help="Share of errors, instead of C; of novelty: of rows outside.", rich_help_panel=MACHINE),
]
ClassWeight = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(help="balanced: rare classes count as much as common ones.", rich_help_panel=MACHINE),
]
Probability = Annotated[
    bool, typer.Option("--probability", help="Learn probabilities, too.", rich_help_panel=MACHINE)
]
Search = Annotated[
    bool, typer.Option("--search", help="Choose C, gamma and the like.", rich_help_panel=MACHINE)
]
Tol = Annotated[float, typer.Option(help="Tolerance of the solver.", rich_help_panel=MACHINE)]
TimeLimit = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(help="Most seconds for each fit.", rich_help_panel=MACHINE),
]
CacheSize = Annotated[float, typer.Option(help="Memory for kernel values, in MB.", rich_help_panel=MACHINE)]
Jobs = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option("--jobs", help="Threads.", rich_help_panel=MACHINE, show_default="all cores"),
]
CMax = Annotated[float, typer.Option("--C-max", help="Where the path ends.", rich_help_panel=MACHINE)]

# How to measure.
Holdout = Annotated[float, typer.Option(help="Share of the rows that are held out.", rich_help_panel=MEASURE)]
Folds = Annotated[
    int, typer.Option(help="Folds of the cross-validation; 0 for none.", rich_help_panel=MEASURE)
]
Seed = Annotated[int, typer.Option(help="Of splits and folds.", rich_help_panel=MEASURE)]
Delta = Annotated[
    float, typer.Option(help="Probability with which the bound may fail.", rich_help_panel=MEASURE)
]
Tolerance = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(
        help="The size of an error of regression that matters, for bounds.", rich_help_panel=MEASURE
    ),
]
Method = Annotated[
    str, typer.Option(help=f"How a setting is judged: {', '.join(METHODS)}.", rich_help_panel=MEASURE)
]
Simplest = Annotated[
    bool,
    typer.Option(
        "--simplest",
        help="The simplest setting within one standard error of the best.",
        rich_help_panel=MEASURE,
    ),
]

# What is shown and written.
KeepPartial = Annotated[
    bool,
    typer.Option(
        "--keep-partial",
        help="After Ctrl-C, go on with what was reached (exit code 4) instead of writing nothing.",
        rich_help_panel=SHOWN,
    ),
]
Top = Annotated[int, typer.Option(help="How many settings to show.", rich_help_panel=SHOWN, min=1)]
Points = Annotated[int, typer.Option(help="Values of C to show.", rich_help_panel=SHOWN, min=2)]
ModelOutput = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option("--output", "-o", help="The model file.", rich_help_panel=SHOWN, show_default="DATA.mercer"),
]
ReportToo = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(help="Write an HTML page about the model, too.", rich_help_panel=SHOWN),
]
PageOutput = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option("--output", "-o", help="The page.", show_default="MODEL.html"),
]
Predictions = Annotated[
    str, typer.Option("--output", "-o", help="A .csv or .parquet file; - for standard output.")
]
Proba = Annotated[bool, typer.Option("--proba", help="Probabilities of the classes, too.")]
Decision = Annotated[bool, typer.Option("--decision", help="Decision values, too.")]
BatchRows = Annotated[int, typer.Option(help="Rows in memory at a time.", min=1)]
NoFeature = Annotated[
    str, typer.Option(help="A column that is no feature, if columns have no names.", rich_help_panel=FORMAT)
]
Source = Annotated[Path, typer.Argument(metavar="SOURCE", help="A model file of mercer or LIBSVM.")]
Destination = Annotated[
    Path, typer.Argument(metavar="DESTINATION", help="Ends with .mercer, .model (LIBSVM) or .onnx.")
]
To = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(help=f"{', '.join(MODEL_FORMATS)}.", show_default="by the ending"),
]
