"""The page "Coming from scikit-learn": class by class, from signatures, the table and the figures."""

import inspect
import json
import tomllib
from pathlib import Path

import sklearn

from mercer.io.sklearn_counterparts import COUNTERPARTS, our_class, their_class

from .comparison import TABLE

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "from_scikit_learn.md"
FIGURES = Path(__file__).parents[2] / "benchmarks" / "drop_in.json"
BEGIN, END = "<!-- what follows is written by python -m tests.peers --page -->", "<!-- up to here -->"

OF_CLASSES = {
    "sklearn.svm.tests.test_svm": ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"),
    "sklearn.svm.tests.test_sparse": ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"),
    "sklearn.tests.test_kernel_ridge": ("KernelRidge",),
    "sklearn.decomposition.tests.test_kernel_pca": ("KernelPCA",),
    "sklearn.tests.test_discriminant_analysis": (
        "LinearDiscriminantAnalysis",
        "QuadraticDiscriminantAnalysis",
    ),
    "sklearn.gaussian_process.tests.test_gpr": ("GaussianProcessRegressor",),
    "sklearn.gaussian_process.tests.test_gpc": ("GaussianProcessClassifier",),
}


def _shown(value):
    return f"`{value!r}`"


def _parameters(name):
    """Return the lines about parameters of one class."""
    ours, theirs = (inspect.signature(cls).parameters for cls in (our_class(name), their_class(name)))
    missing = [key for key in theirs if key not in ours]
    other = [
        f"`{key}` is {_shown(ours[key].default)} by default (there {_shown(theirs[key].default)})"
        for key in theirs
        if key in ours
        and ours[key].default != theirs[key].default
        and theirs[key].default != "deprecated"
        and (ours[key].default or theirs[key].default)  # False and 0 say the same
    ]
    more = [key for key in ours if key not in theirs]
    same = len(theirs) - len(missing)
    lines = [f"- The same: {same} of {len(theirs)} parameters."]
    if more:
        lines.append(f"- More: {', '.join(f'`{key}`' for key in more)}.")
    lines += [f"- Differs: {text}." for text in other]
    lines += [f"- Refused: `{key}`." for key in missing]
    return lines


def figures():
    """Return the lines about time and memory, as far as they were measured."""
    if not FIGURES.exists():
        return []
    rows = json.loads(FIGURES.read_text())
    lines = [
        "",
        "## Time and memory",
        "",
        "Fits of both in turns in one process (`python -m benchmarks.drop_in`, two cores, a quiet machine),",
        "the same results to the last column. Memory is the peak above what was held before the fit.",
        "",
        "| class | rows | here, s | there, s | ratio | here, MB | there, MB | difference |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        name = f"`{row['name']}`" + (f" ({row['note']})" if row["note"] else "")
        here, there = (f"{row['seconds'][side]:.2g}" for side in ("ours", "theirs"))
        held = (f"{row['megabytes'][side]:.0f}" for side in ("ours", "theirs"))
        cells = name, row["n"], here, there, f"{row['ratio']:.2f}", *held, f"{row['apart']:.0e}"
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def block(table=TABLE):
    """Return the generated part of the page."""
    known = tomllib.loads(table.read_text())
    notes = {}
    for note in known.get("note", []):
        for name in note["classes"]:
            notes.setdefault(name, []).append(note["text"])
    groups = {}
    for entry in known["departure"]:
        names = tuple(entry.get("classes", OF_CLASSES[entry["module"]]))
        groups.setdefault(names, []).append(entry["reason"])
    lines = [BEGIN, "", f"Compared with scikit-learn {sklearn.__version__}.", ""]
    for name in COUNTERPARTS:
        if our_class(name) is None:
            continue
        lines += [f"### {name}", "", *_parameters(name)]
        lines += [f"- Differs: {text}" for text in notes.get(name, [])]
        reasons = [reason for names, found in groups.items() if name in names for reason in found]
        lines += [f"- Differs: {reason}" for reason in dict.fromkeys(reasons)]
        lines.append("")
    return "\n".join([*lines, *figures()[1:], *([""] if figures() else []), END])


def written():
    """Return the page with its generated part as it should be."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{block()}{after}"
