"""Kernels and preparation steps in words that a person reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline

DONE = {
    "DateFeatures": "dates turned into numbers",
    "StandardScaler": "standardised",
    "MaxAbsScaler": "scaled to absolute values of at most 1",
    "MinMaxScaler": "scaled to a range",
    "OneHotEncoder": "one-hot encoded",
    "OrdinalEncoder": "encoded as integers",
}
LONG = re.compile(r"(?<![\w.])\d+\.\d{6,}(?:e[+-]?\d+)?(?![\w.])")
MOST_NAMES = 6


def rounded(text: str) -> str:
    """Return a text whose long decimal fractions have five digits: enough to recognise a number."""
    return LONG.sub(lambda found: f"{float(found[0]):.5g}", text)


def step_in_words(step: Any) -> str:
    """Return what a transformer does.

    Parameters
    ----------
    step : transformer, pipeline, column transformer or "passthrough"
        A step before the machine.

    Returns
    -------
    str
        What is known of it, with its class in brackets; else how Python shows it.
    """
    if isinstance(step, str):
        return {"passthrough": "as they are", "drop": "left out"}.get(step, step)
    if isinstance(step, Pipeline):
        return ", ".join(step_in_words(inner) for _, inner in step.steps)
    if isinstance(step, ColumnTransformer):
        parts = getattr(step, "transformers_", step.transformers)
        return "; ".join(f"{_names(columns)}: {step_in_words(inner)}" for _, inner, columns in parts)
    kind = type(step).__name__
    if isinstance(step, SimpleImputer):
        by = step.fill_value if step.strategy == "constant" else step.strategy.replace("_", " ")
        where = ", with indicator columns" if step.add_indicator else ""
        return f"missing values replaced by {by}{where} ({kind})"
    if kind in DONE:
        return f"{DONE[kind]} ({kind})"
    return rounded(" ".join(repr(step).split()))


def _names(columns: Any) -> str:
    if isinstance(columns, str) or not isinstance(columns, Sequence):
        return str(columns)
    shown = ", ".join(str(name) for name in columns[:MOST_NAMES])
    return shown if len(columns) <= MOST_NAMES else f"{shown}, ... ({len(columns)} columns)"
