"""Generalisation bounds as the training set grows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from mercer.bounds import Report, report

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = {"theorem": "-", "modern": "--", "average": ":"}
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#808080")
HIGHEST = 10.0  # bounds above this are not drawn


def bound_against_n(
    model: Any,
    X: Any,
    y: ArrayLike | None = None,
    *,
    sizes: Sequence[int] | None = None,
    random_state: int = 0,
    ax: Axes | None = None,
    **options: Any,
) -> Axes:
    """Draw the bounds of :func:`mercer.bounds.report` against the number of training points.

    Below 1 a bound says something. The error on the training rows, and on the rows that a machine was not
    fitted on, are drawn beside them.

    Parameters
    ----------
    model : estimator
        A machine that the report can read; it is cloned and fitted once per size.
    X, y : array
        Data of at most two classes.
    sizes : sequence of int, optional
        Numbers of training points; six between 5 % and 90 % of the rows if not given.
    random_state : int
        Seed of the order in which rows are taken.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    **options
        Passed on to the report (``delta``, ``radius``, ``tolerance``, ...). A regressor needs ``tolerance``.

    Returns
    -------
    matplotlib Axes
        With the picture.
    """
    data = X if hasattr(X, "shape") else np.asarray(X, dtype=object)
    total = int(data.shape[0])
    target = None if y is None else np.asarray(y)
    steps = np.geomspace(max(20, 0.05 * total), 0.9 * total, 6) if sizes is None else np.asarray(sizes)
    steps = np.unique(np.round(steps).astype(int))
    if steps.min() < 8 or steps.max() > total:
        raise ValueError(f"sizes={steps.tolist()} must lie between 8 and the number of rows, {total}")
    order = np.random.default_rng(random_state).permutation(total)
    found: list[tuple[int, Report]] = []
    for n in steps:
        rows, rest = order[:n], order[n:]
        machine = clone(model)
        machine.fit(data[rows]) if target is None else machine.fit(data[rows], target[rows])
        more = dict(options)
        if rest.size:
            more |= {"X_test": data[rest], "y_test": None if target is None else target[rest]}
        one = report(machine, data[rows], None if target is None else target[rows], **more)
        if not isinstance(one, Report):
            raise ValueError("bound_against_n draws one two-class machine: take the rows of two classes")
        found.append((int(n), one))
    return _draw(found, ax)


def _draw(found: list[tuple[int, Report]], ax: Axes | None) -> Axes:
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(8.0, 4.6), layout="constrained")[1]
    names = list(dict.fromkeys(line.name for _, one in found for line in one if line.kind in STYLES))
    held_out = "held-out points"
    names = [name for name in names if name != held_out]
    colours = dict(zip(names, COLOURS * (1 + len(names) // len(COLOURS)), strict=False))
    drawn = False
    for name in names:
        lines = [(n, line) for n, one in found for line in one if line.name == name and line.trivial == 1.0]
        points = [(n, line.value) for n, line in lines if line.value is not None and line.value < HIGHEST]
        if not points:
            continue
        drawn = True
        broken = any(line.broken for _, line in lines)
        label = f"{name} (assumption broken)" if broken else name
        style = STYLES[lines[-1][1].kind]
        ax.plot(
            *zip(*points, strict=True), style, marker="o", markersize=3.5, color=colours[name], label=label
        )
    if not drawn:
        raise ValueError(
            "no bound of this machine could be computed: a regressor needs tolerance=, an unbounded kernel "
            "radius="
        )
    _draw_errors(found, held_out, ax)
    ax.set(xscale="log", yscale="log", xlabel="training points n", ylabel=found[0][1].about.lower())
    low = ax.get_ylim()[0]
    ax.set_ylim(max(low, 1e-3), HIGHEST * 1.1)
    ax.axhspan(1.0, HIGHEST * 1.1, color="#999999", alpha=0.15, linewidth=0)
    ax.text(0.01, 0.98, "vacuous", transform=ax.transAxes, va="top", color="#555555", fontsize="small")
    _plain_ticks(ax, [n for n, _ in found])
    ax.set_title(f"Generalisation bounds, each with probability {1 - found[0][1].delta:g}", loc="left")
    ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _draw_errors(found: list[tuple[int, Report]], held_out: str, ax: Axes) -> None:
    """Add what was seen: the error on the training rows, and on the others with its own bound."""
    seen: list[tuple[int, float]] = []
    others: list[tuple[int, float, float]] = []
    for n, one in found:
        first = next((line.seen for line in one if line.seen is not None and line.name != held_out), None)
        if first:
            seen.append((n, first))
        others.extend(
            (n, line.seen, line.value)
            for line in one
            if line.name == held_out and line.value is not None and line.seen is not None
        )
    if others:
        at, share, top = (np.array(column) for column in zip(*others, strict=True))
        ax.plot(at, np.maximum(share, 1e-3), color="black", linewidth=1.8, label="error on the other rows")
        ax.fill_between(at, np.maximum(share, 1e-3), top, color="black", alpha=0.12, linewidth=0,
                        label="... and its bound (held-out points)")  # fmt: skip
    if seen:
        ax.plot(*zip(*seen, strict=True), color="#888888", linewidth=1.2, label="error on the training rows")


def _plain_ticks(ax: Axes, sizes: list[int]) -> None:
    from matplotlib.ticker import NullFormatter, ScalarFormatter

    ax.set_xticks(sizes)
    ax.set_xticklabels([str(n) for n in sizes])
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_major_formatter(ScalarFormatter())
