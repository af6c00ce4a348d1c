"""Level sets of a novelty detector in the plane."""

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
    plane,
    ring_support,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    ring_support(ax, model, points)
    names = axis_names(X, model, 2)
    return finish(ax, names[0], names[1], title)
