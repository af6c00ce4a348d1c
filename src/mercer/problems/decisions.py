"""Decisions whose signs are sure: products in single precision, each with a bound on its error.

Whoever asks for a class needs the sign of a sum and not its digits. Values in float32 cost half as much;
where the sign is not beyond doubt, and only there, the sum is computed again in float64.

For the Gaussian kernel, with u = 2^-24 and d features, rounding the inputs, taking differences or inner
products, and summing d terms changes s = ||x - z||^2 by at most c u (||x|| + ||z||)^2, where c = d + 12
always (Higham, 2002, section 3.1, generously), and c = 8 sqrt(d) + 12 but for a chance below 1e-10 when the
signs of the rounding errors do not conspire (Higham and Mary, 2019). With the smaller c the computed value k~
obeys

    |k - k~| <= k~ (exp(gamma c u (||x|| + ||z||)^2) - 1) + 16 u k~,

and a sum of values with coefficients of one sign is wrong by at most that share of itself.

References
----------
Higham, N. J. (2002). Accuracy and Stability of Numerical Algorithms, second edition. SIAM.
Higham, N. J. and Mary, T. (2019). A new approach to probabilistic rounding error analysis. SIAM Journal on
Scientific Computing 41(5), A2815-A2835.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.arrays import Float64
from mercer.gram.build import suitable_layout
from mercer.gram.cross_products import TILE_VALUES, Segment, cross_products
from mercer.gram.vectors import Layout, add_panel_products, fill_panel
from mercer.kernels import Kernel, Linear
from mercer.kernels.fused import RBF, Fused
from mercer.threads import Workers

NUMBERS = 1 << 22  # numbers of the new points converted at a time
NO_MEMORY = 0  # for making sparse data dense: it stays as it is
TRIAL = 512  # new points that show whether signs can be told in float32
UNDERFLOW = 1e-37  # a kernel value that float32 has lost is smaller
UNIT = 2.0**-24  # half the distance from 1 to the next float32


def decisions_with_sure_signs(
    kernel: Kernel,
    X: Any,
    Z: Any,
    segments: list[Segment],
    intercept: Float64,
    workers: Workers,
) -> Float64:
    """Return F (n, outputs), F = K(X, Z) coef + intercept, whose signs are those of float64.

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    X, Z : array, CSR or sequence
        New points and kept ones.
    segments : list of Segment
        Coefficients, as for `cross_products`.
    intercept : (outputs,) array
        Added to each row.
    workers : Workers
        Threads.

    Returns
    -------
    (n, outputs) float64 array
        Every sign is right; the digits are those of float32 where that was enough to tell the sign.
    """
    alone = Workers(1)  # the rows are divided among the threads, each of which does all that they need

    def in_double(rows: Any) -> Float64:
        return cross_products(kernel, rows, Z, segments, intercept.size, alone) + intercept

    fused = kernel.fused()
    if isinstance(kernel, Linear) or not _bound_is_known(fused, X, Z, segments):
        return cross_products(kernel, X, Z, segments, intercept.size, workers) + intercept
    assert fused is not None
    thin_X, thin_Z = (suitable_layout(part, NO_MEMORY) for part in (X, Z))
    if sp.issparse(thin_X) and sp.issparse(thin_Z):  # mostly zeros, given as arrays
        X, Z = thin_X, thin_Z
    rough = _Rough(fused, Z, segments, intercept.size)
    out = np.empty((X.shape[0], intercept.size))
    most = max(TRIAL, NUMBERS // max(1, X.shape[1]))

    def work(start: int, stop: int) -> None:
        step = TRIAL if stop - start > 4 * TRIAL else most
        while start < stop:
            end = min(start + step, stop)
            part = X[start:end]
            F, error = rough.products(part)
            F += intercept
            # `>` is false for nan, so whatever overflowed is done again.
            doubtful = np.flatnonzero(~(np.abs(F) > error).all(axis=1))
            if doubtful.size:
                F[doubtful] = in_double(part[doubtful])
            out[start:end] = F
            start, step = end, most
            if 2 * doubtful.size > F.shape[0]:
                if start < stop:
                    out[start:stop] = in_double(X[start:stop])
                return

    workers.ranges(X.shape[0], work)
    return out


def _bound_is_known(fused: Fused | None, X: Any, Z: Any, segments: list[Segment]) -> bool:
    if fused is None or fused.code != RBF or sp.issparse(X) != sp.issparse(Z) or Z.shape[0] == 0:
        return False
    if X.shape[0] * Z.shape[0] < 1 << 17:  # not worth a second look
        return False
    one = len(segments) == 1 and segments[0].coef.shape[1] == 1
    return one or all(_one_sign(s.coef) for s in segments)


def _one_sign(coef: Float64) -> bool:
    return bool(((coef >= 0).all(axis=0) | (coef <= 0).all(axis=0)).all())


class _Rough:
    """The kept points in single precision, and sums over them with bounds on their errors."""

    def __init__(self, fused: Fused, Z: Any, segments: list[Segment], n_outputs: int) -> None:
        self.segments, self.n_outputs = segments, n_outputs
        self.coefs = [segment.coef.astype(np.float32) for segment in segments]
        self.alone = Workers(1)
        centre = None if sp.issparse(Z) else Z.mean(axis=0, dtype=np.float64)
        self.few = Layout(Z, fused, np.float32, centre=centre)
        self.radius = float(_norms(self.few).max())
        self.lost = UNDERFLOW * sum(np.abs(s.coef).sum() for s in segments)

    def products(self, X: Any) -> tuple[Float64, Float64]:
        """Return the sums for new points and bounds on their errors, both (n, outputs)."""
        few = self.few
        many = Layout(X, few.fused, np.float32, centre=few.centre)
        F = np.zeros((X.shape[0], self.n_outputs))
        size = np.zeros_like(F)  # the same sums with the moduli of their coefficients
        terms = min(few.d, 8.0 * np.sqrt(few.d)) + 12.0
        share = 16.0 * UNIT
        if self.n_outputs == 1 and len(self.segments) == 1:
            self._single(many, F, size)
        else:
            self._several(many, F, size)
            share += few.n * UNIT  # these sums are float32, too
        with np.errstate(over="ignore", invalid="ignore"):
            reach = (_norms(many) + self.radius) ** 2
            share = share + np.expm1(few.fused.a * terms * UNIT * reach)
            error = size * share[:, None] + self.lost
        return F, error

    def _single(self, many: Layout, F: Float64, size: Float64) -> None:
        segment = self.segments[0]
        coef = np.ascontiguousarray(segment.coef[:, 0])
        for sign in (1.0, -1.0):
            chosen = np.flatnonzero(sign * coef > 0)
            total = np.zeros(many.n)
            add_panel_products(
                self.few, many, segment.start + chosen, np.abs(coef[chosen]), total, self.alone
            )
            F[:, 0] += sign * total
            size[:, 0] += total

    def _several(self, many: Layout, F: Float64, size: Float64) -> None:
        m = self.few.n
        step = max(1, TILE_VALUES // m)
        for s in range(0, many.n, step):
            e = min(s + step, many.n)
            values = np.empty((m, e - s), dtype=np.float32)
            fill_panel(self.few, many.take(np.arange(s, e)), np.arange(m), values, self.alone)
            for segment, coef in zip(self.segments, self.coefs, strict=True):
                part = values[segment.start : segment.stop].T @ coef
                F[s:e, segment.outputs] += part
                size[s:e, segment.outputs] += np.abs(part)


def _norms(points: Layout) -> Float64:
    """Return the norms of the points, rounded up."""
    squares = points.norms
    if points.columns:
        squares = np.einsum("ij,ij->j", points.kept, points.kept)
    norms: Float64 = np.sqrt(squares.astype(np.float64)) * (1.0 + points.d * UNIT)
    return norms
