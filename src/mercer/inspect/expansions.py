"""A fitted machine as what it is: coefficients, points and a kernel."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Float64
from mercer.estimators.approximation._values import has_features
from mercer.inspect.tables import function_of
from mercer.kernels import Kernel, Precomputed

AGREES = 1e-4  # of the largest value: how far the expansion may be from what the machine computes
CHECKED = 50  # rows at which that is looked at


@dataclass(frozen=True)
class Expansion:
    r"""Functions :math:`f_k(x) = \sum_i c_{ik} k(x_i, x) + b_k + \sum_j d_{kj} p_j(x)`.

    Attributes
    ----------
    kernel : Kernel
        k, resolved.
    points : (m, d) float64
        The x_i.
    coef : (m, outputs) float64
        The c.
    numbers : (m,) int or None
        Rows of the points in the training data, where they are known.
    trend, trend_coef
        The functions p_j and their coefficients, or None.
    """

    kernel: Kernel
    points: Float64
    coef: Float64
    numbers: np.ndarray | None
    trend: Any
    trend_coef: Any

    @classmethod
    def of(cls, machine: Any) -> Expansion:
        """Return the expansion of a fitted machine on rows of numbers, or refuse in words."""
        name = type(machine).__name__
        kernel = getattr(machine, "kernel_", None)
        if not isinstance(kernel, Kernel):
            raise TypeError(f"{name} is not a kernel expansion")
        if has_features(machine):
            raise TypeError(f"{name} has explicit features (approximation=), not a kernel expansion")
        if isinstance(kernel, Precomputed):
            raise TypeError("a precomputed kernel matrix has no columns: use a kernel on the data")
        if not kernel.is_vector:
            raise TypeError(f"kernel={kernel!r} is not for rows of numbers")
        numbers = getattr(machine, "support_", None)
        if hasattr(machine, "_segments"):
            segments, outputs = machine._segments()
            points = machine._reference()
            coef = np.zeros((points.shape[0], outputs))
            for part in segments:
                coef[part.start : part.stop, part.outputs] += part.coef
        elif hasattr(machine, "dual_coef_"):
            given = [getattr(machine, n, None) for n in ("support_vectors_", "X_fit_", "X_train_")]
            points = next((p for p in given if p is not None), None)
            coef = _dense(machine.dual_coef_)
            coef = coef[:, None] if coef.ndim == 1 else coef
        else:
            points, coef = None, np.zeros((0, 0))
        if points is None or coef.shape[0] != points.shape[0]:
            raise TypeError(f"{name} is not a kernel expansion that is understood here")
        trend = getattr(machine, "parametric_", None)
        return cls(
            kernel,
            _dense(points),
            coef,
            None if numbers is None or len(numbers) != coef.shape[0] else np.asarray(numbers),
            trend,
            None if trend is None else np.asarray(machine.parametric_coef_, dtype=np.float64),
        )

    def rows(self, X: Any) -> Float64:
        """Return new rows in float64."""
        Z = _dense(X)
        if Z.ndim != 2 or Z.shape[1] != self.points.shape[1]:
            raise ValueError(f"X must have {self.points.shape[1]} columns; its shape is {Z.shape}")
        return Z

    def sums(self, Z: Float64) -> Float64:
        """Return the functions at rows, without their constants."""
        out = np.asarray(self.kernel.evaluate(Z, self.points), dtype=np.float64) @ self.coef
        return out if self.trend is None else np.asarray(out + self.trend.columns(Z) @ self.trend_coef.T)

    def agrees(self, f: Callable[[Any], Any], Z: Float64) -> bool:
        """Return whether this is what a function computes, up to constants, at some rows and points."""
        rows = np.vstack([Z[:CHECKED], self.points[:CHECKED]])
        with warnings.catch_warnings():  # the model may have seen a data frame
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            theirs = np.asarray(f(rows), dtype=np.float64)
        theirs, ours = theirs.reshape(rows.shape[0], -1), self.sums(rows)
        if theirs.shape != ours.shape:
            return False
        off = float(np.ptp(theirs - ours, axis=0).max(initial=0.0))
        return off <= AGREES * float(np.abs(ours).max(initial=0.0))

    def values_of(self, machine: Any) -> Callable[[Any], Any]:
        """Return what a machine computes; several functions as they are, before votes among classes."""
        several = np.size(getattr(machine, "classes_", ())) > 2
        name = "_raw_decision" if several and hasattr(machine, "_raw_decision") else "_values"
        own: Callable[[Any], Any] | None = getattr(machine, name, None)
        return function_of(machine) if own is None or self.coef.shape[1] == 1 else own

    def check(self, machine: Any, Z: Float64) -> None:
        """Refuse a machine that computes something else than this expansion plus constants."""
        function_of(machine)  # it refuses a machine of clusters, whose expansions are not its predictions
        if not self.agrees(self.values_of(machine), Z):
            raise TypeError(
                f"{type(machine).__name__} computes more than a kernel expansion: it cannot be taken apart"
            )


def machine_of(model: Any, X: Any) -> tuple[Any, Any]:
    """Return the machine at the end of a pipeline or a search, and the rows as it sees them."""
    check_is_fitted(model)
    whole = getattr(model, "best_estimator_", model)
    if not isinstance(whole, Pipeline):
        return whole, X
    return whole[-1], whole[:-1].transform(X) if len(whole) > 1 else X


def _dense(X: Any) -> Float64:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
