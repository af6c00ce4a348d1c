"""How solvers converge, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mercer.plots._canvas import colour, finish, logarithmic, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AXES = {"iteration": ("n_iter", "steps"), "time": ("seconds", "seconds"),
        "evaluations": ("kernel_evaluations", "kernel evaluations")}  # fmt: skip
VALUES = {
    "gap": "gap (primal - dual)",
    "relative_gap": "relative gap",
    "kkt_violation": "largest KKT violation",
    "dual": "dual objective",
    "primal": "primal objective",
    "margin": "margin",
    "n_support": "support vectors",
}
LOGARITHMIC = ("gap", "relative_gap", "kkt_violation")
DECADE_AND_A_HALF = 30.0  # a shorter range is read better on a plain axis
DASHES = ("-", "--", "-.", ":")


def convergence(
    models: Mapping[str, Any] | Any,
    axis: Literal["iteration", "time", "evaluations"] = "iteration",
    *,
    value: str = "relative_gap",
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the convergence traces of fitted models.

    Parameters
    ----------
    models : dict of machines by name, or one machine
        Fitted with ``trace=True``.
    axis : {"iteration", "time", "evaluations"}, default="iteration"
        What runs to the right: steps of the solver (which differ much in price), seconds since the start of
        the fit, or kernel values computed.
    value : {"gap", "relative_gap", "kkt_violation", "dual", "primal", "margin", "n_support"}
        What is drawn.
    ax : matplotlib Axes, optional
        Where to draw; a new figure otherwise.
    title : str, optional
        Title.

    Returns
    -------
    Axes
        The drawing. A machine of several two-class problems has a line for each, all in one colour.
    """
    if axis not in AXES:
        raise ValueError(f"axis={axis!r} must be one of {', '.join(map(repr, AXES))}")
    if value not in VALUES:
        raise ValueError(f"value={value!r} must be one of {', '.join(map(repr, VALUES))}")
    named = dict(models) if isinstance(models, Mapping) else {type(models).__name__: models}
    if not named:
        raise ValueError("models is empty: give at least one fitted machine")
    traces = {name: _traces(name, model) for name, model in named.items()}
    ax = new_axes(ax)
    key, label = AXES[axis]
    for k, (name, several) in enumerate(traces.items()):
        for number, trace in enumerate(several):
            x = np.array([row[key] for row in trace], dtype=np.float64)
            y = np.array([_value(row, value) for row in trace], dtype=np.float64)
            y[~np.isfinite(y)] = np.nan
            if value in LOGARITHMIC:
                y[y <= 0] = np.nan
            ax.plot(
                np.maximum(x, 1.0) if axis == "iteration" else np.where(x > 0, x, np.nan),
                y,
                color=colour(k),
                linestyle=DASHES[k % len(DASHES)],
                marker="." if len(trace) < 30 else None,
                linewidth=1.4,
                label=name if number == 0 else None,
            )
    shown = np.concatenate([line.get_xdata() for line in ax.get_lines()])
    if np.nanmax(shown) > DECADE_AND_A_HALF * np.nanmin(shown):
        logarithmic(ax, "x")
    if value in LOGARITHMIC:
        logarithmic(ax, "y")
    ax.grid(visible=True, which="major", linewidth=0.3)
    return finish(ax, label, VALUES[value], title)


def _traces(name: str, model: Any) -> list[Any]:
    history = getattr(model, "history_", None)
    if history is None:
        raise ValueError(f"{name} has no history_: fit it with trace=True")
    several = history if history and isinstance(history[0], list) else [history]
    missing = {"n_iter", "seconds", "kernel_evaluations", "gap"} - set(several[0][0] if several[0] else {})
    if missing:
        raise ValueError(f"the history_ of {name} is not that of a machine with a dual: no {sorted(missing)}")
    return list(several)


def _value(row: Mapping[str, float], value: str) -> float:
    if value != "relative_gap":
        return float(row.get(value, np.nan))
    scale = max(abs(row["primal"]), abs(row["dual"]))
    return float(row["gap"]) / scale if np.isfinite(scale) and scale > 0 else np.nan
