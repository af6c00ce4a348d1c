"""What all pictures share: matplotlib, asked for late; colours and symbols that survive print and eyes."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from mercer.arrays import Float64

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Okabe and Ito's colours (grey for their yellow, which fades on white), which people with any colour vision
# tell apart; each class has its symbol, too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#808080")
SYMBOLS = ("o", "^", "s", "D", "v", "P", "X", "*")
FONT = 9  # points; readable when a figure is printed one column wide
FEW_DECADES = 300.0  # largest over smallest value, below which powers of ten alone are too few labels
GRID = 250  # points a side at which a function is drawn


def new_axes(ax: Axes | None, size: tuple[float, float] = (6.0, 4.2)) -> Axes:
    """Return ``ax``, or the axes of a new figure that pyplot knows of (so that it shows in notebooks)."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            'mercer.plots draws with matplotlib, which is not installed: pip install "mercer[plots]"'
        ) from error
    if ax is not None:
        return ax
    return plt.subplots(figsize=size, layout="constrained")[1]


def colour(k: int) -> str:
    """Return the colour of class number k."""
    return COLOURS[k % len(COLOURS)]


def symbol(k: int) -> str:
    """Return the symbol of class number k: with more classes than colours they pair up anew."""
    return SYMBOLS[(k + k // len(COLOURS)) % len(SYMBOLS)]


def pale(k: int, strength: float = 0.25) -> tuple[float, float, float]:
    """Return the colour of class number k mixed with white, for areas."""
    full = np.array([int(colour(k)[i : i + 2], 16) for i in (1, 3, 5)]) / 255.0
    r, g, b = 1.0 - strength * (1.0 - full)
    return float(r), float(g), float(b)


def draw_classes(
    ax: Axes, points: Float64, y: NDArray[Any], classes: NDArray[Any], size: float = 18.0
) -> None:
    """Scatter the points of each class in its colour and symbol, with an entry in the legend."""
    for k, name in enumerate(classes):
        mine = points[y == name]
        ax.scatter(
            mine[:, 0],
            mine[:, 1],
            s=size,
            c=colour(k),
            marker=symbol(k),
            edgecolors="white",
            linewidths=0.3,
            label=str(name),
            zorder=3,
        )


def finish(ax: Axes, x: str, y: str, title: str | None, *, legend: bool = True) -> Axes:
    """Label the axes, put a legend where no picture is, and return the axes."""
    ax.set_xlabel(x, fontsize=FONT)
    ax.set_ylabel(y, fontsize=FONT)
    ax.tick_params(which="both", labelsize=FONT - 1)
    if title:
        ax.set_title(title, fontsize=FONT + 1)
    handles, labels = ax.get_legend_handles_labels()
    if legend and handles:
        ax.legend(
            handles,
            labels,
            fontsize=FONT - 1,
            loc="upper left",
            bbox_to_anchor=(1.01, 1.0),
            borderaxespad=0.0,
            frameon=False,
        )
    return ax


def logarithmic(ax: Axes, side: Literal["x", "y"]) -> None:
    """Make an axis logarithmic, with 1, 2 and 5 of each decade in plain figures where decades are few."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set(**{f"{side}scale": "log"})
    axis = getattr(ax, f"{side}axis")
    low, high = axis.get_view_interval()
    if high < FEW_DECADES * low:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())  # matplotlib's would overlap


def check_plane(X: Any) -> Float64:
    """Return points of the plane."""
    points = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"X must have 2 features to be drawn in a plane, its shape is {points.shape}")
    if len(points) == 0 or not np.isfinite(points).all():
        raise ValueError("X must have finite rows to be drawn")
    return points


def axis_names(X: Any, model: Any, width: int) -> list[str]:
    """Return the names of the features."""
    names = getattr(X, "columns", None)
    if names is None:
        names = getattr(model, "feature_names_in_", None)
    if names is not None and len(names) == width:
        return [str(name) for name in names]
    return ["x"] if width == 1 else [f"$x_{{{j + 1}}}$" for j in range(width)]


def plane(points: Float64, resolution: int, margin: float = 0.08) -> tuple[Float64, Float64, Float64]:
    """Return two grids of coordinates around the points, and their rows as points."""
    low, high = points.min(axis=0), points.max(axis=0)
    room = margin * np.where(high > low, high - low, 1.0)
    sides = [np.linspace(low[j] - room[j], high[j] + room[j], resolution) for j in range(2)]
    A, B = np.meshgrid(*sides)
    return A, B, np.column_stack([A.ravel(), B.ravel()])


def ring(ax: Axes, points: Float64, label: str) -> None:
    """Circle some points."""
    ax.scatter(
        points[:, 0],
        points[:, 1],
        s=55,
        facecolors="none",
        edgecolors="black",
        linewidths=0.8,
        label=label,
        zorder=4,
    )


def ring_support(ax: Axes, model: Any, points: Float64) -> None:
    """Circle the support vectors among the points, where the points are the rows of the fit."""
    support = getattr(model, "support_", None)
    if support is not None and len(support) and int(np.max(support)) < len(points):
        ring(ax, points[np.asarray(support)], "support vector")


def like_training(model: Any, rows: Float64) -> Any:
    """Return rows under the names the model was fitted with, so that it does not wonder where they went."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return rows
    pandas = importlib.import_module("pandas")  # it is there: the model was fitted on a frame
    return pandas.DataFrame(rows, columns=list(names))
