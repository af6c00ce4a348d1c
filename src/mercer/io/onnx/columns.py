"""The columns of a table on their way through a graph: numbers in tables, text column by column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, TargetEncoder

from mercer.io.errors import ModelFileError
from mercer.io.onnx.graph import DOUBLE, STRING, Graph

MISSING = ""  # ONNX has no missing text


@dataclass(frozen=True)
class Part:
    """Some columns that lie side by side.

    Attributes
    ----------
    name : str
        The tensor, of shape (rows, width).
    width : int
        Number of columns; 1 for text.
    text : bool
        Whether they hold text.
    fills : dict of str to str
        Texts that are to be read as other texts: what an imputer has filled in.
    """

    name: str
    width: int
    text: bool = False
    fills: dict[str, str] = field(default_factory=dict)


def width_of(parts: Sequence[Part]) -> int:
    """Return the number of columns."""
    return sum(part.width for part in parts)


def take(g: Graph, parts: Sequence[Part], columns: Sequence[int]) -> list[Part]:
    """Return some of the columns; neighbours of one table stay together."""
    ends = np.cumsum([part.width for part in parts])
    runs: list[tuple[int, list[int]]] = []
    for column in columns:
        owner = int(np.searchsorted(ends, column, side="right"))
        offset = column - int(ends[owner]) + parts[owner].width
        if runs and runs[-1][0] == owner and not parts[owner].text:
            runs[-1][1].append(offset)
        else:
            runs.append((owner, [offset]))
    out = []
    for owner, offsets in runs:
        part = parts[owner]
        if offsets != list(range(part.width)):
            part = Part(g.op("Gather", part.name, g.const(offsets, np.int64), axis=1), len(offsets))
        out.append(part)
    return out


def numbers(g: Graph, parts: Sequence[Part], who: str) -> Part:
    """Return all columns as one table of numbers."""
    for part in parts:
        if part.text:
            raise ModelFileError(
                f"{who} takes numbers, and column {part.name!r} is text: it cannot be exported to ONNX"
            )
    if not parts:
        raise ModelFileError(f"{who} has no columns left: it cannot be exported to ONNX")
    if len(parts) == 1:
        return parts[0]
    return Part(g.op("Concat", *(part.name for part in parts), axis=1), width_of(parts))


# -- the inputs of a graph --------------------------------------------------------------------------------


def inputs_of(step: Any, taken: Sequence[str]) -> list[Part]:
    """Return the inputs: X if it is a table of numbers, else one input for each column.

    Parameters
    ----------
    step : estimator
        The first that looks at the data.
    taken : sequence of str
        Names that the outputs have; an input that would have one too gets ``_in`` at its end.
    """
    width = int(step.n_features_in_)
    seen = columns_seen(step, range(width))
    known = getattr(step, "feature_names_in_", None)
    # What a column holds that is not looked at is not known: it may well be text.
    if not any(seen.values()) and (known is None or len(seen) == width):
        return [Part("X", width)]
    names = [f"x{j}" for j in range(width)] if known is None else [str(name) for name in known]
    used = set(taken)
    out = []
    for j, name in enumerate(names):
        name = name or f"x{j}"
        while name in used:
            name += "_in"
        used.add(name)
        out.append(Part(name, 1, seen.get(j, False)))
    return out


def declared(g: Graph, inputs: Sequence[Part]) -> list[Any]:
    """Return the inputs that the nodes use, as ONNX declares them."""
    used = {name for node in g.nodes for name in node.input}
    return [
        g.onnx.helper.make_tensor_value_info(part.name, STRING if part.text else DOUBLE, ["rows", part.width])
        for part in inputs
        if part.name in used or len(inputs) == 1
    ]


def columns_seen(step: Any, columns: Sequence[int]) -> dict[int, bool]:
    """Return the input columns that a fitted step looks at, and whether they are text to it."""
    if isinstance(step, str) and step == "drop":
        return {}
    if isinstance(step, Pipeline):
        for _, inner in step.steps:
            if inner is not None and not isinstance(inner, str):
                return columns_seen(inner, columns)
    if isinstance(step, ColumnTransformer):
        places = step._transformer_to_input_indices
        return _joined(
            columns_seen(inner, [columns[j] for j in places[name]]) for name, inner, _ in step.transformers_
        )
    if isinstance(step, FeatureUnion):
        return _joined(columns_seen(inner, columns) for _, inner in step.transformer_list)
    if isinstance(step, SimpleImputer):
        known = [isinstance(value, str) for value in step.statistics_]
    elif isinstance(step, OneHotEncoder | OrdinalEncoder | TargetEncoder):
        known = [any(isinstance(value, str) for value in kinds) for kinds in step.categories_]
    else:
        known = [False] * len(columns)
    return dict(zip(columns, known, strict=True))


def _joined(seen: Iterable[dict[int, bool]]) -> dict[int, bool]:
    out: dict[int, bool] = {}
    for some in seen:
        for column, text in some.items():
            out[column] = out.get(column, False) or text
    return out
