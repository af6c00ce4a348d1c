"""Medians, spreads, geometric means and slopes."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Spread:
    """A median with the least and the largest value."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{self.median:.2f}"
        return f"{self.median:.2f} ({self.low:.2f} to {self.high:.2f})"


def spread(values: Sequence[float]) -> Spread | None:
    """Return median, least and largest; None of nothing."""
    return Spread(statistics.median(values), min(values), max(values)) if values else None


def paired_ratios(above: dict[int, float], below: dict[int, float]) -> list[float]:
    """Return above / below round by round: what both met in one round, they met under the same load."""
    return [above[r] / below[r] for r in sorted(above.keys() & below.keys())]


def geometric_mean(values: Sequence[float]) -> float:
    """Return exp of the mean logarithm; nan of nothing."""
    return math.exp(statistics.fmean(math.log(v) for v in values)) if values else math.nan


def growth_exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Return p of seconds = c n^p, by least squares in logarithms; nan from fewer than two sizes."""
    if len(sizes) < 2:
        return math.nan
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
