"""Options that belong together: a command takes a group as one parameter."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, get_type_hints

from mercer.cli import options as o


@dataclass(frozen=True)
class Reading:
    """How a file is to be read."""

    file_format: o.Format = None
    header: o.Header = None
    separator: o.Separator = None
    decimal: o.Decimal = None
    encoding: o.Encoding = "utf-8"

    def flags(self) -> list[str]:
        """Return the words on the command line that ask for the same."""
        given = (("--format", self.file_format), ("--separator", self.separator), ("--decimal", self.decimal))
        words = [word for name, value in given if value is not None for word in (name, value)]
        if self.header is not None:
            words.append("--header" if self.header else "--no-header")
        return words + ([] if self.encoding == "utf-8" else ["--encoding", self.encoding])

    def options(self) -> dict[str, Any]:
        """Return the arguments of the readers."""
        header = "auto" if self.header is None else self.header
        separator = {"\\t": "\t", "tab": "\t"}.get(self.separator or "", self.separator)
        return {
            "format": self.file_format,
            "header": header,
            "separator": separator,
            "decimal": self.decimal or "auto",
            "encoding": self.encoding,
        }


@dataclass(frozen=True)
class Columns:
    """What is learned from which columns, and what is done to them first."""

    target: o.Target = "last"
    task: o.Task = "auto"
    scale: o.Scale = True
    impute: o.Impute = "median"
    dates: o.Dates = True
    exclude: o.Exclude = None
    weights: o.Weights = None

    def flags(self) -> list[str]:
        """Return the words on the command line that ask for the same."""
        given = (
            ("--target", self.target),
            ("--task", None if self.task == "auto" else self.task),
            ("--impute", None if self.impute == "median" else self.impute),
            ("--weights", self.weights),
            *(("--exclude", name) for name in self.exclude or ()),
        )
        words = [word for name, value in given if value is not None for word in (name, value)]
        words += [] if self.scale else ["--no-scale"]
        return words if self.dates else [*words, "--no-dates"]


@dataclass(frozen=True)
class MachineWishes:
    """What was said of the machine; None where nothing was."""

    machine: o.Machine = "svm"
    kernel: o.Kernel = "rbf"
    C: o.C = None
    gamma: o.Gamma = "scale"
    degree: o.Degree = 3
    coef0: o.Coef0 = 0.0
    epsilon: o.Epsilon = None
    nu: o.Nu = None
    class_weight: o.ClassWeight = None
    probability: o.Probability = False
    tol: o.Tol = None
    time_limit: o.TimeLimit = None
    cache_size: o.CacheSize = 500.0
    jobs: o.Jobs = None


@dataclass(frozen=True)
class ItemWishes:
    """What was said of a kernel on sequences, trees, graphs or time series; None where nothing was."""

    k: o.K = None
    m: o.M = None
    g: o.G = None
    length: o.Length = None
    decay: o.Decay = None
    shift: o.Shift = None
    h: o.H = None
    size: o.Size = None
    sigma: o.Sigma = None
    triangular: o.Triangular = None
    window: o.Window = None
    level: o.Level = None


@dataclass(frozen=True)
class Measuring:
    """How to measure."""

    holdout: o.Holdout = 0.25
    folds: o.Folds = 5
    seed: o.Seed = 0
    delta: o.Delta = 0.05
    tolerance: o.Tolerance = None
    scoring: o.Scoring = None
    threshold: o.Threshold = None


@dataclass(frozen=True)
class Shown:
    """What is shown."""

    as_json: o.Json = False
    quiet: o.Quiet = False


def spread(function: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes the options of its groups one by one, as typer wants them.

    Parameters
    ----------
    function : callable
        Some of whose parameters are annotated with dataclasses of options.
    """
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, type] = {}
    parameters: dict[str, inspect.Parameter] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        kind = hints[name]
        if not is_dataclass(kind):
            members = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=kind)]
        else:
            assert isinstance(kind, type)
            groups[name] = kind
            inside = get_type_hints(kind, include_extras=True)
            members = [
                inspect.Parameter(
                    field.name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=field.default,
                    annotation=inside[field.name],
                )
                for field in fields(kind)
            ]
        for member in members:
            if member.name in parameters:
                raise TypeError(f"{function.__name__} has the option {member.name!r} twice")
            parameters[member.name] = member

    @functools.wraps(function)
    def command(**given: Any) -> None:
        made = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind) if field.name in given})
            for name, kind in groups.items()
        }
        function(**given, **made)

    command.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
    command.__annotations__ = {name: one.annotation for name, one in parameters.items()}
    return command
