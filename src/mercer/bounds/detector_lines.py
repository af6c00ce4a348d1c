"""The lines of a report on a novelty detector."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from mercer.arrays import Float64
from mercer.bounds.classifier_lines import KMPA, NO_RADIUS, geometry
from mercer.bounds.enclosing_ball import EnclosingRadius
from mercer.bounds.grids import best_of_grid, powers_of_two
from mercer.bounds.novelty_bounds import (
    false_positive_rate,
    gap_grid,
    plane_false_positive_rate,
    radius_for_rate,
    slab_false_positive_rate,
)
from mercer.bounds.promises import Assumption, Fact, Line
from mercer.bounds.regressor_lines import HALF
from mercer.bounds.report_setting import Setting
from mercer.problems.novelty_promises import farthest_square


@dataclass(frozen=True)
class Ball:
    """A fitted ball and its training points."""

    squares: Float64  # squared distances from the centre
    squared_radius: float
    centre_norm: float  # ||c||^2
    diagonal: Float64
    outside: float  # share of the training points
    n_support: int

    gap: float = 0.0  # by which `predict` enlarges the squared radius


@dataclass(frozen=True)
class BallAndSlab(Ball):
    """A fitted ball, cut down to a slab around some axes through the mean, and its training points."""

    residuals: Float64 = field(default_factory=lambda: np.zeros(0))  # squared distances from the plane
    squared_width: float = 0.0
    mean_norm: float = 0.0  # ||mu||^2
    height: float = 0.0  # ||(I - P) mu||^2
    axes: int = 1


@dataclass(frozen=True)
class Plane:
    """A fitted plane <w, phi(x)> = rho that holds the data above it, and its training points."""

    values: Float64  # <w, phi(x)> - rho
    rho: float
    norm: float
    diagonal: Float64
    outside: float
    n_support: int


def detector_facts(it: Ball | Plane, sample: Callable[[], EnclosingRadius]) -> tuple[Fact, ...]:
    """Return the numbers that the promises are made of."""
    n = it.diagonal.size
    facts = [
        Fact("training points", n),
        Fact("training points outside", it.outside, "share of them"),
        Fact("support vectors", it.n_support, f"{it.n_support / n:.1%} of the points"),
    ]
    if isinstance(it, Ball):
        slack = np.maximum(it.squares - it.squared_radius, 0.0)
        facts += [
            Fact("radius of the ball", math.sqrt(it.squared_radius), "in feature space"),
            Fact(
                "mean slack", float(slack.mean()), "by how much squared distances exceed the squared radius"
            ),
        ]
        if isinstance(it, BallAndSlab):
            facts.append(Fact("half the slab's thickness", math.sqrt(it.squared_width), "in feature space"))
    else:
        facts += [
            Fact("norm of w", it.norm, "||w||"),
            Fact(
                "mean slack",
                float(np.maximum(-it.values, 0.0).mean()),
                "by how much points fall short of the plane",
            ),
        ]
    return (*facts, *geometry(it.diagonal, sample))


def detector_lines(it: Ball | Plane, setting: Setting) -> list[Line]:
    """Return the promises that may be made of a detector."""
    if isinstance(it, BallAndSlab):
        return [_ball_and_slab(it, setting)]
    return _ball(it, setting) if isinstance(it, Ball) else [_plane(it, setting)]


def _ball(it: Ball, setting: Setting) -> list[Line]:
    source = f"{KMPA}, Theorems 7.9 and 7.12, Remark 7.13"
    promise = (
        "A new normal point lies farther than {far:.4g} from the centre with probability at most {{value}}."
    )
    if setting.radius is None:
        return [Line("false alarms", promise.format(far=math.nan), None, source, why=NO_RADIUS)]
    R, n = setting.radius, it.squares.size
    slack_sum = float(np.maximum(it.squares - it.squared_radius, 0.0).sum())
    gaps = gap_grid(n=n, radius=R)
    # How far any item can lie from this centre: a promise about points beyond it would be empty.
    farthest = farthest_square(R**2, it.centre_norm, nonnegative=bool(setting.kernel.is_nonnegative))

    def bound(gap: float, share: float) -> float:
        if it.squared_radius + gap >= farthest:
            return math.inf
        return false_positive_rate(slack_sum=slack_sum, gap=gap, radius=R, n=n, delta=share)

    if it.gap > 0.0:
        return [_fixed_gap(it, setting, slack_sum, farthest)]
    best = best_of_grid(bound, gaps, setting.delta)
    found = math.isfinite(best.value)
    far = math.sqrt(it.squared_radius + best.at) if found else math.sqrt(farthest)
    assumptions = (*setting.common(), setting.extent, setting.grid("gap", best.tried))
    lines = [
        Line(
            "false alarms", promise.format(far=far), best.value, source,
            seen=float((it.squares > far**2).mean()), assumptions=assumptions,
            why=f"the ball's radius is {math.sqrt(it.squared_radius):.4g}" if found
            else f"no item lies beyond {math.sqrt(farthest):.4g}, and nearer no gap is wide enough",
        )
    ]  # fmt: skip
    rate = setting.options.rate
    name, what = f"radius for a rate of {rate:g}", (
        f"A new normal point lies farther than {{value}} from the centre with probability at most {rate:g}."
    )  # fmt: skip
    where = f"{KMPA}, Corollary 7.14, Remark 7.13"
    try:
        radius = radius_for_rate(
            rate, squared_radius=it.squared_radius, slack_sum=slack_sum, radius=R, n=n,
            delta=setting.delta, gaps=gaps,
        )  # fmt: skip
    except ValueError as error:
        return [*lines, Line(name, what, None, where, why=str(error))]
    lines.append(
        Line(name, what, radius, where, trivial=math.sqrt(farthest), assumptions=assumptions,
             why=f"the ball's radius is {math.sqrt(it.squared_radius):.4g}; no item can be farther than "
             f"{math.sqrt(farthest):.4g}")
    )  # fmt: skip
    return lines


def _fixed_gap(it: Ball, setting: Setting, slack_sum: float, farthest: float) -> Line:
    """Return the promise about the test that ``predict`` makes, whose gap is the user's."""
    assert setting.radius is not None
    far, n = it.squared_radius + it.gap, it.squares.size
    value = false_positive_rate(
        slack_sum=slack_sum, gap=it.gap, radius=setting.radius, n=n, delta=setting.delta
    )
    fixed = Assumption(f"The gap, gap={it.gap:g}, was fixed before these rows were seen.", "yours")
    empty = far >= farthest
    return Line(
        "false alarms",
        "predict calls a new normal point novel with probability at most {value}.",
        0.0 if empty else value,
        f"{KMPA}, Theorems 7.9 and 7.12",
        seen=float((it.squares > far).mean()),
        assumptions=(*setting.common(), setting.extent, *(() if empty else (fixed,))),
        why=f"no item lies beyond {math.sqrt(farthest):.4g}, and predict tests {math.sqrt(far):.4g}: nothing "
        "is ever novel" if empty else f"predict tests a distance of {math.sqrt(far):.4g}, the ball's radius "
        f"is {math.sqrt(it.squared_radius):.4g}",
    )  # fmt: skip


def _ball_and_slab(it: BallAndSlab, setting: Setting) -> Line:
    """Return the promise about what ball and slab leave, each widened by a gap, at delta/2 each."""
    promise = (
        "A new normal point lies farther than {far:.4g} from the centre, or farther than {off:.4g} from the "
        "plane, with probability at most {{value}}."
    )
    source = f"{KMPA}, Remark 7.15: Theorem 7.12 and Theorem 7.5 for the slab, each at delta/2"
    name, R, n = "false alarms", setting.radius, it.squares.size
    nothing = promise.format(far=math.nan, off=math.nan)
    if R is None:
        return Line(name, nothing, None, source, why=NO_RADIUS)
    if abs(it.height - it.squared_width) > R**2:
        why = (
            f"the squared width of the slab, {it.squared_width:.4g}, differs from the squared distance of "
            f"its plane from the origin, {it.height:.4g}, by more than R^2 = {R**2:.4g}"
        )
        return Line(name, nothing, None, source, why=why)
    slacks = float(np.maximum(it.squares - it.squared_radius, 0.0).sum())
    excess = float(np.maximum(it.residuals - it.squared_width, 0.0).sum())
    squares = float(np.square(it.diagonal).sum())
    nonnegative = bool(setting.kernel.is_nonnegative)
    ends = (farthest_square(R**2, it.centre_norm, nonnegative=nonnegative),
            farthest_square(R**2, it.mean_norm, nonnegative=nonnegative))  # fmt: skip

    def ball(gap: float, share: float) -> float:
        if it.squared_radius + gap >= ends[0]:
            return math.inf
        return false_positive_rate(slack_sum=slacks, gap=gap, radius=R, n=n, delta=share)

    def slab(gap: float, share: float) -> float:
        if it.squared_width + gap >= ends[1]:
            return math.inf
        return slab_false_positive_rate(
            slack_sum=excess, gap=gap, axes=it.axes, radius=R, squared_trace=squares, n=n, delta=share
        )

    gaps = gap_grid(n=n, radius=R)
    parts = [best_of_grid(bound, gaps, 0.5 * setting.delta) for bound in (ball, slab)]
    if not all(math.isfinite(part.value) for part in parts):
        empty = [w for w, part in zip(("ball", "slab"), parts, strict=True) if not math.isfinite(part.value)]
        return Line(name, nothing, math.inf, source, why=f"no gap is wide enough for the {empty[0]} and "
                    "still leaves anything outside")  # fmt: skip
    far2, off2 = it.squared_radius + parts[0].at, it.squared_width + parts[1].at
    return Line(
        name,
        promise.format(far=math.sqrt(far2), off=math.sqrt(off2)),
        parts[0].value + parts[1].value,
        source,
        seen=float(((it.squares > far2) | (it.residuals > off2)).mean()),
        assumptions=(*setting.common(), setting.extent, setting.grid("two gaps", 2 * len(gaps))),
        why=f"{parts[0].value:.4g} for the ball of radius {math.sqrt(it.squared_radius):.4g}, "
        f"{parts[1].value:.4g} for the slab of half-thickness {math.sqrt(it.squared_width):.4g}",
    )


def _plane(it: Plane, setting: Setting) -> Line:
    tau, n = setting.tau, it.values.size
    norm = math.hypot(it.norm, it.rho / tau)
    trace = float(it.diagonal.sum()) + n * tau**2
    short = np.maximum(-it.values, 0.0)
    # Scaled to norm 1, only the gap is left to choose.
    farthest = math.inf if setting.radius is None else setting.radius * it.norm + it.rho

    def bound(gap: float, share: float) -> float:
        if gap * norm >= farthest:
            return math.inf
        return plane_false_positive_rate(short / norm, gap=gap, norm_bound=1.0, trace=trace, delta=share)

    grid = powers_of_two()
    values = {gap: bound(gap, setting.delta / len(grid)) for gap in grid}
    kept = [gap for gap in grid if values[gap] <= HALF]
    at = min(kept) if kept else min(grid, key=values.__getitem__)
    found = math.isfinite(values[at])
    gap = at * norm if found else farthest
    return Line(
        "false alarms",
        f"decision_function of a new normal point is below {-gap:.4g} with probability at most {{value}}.",
        values[at],
        f"{KMPA}, (7.8) for one label, Remarks 7.16 and 7.17",
        seen=float((it.values < -gap).mean()),
        assumptions=(*setting.common(), setting.bias(), setting.grid("gap", len(grid))),
        why=f"training points score between {it.values.min():.4g} and {it.values.max():.4g}"
        if found
        else "no item can score so little, and for higher scores no gap is wide enough",
    )
