"""Multivariate adaptive regression splines: terms are added greedily, then dropped by cross-validation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import qr, solve_triangular

from mercer import _jit
from mercer.arrays import Float64
from mercer.problems.splines.cross_validation import generalised_cross_validation, hinge_charge
from mercer.problems.splines.hinges import HingeTerms

DEPENDENT = 1e-10  # share of a column's squared length that must be new for it to become a term


@dataclass(frozen=True)
class HingeFit:
    """A model of products of hinges.

    Attributes
    ----------
    terms : HingeTerms
        Those that were kept.
    coef : (terms, outputs) float64
        Their coefficients.
    squared_error, gcv : float
        Summed over the outputs.
    forward_terms : int
        How many the forward pass had found.
    """

    terms: HingeTerms
    coef: Float64
    squared_error: float
    gcv: float
    forward_terms: int


def forward_pass(
    X: Float64, Y: Float64, *, degree: int, most: int, threshold: float, minspan: int, endspan: int
) -> HingeTerms:
    """Add the pair of hinges that helps most, times a term that is there, until nothing helps enough.

    Parameters
    ----------
    X : (n, p) float64
        Variables.
    Y : (n, o) float64
        Targets.
    degree : int
        Most factors of a term.
    most : int
        Most terms, the constant included.
    threshold : float
        Share of the variance of Y that a pair must explain, and that may stay unexplained.
    minspan, endspan : int
        Points between knots, and between knots and the ends; -1 for Friedman's rules.

    References
    ----------
    Friedman (1991), Multivariate adaptive regression splines, Annals of Statistics 19, Algorithm 2 and
    section 3.9.
    """
    n, p = X.shape
    middle, spread = X.mean(axis=0), X.std(axis=0)
    varied = spread > 1e-12 * np.abs(X).max(axis=0, initial=0.0)
    Z = np.ascontiguousarray(((X - middle) / np.where(varied, spread, 1.0)).T)
    order = np.ascontiguousarray(np.argsort(-Z, axis=1, kind="stable"))
    terms = HingeTerms.constant(degree)
    Q = np.full((n, 1), 1.0 / math.sqrt(n))
    R = Y - Y.mean(axis=0)
    total = left = float((R**2).sum())
    found = np.empty(3, dtype=np.int64)
    while terms.variables.shape[0] + 2 <= most and left > threshold * total:
        used = np.zeros((terms.variables.shape[0], p), dtype=bool)
        for m, row in enumerate(terms.variables):
            used[m, row[row >= 0]] = True
        allowed = ~used & varied & (terms.degrees < degree)[:, None]
        B = np.ascontiguousarray(terms.design(X).T)
        gain = _jit.hinge_search.best_pair(
            Z, order, B, allowed, np.ascontiguousarray(Q), np.ascontiguousarray(R), minspan, endspan, found
        )
        parent, variable, row = found.tolist()
        if parent < 0 or gain <= threshold * total:
            break
        before = Q.shape[1]
        for sign in (1, -1):
            grown = terms.child(parent, variable, float(X[row, variable]), sign)
            column = _outside(grown.some(np.array([-1])).design(X)[:, 0], Q)
            if column is not None:
                terms, Q = grown, np.column_stack([Q, column])
        if Q.shape[1] == before:
            break
        fresh = Q[:, before:]
        R = R - fresh @ (fresh.T @ R)
        left = float((R**2).sum())
    return terms


def _outside(column: Float64, Q: Float64) -> Float64 | None:
    """Return the part of a column outside of an orthonormal basis, of length 1; None if there is none."""
    whole = float(column @ column)
    for _ in range(2):
        column = column - Q @ (Q.T @ column)
    new = float(column @ column)
    return column / math.sqrt(new) if new > DEPENDENT * whole else None


def backward_pass(terms: HingeTerms, X: Float64, Y: Float64, *, penalty: float, prune: bool) -> HingeFit:
    """Drop, one after the other, the term that is missed least; keep the terms of least cross-validation.

    Parameters
    ----------
    terms : HingeTerms
        Of the forward pass; the constant is never dropped.
    X, Y : (n, p) and (n, o) float64
        Variables and targets.
    penalty : float
        Charge for a knot.
    prune : bool
        Whether to drop any.

    References
    ----------
    Friedman (1991), Multivariate adaptive regression splines, Annals of Statistics 19, Algorithm 3.
    """
    n, outputs = Y.shape
    level = Y.mean(axis=0)
    R = qr(np.column_stack([terms.design(X), Y - level]), mode="economic")[1]
    known: tuple[float, Any, Float64, float] | None = None
    m = terms.variables.shape[0]
    A, b = R[:, :m], R[:, m:]  # all that least squares needs to know
    kept = np.arange(m)
    while True:
        coef, error, losses = _least_squares(A[:, kept], b)
        value = generalised_cross_validation(error / outputs, n, hinge_charge(kept.size, penalty))
        if known is None or value <= known[0]:
            known = (value, kept, coef, error)
        if not prune or kept.size == 1:
            break
        kept = np.delete(kept, 1 + int(np.argmin(losses[1:])))
    value, kept, coef, error = known
    coef = coef.copy()
    coef[0] += level
    return HingeFit(terms.some(kept), coef, error, value * outputs, m)


def _least_squares(A: Float64, b: Float64) -> tuple[Float64, float, Float64]:
    """Return coefficients, squared error, and by how much that grows without each column."""
    Q, R = qr(A, mode="economic")
    coef = solve_triangular(R, Q.T @ b)
    inverse = solve_triangular(R, np.eye(R.shape[0]))
    error = float(((b - A @ coef) ** 2).sum())
    losses: Float64 = (coef**2).sum(axis=1) / (inverse**2).sum(axis=1)
    return coef, error, losses


def fit_hinges(
    X: Float64,
    Y: Float64,
    *,
    degree: int,
    most: int,
    penalty: float,
    threshold: float,
    minspan: int,
    endspan: int,
    prune: bool,
) -> HingeFit:
    """Run the forward and the backward pass; see there."""
    found = forward_pass(
        X, Y, degree=degree, most=most, threshold=threshold, minspan=minspan, endspan=endspan
    )
    return backward_pass(found, X, Y, penalty=penalty, prune=prune)
