"""Fit what is on the board and compute all that the page draws of it."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Float64
from mercer.play.catalogue import Settings, build
from mercer.play.presets import CLASSES, DIGITS, EDGE, Points

__all__ = ["GRID", "MOST_POINTS", "View", "clean", "data_of", "fit_view", "view_of"]

GRID = 96  # decision values along each side of the board
MOST_POINTS = 2000
SECONDS = 3.0  # the longest fit: the page stays live
STEP = 1e-4  # of the differences that point a slack to its margin
WITH_MARGIN = ("SVC", "NuSVC", "KernelClassifier")


@dataclass(frozen=True)
class View:
    """A fitted machine as the page draws it.

    Attributes
    ----------
    model : object, optional
        The fitted estimator; None where there is nothing to fit.
    message : str
        Why there is no model; empty where there is one.
    grid : ndarray of shape (GRID, GRID), optional
        Decision values (two classes, novelty) or class numbers (more classes), row by row from below.
    curve : tuple of ndarray, optional
        x, prediction, and half the width of the tube, of a regression.
    decision, multiplier, slack : ndarray of shape (n,)
        Of each point; nan where the machine has none.
    tip : ndarray of shape (n, 2)
        Where the line that shows a slack ends: the margin, to first order.
    seconds : float
        What fit and picture took.
    words : tuple of str
        Warnings of the fit.
    """

    model: Any
    message: str
    decision: Float64
    multiplier: Float64
    slack: Float64
    tip: Float64
    grid: Float64 | None = None
    curve: tuple[Float64, Float64, Float64] | None = None
    seconds: float = 0.0
    words: tuple[str, ...] = ()


def clean(data: dict[str, Any]) -> Points:
    """Return the points of a browser's table; rows that are not points of the board are left out.

    Parameters
    ----------
    data : dict
        Columns ``x``, ``y`` and ``group`` (a class of :data:`CLASSES`) as a browser sent them, so perhaps
        anything.
    """
    columns = [list(data.get(name, ())) for name in ("x", "y", "group")]
    rows = [
        (float(x), float(y), CLASSES.index(g))
        for x, y, g in zip(*columns, strict=False)
        if _is_number(x) and _is_number(y) and isinstance(g, str) and g in CLASSES
    ][:MOST_POINTS]
    table = np.array(rows, dtype=np.float64).reshape(-1, 3)
    inside = np.clip(np.round(table[:, :2], DIGITS), -EDGE, EDGE)
    return Points(inside[:, 0].copy(), inside[:, 1].copy(), table[:, 2].astype(np.int64))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and bool(np.isfinite(value))


def data_of(points: Points, task: str) -> tuple[np.ndarray, np.ndarray]:
    """Return X and y as the estimator sees them: a regression predicts the height of a point."""
    if task == "regression":
        return points.x[:, None], points.y
    return np.column_stack([points.x, points.y]), points.group


def _obstacle(points: Points, task: str) -> str:
    if points.n < 2:
        return "Click on the board to add points."
    if task == "classification" and np.unique(points.group).size < 2:
        return "A classifier needs points of two classes: choose another class and click on the board."
    return ""


def fit_view(points: Points, settings: Settings) -> View:
    """Fit the machine on the board to the points and return what is drawn.

    Parameters
    ----------
    points : Points
        The points.
    settings : Settings
        Machine, kernel and parameters.
    """
    started = time.perf_counter()
    obstacle = _obstacle(points, settings.task)
    if obstacle:
        return _empty(points, obstacle)
    X, y = data_of(points, settings.task)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            model = build(settings, time_limit=SECONDS).fit(X, y)
        except ValueError as error:  # infeasible nu, an unbounded problem: the estimator says why
            return _empty(points, str(error))
    words = tuple(dict.fromkeys(str(one.message) for one in found))
    return view_of(model, points, settings, words, started)


def _empty(points: Points, message: str) -> View:
    none = np.full(points.n, np.nan)
    tip = np.column_stack([points.x, points.y])
    return View(None, message, none, none.copy(), none.copy(), tip)


def view_of(
    model: Any, points: Points, settings: Settings, words: tuple[str, ...] = (), started: float | None = None
) -> View:
    """Return what is drawn of a fitted model.

    Parameters
    ----------
    model : estimator
        Fitted to ``points``.
    points : Points
        The points.
    settings : Settings
        Its machine and parameters.
    words : tuple of str
        Warnings of the fit.
    started : float, optional
        When the work began, by ``time.perf_counter``.
    """
    begun = time.perf_counter() if started is None else started
    X, y = data_of(points, settings.task)
    multiplier = _multipliers(model, points.n)
    if settings.task == "regression":
        half = float(getattr(model, "epsilon_", getattr(model, "epsilon", 0.0)))
        x = np.linspace(-EDGE, EDGE, 4 * GRID)
        curve = (x, np.asarray(model.predict(x[:, None])), np.full(x.size, half))
        decision = np.asarray(model.predict(X))
        residual = y - decision
        slack = np.maximum(np.abs(residual) - half, 0.0)
        tip = np.column_stack([points.x, decision + np.sign(residual) * half])
        taken = time.perf_counter() - begun
        return View(model, "", decision, multiplier, slack, tip, None, curve, taken, words)
    side = np.linspace(-EDGE, EDGE, GRID)
    a, b = np.meshgrid(side, side)
    nodes = np.column_stack([a.ravel(), b.ravel()])
    if settings.task == "classification" and len(model.classes_) > 2:
        grid = np.asarray(model.predict(nodes), dtype=np.float64)
        none = np.full(points.n, np.nan)
        taken = time.perf_counter() - begun
        return View(model, "", none, multiplier, none.copy(), X, grid.reshape(GRID, GRID), None, taken, words)
    grid = np.asarray(model.decision_function(nodes), dtype=np.float64).reshape(GRID, GRID)
    decision = np.asarray(model.decision_function(X), dtype=np.float64)
    slack, tip = _slacks(model, settings, X, y, decision)
    taken = time.perf_counter() - begun
    return View(model, "", decision, multiplier, slack, tip, grid, None, taken, words)


def _multipliers(model: Any, n: int) -> Float64:
    found = np.zeros(n)
    coefficients = np.abs(np.atleast_2d(model.dual_coef_)).max(axis=0)
    found[getattr(model, "support_", slice(None))] = coefficients
    return found


def _slacks(
    model: Any, settings: Settings, X: np.ndarray, y: np.ndarray, decision: Float64
) -> tuple[Float64, Float64]:
    """Return the slacks, and where their lines end: along the gradient, as far as the margin is."""
    none = np.full(decision.size, np.nan)
    if settings.task == "classification":
        if settings.machine not in WITH_MARGIN:
            return none, X
        sign = np.where(y == model.classes_[1], 1.0, -1.0)
        slack = np.maximum(1.0 - sign * decision, 0.0)
    else:
        sign, slack = np.ones(decision.size), np.maximum(-decision, 0.0)
    short = np.flatnonzero(slack > 0.0)
    tip = X.copy()
    if short.size:
        shifts = STEP * np.array([(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)])
        around = (X[short][None, :, :] + shifts[:, None, :]).reshape(-1, 2)
        value = np.asarray(model.decision_function(around)).reshape(4, -1)
        gradient = np.column_stack([value[0] - value[1], value[2] - value[3]]) / (2.0 * STEP)
        square = np.maximum((gradient**2).sum(axis=1), 1e-12)
        way = gradient * (sign[short] * slack[short] / square)[:, None]
        length = np.sqrt((way**2).sum(axis=1))
        way *= np.minimum(1.0, 1.5 / np.maximum(length, 1e-12))[:, None]
        tip[short] += way
    return slack, tip
