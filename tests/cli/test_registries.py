"""The names that help and completion show without loading the library are those that the library has."""

import re

import pytest
from sklearn.datasets import load_iris

pytest.importorskip("typer")

from mercer import SVCSearch
from mercer.cli import options as o
from mercer.io import DataFileError, read_data
from mercer.kernels import KERNEL_NAMES


def test_kernels():
    assert set(o.KERNELS) == set(KERNEL_NAMES) - {"precomputed"}  # a table of data is no kernel matrix


def test_methods_of_a_search():
    assert set(o.METHODS) == set(SVCSearch()._methods())


def test_formats_of_data():
    with pytest.raises(DataFileError, match="is invalid") as told:
        read_data("iris", format="nonsense")
    assert set(re.findall(r"\w+", str(told.value).partition("one of ")[2])) == set(o.FORMATS)


@pytest.mark.parametrize("name", o.DATA_SETS)
def test_data_sets(name):
    assert read_data(name).n_rows > 100


@pytest.mark.parametrize("kernel", o.KERNELS)
def test_every_kernel_can_be_trained_and_shown(kernel, mercer_command, tmp_path):
    X, y = load_iris(return_X_y=True)
    rows = (f"{','.join(f'{v:g}' for v in row)},{'abc'[label]}\n" for row, label in zip(X, y, strict=True))
    (tmp_path / "flowers.csv").write_text("a,b,c,d,kind\n" + "".join(rows))
    done = mercer_command("train", "flowers.csv", "--kernel", kernel, "--no-scale", "--folds", "0", "--json")
    assert done.code == 0, done.err
    # Angles between flowers are small, and at C=1 cosines tell them apart but roughly.
    least = {"sigmoid": 0.2, "cosine": 0.5}.get(kernel, 0.85)
    assert done.json["held_out"]["accuracy"] > least
    assert mercer_command("show", "flowers.mercer").code == 0
