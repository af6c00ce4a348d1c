"""What a search saw: a map of two parameters, or curves along one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Float64
from mercer.plots._canvas import FONT, colour, finish, new_axes, symbol

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MOST_CURVES = 8


def search(
    model: Any, *, kind: str = "auto", x: str | None = None, by: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the scores of a search, its choice and its one-standard-error choice.

    A map has two parameters as its axes, and the best score over all others as its colour. Curves show the
    score along one parameter, one curve per value of another, with a band of one standard error around the
    curve of the best setting.

    Parameters
    ----------
    model : SVCSearch, SVRSearch or GridSearchCV
        Fitted.
    kind : {"auto", "map", "curves"}
        "auto" draws a map where two parameters with at least three values were searched by a grid, and curves
        elsewhere.
    x : str, optional
        The parameter along the axis (its full name or the end of it); C, or the first, if not given.
    by : str, optional
        The other parameter; the next one if not given.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib Axes
        With the picture.
    """
    if kind not in ("auto", "map", "curves"):
        raise ValueError(f"kind={kind!r} must be 'auto', 'map' or 'curves'")
    check_is_fitted(model)
    table = model.cv_results_
    names = [name.removeprefix("param_") for name in table if name.startswith("param_")]
    columns: dict[str, Float64] = {}
    for name in names:
        values = _numbers(table[f"param_{name}"])
        if values is not None:
            columns[name] = values
    varied = [name for name, given in columns.items() if np.unique(given[np.isfinite(given)]).size > 1]
    if not varied:
        raise ValueError("the search compared no two values of a numeric parameter: there is nothing to draw")
    first = _named(x, varied, "x") or next((n for n in varied if _short(n) == "C"), varied[0])
    rest = [name for name in varied if name != first]
    usual = next((n for n in rest if _short(n) == "gamma"), rest[0] if rest else None)
    second = _named(by, rest, "by") or usual
    on_paths = hasattr(model, "path_curves_")
    if kind == "auto":
        axes = [] if second is None or on_paths else [first, second]
        kind = "map" if axes and all(np.unique(columns[n]).size >= 3 for n in axes) else "curves"
    if kind == "map":
        if second is None or on_paths:
            raise ValueError("kind='map' needs a grid of two numeric parameters: use kind='curves'")
        return _map(model, columns, first, second, ax)
    return _curves(model, columns, first, second, ax)


def _short(name: str) -> str:
    return name.rpartition("__")[2]


def _named(wanted: str | None, names: list[str], argument: str) -> str | None:
    if wanted is None:
        return None
    for name in names:
        if wanted in (name, _short(name)):
            return name
    raise ValueError(f"{argument}={wanted!r} was not searched over; there are {names}")


def _figure(value: float) -> str:
    """Return three digits, in full up to 99999."""
    rounded = float(f"{value:.3g}")
    return f"{rounded:.5g}" if abs(rounded) < 1e5 else f"{rounded:.3g}"


def _numbers(column: Any) -> Float64 | None:
    try:
        values = np.ma.filled(np.ma.asarray(column).astype(np.float64), np.nan)
    except (TypeError, ValueError):
        return None
    return np.asarray(values)


def _logarithmic(values: Float64) -> bool:
    return bool((values > 0).all() and values.max() / values.min() > 20)


def _what(model: Any) -> str:
    method = getattr(model, "method", "kfold")
    names = {
        "sv_fraction": "1 - support-vector fraction",
        "xi_alpha": "1 - xi-alpha bound",
        "span_bound": "1 - span bound",
        "alignment": "kernel-target alignment",
        "bound": "1 - bound on the error",
    }
    if method in names:
        return names[method]
    scoring = getattr(model, "scoring", None)
    usual = "accuracy" if is_classifier(model) else "R²" if is_regressor(model) else "score"
    score = scoring.replace("_", " ") if isinstance(scoring, str) else usual if scoring is None else "score"
    return f"span rule's estimate of the {score}" if method == "span_rule" else f"cross-validated {score}"


def _choices(model: Any) -> list[tuple[int, str]]:
    best = int(getattr(model, "best_candidate_index_", model.best_index_))
    simple = getattr(model, "one_standard_error_index_", None)
    if simple is None or int(simple) == best:
        return [(best, "best")]
    return [(best, "best"), (int(simple), "one standard error")]


def _map(model: Any, columns: dict[str, Float64], first: str, second: str, ax: Axes | None) -> Axes:
    ax = new_axes(ax, (6.4, 4.6))
    from matplotlib.patheffects import withStroke

    scores = np.asarray(model.cv_results_["mean_test_score"], dtype=np.float64)
    xs, ys = np.unique(columns[first]), np.unique(columns[second])
    Z = np.full((ys.size, xs.size), np.nan)
    for i, b in enumerate(ys):
        for j, a in enumerate(xs):
            here = scores[(columns[first] == a) & (columns[second] == b)]
            here = here[np.isfinite(here)]
            if here.size:
                Z[i, j] = here.max()
    low = float(np.nanpercentile(Z, 20))  # the worst corner would flatten all the rest
    mesh = ax.pcolormesh(
        np.arange(xs.size + 1) - 0.5, np.arange(ys.size + 1) - 0.5, Z, cmap="viridis", vmin=low,
    )  # fmt: skip
    bar = ax.figure.colorbar(mesh, ax=ax, extend="min" if np.nanmin(Z) < low else "neither")
    bar.set_label(_what(model), fontsize=FONT)
    bar.ax.tick_params(labelsize=FONT - 1)
    for k, (index, name) in enumerate(_choices(model)):
        j = int(np.searchsorted(xs, columns[first][index]))
        i = int(np.searchsorted(ys, columns[second][index]))
        ax.scatter(
            [j], [i], s=110, marker=("*", "o")[k], facecolors="white" if k == 0 else "none",
            edgecolors="black" if k == 0 else "white", linewidths=1.4, label=name, zorder=3,
            path_effects=[withStroke(linewidth=3.4, foreground="black")] if k else None,
        )  # fmt: skip
    for axis, values in ((ax.xaxis, xs), (ax.yaxis, ys)):
        axis.set_ticks(np.arange(values.size), [_figure(v) for v in values])
    finish(ax, _short(first), _short(second), None, legend=False)
    ax.tick_params(axis="x", labelrotation=45)
    legend = ax.legend(
        fontsize=FONT - 1, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False
    )
    for handle in legend.legend_handles:  # white on white in the legend
        if handle is not None:
            handle.set(edgecolor="black", path_effects=[])
    return ax


def _curves(model: Any, columns: dict[str, Float64], first: str, second: str | None, ax: Axes | None) -> Axes:
    ax = new_axes(ax, (7.0, 4.4))
    table = model.cv_results_
    scores = np.asarray(table["mean_test_score"], dtype=np.float64)
    errors = np.asarray(table.get("standard_error", np.zeros(scores.size)), dtype=np.float64)
    values = np.zeros(scores.size) if second is None else columns[second]
    chosen = _choices(model)[0][0]
    known = np.unique(values[np.isfinite(values)])
    if known.size > MOST_CURVES:  # evenly, and never without the chosen one
        keep = np.linspace(0, known.size - 1, MOST_CURVES).round().astype(int)
        known = np.unique(np.append(known[keep], values[chosen]))
    on_paths = hasattr(model, "path_curves_")
    for k, value in enumerate(known):
        mine = np.flatnonzero((values == value) & np.isfinite(scores) & np.isfinite(columns[first]))
        if mine.size == 0:
            continue
        at, top = _profile(columns[first][mine], scores[mine])
        label = None if second is None else f"{_short(second)} = {_figure(value)}"
        drawn: dict[str, Any] = {
            "color": colour(k),
            "label": label,
            "linewidth": 2.0 if value == values[chosen] else 1.1,
        }
        if on_paths:
            ax.step(at, top, where="mid", **drawn)
        else:
            ax.plot(at, top, marker=symbol(k), markersize=4, **drawn)
        if value == values[chosen] and errors[mine].any():
            spread = np.array([errors[mine[scores[mine] == t][0]] for t in top])
            ax.fill_between(at, top - spread, top + spread, color=colour(k), alpha=0.15, linewidth=0)
    for k, (index, name) in enumerate(_choices(model)):
        ax.scatter(
            [columns[first][index]], [scores[index]], s=120 if k == 0 else 70, marker=("*", "o")[k],
            facecolors="black" if k == 0 else "none", edgecolors="black", label=name, zorder=4,
        )  # fmt: skip
    if _logarithmic(columns[first][np.isfinite(columns[first])]):
        ax.set_xscale("log")
    shown = scores[np.isfinite(scores)]
    low, high = float(np.percentile(shown, 10)), float(shown.max())
    if low < high:
        room = 0.08 * (high - low)
        ax.set_ylim(max(float(shown.min()), low) - room, high + 3 * room)
    ax.spines[["top", "right"]].set_visible(False)
    return finish(ax, _short(first), _what(model), None)


def _profile(at: Float64, scores: Float64) -> tuple[Float64, Float64]:
    """Return the best score at each value of a parameter, over all others."""
    xs = np.unique(at)
    return xs, np.array([scores[at == a].max() for a in xs])
