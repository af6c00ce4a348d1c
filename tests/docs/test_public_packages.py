"""What a package shows is what it promises: functions and classes, not the files they happen to live in."""

import importlib
import inspect
import subprocess
import sys

import pytest

import mercer

pytestmark = pytest.mark.core

PACKAGES = [
    "mercer",
    "mercer.bounds",
    "mercer.inspect",
    "mercer.io",
    "mercer.kernels",
    "mercer.losses",
    "mercer.plots",
    "mercer.problems",
    "mercer.problems.losses",
    "mercer.selection",
    "mercer.solvers",
    "mercer.structured",
]


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_shows_its_public_names_and_nothing_else(name):
    package = importlib.import_module(name)
    assert sorted(dir(package)) == sorted(package.__all__)
    if name != "mercer":
        assert not [public for public in package.__all__ if inspect.ismodule(getattr(package, public))]


@pytest.mark.parametrize("name", [name for name in PACKAGES if name != "mercer.plots"])  # an extra
def test_public_names_need_no_second_import(name):
    """In a fresh process each name is there right after its package was imported."""
    code = (
        f"import {name} as p; [getattr(p, n) for n in p.__all__]; assert sorted(dir(p)) == sorted(p.__all__)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_private_modules_can_still_be_imported_by_their_names():
    assert (
        importlib.import_module("mercer.bounds.enclosing_ball").enclosing_radius
        is mercer.bounds.enclosing_radius
    )
