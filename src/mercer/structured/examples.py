"""Training data of a structured machine, as solvers see them: the worst outputs, and their features."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.arrays import Float64, Index
from mercer.threads import Workers

KEPT = 50_000_000  # numbers of the true outputs' features that are kept
ROUNDING = 1e-9  # of a score, relative to its terms: by so much an exact argmax may miss


class Examples:
    r"""Inputs with their true outputs.

    Solvers need three things: for given weights the output of each row with the largest

    .. math::
        s_i(y) = \Delta(y_i, y) - \langle w, \psi(x_i, y_i) - \psi(x_i, y) \rangle,

    these differences of features as sparse rows, and the losses. Here all of that is made of the three
    methods of a structure, one row after the other; compiled structures have a class of their own.

    Parameters
    ----------
    structure : Structure
        What an output is.
    X, Y : sequence
        Checked inputs and outputs.
    workers : Workers
        Threads; the methods of a user's structure are called by one.
    """

    def __init__(self, structure: Any, X: Any, Y: Any, workers: Workers) -> None:
        self.structure, self.X, self.Y, self.workers = structure, X, Y, workers
        self.n = len(X)
        first = self._feature(0, Y[0])
        self.width = first.size
        self.exact = bool(structure.exact)
        self._truth: dict[int, Float64] = {0: first}
        # A bound on the lengths of all features of a row, as far as they were seen.
        self.reach = np.zeros(self.n)
        for i in range(self.n):
            loss = float(structure.loss(Y[i], Y[i]))
            if loss != 0.0:
                raise ValueError(
                    f"{type(structure).__name__}.loss of the true output of row {i} and itself is {loss:g}; "
                    "it must be 0"
                )
            self.reach[i] = 2.0 * float(np.linalg.norm(self.true_feature(i)))

    # -- what solvers ask for --------------------------------------------------------------------------------

    def worst(self, rows: Index, w: Float64) -> tuple[Any, Float64, Float64]:
        """Return for each row the output that the argmax finds, its s, and an upper bound on all s.

        Parameters
        ----------
        rows : (m,) intp
            Which rows.
        w : (width,) float64
            Weights.
        """
        found: list[Any] = []
        values, bounds = np.empty(rows.size), np.full(rows.size, np.inf)
        for k, i in enumerate(rows):
            x, y = self.X[i], self.Y[i]
            output = self.structure.argmax(x, w, y)
            difference, loss = self._difference(int(i), output)
            values[k] = loss - float(difference @ w)
            found.append(output)
            if self.exact:
                bounds[k] = self._plausible(int(i), values[k], w)
            else:
                limit = float(self.structure.bound(x, w, y))
                bounds[k] = max(limit - float(self.true_feature(int(i)) @ w), values[k], 0.0)
        return found, values, bounds

    def differences(self, rows: Index, outputs: Any) -> tuple[sp.csr_array, Float64]:
        """Return psi(x_i, y_i) - psi(x_i, y) of rows and outputs, as sparse rows, and the losses."""
        losses = np.empty(rows.size)
        parts = []
        for k, i in enumerate(rows):
            difference, losses[k] = self._difference(int(i), outputs[k])
            parts.append(sp.csr_array(difference[None]))
        table = sp.vstack(parts, format="csr") if parts else sp.csr_array((0, self.width))
        return sp.csr_array(table), losses

    def scores(self, rows: Index, outputs: Any, w: Float64) -> Float64:
        """Return s of rows and outputs."""
        table, losses = self.differences(rows, outputs)
        return np.asarray(losses - table @ w)

    def keys(self, rows: Index, outputs: Any) -> list[Hashable]:
        """Return something hashable for each output, None for those that are true."""
        return [
            None if _key(self.Y[i]) == (key := _key(y)) else key for i, y in zip(rows, outputs, strict=True)
        ]

    def suits(self, rows: Index, outputs: Any) -> bool:
        """Return whether outputs of an earlier fit may be outputs of these rows."""
        return all(np.shape(self.Y[i]) == np.shape(y) for i, y in zip(rows, outputs, strict=True))

    # -- one row ---------------------------------------------------------------------------------------------

    def _feature(self, i: int, y: Any) -> Float64:
        feature: Any = self.structure.joint_feature(self.X[i], y)
        vector = np.asarray(getattr(feature, "toarray", lambda: feature)(), dtype=np.float64).ravel()
        width = getattr(self, "width", vector.size)
        if vector.size != width or not np.isfinite(vector).all():
            what = f"{vector.size} numbers" if vector.size != width else "a number that is not finite"
            raise ValueError(
                f"{type(self.structure).__name__}.joint_feature returned {what} for row {i}; it must return "
                f"{width} finite numbers for every input and output"
            )
        return vector

    def true_feature(self, i: int) -> Float64:
        """Return psi(x_i, y_i)."""
        known = self._truth.get(i)
        if known is None:
            known = self._feature(i, self.Y[i])
            if (len(self._truth) + 1) * self.width <= KEPT:
                self._truth[i] = known
        return known

    def _difference(self, i: int, output: Any) -> tuple[Float64, float]:
        """Return the difference of features and the loss of an output of a row."""
        feature = self._feature(i, output)
        loss = float(self.structure.loss(self.Y[i], output))
        if not (np.isfinite(loss) and loss >= 0.0):
            raise ValueError(
                f"{type(self.structure).__name__}.loss returned {loss:g} for row {i}; it must be a finite "
                "number of at least 0"
            )
        truth = self.true_feature(i)
        size = float(np.linalg.norm(truth) + np.linalg.norm(feature))
        self.reach[i] = max(self.reach[i], size)
        return truth - feature, loss

    def _plausible(self, i: int, value: float, w: Float64) -> float:
        """Return the value of an argmax that says it is exact, refusing one that the true output exceeds."""
        if value < -ROUNDING * (1.0 + float(np.linalg.norm(w)) * self.reach[i]):
            refuse_inexact(self.structure, i, -value)
        return max(value, 0.0)


def refuse_inexact(structure: Any, i: int, better: float) -> None:
    """Raise for an argmax that says it is exact and is not."""
    raise ValueError(
        f"{type(structure).__name__}.argmax missed the maximum of row {i} by at least {better:.3g}, and "
        "the class says that it is exact: correct it, or set exact = False, and nothing will be proved"
    )


def _key(output: Any) -> Hashable:
    if isinstance(output, np.ndarray):
        if output.dtype.kind == "O":
            return (output.shape, *output.ravel().tolist())
        whole = output.astype(np.int64) if output.dtype.kind in "biu" else output
        return (output.shape, whole.tobytes())
    if isinstance(output, list):
        return ("list", *(_key(item) for item in output))
    if isinstance(output, np.generic):
        return output.item()  # type: ignore[no-any-return]
    return output  # type: ignore[no-any-return]
