"""A piecewise linear solution: its knots, what happened at them, and what holds between them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.arrays import Float64
from mercer.problems import Dual
from mercer.problems.parametric_family import ParametricFamily
from mercer.solvers.base import Reached, Solution, Status

KINDS = ("enter", "leave", "exchange", "restart")
NOISE = 1e-11  # share of the summands that rounding along the walk may leave in a marginal cost
NOTHING = 1e-18  # share of its box below which a variable is zero
STRIP = 64  # knots looked at together


@dataclass(frozen=True)
class Path:
    """A solution that is linear between knots.

    Attributes
    ----------
    t : (knots,) float64
        The parameter at the knots, falling. Two knots at one t bound a jump between equally good points.
    a : (knots, n) float64
        The variables.
    products : (knots, n) float64
        K a.
    event_t, event_kind, event_index : (events,)
        When a variable entered or left the elbow, or was exchanged on entering a singular one (which needs no
        change of t), or the walk started anew.
    status : str
        "optimal" when the end was reached.
    family : ParametricFamily
        The problems that it solves.
    largest : float
        The largest diagonal entry of K.
    """

    t: Float64
    a: Float64
    products: Float64
    event_t: Float64
    event_kind: NDArray[np.int64]
    event_index: NDArray[np.int64]
    status: Status
    family: ParametricFamily
    largest: float

    def solution(self, C: float, tol: float = 1e-8) -> tuple[Dual, Solution]:
        """Return the problem at C and its solution, with the values that prove it."""
        a, products = self.locate(1.0 / C)
        dual = self.family.dual(C)
        b, f = dual.recover(C * a), C * products
        reached = Reached(b, f, max(1, self.event_t.size), "optimal")
        return dual, Solution(dual, reached, self.noise(b), tol, "kkt")

    def noise(self, coef: Float64) -> float:
        """Return a bound on the error of the products with some coefficients."""
        return NOISE * self.largest * float(np.abs(coef).sum())

    def machines(self, C: Float64) -> tuple[Float64, Float64]:
        """Return the coefficients (k, n) and the intercepts (k,) of the functions at k values of C."""
        at = [self.locate(1.0 / float(value)) for value in C]
        a, products = np.array([a for a, _ in at]), np.array([f for _, f in at])
        _, biases = self.family.verdict(1.0 / C, a.reshape(len(at), -1), products.reshape(len(at), -1))
        return C[:, None] * a, biases

    def curves(self, C: Float64) -> tuple[Float64, Float64, Float64]:
        """Return a (k, n), the function at the training points (k, n) and ||w|| (k,) at k values of C."""
        at = [self.locate(1.0 / float(value)) for value in C]
        a, products = np.array([a for a, _ in at]), np.array([f for _, f in at])
        _, biases = self.family.verdict(1.0 / C, a, products)
        squares = np.einsum("ij,ij->i", a, products)
        return a, C[:, None] * products + biases[:, None], C * np.sqrt(np.maximum(squares, 0.0))

    def rounding(self) -> Float64:
        """Return, per knot, the KKT violation that float64 sums of this size explain."""
        squares = np.einsum("ij,ij->i", self.a, self.a)
        size = np.maximum(np.abs(self.products).max(axis=1, initial=0.0), self.largest * np.sqrt(squares))
        return np.asarray(NOISE * size / self.t)

    def verdict(self) -> tuple[Float64, Float64]:
        """Return the largest KKT violation and the bias at each knot."""
        parts = [
            self.family.verdict(self.t[s : s + STRIP], self.a[s : s + STRIP], self.products[s : s + STRIP])
            for s in range(0, self.t.size, STRIP)
        ]
        violations, biases = zip(*parts, strict=True)
        return np.concatenate(violations), np.concatenate(biases)

    def locate(self, t: float) -> tuple[Float64, Float64]:
        """Return a and K a at t; beyond the first knot they do not change."""
        if t >= self.t[0]:
            return self.a[0].copy(), self.products[0].copy()
        if t < self.t[-1] * (1.0 - 1e-12):
            raise ValueError(f"the path ends at {self.t[-1]:g}, beyond {t:g}")
        t = max(t, float(self.t[-1]))  # 1 / (1 / t) is not always t
        k = int(np.searchsorted(-self.t, -t, side="left"))  # t[k - 1] > t >= t[k]
        # Two weights, not one: far below the upper knot nothing may be a small difference of large numbers.
        # And what rests at both knots rests between them, to the last bit.
        width = self.t[k - 1] - self.t[k]
        first, second = (t - self.t[k]) / width, (self.t[k - 1] - t) / width
        before, after = self.a[k - 1], self.a[k]
        a = np.where(before == after, before, first * before + second * after)
        return a, first * self.products[k - 1] + second * self.products[k]

    def below(self, t: float) -> Path:
        """Return the part of the path from t down; all of it if it begins to move further down."""
        if t >= self.t[0] or t < self.t[-1]:
            return self
        a, products = self.locate(t)
        k, e = int(np.searchsorted(-self.t, -t, side="right")), self.event_t <= t
        return replace(
            self,
            t=np.concatenate([[t], self.t[k:]]),
            a=np.vstack([a, self.a[k:]]),
            products=np.vstack([products, self.products[k:]]),
            event_t=self.event_t[e],
            event_kind=self.event_kind[e],
            event_index=self.event_index[e],
        )

    @property
    def n_restarts(self) -> int:
        """How often the walk was started anew by a direct solve."""
        return int((self.event_kind == KINDS.index("restart")).sum())


class Record:
    """Knots and events, in chunks.

    Parameters
    ----------
    means : (n,) float64
        What centring took from the rows of K: the products are stored as those of K itself.
    largest : float
        The largest diagonal entry of K.
    width : (n,) float64
        How far each variable can move.
    """

    def __init__(self, means: Float64, largest: float, width: Float64) -> None:
        self.means, self.largest, self.width = means, largest, width
        self.chunks: list[list[NDArray[Any]]] = [[] for _ in range(6)]

    def take(self, log: Any, *, all_of_it: bool = False) -> None:
        """Empty the log but for its last knot, which ties at the same t may still touch."""
        knots, events = int(log.filled[0]), int(log.filled[1])
        done = knots if all_of_it else max(0, knots - 1)
        a = log.knot_a[:done].copy()
        a[np.abs(a) <= NOTHING * self.width] = 0.0  # what is left of a solution that vanishes
        products = log.knot_base[:done] + (a @ self.means)[:, None]
        parts = (
            log.knot_t[:done].copy(), a, products,
            log.event_t[:events].copy(), log.event[:events, 0].copy(), log.event[:events, 1].copy(),
        )  # fmt: skip
        for chunk, part in zip(self.chunks, parts, strict=True):
            chunk.append(part)
        log.filled[:] = knots - done, 0
        for array in (log.knot_t, log.knot_a, log.knot_base):
            array[: knots - done] = array[done:knots]

    def path(self, status: Status, family: ParametricFamily) -> Path:
        """Return all of them."""
        t, a, products, event_t, kind, index = (np.concatenate(chunk) for chunk in self.chunks)
        return Path(t, a, products, event_t, kind, index, status, family, self.largest)
