"""The walks in docs/architecture.md are those of the fits: files in which a function runs, layer by layer."""

import re
import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

import mercer

LAYERS = ("estimators", "solvers", "problems", "gram", "kernels")
MOST = 22  # files that a reader should have to open
PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"


def walk(model, X, y):
    """Return the files of the five layers in which a function runs during ``fit``."""
    home, seen = str(Path(mercer.__file__).parent), set()

    def look(frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(home):
            seen.add(Path(frame.f_code.co_filename).relative_to(home).as_posix())

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        model.fit(X, y)
    finally:
        sys.setprofile(before)
    return {file for file in seen if file.startswith(tuple(f"{layer}/" for layer in LAYERS))}


def written(name):
    """Return the files that the page lists for an estimator."""
    section = PAGE.read_text().split(f"### The walk of `{name}().fit`")[1]
    block = re.search(r"```text\n(.*?)```", section, re.DOTALL)[1]
    files = []
    for line in block.splitlines():
        layer, names = line.split(maxsplit=1)
        files += [f"{layer}/{file}" for file in names.split()]
    return files


@pytest.mark.parametrize("name", ["SVC", "KernelLogisticRegression"])
def test_the_page_lists_the_files_of_the_walk(name):
    X, y = (part[:100] for part in load_iris(return_X_y=True))
    make = getattr(mercer, name)
    make(n_jobs=1).fit(X, y)  # compiles, and imports what is imported when needed
    found = walk(make(n_jobs=1), X, y)
    files = written(name)
    assert len(files) == len(set(files)) <= MOST
    assert set(files) == found
