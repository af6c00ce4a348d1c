"""The whole regularisation path of a machine in three pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Float64
from mercer.plots._canvas import FONT, colour, finish, logarithmic, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RESOLUTION = 400  # values of C between the knots
MOST_KNOTS = 600  # knots that are drawn as such
MOST_LINES = 300  # rows whose coefficients are drawn
CROWD = 60  # more lines than this are drawn thin and pale


def path(
    path: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    number: int = 0,
    axes: tuple[Axes, Axes, Axes] | None = None,
) -> tuple[Axes, Axes, Axes]:
    """Draw the coefficients, the margin and the error of a path against C.

    Parameters
    ----------
    path : SVCPath or SVRPath
        Fitted.
    X, y : array, optional
        More data, whose error is drawn beside that of the training rows. Two classes or a regression only.
    number : int, default=0
        Which two-class problem, for more than two classes.
    axes : three matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    tuple of three matplotlib Axes
        Coefficients divided by C, margin 1 / ||w||, error.

    References
    ----------
    Hastie, Tibshirani and Friedman (2009), The Elements of Statistical Learning, figures 12.6 and 12.7.
    """
    check_is_fitted(path, "paths_")
    if not 0 <= number < len(path.paths_):
        raise ValueError(f"number={number!r} must be at least 0 and less than {len(path.paths_)}")
    if (X is None) != (y is None):
        raise ValueError("X and y belong together: give both or neither")
    if axes is None:
        axes = _three()
    C = _values(path, number)
    curves = path.curves(C, number)
    classifies = hasattr(path, "classes_")
    _draw_coefficients(axes[0], curves, classifies)
    with np.errstate(divide="ignore"):
        margin = 1.0 / curves["norm"]
    axes[1].plot(C, margin, color=colour(0))
    logarithmic(axes[1], "y")
    finish(axes[1], "", r"margin $1 / \|w\|$" if classifies else r"$1 / \|w\|$", None)
    error = path.training_error(C, number)
    axes[2].plot(C, error, color=colour(0), label="training rows")
    if X is not None:
        axes[2].plot(
            C, _error(path, X, np.asarray(y), C), color=colour(1), linestyle="--", label="given rows"
        )
    axes[2].set_ylim(bottom=0.0)
    finish(axes[2], "C", "error" if classifies else "mean absolute error", None, legend=False)
    if X is not None:  # above its panel: beside it, it would make all three narrower
        axes[2].legend(
            fontsize=FONT - 1, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False,
            borderaxespad=0.2,
        )  # fmt: skip
    for ax in axes:
        ax.set_xlim(C[0], C[-1])
        logarithmic(ax, "x")
    return axes


def _three() -> tuple[Axes, Axes, Axes]:
    first = new_axes(None, (6.4, 7.2))
    figure: Any = first.figure
    first.remove()
    top, middle, bottom = figure.subplots(3, 1, sharex=True, height_ratios=(2.2, 1.0, 1.2))
    return top, middle, bottom


def _values(path: Any, number: int) -> Float64:
    """Return the knots, if they are not too many, and a fine grid of C."""
    knots = 1.0 / path.paths_[number].t
    low, high = path.C_range_
    low = max(low, 0.3 * float(knots[0]))
    grid = np.geomspace(min(low, high), high, RESOLUTION)
    picked = knots[np.linspace(0, knots.size - 1, min(knots.size, MOST_KNOTS)).astype(np.intp)]
    return np.unique(np.clip(np.concatenate([grid, picked]), low, high))


def _draw_coefficients(ax: Axes, curves: dict[str, Any], classifies: bool) -> None:
    table = np.abs(curves["scaled"]) if classifies else curves["scaled"]
    moving = np.flatnonzero(np.ptp(table, axis=0) > 0)
    title = f"{moving.size} of {table.shape[1]} rows move"
    if moving.size > MOST_LINES:
        title += f"; {MOST_LINES} of them are drawn"
        moving = moving[np.linspace(0, moving.size - 1, MOST_LINES).astype(np.intp)]
    width, alpha = (0.8, 0.7) if moving.size <= CROWD else (0.5, 0.45)
    for k, i in enumerate(moving):
        ax.plot(curves["C"], table[:, i], color=colour(k), linewidth=width, alpha=alpha)
    name = r"$\alpha_i$ (multiplier / C)" if classifies else "coefficient / C"
    finish(ax, "", name, title)


def _error(path: Any, X: Any, y: Any, C: Float64) -> Float64:
    predicted = path.predict(X, C=C)
    if hasattr(path, "classes_"):
        if path.classes_.size > 2:
            raise ValueError("X and y are drawn for two classes or a regression only")
        return np.asarray((predicted != y[:, None]).mean(axis=0))
    return np.asarray(np.abs(predicted - y[:, None]).mean(axis=0))
