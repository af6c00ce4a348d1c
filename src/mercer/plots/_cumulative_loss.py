"""What machines lose while they learn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.plots._canvas import colour, finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = ("-", "--", "-.", ":")


def cumulative_loss(
    models: Any,
    *,
    what: Literal["mistakes", "loss"] = "mistakes",
    rate: bool = False,
    bound: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the cumulative loss of online estimators.

    Parameters
    ----------
    models : estimator or mapping of str to estimator
        Machines with a ``loss_curve_``: perceptrons, the adatron, on-line regressors, after ``fit`` or
        ``partial_fit``.
    what : {"mistakes", "loss"}, default="mistakes"
        Wrong predictions, or losses.
    rate : bool, default=False
        Per step instead of in all.
    bound : float, optional
        A level that should not be crossed, such as ``model.novikoff(X, y)``; drawn if it is finite.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib Axes
        With the picture.
    """
    named = dict(models) if isinstance(models, Mapping) else {type(models).__name__: models}
    if not named:
        raise ValueError("models is empty: there is nothing to draw")
    if what not in ("mistakes", "loss"):
        raise ValueError(f"what={what!r} must be 'mistakes' or 'loss'")
    for name, model in named.items():
        if not hasattr(model, "partial_fit"):
            raise TypeError(f"{name} is a {type(model).__name__}, which counts no losses while it learns")
        check_is_fitted(model)
    ax = new_axes(ax)
    for k, (name, model) in enumerate(named.items()):
        steps, losses, mistakes = np.vstack([np.zeros((1, 3)), model.loss_curve_]).T
        values = mistakes if what == "mistakes" else losses
        if rate:
            steps, values = steps[1:], values[1:] / steps[1:]
        total = values[-1] if values.size else 0.0
        label = f"{name}: {total:.3g}" if rate or what == "loss" else f"{name}: {int(total)}"
        ax.plot(steps, values, STYLES[k // 8 % len(STYLES)], color=colour(k), linewidth=1.4, label=label)
    if bound is not None and np.isfinite(bound):
        ax.axhline(bound, color="#555555", linestyle="--", linewidth=1.0, label=f"bound: {bound:.4g}")
    ax.set_xlim(left=0.0)
    ax.set_ylim(bottom=0.0)
    ax.spines[["top", "right"]].set_visible(False)
    words = f"{what} per step, so far" if rate else f"{what} so far"
    return finish(ax, "examples seen", words, None)
