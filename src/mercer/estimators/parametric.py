"""Columns beside the kernel that cost nothing, as a parameter of estimators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils._param_validation import StrOptions

from mercer.arrays import Float64, Index
from mercer.kernels import Kernel, Precomputed
from mercer.kernels.trends import NAMES, Trend, as_trend, covers
from mercer.problems import Machine, Problem
from mercer.problems.design import Design
from mercer.problems.equalities import ParametricMachine

PARAMETRIC: dict[str, list[Any]] = {
    "parametric": [StrOptions({"auto", *NAMES}), Trend, callable, "array-like", None]
}


@dataclass(frozen=True)
class FreeColumns:
    """The columns of some training data that cost nothing.

    Attributes
    ----------
    trend : Trend
        The functions.
    values : (n, m) float64
        Their values, without a constant.
    constant : bool
        Whether a constant is free, too.
    names : list of str or None
        What they are called.
    definite : bool or None
        Whether the kernel is positive semi-definite beside them; None if that is not known.
    """

    trend: Trend
    values: Float64
    constant: bool
    names: list[str] | None
    definite: bool | None

    def design(self, rows: Index, weight: Float64) -> Design:
        """Return the design of some rows, given the weights of all."""
        return Design.of(self.values[rows], weight[rows], constant=self.constant, names=self.names)

    def beside(self, problem: Problem, rows: Index) -> Problem:
        """Return a problem of some rows with these columns."""
        return problem.with_parametric(self.values[rows], constant=self.constant, names=self.names)


class ParametricMixin:
    """Estimators whose function may have an unpenalised parametric part.

    Parameters
    ----------
    parametric : "auto", None, "constant", "linear", "quadratic", sequence of int or callable, default="auto"
        Functions beside the kernel whose coefficients cost nothing: products of features up to a degree, some
        columns, or those that a function of the data returns (n values, or n by m). "auto" takes the kernel's
        own (1 and x for :class:`~mercer.kernels.Spline`, polynomials for
        :class:`~mercer.kernels.ThinPlate`), None none.
    """

    parametric: Any
    fit_intercept: bool
    parametric_: Trend | None
    parametric_coef_: np.ndarray

    def _free_columns(self, kernel: Kernel, X: Any) -> FreeColumns | None:
        """Return the columns of checked data that cost nothing; None where that is a bias at most."""
        features = int(X.shape[1]) if getattr(X, "ndim", 1) == 2 else 0
        own = kernel.trend_on(features) if features else None
        auto = isinstance(self.parametric, str) and self.parametric == "auto"
        trend = own if auto else as_trend(self.parametric, own)
        if trend is None:
            return None
        if isinstance(kernel, Precomputed) and not callable(getattr(trend, "function", None)):
            if trend.columns(np.zeros((1, 1))).size:
                raise ValueError(
                    f"parametric={self.parametric!r}: a precomputed kernel matrix has no features; use "
                    "parametric='constant', or a kernel on the data"
                )
            X = np.zeros((X.shape[0], 0))
        values = trend.columns(X)
        constant = bool(trend.constant or self.fit_intercept)
        definite = kernel.is_psd
        if not definite and kernel.is_psd_beside_trend and covers(trend, own, constant, features):
            definite = True
        if values.shape[1] == 0 and (self.fit_intercept or not constant) and definite:
            return None  # a bias is all, and every solver knows that
        names = getattr(self, "feature_names_in_", None)
        return FreeColumns(trend, values, constant, trend.names(X, names), definite or None)

    def _keep_parametric(self, free: FreeColumns, machines: list[Machine]) -> None:
        """Store the coefficients of the columns, a row for each function."""
        self.parametric_ = free.trend
        parts = [np.atleast_2d(m.parametric.T) for m in machines if isinstance(m, ParametricMachine)]
        self.parametric_coef_ = np.vstack(parts)

    def _with_parametric(self, machine: Machine, number: int, free: FreeColumns | None) -> Machine:
        """Return a shipped machine with the coefficients of its columns."""
        if free is None:
            return machine
        several = np.ndim(machine.intercept) > 0
        d = self.parametric_coef_.T if several else self.parametric_coef_[number]
        return ParametricMachine(machine.coef, machine.intercept, machine.products, d)

    def _trend_values(self, X: Any) -> Any:
        """Return what the columns add to the functions at checked data: zero without any."""
        trend = getattr(self, "parametric_", None)
        if trend is None or not self.parametric_coef_.size:
            return 0.0
        return trend.columns(X) @ self.parametric_coef_.T


def has_parametric(model: Any) -> bool:
    """Return whether a fitted estimator's function has columns beside the kernel."""
    return getattr(model, "parametric_", None) is not None
