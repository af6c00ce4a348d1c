"""Names in model files: they outlive the modules that they came from, and nothing is without one."""

import importlib
import inspect
import json
import pkgutil

import pytest
from file_samples import estimators, fitted

import mercer
from mercer.io import dumps
from mercer.io.model import allowlist
from mercer.io.model.safetensors_file import read_description
from mercer.values import Value

pytestmark = [pytest.mark.core, pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]

# What files of protocol 1 may name beside what is public. This list only grows: a class that moves keeps its
# name here, and `allowlist.MOVED` says where it lives.
PROTOCOL_1 = {
    "value": {
        "mercer.problems.losses.margin:Hinge",
        "mercer.problems.losses.margin:SquaredHinge",
        "mercer.problems.losses.multinomial:MultinomialDeviance",
        "mercer.problems.losses.residual:EpsilonInsensitive",
        "mercer.problems.losses.residual:Huber",
    },
    "record": {
        "mercer.estimators.discriminant._class_spectra:ClassSpectra",
        "mercer.estimators.discriminant._sphering:Sphering",
        "mercer.estimators.gaussian._classification:BinaryProcess",
        "mercer.io.training:Training",
        "mercer.problems.components:Components",
        "mercer.problems.multiclass:Task",
        "mercer.problems.path:Family",
        "mercer.selection.consistency:Accepted",
        "mercer.solvers.gaussian.kriging:KrigingPosterior",
        "mercer.solvers.gaussian.laplace:LaplaceMode",
        "mercer.solvers.knots:Path",
    },
    "plain": {
        "mercer.kernels.tuning:Tuning",
        "mercer.solvers.factored:Factored",
        "mercer.solvers.posterior:ExactPosterior",
    },
    "partial": {"mercer.problems.path:_margin_at", "mercer.problems.path:_tube_at"},
}


def named(node):
    """Yield kind and name of everything that a description names."""
    if isinstance(node, list):
        for item in node:
            yield from named(item)
    elif isinstance(node, dict):
        if node.get("kind") in PROTOCOL_1:
            yield node["kind"], node.get("class", node.get("name"))
        for item in node.values():
            yield from named(item)


def is_public(name):
    home, _, thing = name.partition(":")
    return home.count(".") == 1 and thing in importlib.import_module(home).__all__


@pytest.mark.parametrize("cls", estimators(), ids=lambda cls: cls.__name__)
def test_files_name_what_is_public_or_known_from_protocol_1(cls):
    model, _ = fitted(cls)
    description, text, _ = read_description(dumps(model))
    assert json.loads(text) == description
    for kind, name in named([description["model"], description["training"]]):
        assert is_public(name) or name in PROTOCOL_1[kind], f"{name} moved: keep its name in MOVED"


@pytest.mark.parametrize("kind", sorted(PROTOCOL_1))
def test_every_name_of_protocol_1_is_still_found(kind):
    find = {
        "value": lambda name: allowlist.own_class(name, "value"),
        "record": lambda name: allowlist.own_class(name, "record"),
        "plain": allowlist.plain_class,
        "partial": allowlist.own_function,
    }[kind]
    for name in PROTOCOL_1[kind]:
        assert find(name).__name__ == allowlist.MOVED.get(name, name).partition(":")[2]


def test_what_has_moved_is_written_under_its_old_name():
    for name, home in allowlist.MOVED.items():
        module, _, thing = home.partition(":")
        found = getattr(importlib.import_module(module), thing)
        known = allowlist.address(found) if isinstance(found, type) else allowlist.function_address(found)
        assert name in (known, *allowlist.PLAIN, *allowlist.REMADE)


def values():
    """Return every value class of the library: a new kernel or loss is tested by existing."""
    found = set()
    for package in ("mercer.kernels", "mercer.problems"):
        home = importlib.import_module(package)
        for info in pkgutil.walk_packages(home.__path__, f"{package}."):
            members = vars(importlib.import_module(info.name)).values()
            found |= {c for c in members if isinstance(c, type) and issubclass(c, Value)}
    return sorted((c for c in found - {Value} if not inspect.isabstract(c)), key=lambda c: c.__qualname__)


@pytest.mark.parametrize("cls", values(), ids=lambda cls: cls.__qualname__)
def test_every_kernel_and_loss_has_a_name_that_finds_it(cls):
    assert allowlist.own_class(allowlist.address(cls), "value") is cls


@pytest.mark.parametrize("cls", estimators(), ids=lambda cls: cls.__name__)
def test_every_estimator_has_a_name_that_finds_it(cls):
    assert allowlist.estimator_class(allowlist.address(cls)) is cls


def test_only_what_users_need_is_visible():
    assert dir(mercer.io) == sorted(mercer.io.__all__)
    assert all(not inspect.ismodule(getattr(mercer.io, name)) for name in dir(mercer.io))
