"""What explicit features in the place of a kernel cost, against their number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.plots._canvas import colour, finish, logarithmic, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def approximation(
    models: Iterable[Any],
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    exact: Any = None,
    axes: tuple[Axes, Axes] | None = None,
) -> tuple[Axes, Axes]:
    """Draw the score and the distance from the exact optimum against the number of features.

    Parameters
    ----------
    models : iterable of estimators
        Fitted with ``approximation`` and different ``n_components``.
    X, y : array, optional
        Rows whose score is drawn, best such that were not fitted on; without them there is no score.
    exact : estimator, optional
        The exact machine, whose score is drawn as a level.
    axes : pair of matplotlib Axes, optional
        Where to draw the score and the distance; a new figure if not given.

    Returns
    -------
    pair of matplotlib Axes
        With the pictures.
    """
    fitted = list(models)
    if not fitted:
        raise ValueError("models is empty: there is nothing to draw")
    for model in fitted:
        if not hasattr(model, "feature_map_"):
            raise ValueError(
                f"{type(model).__name__} was not fitted with approximation=...: it is the exact machine"
            )
    if (X is None) != (y is None):
        raise ValueError("X and y belong together: give both or neither")
    fitted.sort(key=lambda model: model.n_components_)
    m = np.array([model.n_components_ for model in fitted])
    top, bottom = _two() if axes is None else axes
    if X is not None:
        scores = [model.score(X, y) for model in fitted]
        top.plot(m, scores, "o-", color=colour(0), markersize=4, label="on features")
        if exact is not None:
            top.axhline(exact.score(X, y), color="#555555", linestyle="--", linewidth=1.0, label="exact")
    finish(top, "", "score", None)
    _draw_distances(bottom, m, [model.distance_from_exact_ for model in fitted])
    for ax in (top, bottom):
        logarithmic(ax, "x")
        ax.spines[["top", "right"]].set_visible(False)
    return top, bottom


def _draw_distances(ax: Axes, m: np.ndarray, distances: list[Any]) -> None:
    for k, (kind, words) in enumerate((("bound", "proved"), ("estimate", "estimated"))):
        mine = [(n, d) for n, d in zip(m, distances, strict=True) if d is not None and d.kind == kind]
        if not mine:
            continue
        x = [n for n, _ in mine]
        gaps = np.array([d.relative_gap for _, d in mine])
        scale = np.array([max(abs(d.primal), abs(d.dual), 1e-300) for _, d in mine])
        errors = np.array([d.error for _, d in mine]) / scale
        style = "o-" if kind == "bound" else "o--"
        line: dict[str, Any] = {"color": colour(k + 1), "markersize": 4, "label": words}
        if errors.any():
            ax.errorbar(x, gaps, yerr=np.minimum(errors, 0.99 * gaps), fmt=style, capsize=2, **line)
        else:
            ax.plot(x, gaps, style, **line)
    logarithmic(ax, "y")
    finish(ax, "number of features", "relative distance\nfrom exact", None)


def _two() -> tuple[Axes, Axes]:
    first = new_axes(None, (6.4, 5.0))
    figure: Any = first.figure
    first.remove()
    top, bottom = figure.subplots(2, 1, sharex=True)
    return top, bottom
