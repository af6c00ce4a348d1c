"""How clearly a classifier decides: the distribution of its margins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.plots._canvas import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REGIONS = (  # from, to, colour, words
    (-np.inf, 0.0, "#D55E00", "on the wrong side"),
    (0.0, 1.0, "#E69F00", "right, but inside the margin"),
    (1.0, np.inf, "#0072B2", "right, and beyond the margin"),
)
INSIDE = 1e-3  # points on the margin itself, which the solver meets to its tolerance, are not inside it


def margins(model: Any, X: Any, y: ArrayLike, *, bins: int = 40, ax: Axes | None = None) -> Axes:
    """Draw the histogram of a classifier's margins.

    The horizontal axis is y f(x): negative for misclassified points, 1 on the margin, in units of which the
    distance from the boundary is 1 / ||w||. With more than two classes it is how a point fares against its
    strongest rival class.

    Parameters
    ----------
    model : classifier
        Fitted, with a method ``margins(X, y)``; or any two-class classifier with ``decision_function``.
    X, y : array
        Points and their classes, those of the fit or others.
    bins : int
        About how many bars.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib Axes
        With the picture.
    """
    values = _margins(model, X, y)
    ax = new_axes(ax, (7.0, 3.8))
    low, high = min(float(values.min()), -0.1), max(float(values.max()), 1.1)
    # 0 and 1 are edges of bars, so that no bar belongs to two regions.
    step = (high - low) / bins
    edges = np.concatenate(
        [
            np.linspace(low, 0.0, max(2, round(-low / step) + 1)),
            np.linspace(0.0, 1.0, max(2, round(1.0 / step) + 1))[1:],
            np.linspace(1.0, high, max(2, round((high - 1.0) / step) + 1))[1:],
        ]
    )
    snapped = np.where(np.abs(values - 1.0) <= INSIDE, 1.0, values)
    for start, stop, colour, words in REGIONS:
        part = snapped[(snapped >= start) & (snapped < stop)]
        label = f"{words}: {part.size} of {values.size}"
        ax.hist(part, bins=edges.tolist(), color=colour, label=label, edgecolor="white", linewidth=0.4)
    for at in (0.0, 1.0):
        ax.axvline(at, color="#333333", linewidth=1.0, linestyle="-" if at == 0 else "--")
    ax.set_xlabel("margin y f(x):  0 is the boundary, 1 the margin")
    ax.set_ylabel("points")
    ax.locator_params(axis="y", integer=True)  # half a point is none
    ax.set_title(f"Margins of {values.size} points", loc="left")
    # Where the fewest bars are, as a rule; "best" would search for a place, and warn where that takes long.
    ax.legend(fontsize="small", framealpha=0.9, edgecolor="none", loc="upper left")
    ax.spines[["top", "right"]].set_visible(False)
    width = getattr(model, "margin_", None)
    unfinished = np.isinf(getattr(model, "C", 0.0)) and model.certificate_.status != "optimal"
    if not unfinished and isinstance(width, float) and np.isfinite(width) and width > 0:
        note = f"1 = a distance of {width:.3g} in feature space"
        ax.annotate(
            note, (1.0, 1.02), xycoords="axes fraction", ha="right", fontsize="small", color="#555555"
        )
    return ax


def _margins(model: Any, X: Any, y: ArrayLike) -> np.ndarray:
    if hasattr(model, "margins"):
        return np.asarray(model.margins(X, y), dtype=np.float64)
    classes = np.asarray(model.classes_)
    if classes.size != 2:
        raise ValueError(
            f"{type(model).__name__} has no margins(X, y) and {classes.size} classes; two are needed"
        )
    sign = np.where(np.asarray(y) == classes[1], 1.0, -1.0)
    return np.asarray(sign * np.ravel(model.decision_function(X)), dtype=np.float64)
