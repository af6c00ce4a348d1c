# ruff: noqa: D102  what overrides a method is documented in the base class
"""The kernel matrix of inputs with their true outputs, known by their joint features."""

from __future__ import annotations

import numpy as np

from mercer.arrays import Float64, Floats, Index
from mercer.gram.base import UNIT, Gram
from mercer.structured import Examples


class JointFeatures(Gram):
    r"""The matrix of :math:`\langle \psi(x_i, y_i), \psi(x_j, y_j) \rangle`, and the examples behind it.

    Machines on joint features have weights, not coefficients of points: what solvers ask for are the worst
    outputs for given weights, which the examples find.

    Parameters
    ----------
    examples : Examples
        Inputs with their true outputs.
    """

    def __init__(self, examples: Examples) -> None:
        self.examples = examples
        self.n, self.width = examples.n, examples.width
        self.dtype = np.dtype(np.float64)
        self.is_psd = True

    def diag(self) -> Float64:
        return np.array([float(v @ v) for v in map(self._vector, range(self.n))])

    def block(self, idx: Index, jdx: Index, out: Floats | None = None) -> Floats:
        left = np.stack([self._vector(int(i)) for i in idx])
        values = left @ np.stack([self._vector(int(j)) for j in jdx]).T
        if out is None:
            return values
        out[...] = values
        return out

    def add_product(self, idx: Index, coef: Float64, out: Float64) -> None:
        w = np.zeros(self.width)
        for i, c in zip(idx, coef, strict=True):
            w += c * self._vector(int(i))
        out += np.array([float(self._vector(i) @ w) for i in range(self.n)])

    def exact(self) -> Gram:
        return self

    def subset(self, idx: Index, workers: object = None) -> Gram:
        raise NotImplementedError("a structured machine is one problem on all rows")

    def noise(self, coef: Float64) -> Float64:
        """Return a bound on the rounding error of each row's scores, for weights of the joint features."""
        return (UNIT * float(np.linalg.norm(coef))) * self.examples.reach

    def _vector(self, i: int) -> Float64:
        return np.asarray(self.examples.true_feature(i))
