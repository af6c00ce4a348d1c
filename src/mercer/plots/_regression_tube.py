"""A regression of one feature, with its insensitive tube."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.plots._canvas import axis_names, colour, finish, like_training, new_axes, pale, ring_support

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def tube(
    model: Any, X: Any, y: Any, *, ax: Axes | None = None, resolution: int = 500, title: str | None = None
) -> Axes:
    """Draw a support vector regression of one feature, with its epsilon-tube.

    Parameters
    ----------
    model : SVR or NuSVR
        Fitted on one feature. The tube's half-width is ``epsilon_`` where the model found it, else
        ``epsilon``.
    X : array of shape (n, 1) or (n,)
        Points.
    y : array of shape (n,)
        Targets.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when not given.
    resolution : int, default=500
        Points at which the function is drawn.
    title : str, optional
        Title.

    Returns
    -------
    matplotlib Axes
    """
    points = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    points = points.reshape(-1, 1) if points.ndim == 1 else points
    if points.ndim != 2 or points.shape[1] != 1:
        raise ValueError(f"X must have 1 feature to draw a tube over it, its shape is {points.shape}")
    target = np.asarray(y, dtype=np.float64)
    if target.shape != (len(points),):
        raise ValueError(
            f"y has shape {target.shape}; for {len(points)} rows of X it must be ({len(points)},)"
        )
    width = getattr(model, "epsilon_", getattr(model, "epsilon", None))
    if width is None:
        raise ValueError(f"{type(model).__name__} has no epsilon: it has no tube")
    ax = new_axes(ax)
    low, high = float(points.min()), float(points.max())
    room = 0.04 * (high - low or 1.0)
    grid = np.linspace(low - room, high + room, resolution)
    value = np.asarray(model.predict(like_training(model, grid[:, None])))
    ax.fill_between(
        grid,
        value - width,
        value + width,
        color=pale(0),
        linewidth=0,
        label=rf"tube, $\varepsilon$ = {width:.3g}",
    )
    for edge in (value - width, value + width):
        ax.plot(grid, edge, "--", color=colour(0), linewidth=0.8)
    ax.plot(grid, value, color=colour(0), linewidth=1.6, label="prediction")
    ax.scatter(
        points[:, 0],
        target,
        s=14,
        c=colour(1),
        marker="^",
        edgecolors="white",
        linewidths=0.3,
        label="data",
        zorder=3,
    )
    ring_support(ax, model, np.column_stack([points[:, 0], target]))
    ax.set_xlim(grid[0], grid[-1])
    return finish(ax, axis_names(X, model, 1)[0], "y", title)
