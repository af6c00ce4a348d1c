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
    "matern", "rational_quadratic", "anova", "spline", "cosine", "thin_plate",
)  # fmt: skip
SEQUENCE_KERNELS = (
    "spectrum", "blended_spectrum", "mismatch", "gappy_pairs", "subsequence", "all_substrings",
    "weighted_degree", "local_alignment", "edit",
)  # fmt: skip
TREE_KERNELS = ("subtree", "subset_tree", "partial_tree")
GRAPH_KERNELS = (
    "weisfeiler_lehman", "wl_optimal_assignment", "shortest_path", "random_walk", "graphlets",
    "vertex_histogram", "edge_histogram", "attributed_shortest_path",
)  # fmt: skip
SERIES_KERNELS = ("global_alignment", "signature", "dtw")
ITEM_KERNELS = (*SEQUENCE_KERNELS, *TREE_KERNELS, *GRAPH_KERNELS, *SERIES_KERNELS)
METHODS = ("kfold", "path", "sv_fraction", "xi_alpha", "span_rule", "span_bound", "alignment", "bound")
FORMATS = ("csv", "parquet", "feather", "svmlight", "arff", "npz", "fasta", "lines", "ts", "graphs")
DATA_SETS = ("iris", "wine", "breast_cancer", "digits", "diabetes")
TASKS = ("auto", "classify", "regress", "novelty", "ordinal", "rank")
MACHINES = ("svm", "gp")
MODEL_FORMATS = ("mercer", "libsvm", "onnx")
IMPUTE = ("median", "mean", "most_frequent", "zero", "none")

DATA = (
    "A file: CSV, Parquet, Feather, LIBSVM/svmlight, ARFF, NPZ, FASTA or time series (.ts), also gzipped; a "
    "folder of graphs (TUDataset); - for standard input; or one of scikit-learn's data sets: "
    f"{', '.join(DATA_SETS)}"
)

FORMAT = "Input"
MACHINE = "Model"
SEQUENCES = "Kernels for sequences, trees, graphs and time series"
MEASURE = "Evaluation"
SHOWN = "Output"

Data = Annotated[str, typer.Argument(metavar="DATA", help=DATA, show_default=False)]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.", show_default=False)]
Target = Annotated[
    str,
    typer.Option(
        help="The column to predict: name, number (from 0), last, first or none. For FASTA: an entry of the "
        "headers (class in >name class=1), re:PATTERN, or a file of labels.",
        rich_help_panel=FORMAT,
    ),
]
Exclude = Annotated[
    Optional[list[str]],  # noqa: UP045 - typer reads it at run time
    typer.Option(help="A column to drop; may be repeated.", rich_help_panel=FORMAT),
]
Weights = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(help="The column of sample weights.", rich_help_panel=FORMAT),
]
Group = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        help="The column that names each row's query, for --task rank; qid for that of a ranking file.",
        rich_help_panel=FORMAT,
    ),
]
Format = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--format", help=f"File format: {', '.join(FORMATS)}.", rich_help_panel=FORMAT),
]
Header = Annotated[
    Optional[bool],  # noqa: UP045
    typer.Option(
        "--header/--no-header",
        help="Whether the first row of a CSV file holds column names.",
        rich_help_panel=FORMAT,
        show_default="detected",
    ),
]
Separator = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(help="Field separator of a CSV file.", rich_help_panel=FORMAT, show_default="detected"),
]
Decimal = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(help="Decimal separator of a CSV file.", rich_help_panel=FORMAT, show_default="detected"),
]
Encoding = Annotated[
    str,
    typer.Option(help="Text encoding, such as cp1252 or latin-1.", rich_help_panel=FORMAT),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.", rich_help_panel=SHOWN)]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Suppress progress messages.", rich_help_panel=SHOWN)
]

# How the data are prepared.
Scale = Annotated[
    bool, typer.Option("--scale/--no-scale", help="Standardise numeric columns.", rich_help_panel=FORMAT)
]
Impute = Annotated[
    str,
    typer.Option(
        help=f"Replace missing numbers by: {', '.join(IMPUTE)} (refuse them).", rich_help_panel=FORMAT
    ),
]
Dates = Annotated[
    bool,
    typer.Option("--dates/--no-dates", help="Turn dates into numbers, or drop them.", rich_help_panel=FORMAT),
]

# The machine.
Task = Annotated[str, typer.Option(help=f"Task: {', '.join(TASKS)}.", rich_help_panel=MACHINE)]
Machine = Annotated[
    str,
    typer.Option(
        help="svm: support vector machine; gp: Gaussian process, with prediction intervals.",
        rich_help_panel=MACHINE,
    ),
]
Kernel = Annotated[
    str,
    typer.Option(
        help=f"Kernel: {', '.join(KERNELS)}; sequences: {', '.join(SEQUENCE_KERNELS)}; trees: "
        f"{', '.join(TREE_KERNELS)}; graphs: {', '.join(GRAPH_KERNELS)}; time series: "
        f"{', '.join(SERIES_KERNELS)}.",
        rich_help_panel=MACHINE,
    ),
]
C = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(
        "--C", help="Regularisation: the penalty on errors.", rich_help_panel=MACHINE, show_default="1"
    ),
]
Gamma = Annotated[
    str, typer.Option(help="Kernel coefficient: scale, auto or a number.", rich_help_panel=MACHINE)
]
Degree = Annotated[float, typer.Option(help="Degree of the kernels poly and anova.", rich_help_panel=MACHINE)]
Coef0 = Annotated[
    float, typer.Option(help="Constant term of the kernels poly and sigmoid.", rich_help_panel=MACHINE)
]
Epsilon = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(help="Errors up to epsilon cost nothing (regression).", rich_help_panel=MACHINE),
]
Nu = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(help="Fraction of errors, instead of C; novelty: of outliers.", rich_help_panel=MACHINE),
]
ClassWeight = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        help="balanced gives all classes the same weight; or none.",
        rich_help_panel=MACHINE,
        show_default="balanced if a class is rare",
    ),
]
Probability = Annotated[
    bool, typer.Option("--probability", help="Calibrate class probabilities.", rich_help_panel=MACHINE)
]
Search = Annotated[
    bool,
    typer.Option(
        "--search", help="Choose C, gamma and the like by cross-validation.", rich_help_panel=MACHINE
    ),
]
Tol = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(help="Tolerance of the solver.", rich_help_panel=MACHINE, show_default="0.001; gp: 1e-6"),
]
TimeLimit = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(help="Time limit of each fit, in seconds.", rich_help_panel=MACHINE),
]
CacheSize = Annotated[
    float, typer.Option(help="Memory for cached kernel values, in MB.", rich_help_panel=MACHINE)
]
Jobs = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option("--jobs", help="Number of threads.", rich_help_panel=MACHINE, show_default="all cores"),
]
K = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option("--k", help="Length of substrings.", rich_help_panel=SEQUENCES, show_default="by kernel"),
]
M = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option("--m", help="Number of mismatches allowed.", rich_help_panel=SEQUENCES, show_default="1"),
]
G = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option("--g", help="Longest gap between pairs.", rich_help_panel=SEQUENCES, show_default="2"),
]
Length = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(
        "--length", help="Maximum length of subsequences.", rich_help_panel=SEQUENCES, show_default="3"
    ),
]
Decay = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(
        "--decay",
        help="Weight of each symbol, level or step of what is counted.",
        rich_help_panel=SEQUENCES,
        show_default="by kernel",
    ),
]
Shift = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(
        "--shift", help="Maximum shift of aligned blocks.", rich_help_panel=SEQUENCES, show_default="0"
    ),
]
H = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(
        "--h", help="Number of Weisfeiler-Lehman refinements.", rich_help_panel=SEQUENCES, show_default="5"
    ),
]
Size = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option("--size", help="Nodes of a graphlet: 3 or 4.", rich_help_panel=SEQUENCES, show_default="3"),
]
Sigma = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(
        "--sigma", help="Width of global alignments.", rich_help_panel=SEQUENCES, show_default="median"
    ),
]
Triangular = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(
        "--triangular",
        help="Times that global alignments pair differ by less than this; 0 for no limit.",
        rich_help_panel=SEQUENCES,
        show_default="0",
    ),
]
Window = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(
        "--window",
        help="Largest difference of times for DTW.",
        rich_help_panel=SEQUENCES,
        show_default="none",
    ),
]
Level = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option("--level", help="Level of signatures.", rich_help_panel=SEQUENCES, show_default="3"),
]
CMax = Annotated[float, typer.Option("--C-max", help="Largest C of the path.", rich_help_panel=MACHINE)]

# How to measure.
Holdout = Annotated[float, typer.Option(help="Fraction of the rows to hold out.", rich_help_panel=MEASURE)]
Folds = Annotated[
    int, typer.Option(help="Number of cross-validation folds; 0 for none.", rich_help_panel=MEASURE)
]
Seed = Annotated[int, typer.Option(help="Random seed of splits and folds.", rich_help_panel=MEASURE)]
Delta = Annotated[float, typer.Option(help="Probability that the bound may fail.", rich_help_panel=MEASURE)]
Tolerance = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(help="Regression errors larger than this count in the bound.", rich_help_panel=MEASURE),
]
Scoring = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        help="Score to optimise and report; scikit-learn's names.",
        rich_help_panel=MEASURE,
        show_default="accuracy, balanced_accuracy for rare classes, r2",
    ),
]
Threshold = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        help="Decision threshold: precision=0.8, recall=0.9, cost=5 or a number.",
        rich_help_panel=MEASURE,
        show_default="0",
    ),
]
Method = Annotated[
    str, typer.Option(help=f"How to compare settings: {', '.join(METHODS)}.", rich_help_panel=MEASURE)
]
Simplest = Annotated[
    bool,
    typer.Option(
        "--simplest/--best",
        help="Choose the simplest setting within one standard error of the best, or the best.",
        rich_help_panel=MEASURE,
    ),
]

# What is shown and written.
Force = Annotated[
    bool, typer.Option("--force", help="Overwrite a model of another target.", rich_help_panel=SHOWN)
]
KeepPartial = Annotated[
    bool,
    typer.Option(
        "--keep-partial",
        help="On Ctrl-C, write partial results (exit code 4) instead of nothing.",
        rich_help_panel=SHOWN,
    ),
]
Top = Annotated[int, typer.Option(help="Number of settings to show.", rich_help_panel=SHOWN, min=1)]
Points = Annotated[int, typer.Option(help="Number of values of C to show.", rich_help_panel=SHOWN, min=2)]
ModelOutput = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(
        "--output", "-o", help="Model file to write.", rich_help_panel=SHOWN, show_default="DATA.mercer"
    ),
]
UpdatedOutput = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option("--output", "-o", help="Model file to write.", rich_help_panel=SHOWN, show_default="MODEL"),
]
Update = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(
        metavar="MODEL",
        help="Learn the rows in addition to those of this model, which was trained with --updatable.",
    ),
]
Updatable = Annotated[
    bool,
    typer.Option("--updatable", help="Keep all rows in the model, so that it can learn and forget some."),
]
ForgottenRows = Annotated[
    str,
    typer.Option(
        "--rows",
        help="Rows to forget, counted from 0 in order of arrival: numbers and ranges, such as 3,17,20-25.",
        show_default=False,
    ),
]
ExplainedRow = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option("--row", help="Row to explain, from 0 as in reports.", show_default="all rows", min=0),
]
Wanted = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        "--to",
        help="The prediction of the counterfactual: a class, or a number that a regression should reach.",
        show_default="any other class",
    ),
]
Change = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        help="A column that the counterfactual may change; may be repeated.", show_default="all columns"
    ),
]
ReportToo = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(help="Also write an HTML report.", rich_help_panel=SHOWN),
]
PageOutput = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option("--output", "-o", help="HTML file to write.", show_default="MODEL.html"),
]
Predictions = Annotated[
    str, typer.Option("--output", "-o", help="A .csv or .parquet file to write; - for standard output.")
]
Proba = Annotated[bool, typer.Option("--proba", help="Add class probabilities.")]
Decision = Annotated[bool, typer.Option("--decision", help="Add decision values.")]
Interval = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(
        help="Add prediction intervals of this coverage, such as 0.9 (Gaussian processes, conformal models)."
    ),
]
Sets = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(
        help="Add prediction sets of this coverage, such as 0.9, with | between classes (conformal models)."
    ),
]
BatchRows = Annotated[int, typer.Option(help="Number of rows in memory at a time.", min=1)]
NoFeature = Annotated[
    str, typer.Option(help="A column to ignore, if columns have no names.", rich_help_panel=FORMAT)
]
Source = Annotated[Path, typer.Argument(metavar="SOURCE", help="Model file of mercer or LIBSVM.")]
Destination = Annotated[
    Path, typer.Argument(metavar="DESTINATION", help="File to write: .mercer, .model (LIBSVM) or .onnx.")
]
To = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(help=f"Format: {', '.join(MODEL_FORMATS)}.", show_default="by the file name"),
]
