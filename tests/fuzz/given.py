"""Fits of given arrays, judged like those that the fuzzer makes."""

from dataclasses import dataclass

import numpy as np

from .data import contained
from .fits import Fit


@dataclass(frozen=True, eq=False)
class GivenData:
    """Arrays in place of a recipe for them."""

    rows: object
    target: object = None
    sample_weight: object = None
    container: str = "dense"
    kind: str = "vectors"
    seed: int = 0

    @property
    def n(self):
        return len(self.rows)

    @property
    def weight(self):
        if self.sample_weight is None:
            return None
        whole = (np.asarray(self.sample_weight) % 1 == 0).all() and np.max(self.sample_weight) < 10
        return "integers" if whole and np.min(self.sample_weight) > 0 else "random"

    def points(self):
        return np.asarray(self.rows, dtype=float)

    def X(self):  # noqa: N802
        return contained(self.points(), self.container) if self.kind == "vectors" else self.rows

    def y(self, role):
        return None if self.target is None else np.asarray(self.target)

    def weights(self):
        return None if self.sample_weight is None else np.asarray(self.sample_weight, dtype=float)


def given(estimator, params, X, y=None, sample_weight=None, *, container="dense", kind="vectors"):
    """Return a fit of these arrays, to be run and judged."""
    return Fit(estimator, params, GivenData(X, y, sample_weight, container, kind))
