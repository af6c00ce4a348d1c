"""Decision regions of classifiers in the plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.plots._canvas import (
    GRID,
    axis_names,
    check_plane,
    draw_classes,
    finish,
    like_training,
    new_axes,
    pale,
    plane,
    ring,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def decision_regions(
    model: Any,
    X: Any,
    y: Any,
    *,
    ax: Axes | None = None,
    margins: bool | None = None,
    support: bool | None = None,
    resolution: int = GRID,
    title: str | None = None,
) -> Axes:
    """Draw the decision regions of a classifier, and the points.

    Parameters
    ----------
    model : classifier
        Fitted on two features; any with ``predict``.
    X : array of shape (n, 2)
        Points to draw.
    y : array of shape (n,)
        Their classes.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when not given.
    margins : bool, optional
        Draw the lines where the decision function of a two-class machine is -1 and +1; by default for
        support vector machines.
    support : bool, optional
        Circle the support vectors; by default where there are any.
    resolution : int, default=250
        Points a side at which the classifier is asked.
    title : str, optional
        Title.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import SVC, plots
    >>> X, y = make_moons(80, noise=0.2, random_state=0)
    >>> ax = plots.decision_regions(SVC().fit(X, y), X, y)  # doctest: +SKIP
    """
    points, labels = check_plane(X), np.asarray(y)
    if labels.shape != (len(points),):
        raise ValueError(
            f"y has shape {labels.shape}; for {len(points)} rows of X it must be ({len(points)},)"
        )
    classes = np.asarray(model.classes_)
    ax = new_axes(ax)
    A, B, rows = plane(points, resolution)
    rows = like_training(model, rows)
    codes = np.searchsorted(classes, model.predict(rows)).reshape(A.shape)
    shades = [pale(k) for k in range(len(classes))]
    ax.contourf(A, B, codes, levels=np.arange(len(classes) + 1) - 0.5, colors=shades, zorder=0)
    vectors = _support(model)
    margins = vectors is not None if margins is None else margins
    draw_classes(ax, points, labels, classes)
    values = np.asarray(model.decision_function(rows)) if hasattr(model, "decision_function") else None
    if values is not None and values.ndim == 1:
        _lines(ax, A, B, values.reshape(A.shape), margins)
    else:
        _borders(ax, A, B, codes, values)
    if vectors is not None and support is not False:
        ring(ax, vectors, "support vector")
    elif support:
        raise ValueError(f"{type(model).__name__} has no support vectors in the plane to circle")
    ax.set_xlim(A.min(), A.max())
    ax.set_ylim(B.min(), B.max())
    names = axis_names(X, model, 2)
    return finish(ax, names[0], names[1], title)


def _support(model: Any) -> Any:
    vectors = getattr(model, "support_vectors_", None)
    if vectors is None:
        return None
    vectors = np.asarray(vectors.toarray() if hasattr(vectors, "toarray") else vectors)
    return vectors if vectors.ndim == 2 and vectors.shape[1] == 2 else None


def _lines(ax: Axes, A: Any, B: Any, values: Any, margins: bool) -> None:
    """Draw where the decision function is 0, and where it is -1 and +1, as far as that is in the picture."""
    for level, style, width in ((-1.0, "--", 0.9), (0.0, "-", 1.3), (1.0, "--", 0.9)):
        inside = values.min() < level < values.max()
        if inside and (level == 0.0 or margins):
            ax.contour(
                A, B, values, levels=[level], colors="black", linestyles=style, linewidths=width, zorder=2
            )
            if level != -1.0:
                label = "decision boundary" if level == 0.0 else "margin"
                ax.plot([], [], color="black", linestyle=style, linewidth=width, label=label)


def _borders(ax: Axes, A: Any, B: Any, codes: Any, values: Any) -> None:
    """Draw the borders between regions: smooth where the scores of the classes say which one wins."""
    classes = np.unique(codes)
    scored = values is not None and values.ndim == 2 and (values.argmax(axis=1) == codes.ravel()).all()
    for k in classes if len(classes) > 1 else []:
        if scored:
            lead = (values[:, k] - np.delete(values, k, axis=1).max(axis=1)).reshape(A.shape)
        else:
            lead = np.where(codes == k, 0.5, -0.5)
        ax.contour(A, B, lead, levels=[0.0], colors="black", linewidths=0.8, zorder=1)
