"""Pictures of regression machines and novelty detectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.plots._canvas import (
    GRID,
    axis_names,
    check_plane,
    colour,
    finish,
    like_training,
    new_axes,
    pale,
    plane,
    ring,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def tube(
    model: Any, X: Any, y: Any, *, ax: Axes | None = None, resolution: int = 500, title: str | None = None
) -> Axes:
    """Draw the function of a support vector regression of one feature, with its insensitive tube.

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
    support = getattr(model, "support_", None)
    if support is not None and len(support) and int(np.max(support)) < len(points):
        chosen = np.asarray(support)
        ring(ax, np.column_stack([points[chosen, 0], target[chosen]]), "support vector")
    ax.set_xlim(grid[0], grid[-1])
    return finish(ax, axis_names(X, model, 1)[0], "y", title)


def level_sets(
    model: Any,
    X: Any,
    *,
    ax: Axes | None = None,
    levels: int = 8,
    resolution: int = GRID,
    title: str | None = None,
) -> Axes:
    """Draw the level sets of a novelty detector's decision function in the plane, and the points.

    Parameters
    ----------
    model : SVDD, OneClassSVM or another detector
        Fitted on two features; with ``decision_function``, not negative inside.
    X : array of shape (n, 2)
        Points.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when not given.
    levels : int, default=8
        Number of shades.
    resolution : int, default=250
        Points a side at which the detector is asked.
    title : str, optional
        Title.

    Returns
    -------
    matplotlib Axes
    """
    points = check_plane(X)
    ax = new_axes(ax)
    A, B, rows = plane(points, resolution, margin=0.2)
    values = np.asarray(model.decision_function(like_training(model, rows))).reshape(A.shape)
    inside = np.asarray(model.predict(X)) > 0
    if values.min() < values.max():
        ax.contourf(A, B, values, levels=levels, cmap="cividis", alpha=0.55, zorder=0)
    if values.min() < 0.0 < values.max():
        ax.contour(A, B, values, levels=[0.0], colors="black", linewidths=1.6, zorder=2)
        ax.plot([], [], color="black", linewidth=1.6, label="boundary")
    for k, (mask, name) in enumerate(((inside, "inside"), (~inside, "novelty"))):
        mine = points[mask]
        if len(mine):
            ax.scatter(
                mine[:, 0],
                mine[:, 1],
                s=18 if k == 0 else 30,
                c="white" if k == 0 else colour(1),
                marker="o" if k == 0 else "X",
                edgecolors="black",
                linewidths=0.5,
                label=name,
                zorder=3,
            )
    support = getattr(model, "support_", None)
    if support is not None and len(support) and int(np.max(support)) < len(points):
        ring(ax, points[np.asarray(support)], "support vector")
    names = axis_names(X, model, 2)
    return finish(ax, names[0], names[1], title)
