"""The examples in docstrings are run."""

import doctest
import importlib
from pathlib import Path

import pytest

import mercer

pytestmark = pytest.mark.core

SOURCE = Path(mercer.__file__).parent
LEAVES = {"cli", "_report", "plots", "io"}  # these may need an extra


def modules_with_examples():
    names = []
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        if ">>> " in path.read_text(encoding="utf-8") and parts[0] not in LEAVES:
            names.append(".".join(["mercer", *parts]).removesuffix(".__init__"))
    return names


def test_there_are_examples():
    assert "mercer.estimators.svm.svc" in modules_with_examples()


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_of(name):
    module = importlib.import_module(name)
    if ">>> import mercer, pandas" in Path(module.__file__).read_text(encoding="utf-8"):
        pytest.importorskip("pandas")  # data frames are an extra
    tried = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert tried.attempted > 0
    assert tried.failed == 0
