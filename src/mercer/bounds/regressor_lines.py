"""The lines of a report on a regressor."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer.arrays import Float64
from mercer.bounds.classifier_lines import KMPA, NO_RADIUS, geometry
from mercer.bounds.enclosing_ball import EnclosingRadius
from mercer.bounds.grids import best_of_grid, powers_of_two
from mercer.bounds.promises import Assumption, Fact, Line
from mercer.bounds.regression_bounds import large_error_rate, squared_error
from mercer.bounds.report_setting import Setting

HALF = 0.5  # without a tolerance, the smallest one is looked for that at least half of new points keep
NORMS = 21  # norms that are tried, from the smallest possible one upwards in steps of sqrt(2)


@dataclass(frozen=True)
class Regression:
    """A fitted function f(x) = <w, phi(x)> + b and its training points."""

    y: Float64
    values: Float64
    bias: float | None
    norm: float
    diagonal: Float64
    epsilon: float | None = (
        None  # half width of the tube; None where it was found from the data, or there is none
    )
    n_support: int | None = None

    @property
    def residuals(self) -> Float64:
        """The errors y - f."""
        return np.asarray(self.y - self.values)


def regressor_facts(it: Regression, sample: Callable[[], EnclosingRadius]) -> tuple[Fact, ...]:
    """Return the numbers that the promises are made of."""
    n, errors = it.y.size, np.abs(it.residuals)
    facts = [
        Fact("training points", n),
        Fact("mean squared error", float(np.square(errors).mean()), "on the training points"),
        Fact("spread of y", float(it.y.std()), "standard deviation, for comparison"),
    ]
    if it.epsilon is not None:
        slack = np.maximum(errors - it.epsilon, 0.0)
        facts.append(
            Fact("mean slack", float(slack.mean()), f"by how much errors exceed the tube of {it.epsilon:g}")
        )
    if it.n_support is not None:
        facts.append(Fact("support vectors", it.n_support, f"{it.n_support / n:.1%} of the points"))
    facts.append(Fact("norm of w", it.norm, "||w||"))
    return (*facts, *geometry(it.diagonal, sample))


def regressor_lines(it: Regression, setting: Setting) -> list[Line]:
    """Return the promises that may be made of a regressor."""
    tau = 0.0 if it.bias is None else setting.tau
    norm = it.norm if it.bias is None else math.hypot(it.norm, it.bias / tau)
    trace = float(it.diagonal.sum()) + it.y.size * tau**2
    radius = None if setting.radius is None else math.hypot(setting.radius, tau)
    bias = () if it.bias is None else (setting.bias(),)
    grid = norm_grid(setting.options.target_bound, radius)
    return [
        _large(it, setting, norm, trace, grid, bias),
        _squared(it, setting, norm, trace, radius, grid, bias),
    ]


def norm_grid(target_bound: float | None, radius: float | None) -> tuple[float, ...]:
    """Return norms to try: what can just reach the largest target and more, or all powers of 2."""
    if target_bound is None or radius is None:
        return powers_of_two()
    return tuple(target_bound / radius * 2.0 ** (j / 2.0) for j in range(NORMS))


def _large(
    it: Regression,
    setting: Setting,
    norm: float,
    trace: float,
    norms: tuple[float, ...],
    bias: tuple[Assumption, ...],
) -> Line:
    given = setting.options.tolerance
    tolerances = powers_of_two() if given is None else (given,)
    k = len(norms) * len(tolerances)
    share = setting.delta / k

    # A constant is never, or on these points not, off by more than this: to keep to it is no achievement.
    easy = setting.options.target_bound or 0.5 * float(np.ptp(it.y))

    def bound(tolerance: float) -> float:
        if tolerance >= easy:
            return math.inf
        epsilon = it.epsilon if it.epsilon is not None and it.epsilon < tolerance else tolerance / 2.0
        # The bound grows with the norm, so the smallest one of the grid that is large enough is the best.
        B = min((b for b in norms if b >= norm), default=math.inf)
        if math.isinf(B):
            return math.inf
        return large_error_rate(
            it.residuals, tolerance=tolerance, epsilon=epsilon, norm_bound=B, trace=trace, delta=share
        )

    values = {t: bound(t) for t in tolerances}
    kept = [t for t in tolerances if values[t] <= HALF]
    tolerance = given or (min(kept) if kept else min(tolerances, key=values.__getitem__))
    how = "no tolerance can be promised to half of new points"
    if given or kept:
        how = (
            "tolerance= was given"
            if given
            else "of the powers of 2, the smallest that half of new points keep"
        )
    if tolerance >= easy:
        how = f"a constant would do as well: it is off by at most {easy:.4g}"
    what = "norm of w" if given else "norm of w and the tolerance"
    return Line(
        f"errors beyond {tolerance:.4g}",
        f"A new point is missed by more than {tolerance:.4g} with probability at most {{value}}.",
        values[tolerance],
        f"{KMPA}, Theorem 7.49",
        seen=float((np.abs(it.residuals) > tolerance).mean()),
        assumptions=(*setting.common(), *bias, setting.grid(what, k)),
        why=how,
    )  # fmt: skip


def _squared(
    it: Regression,
    setting: Setting,
    norm: float,
    trace: float,
    radius: float | None,
    norms: tuple[float, ...],
    bias: tuple[Assumption, ...],
) -> Line:
    name, promise, source = (
        "squared error",
        "The expected squared error is at most {value}.",
        f"{KMPA}, Theorem 7.39",
    )
    largest = setting.options.target_bound
    if radius is None:
        return Line(name, promise, None, source, why=NO_RADIUS)
    if largest is None:
        return Line(
            name, promise, None, source, why="needs the largest |y| that can occur: give target_bound="
        )
    seen = float(np.square(it.residuals).mean())
    if np.abs(it.y).max() > largest:
        raise ValueError(f"target_bound={largest:g} is too small: y reaches {float(np.abs(it.y).max()):g}")

    def bound(B: float, share: float) -> float:
        if norm > B:
            return math.inf
        return squared_error(it.residuals, it.y, norm_bound=B, radius=radius, trace=trace, delta=share)

    best = best_of_grid(bound, norms, setting.delta)
    return Line(
        name,
        promise,
        best.value,
        source,
        seen=seen,
        trivial=largest**2,
        assumptions=(
            *setting.common(),
            *bias,
            setting.extent,
            setting.grid("norm of w", best.tried),
            Assumption(f"No target is larger than {largest:g}: target_bound= says so.", "yours"),
        ),
        why=f"always answering 0 would err by at most {largest**2:.4g}",
    )
