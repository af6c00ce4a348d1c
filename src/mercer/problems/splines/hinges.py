"""Products of hinges, the basis functions of multivariate adaptive regression splines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mercer.arrays import Float64, Ints


@dataclass(frozen=True)
class HingeTerms:
    r"""Basis functions :math:`B_m(x) = \prod_k (s_{mk} (x_{v_{mk}} - t_{mk}))_+`; the first is 1.

    Attributes
    ----------
    variables : (terms, most factors) int64
        v, -1 where a term has no more factors.
    knots : (terms, most factors) float64
        t.
    signs : (terms, most factors) int64
        s, +1 or -1.
    """

    variables: Ints
    knots: Float64
    signs: Ints

    @staticmethod
    def constant(factors: int) -> HingeTerms:
        """Return the constant alone, with room for so many factors."""
        nothing = np.full((1, factors), -1, dtype=np.int64)
        return HingeTerms(nothing, np.zeros((1, factors)), np.zeros((1, factors), dtype=np.int64))

    @property
    def degrees(self) -> Ints:
        """Number of factors of each term."""
        return np.asarray((self.variables >= 0).sum(axis=1))

    def child(self, parent: int, variable: int, knot: float, sign: int) -> HingeTerms:
        """Return these terms and one more: a term times a hinge."""
        place = int(self.degrees[parent])
        variables, knots, signs = (
            np.concatenate([a, a[parent : parent + 1]]) for a in (self.variables, self.knots, self.signs)
        )
        variables[-1, place], knots[-1, place], signs[-1, place] = variable, knot, sign
        return HingeTerms(variables, knots, signs)

    def some(self, chosen: Ints) -> HingeTerms:
        """Return some of the terms."""
        return HingeTerms(self.variables[chosen], self.knots[chosen], self.signs[chosen])

    def design(self, X: Float64) -> Float64:
        """Return the values of all terms, a column for each."""
        B = np.ones((X.shape[0], self.variables.shape[0]))
        for m in range(B.shape[1]):
            for v, t, s in zip(self.variables[m], self.knots[m], self.signs[m], strict=True):
                if v >= 0:
                    B[:, m] *= np.maximum(s * (X[:, v] - t), 0.0)
        return B

    def names(self, columns: Sequence[str]) -> list[str]:
        """Return what the terms are called: ``h(x0-1.5)`` for a hinge that rises, ``h(1.5-x0)`` else."""
        out = []
        for m in range(self.variables.shape[0]):
            factors = [
                f"h({columns[v]}-{t:.6g})" if s > 0 else f"h({t:.6g}-{columns[v]})"
                for v, t, s in zip(self.variables[m], self.knots[m], self.signs[m], strict=True)
                if v >= 0
            ]
            out.append("*".join(factors) if factors else "(Intercept)")
        return out
