"""Explanations as pictures: importance of columns, shares in a prediction, partial dependence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.inspect import Importance, PartialDependence, Shapley
from mercer.plots._canvas import FONT, colour, finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST = 28  # letters of a column's name
MOST_CURVES = 100  # of single rows


def importance(found: Importance, *, top: int = 15, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw the permutation importance of the columns with their confidence intervals.

    Parameters
    ----------
    found : Importance
        Of :func:`mercer.inspect.permutation_importance`.
    top : int, default=15
        Most columns to draw, the most important first.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    title : str, optional
        Title.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC, inspect, plots
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = SVC().fit(X[::2], y[::2])
    >>> found = inspect.permutation_importance(model, X[1::2], y[1::2])
    >>> ax = plots.importance(found)  # doctest: +SKIP
    """
    if not isinstance(found, Importance):
        raise TypeError(
            f"found must be the result of inspect.permutation_importance, not {type(found).__name__}"
        )
    order = found.order()[: _top(top)]
    ax = new_axes(ax, (6.0, 1.0 + 0.28 * order.size))
    places = np.arange(order.size)
    mean = found.mean[order]
    away = np.maximum([mean - found.low[order], found.high[order] - mean], 0.0)
    ax.barh(places, mean, color=colour(0), height=0.62, alpha=0.85)
    ax.errorbar(mean, places, xerr=away, fmt="none", ecolor="#333333", elinewidth=1.0, capsize=2.5)
    _columns(ax, [_short(found.names[j]) for j in order])
    ax.axvline(0.0, color="#333333", linewidth=0.8)
    return finish(ax, f"growth of the loss if shuffled ({100 * found.coverage:g} % intervals)", "", title)


def shapley(
    found: Shapley,
    row: int = 0,
    *,
    output: int = 0,
    values: Any = None,
    top: int = 15,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the share of each column in one prediction, with standard errors where shares are sampled.

    Parameters
    ----------
    found : Shapley
        Of :func:`mercer.inspect.shapley`.
    row : int, default=0
        Which of its rows.
    output : int, default=0
        Which of the model's functions.
    values : array of shape (d,), optional
        The row's values, to be written beside the names.
    top : int, default=15
        Most bars to draw; the smallest shares are drawn as one.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    title : str, optional
        Title.

    Returns
    -------
    matplotlib Axes
    """
    if not isinstance(found, Shapley):
        raise TypeError(f"found must be the result of inspect.shapley, not {type(found).__name__}")
    rows, outputs, d = found.values.shape
    if not 0 <= row < rows:
        raise ValueError(f"row={row} does not exist: {rows} were explained")
    if not 0 <= output < outputs:
        raise ValueError(f"output={output} does not exist: the model has {outputs} functions")
    names = [_short(name) for name in found.names]
    if values is not None:
        given = list(np.ravel(np.asarray(values, dtype=object)))
        if len(given) != d:
            raise ValueError(f"values has {len(given)} entries; there are {d} columns")
        names = [f"{name} = {_figure(v)}" for name, v in zip(names, given, strict=True)]
    share, error = found.values[row, output], found.error[row, output]
    order = np.argsort(-np.abs(share), kind="stable")
    shown = order if d <= _top(top) else order[: top - 1]
    rest = order[shown.size :]
    sizes, errors, labels = share[shown], error[shown], [names[j] for j in shown]
    if rest.size:
        sizes, errors = np.append(sizes, share[rest].sum()), np.append(errors, np.nan)
        labels.append(f"{rest.size} others")
    ax = new_axes(ax, (6.0, 1.0 + 0.28 * sizes.size))
    places = np.arange(sizes.size)
    ax.barh(places, sizes, color=[colour(0) if s >= 0 else colour(1) for s in sizes], height=0.62, alpha=0.85)
    if not found.exact and np.isfinite(errors).any():
        ax.errorbar(sizes, places, xerr=errors, fmt="none", ecolor="#333333", elinewidth=1.0, capsize=2.5)
    _columns(ax, labels)
    ax.axvline(0.0, color="#333333", linewidth=0.8)
    total = found.mean[output] + share.sum()
    bars = "" if found.exact else "; bars: standard errors"
    return finish(
        ax, f"share in f = {total:.4g} (mean over the background {found.mean[output]:.4g}){bars}", "", title
    )


def partial_dependence(
    found: PartialDependence,
    *,
    output: int = 0,
    single: bool = True,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw a model's function of one column: the mean over the rows, and the curves of single rows.

    Parameters
    ----------
    found : PartialDependence
        Of :func:`mercer.inspect.partial_dependence`.
    output : int, default=0
        Which of the model's functions.
    single : bool, default=True
        Whether the curves of single rows are drawn, too, at most 100 of them.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    title : str, optional
        Title.

    Returns
    -------
    matplotlib Axes
    """
    if not isinstance(found, PartialDependence):
        raise TypeError(f"found must be the result of inspect.partial_dependence, not {type(found).__name__}")
    if not 0 <= output < found.mean.shape[1]:
        raise ValueError(f"output={output} does not exist: the model has {found.mean.shape[1]} functions")
    ax = new_axes(ax)
    numbers = np.asarray(found.values).dtype.kind in "biuf"
    x = np.asarray(found.values, dtype=np.float64) if numbers else np.arange(len(found.values))
    curves = found.single[:, :, output]
    if single:
        step = max(1, -(-len(curves) // MOST_CURVES))
        for k, curve in enumerate(curves[::step]):
            ax.plot(
                x, curve, color=colour(7), linewidth=0.6, alpha=0.35, label="single rows" if k == 0 else None
            )
    marks: dict[str, Any] = {} if numbers and x.size > 12 else {"marker": "o", "markersize": 4}
    ax.plot(
        x, found.mean[:, output], color=colour(0), linewidth=2.0, label=f"mean of {len(curves)} rows", **marks
    )
    if not numbers:
        ax.set_xticks(x, [_short(v) for v in found.values], rotation=0 if x.size <= 6 else 45)
    finish(ax, _short(found.name), "f", title, legend=False)
    ax.legend(fontsize=FONT - 1, frameon=False, loc="best")
    return ax


def _top(top: int) -> int:
    if top < 2:
        raise ValueError(f"top={top} must be at least 2")
    return int(top)


def _columns(ax: Axes, names: list[str]) -> None:
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="y", length=0)


def _short(value: Any) -> str:
    text = str(value).replace("$", r"\$")  # no formula, whatever a column is called
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _figure(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else _short(value)
