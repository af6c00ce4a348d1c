"""The lines of a report on a two-class machine."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mercer.arrays import Float64
from mercer.bounds.compression_bounds import (
    expected_error,
    perceptron_error,
    perceptron_margin_error,
    support_vector_error,
)
from mercer.bounds.enclosing_ball import EnclosingRadius
from mercer.bounds.fat_shattering import fat_shattering_error, slack_rate, squared_slack_rate
from mercer.bounds.grids import best_of_grid, margin_grid
from mercer.bounds.margin_bounds import hard_margin_error, margin_slack_error, squared_margin_slack_error
from mercer.bounds.pac_bayes import SMALLEST_N, pac_bayes_margin_error
from mercer.bounds.promises import Assumption, Fact, LateFact, Line
from mercer.bounds.report_setting import DRAWN, Setting
from mercer.bounds.two_class_machine import Scaled, TwoClass
from mercer.bounds.vc import margin_vc_dimension, vc_error

WRONG = "A new point is misclassified with probability at most {value}."
KMPA = "Shawe-Taylor & Cristianini 2004"
IDA = "Cristianini & Shawe-Taylor 2003"
NO_RADIUS = "needs the radius of the distribution's support, which this kernel does not bound: give radius="


def classifier_facts(it: TwoClass, sample: Callable[[], EnclosingRadius]) -> tuple[Fact, ...]:
    """Return the numbers that the promises are made of; ``sample`` brackets the enclosing ball's radius."""
    n = it.sign.size
    slacks = np.maximum(0.0, 1.0 - it.sign * it.values)
    facts = [Fact("training points", n), Fact("training errors", it.errors, f"{it.errors / n:.1%} of them")]
    if it.n_support is not None:
        facts.append(Fact("support vectors", it.n_support, f"{it.n_support / n:.1%} of the points"))
    if it.updates is not None:
        facts.append(Fact("updates", it.updates, "corrections made while learning"))
    if it.machine == "perceptron" and it.novikoff is not None:
        facts.append(Fact("updates allowed", it.novikoff, "by Novikoff's theorem, for the margin reached"))
    facts += [
        Fact("norm of w", it.norm, "||w||"),
        Fact("margin", 1.0 / it.norm if it.norm > 0 else math.inf, "1 / ||w||, a distance in feature space"),
        Fact("smallest margin", it.least, "of a training point; negative: on the wrong side"),
        Fact("mean slack", float(slacks.mean()), "by how much points fall short of y f(x) = 1"),
    ]  # fmt: skip
    return (*facts, *geometry(it.diagonal, sample))


def geometry(diagonal: Float64, sample: Callable[[], EnclosingRadius]) -> tuple[Fact, ...]:
    """Return how far out the training points lie; ``sample`` brackets their smallest ball."""

    def smallest() -> tuple[float, str]:
        found = sample()
        width = found.upper - found.lower
        note = (
            "around its best centre, " + (f"to within {width:.1g}; " if width > 0.0 else "") + "of the sample"
        )
        return found.upper, note

    return (
        Fact("trace of K", float(diagonal.sum()), "sum of k(x, x)"),
        Fact(
            "radius of the sample",
            float(math.sqrt(max(float(diagonal.max()), 0.0))),
            "around the origin of feature space",
        ),
        LateFact("radius of the smallest ball", smallest),
    )


def classifier_lines(it: TwoClass, setting: Setting) -> list[Line]:
    """Return the promises that may be made of a two-class machine."""
    if it.norm == 0.0:
        return [
            Line(
                "margin",
                WRONG,
                None,
                f"{KMPA}, (7.8)",
                why="the weight vector is zero: the machine is constant",
            )
        ]
    g = Scaled(setting, it)
    lines = [_margin(g)]
    if it.updates is not None:
        lines += _perceptron(g)
    else:
        lines += _support(g)
    more = (_fat(g), _rate(g), _vc(g), _pac_bayes(g))
    return [*lines, *(line for line in more if line is not None)]


def _margin(g: Scaled) -> Line:
    n, seen = g.it.sign.size, g.it.errors / g.it.sign.size
    grid = margin_grid(n=n, radius=g.radius)
    delta = g.setting.delta

    def hard(margin: float, share: float) -> float:
        if margin > g.least:
            return math.inf
        return hard_margin_error(margin=margin, trace=g.trace, n=n, delta=share)

    def soft(margin: float, share: float) -> float:
        return margin_slack_error(g.slacks(margin), margin=margin, trace=g.trace, delta=share)

    def squared(margin: float, share: float) -> float:
        first = squared_margin_slack_error(g.slacks(margin), margin=margin, trace=g.trace, delta=share / 2)
        # The hard margin in the larger space: slacks become coordinates, and none is left.
        assert g.it.ridge is not None
        short = np.maximum(0.0, 1.0 - g.it.sign * g.it.values)
        norm = math.hypot(g.norm, float(np.linalg.norm(short / np.sqrt(g.it.ridge))))
        if margin * norm > 1.0:
            return first
        trace = g.trace + float(g.it.ridge.sum())
        return min(first, hard_margin_error(margin=margin, trace=trace, n=n, delta=share / 2))

    table = {
        "hard": (hard, "Theorems 7.22 and 7.27"),
        "squared": (squared, "Theorem 7.38 and (7.13)"),
        "nu": (soft, "Theorem 7.33 and (7.8)"),
        "soft": (soft, "Theorem 7.30 and (7.8)"),
        "perceptron": (soft, "(7.8)"),
        "loss": (soft, "(7.8)"),
        "stream": (soft, "(7.8)"),
    }
    bound, where = table[g.it.machine]
    best = best_of_grid(bound, grid, delta)
    found = math.isfinite(best.value)
    value = best.value
    if not found and g.least > 0:  # how far off: larger than 1 even if the margin had been fixed before
        value = max(1.0, hard_margin_error(margin=g.least, trace=g.trace, n=n, delta=delta))
    return Line(
        "margin" if g.it.machine == "hard" else "margin and slack",
        WRONG,
        value,
        f"{KMPA}, {where}, Remark 7.17",
        seen=seen,
        assumptions=g.assumptions(g.setting.grid("margin", best.tried)),
        why=f"at margin {best.at:.3g}"
        if found
        else f"the margin is below {min(grid):.3g}, where no bound is below 1",
    )


def _support(g: Scaled) -> list[Line]:
    it, n = g.it, g.it.sign.size
    if not it.n_support:
        return []
    lone = Assumption(
        "The support vectors alone would give the same machine: it is the exact optimum (relative duality "
        f"gap {it.gap:.1g}) and its bias the only one possible.",
        "met" if it.determined and it.gap < 0.1 else "broken",
    )
    base = (*g.setting.common(), lone)
    seen = it.errors / n
    lines = [
        Line(
            "number of support vectors", WRONG,
            support_vector_error(n_support=it.n_support, n=n, delta=g.setting.delta),
            f"{KMPA}, Theorem 7.56; {IDA}, Theorem 5.5", seen=seen, assumptions=base,
            why=f"{it.n_support} of {n} points",
        )
    ]  # fmt: skip
    tuned = Assumption(
        "The parameters were not chosen on these rows: an average has no delta to share.", "broken"
    )
    moving = Assumption("The price of slack does not change with n; in a nu machine it does.", "broken")
    more: tuple[Assumption, ...] = (tuned,) if g.setting.options.candidates > 1 else ()
    more += (moving,) if it.machine == "nu" else ()
    lines.append(
        Line(
            "support vectors, on average",
            f"Machines trained on {n - 1} such points misclassify a new point with probability at most "
            "{value}, on average over their training sets.",
            expected_error(n_support=it.n_support, n=n),
            f"{KMPA}, Remark 7.57", kind="average", seen=seen, assumptions=(*base, *more),
            why="says nothing about this one machine",
        )
    )  # fmt: skip
    return lines


def _perceptron(g: Scaled) -> list[Line]:
    it, n = g.it, g.it.sign.size
    assert it.updates is not None
    done = Assumption(
        "It ran until it made no more mistakes, and each change was made on a loss.",
        "met" if it.errors == 0 and it.updates else "broken",
    )
    common = (*g.setting.common(), done)
    points = f"{it.updates} updates on {n} points"
    if it.remembered:
        common += (
            Assumption(
                "The bias moves by R^2, read off the farthest training point. Paid for by remembering that "
                "point beside those of the updates; radius= of the machine would fix it beforehand.",
                "met",
            ),
        )
        points += ", and the farthest point"
    lines = []
    if it.updates:
        value = perceptron_error(updates=it.updates + it.remembered, n=n, delta=g.setting.delta)
        lines.append(
            Line(
                "number of updates", WRONG, value, f"{KMPA}, Theorem 7.54", seen=it.errors / n,
                assumptions=common, why=points,
            )
        )  # fmt: skip
    if it.machine == "perceptron" and it.novikoff is not None:
        # The margin reached is at most the largest one, of which the theorem needs only a lower bound.
        value = perceptron_margin_error(
            radius=it.reach, margin=it.least, n=n, delta=g.setting.delta,
            bias=None if it.bias is None else it.bias / it.norm, extra=it.remembered,
        )  # fmt: skip
        lines.append(
            Line(
                "margin, by the number of updates", WRONG, value, f"{KMPA}, Theorem 7.53 and Corollary 7.55",
                seen=it.errors / n, assumptions=common,
                why=f"at most {it.novikoff:.3g} updates at the margin reached; the sample's R is enough here",
            )
        )  # fmt: skip
    return lines


def _fat(g: Scaled) -> Line | None:
    if g.it.errors or g.least <= 0:
        return None
    name, source = "margin and radius", f"{IDA}, Theorem 5.2"
    if g.radius is None:
        return Line(name, WRONG, None, source, why=NO_RADIUS)
    n, radius, least = g.it.sign.size, g.radius, g.least

    def bound(margin: float, share: float) -> float:
        if margin > least:
            return math.inf
        return fat_shattering_error(margin=margin, radius=radius, n=n, delta=share)

    best = best_of_grid(bound, margin_grid(n=n, radius=radius), g.setting.delta)
    return Line(
        name, WRONG, best.value, source, seen=g.it.errors / n,
        assumptions=g.assumptions(g.setting.grid("margin", best.tried), g.setting.extent),
        why=f"at margin {best.at:.3g}" if math.isfinite(best.value) else "needs 64 (R/margin)^2 < n",
    )  # fmt: skip


def _rate(g: Scaled) -> Line:
    squared = g.it.machine == "squared"
    name = "rate in n, squared slacks" if squared else "rate in n, slacks"
    source = f"{IDA}, Theorem {'5.3' if squared else '5.4'}"
    promise = "A new point is misclassified with probability at most {value}, for some constant c."
    if g.radius is None:
        return Line(name, promise, None, source, kind="rate", why=NO_RADIUS)
    radius, statement = g.radius, squared_slack_rate if squared else slack_rate

    def bound(margin: float, share: float) -> float:
        return statement(g.slacks(margin), margin=margin, radius=radius, delta=share)(1.0)

    best = best_of_grid(bound, margin_grid(n=g.it.sign.size, radius=radius), g.setting.delta)
    return Line(
        name, promise, best.value, source, kind="rate",
        assumptions=g.assumptions(g.setting.grid("margin", best.tried), g.setting.extent),
        why="the source does not give c: this tells how the error scales, not how large it is",
    )  # fmt: skip


def _vc(g: Scaled) -> Line | None:
    if g.it.errors or g.least <= 0:
        return None
    name, source = "VC dimension", "Hastie, Tibshirani & Friedman 2009, (12.50) and (12.51)"
    if g.radius is None:
        return Line(name, WRONG, None, source, why=NO_RADIUS)
    n, norm = g.it.sign.size, 1.0 / g.least
    h = margin_vc_dimension(radius=g.radius, norm=norm)
    return Line(
        name, WRONG, vc_error(h=h, n=n, delta=g.setting.delta), source, seen=g.it.errors / n,
        assumptions=g.assumptions(
            g.setting.extent,
            Assumption(
                "The class of functions was fixed before the data were seen. Here it was not: the norm is "
                "read off the data and the margin is one around these points (the source says so itself).",
                "broken",
            ),
        ),
        why=f"VC dimension at most {h}",
    )  # fmt: skip


def _pac_bayes(g: Scaled) -> Line:
    n = g.it.sign.size
    name, source = "random weights around w", "PAC-Bayes: Langford & Shawe-Taylor 2003"
    if n < SMALLEST_N:
        return Line(name, WRONG, None, source, kind="modern", why=f"needs at least {SMALLEST_N} points")
    lengths = np.sqrt(g.it.diagonal + g.tau**2)
    margins = np.divide(g.margins, lengths, out=np.zeros(n), where=lengths > 0)
    best = pac_bayes_margin_error(np.clip(margins, -1.0, 1.0), delta=g.setting.delta)
    return Line(
        name, WRONG, best.value, source, kind="modern", seen=g.it.errors / n, assumptions=g.assumptions(),
        why=f"weights drawn around {best.scale:.3g} times the direction of w err with probability at most "
        f"{best.gibbs:.3g}",
    )  # fmt: skip


def held_out_assumptions() -> tuple[Assumption, ...]:
    """Return what a promise from held-out points rests on."""
    return (
        DRAWN,
        Assumption("The held-out points had no part in the fit or in the choice of parameters.", "yours"),
    )
