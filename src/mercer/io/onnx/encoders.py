"""Encoders of categories, as a code for each category and a table with a row for each code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, TargetEncoder

from mercer.io.errors import ModelFileError
from mercer.io.onnx.columns import MISSING, Part, take, width_of
from mercer.io.onnx.graph import ML, Graph


def encode(g: Graph, name: str, step: Any, parts: Sequence[Part]) -> list[Part]:
    """Add a OneHotEncoder, OrdinalEncoder or TargetEncoder.

    An unknown category has the code after the last one. Where the encoder accepts it the table has a row for
    it; where the encoder would raise an error the table has none, and looking it up is an error, too.
    """
    make = {OneHotEncoder: _one_hot, OrdinalEncoder: _ordinal, TargetEncoder: _by_target}[type(step)]
    out = []
    for j in range(width_of(parts)):
        (column,) = take(g, parts, [j])
        table = make(step, j)
        if table.shape[1] == 0:  # one category, and it was dropped
            continue
        who = f"step {name!r} ({type(step).__name__}), column {column.name if column.text else j}"
        look = _text_codes if column.text else _number_codes
        codes = look(g, column, step.categories_[j], who)
        out.append(Part(g.op("Gather", g.const(table), codes, axis=0), table.shape[1]))
    return out


def is_missing(value: Any) -> bool:
    """Return whether a value stands for a missing one: None, nan or pandas' NA."""
    return value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and value != value)


# -- which row of the table ---------------------------------------------------------------------------------


def _text_codes(g: Graph, column: Part, categories: np.ndarray, who: str) -> str:
    codes: dict[str, int] = {}
    for code, value in enumerate(categories):
        if not isinstance(value, str) and not is_missing(value):
            raise ModelFileError(f"{who} mixes text with {value!r}: it cannot be exported to ONNX")
        key = value if isinstance(value, str) else MISSING
        if key in codes or (key == MISSING and MISSING in column.fills):
            raise ModelFileError(
                f"{who} tells a missing text from an empty one, which ONNX cannot: it cannot be exported"
            )
        codes[key] = code
    unknown = len(categories)
    for token, meant in column.fills.items():
        codes[token] = codes.get(meant, unknown)
    found = g.op(
        "LabelEncoder",
        column.name,
        domain=ML,
        keys_strings=list(codes),
        values_int64s=list(codes.values()),
        default_int64=unknown,
    )
    return g.flat(found)


def _number_codes(g: Graph, column: Part, categories: np.ndarray, who: str) -> str:
    try:
        values = np.asarray([np.nan if is_missing(v) else v for v in categories], dtype=np.float64)
    except (TypeError, ValueError):
        raise ModelFileError(f"{who} holds neither text nor numbers: it cannot be exported to ONNX") from None
    same = g.op("Equal", column.name, g.const(values[None]))
    if np.isnan(values).any():
        absent = g.op("And", g.op("IsNaN", column.name), g.const(np.isnan(values)[None], np.bool_))
        same = g.op("Or", same, absent)
    hits = g.number(same)
    known = g.op("Greater", g.sum(hits, 1), g.const(0.0))
    best = g.op("ArgMax", hits, axis=1, keepdims=0)
    return g.op("Where", known, best, g.const(values.size, np.int64))


# -- the table ----------------------------------------------------------------------------------------------


def _groups(step: Any, j: int, categories: Sequence[Any]) -> tuple[np.ndarray, int, bool]:
    """Return a group for each category, the number of groups, and whether the last is of infrequent ones."""
    rare = getattr(step, "infrequent_categories_", None)
    rare = None if rare is None else rare[j]
    if rare is None:
        return np.arange(len(categories)), len(categories), False
    names = {_key(value) for value in rare}
    kept = np.array([_key(value) not in names for value in categories])
    groups = np.where(kept, np.cumsum(kept) - 1, kept.sum())
    return groups, int(kept.sum()) + 1, True


def _key(value: Any) -> Any:
    return ("missing", str(value)) if is_missing(value) else value


def _one_hot(step: Any, j: int) -> np.ndarray:
    categories = step.categories_[j]
    groups, count, rare = _groups(step, j, categories)
    table = np.eye(count)[groups]
    if step.handle_unknown != "error":
        unknown = np.zeros((1, count))
        if rare and step.handle_unknown in ("infrequent_if_exist", "warn"):
            unknown[0, -1] = 1.0
        table = np.vstack([table, unknown])
    dropped = None if step.drop_idx_ is None else step.drop_idx_[j]
    return table if dropped is None else np.delete(table, groups[dropped], axis=1)


def _ordinal(step: Any, j: int) -> np.ndarray:
    categories = step.categories_[j]
    absent = np.array([is_missing(value) for value in categories])
    groups, _, _ = _groups(step, j, [value for value in categories if not is_missing(value)])
    table = np.full((len(categories), 1), step.encoded_missing_value, dtype=np.float64)
    table[~absent, 0] = groups
    if step.handle_unknown != "error":
        table = np.vstack([table, [[step.unknown_value]]])
    return table


def _by_target(step: Any, j: int) -> np.ndarray:
    """Return the mean targets of the categories; of the classes' indicators if there are several classes."""
    each = len(step.classes_) if step.target_type_ == "multiclass" else 1
    known = np.column_stack(step.encodings_[each * j : each * (j + 1)])
    return np.vstack([known, np.reshape(step.target_mean_, (1, each))])
