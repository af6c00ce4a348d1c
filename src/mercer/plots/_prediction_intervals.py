"""Prediction intervals of a regression, noise included, beside what was observed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import norm

from mercer.arrays import Float64
from mercer.plots._canvas import axis_names, colour, finish, like_training, new_axes, pale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROWS = "rows, in the order of their predictions"


def intervals(
    model: Any,
    X: Any,
    y: Any,
    *,
    level: float = 0.9,
    ax: Axes | None = None,
    resolution: int = 500,
    title: str | None = None,
) -> Axes:
    r"""Draw prediction intervals of a Gaussian process and the values observed.

    The interval at x is :math:`\mu(x) \pm z \sqrt{\operatorname{var} f(x) + \sigma^2}` with z the normal
    quantile of ``level``: it holds a new observation, so the noise is part of it. The legend gives the share
    of the rows that lie inside. With one feature the intervals are a band over it; with more, one bar for
    each row, in the order of the predictions.

    Parameters
    ----------
    model : GaussianProcessRegressor, or a pipeline that ends with one
        Fitted; ``predict`` must take ``return_std=True, noise=True``.
    X : array of shape (n, n_features)
        Points, best such that the fit has not seen.
    y : array of shape (n,)
        What was observed there.
    level : float, default=0.9
        Probability with which an interval should hold the observation.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when not given.
    resolution : int, default=500
        Points at which a band is drawn.
    title : str, optional
        Title.

    Returns
    -------
    matplotlib Axes

    References
    ----------
    C. E. Rasmussen and C. K. I. Williams (2006). *Gaussian Processes for Machine Learning*, section 2.2. MIT
    Press.
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level={level!r} must lie between 0 and 1")
    points = X if getattr(X, "ndim", 0) == 2 else np.reshape(np.asarray(X, dtype=np.float64), (-1, 1))
    target = np.asarray(y, dtype=np.float64)
    if target.shape != (points.shape[0],):
        raise ValueError(f"y has shape {target.shape}; for {points.shape[0]} rows of X it must be one column")
    mean, half = _intervals(model, points, level)
    ax = new_axes(ax)
    if points.shape[1] > 1:
        draw_bars(ax, mean, half, target, level)
        return finish(ax, ROWS, "y", title)
    place = np.asarray(points, dtype=np.float64)[:, 0]
    room = 0.04 * (np.ptp(place) or 1.0)
    grid = np.linspace(place.min() - room, place.max() + room, resolution)
    middle, wide = _intervals(model, like_training(model, grid[:, None]), level)
    inside = np.abs(target - mean) <= half
    words = _words(level, inside)
    ax.fill_between(grid, middle - wide, middle + wide, color=pale(0), linewidth=0, label=words)
    ax.plot(grid, middle, color=colour(0), linewidth=1.6, label="prediction")
    _scatter(ax, place, target, inside)
    ax.set_xlim(grid[0], grid[-1])
    return finish(ax, axis_names(X, model, 1)[0], "y", title)


def draw_bars(ax: Axes, mean: Float64, half: Float64, target: Float64, level: float) -> None:
    """Draw an interval for each row, in the order of the predictions, and what was observed."""
    order = np.argsort(mean, kind="stable")
    mean, half, target = mean[order], half[order], target[order]
    inside = np.abs(target - mean) <= half
    place = np.arange(mean.size, dtype=np.float64)
    width = min(3.0, 200.0 / mean.size)
    words = _words(level, inside)
    ax.vlines(place, mean - half, mean + half, color=pale(0, 0.4), linewidth=width, label=words)
    ax.plot(place, mean, color=colour(0), linewidth=1.4, label="prediction")
    _scatter(ax, place, target, inside)


def _words(level: float, inside: Any) -> str:
    return f"{100 * level:g} % interval (holds {100 * inside.mean():.0f} %)"


def _scatter(ax: Axes, place: Float64, target: Float64, inside: Any) -> None:
    ax.scatter(place[inside], target[inside], s=10, c="#444444", linewidths=0, label="inside", zorder=3)
    place, target = place[~inside], target[~inside]
    ax.scatter(place, target, s=16, c=colour(1), marker="^", linewidths=0, label="outside", zorder=3)


def _intervals(model: Any, X: Any, level: float) -> tuple[Float64, Float64]:
    """Return the means and half the widths of the intervals."""
    try:
        mean, std = model.predict(X, return_std=True, noise=True)
    except TypeError:
        raise TypeError(
            f"{type(model).__name__} has no prediction intervals: its predict takes no return_std and noise"
        ) from None
    return np.asarray(mean), np.asarray(norm.ppf(0.5 + level / 2) * std)
