"""Stochastic gradient ascent on the dual, one variable at a time: kernel adatron, Hildreth's method, SOR."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from mercer import _jit
from mercer.gram import Gram
from mercer.problems import Dual, InfeasibleError
from mercer.solvers.base import Float64, Solution, Solver
from mercer.solvers.dual.active_set import polish
from mercer.solvers.dual.needs import NO_FIXED_SUM
from mercer.solvers.dual.round_loop import Rounds

Index = NDArray[np.intp]
Order = Literal["cyclic", "random", "violators", "nonbound", "ascending"]
ORDERS = ("cyclic", "random", "violators", "nonbound", "ascending")

INNER = 0.1  # share of the violation of a full sweep that sweeps over a part of the variables leave there
PANEL_BYTES = 16_000_000  # rows of the kernel matrix in memory at a time, where not all of them fit
NO_GROWTH = 1e-6  # of the largest growth of a multiplier
MOST_OF_RAY = 2000  # multipliers that grow for which a proof is tried
FLAT = 1e-14  # curvature, relative to the largest, that counts as none


@dataclass(kw_only=True, repr=False)
class Ascent(Solver):
    r"""Gradient ascent on the dual, one variable at a time.

    .. math::
        \alpha_i \leftarrow \mathrm{clip}\Bigl(\alpha_i + \eta_i \frac{\partial W}{\partial \alpha_i}\Bigr),
        \qquad \eta_i = \frac{\omega}{K_{ii} + r_i}

    With omega = 1 each variable goes to its best value (Hildreth's method, kernel adatron); other values
    in (0, 2) are successive over-relaxation. One variable cannot change alone while a sum is fixed. A bias
    is therefore the weight of one more coordinate tau that all points share: the problem that is solved is
    that of the kernel K + tau^2 without a bias, which penalises b^2 / (2 tau^2).

    Parameters
    ----------
    omega : float, default=1.0
        Relaxation, in (0, 2).
    order : {"cyclic", "random", "violators", "nonbound", "ascending"}, default="violators"
        Which variables a sweep visits: all in turn; all in random order; those that violate the optimality
        conditions, worst first; those strictly inside their box until they are nearly optimal among
        themselves, then all; the support vectors by ascending size, likewise.
    tau : float or "auto", default="auto"
        The extra coordinate that stands for a bias. "auto" is R, the largest norm of a point in feature
        space: the margin is then at least half of that with a free bias. Without a bias it has no meaning.
    rates : float or array of shape (n_points,), optional
        Learning rates instead of omega / K_ii; convergence needs 0 < rate (K_ii + r_i) < 2.
    seed : int, default=0
        Of the random order.

    References
    ----------
    Cristianini and Shawe-Taylor (2000), An Introduction to Support Vector Machines, section 7.2. Friess,
    Cristianini and Campbell (1998), The kernel-adatron. Mangasarian and Musicant (1999), Successive
    overrelaxation for support vector machines. Hildreth (1957), A quadratic programming procedure.
    """

    omega: float = 1.0
    order: Order = "violators"
    tau: float | Literal["auto"] = "auto"
    rates: Any = None
    seed: int = 0

    name: ClassVar[str] = "ascent"
    fixes_bias: ClassVar[bool] = True
    needs = (NO_FIXED_SUM,)

    def __post_init__(self) -> None:
        if not 0.0 < self.omega < 2.0:
            raise ValueError(f"omega={self.omega!r} must be in (0, 2): outside, the ascent does not converge")
        if self.order not in ORDERS:
            raise ValueError(f"order={self.order!r} must be one of {', '.join(map(repr, ORDERS))}")
        if self.tau != "auto" and not (
            isinstance(self.tau, int | float) and self.tau > 0 and math.isfinite(self.tau)
        ):
            raise ValueError(f'tau={self.tau!r} must be "auto" or a positive number')
        if self.rates is not None and self.omega != 1.0:
            raise ValueError("give either omega or rates: rates are used as they are")

    def restate(self, problem: Dual, diag: Float64) -> Dual:
        """Return the problem with its bias as one more coordinate."""
        if not problem.has_bias:
            if self.tau != "auto":
                raise ValueError(f"tau={self.tau!r} stands for a bias, and fit_intercept=False has none")
            return problem.without_bias() or problem
        radius = math.sqrt(max(float(diag.max(initial=0.0)), 0.0))
        tau = (radius or 1.0) if self.tau == "auto" else float(self.tau)
        return problem.fixed_bias(tau) or problem

    def solve(self, gram: Gram, problem: Dual, start: Float64 | None = None) -> Solution:
        """Return a solution from ``start`` (any vector; it is made feasible first)."""
        self.check(gram, problem)
        return _Sweeps(self, gram, problem, start).solve()


class _Sweeps(Rounds):
    """One solve."""

    def __init__(self, options: Ascent, gram: Gram, problem: Dual, start: Float64 | None) -> None:
        super().__init__(options, gram, problem, start)
        self.o = options
        self.random = np.random.default_rng(options.seed)
        self.rate = _rates(options, self.gram.diag(), problem)
        self.K: Any = None
        self.part: Index | None = None  # variables of the inner sweeps, while they last
        self.inner_target = 0.0
        self.sweeps, self.next_look, self.looked_at = 0, 4, self.b.copy()

    def open(self) -> None:
        if 8 * self.problem.n**2 <= self.o.block_bytes:
            every = np.arange(self.problem.n)
            self.K = self.gram.block(every, every)

    def advance(self) -> bool:
        order = self._order()
        done = self._sweep(order)
        self.n_iter += done
        self.sweeps += 1
        self._look_for_a_ray()
        if done == 0 and not self.cycle_ended:
            self.part = None  # rounding holds the part, which says nothing of the other variables
        return done > 0 or not self.cycle_ended

    # -- orders ----------------------------------------------------------------------------------------------

    def _order(self) -> Index:
        p, o = self.problem, self.o
        g = self.gradient()
        wish = np.maximum(np.where(self.b < p.hi, -g, 0.0), np.where(self.b > p.lo, g, 0.0))
        self.cycle_ended = True
        movable = np.flatnonzero(~p.fixed)
        if o.order == "cyclic":
            return movable
        if o.order == "random":
            return self.random.permutation(movable)
        if o.order == "violators":
            wanting = np.flatnonzero(wish > 0.0)
            return wanting[np.argsort(-wish[wanting], kind="stable")]
        chosen = self._chosen()
        if self.part is None:  # a full sweep is next; then the part, until it is nearly optimal
            self.inner_target = max(INNER * float(wish.max(initial=0.0)), 0.5 * self.target())
            self.part = chosen
            return movable
        if chosen.size == 0 or float(wish[chosen].max()) <= self.inner_target:
            self.part = None
            return self._order()
        self.cycle_ended = False
        return chosen

    def _chosen(self) -> Index:
        p = self.problem
        if self.o.order == "nonbound":
            return np.flatnonzero((self.b > p.lo) & (self.b < p.hi))
        support = np.flatnonzero(self.b)
        return support[np.argsort(np.abs(self.b[support]), kind="stable")]

    # -- sweeps ----------------------------------------------------------------------------------------------

    def _sweep(self, order: Index) -> int:
        p = self.problem
        arrays = (self.b, self.f, p.p, p.r, p.lo, p.hi, self.rate)
        left = self.limits.steps_left(self.n_iter)
        if self.K is not None:
            return int(_jit.ascent.sweep(self.K, order % p.n, order, *arrays, left))
        done = 0
        width = max(1, PANEL_BYTES // (8 * p.n))
        for s in range(0, order.size, width):
            few = order[s : s + width]
            points, slots = np.unique(few % p.n, return_inverse=True)
            rows = np.asarray(self.gram.rows(points), dtype=np.float64)
            done += int(_jit.ascent.sweep(rows, slots, few, *arrays, left - done))
            if done >= left or self.limits.out_of_time():
                break
        return done

    def _look_for_a_ray(self) -> None:
        """Go to the direction in which the multipliers grow, if it proves that there is no solution.

        Where the classes cannot be separated, the multipliers end up growing around a ray that leaves K beta
        as it is. Few steps of an active set lead from what they have grown by to that ray.
        """
        if not self.problem.unbounded_without_margin or self.sweeps < self.next_look:
            return
        p = self.problem
        ray = self.b - self.looked_at
        ray = np.where(np.isfinite(p.lo), np.maximum(ray, 0.0), np.minimum(ray, 0.0))
        self.next_look, self.looked_at = 2 * self.sweeps, self.b.copy()
        there = np.flatnonzero(np.abs(ray) > NO_GROWTH * np.abs(ray).max(initial=0.0))
        if there.size == 0 or there.size > MOST_OF_RAY:
            return
        sign = np.sign(ray[there])
        Q = np.asarray(self.gram.block(there, there), dtype=np.float64) * np.outer(sign, sign)
        Q /= max(float(np.abs(np.diagonal(Q)).max()), 1e-300)
        low, m = np.zeros(there.size), there.size
        size = np.abs(ray[there]) / np.abs(ray[there]).sum()
        nearest, _ = polish(Q, low, low, low + 2.0, np.ones((1, m)), np.ones(1), size)
        ray = np.zeros(p.size)
        ray[there] = sign * nearest
        along = self.gram.matvec(p.beta(ray))
        if p.hopeless(ray, along):
            self.b, self.f = ray, along


def _rates(options: Ascent, diag: Float64, problem: Dual) -> Float64:
    """Return the learning rate of each variable; infinite where there is no curvature to stop a step."""
    curvature = np.tile(diag, problem.copies) + problem.r
    flat = curvature <= FLAT * max(float(curvature.max(initial=0.0)), 1e-300)
    endless = flat & ~problem.fixed & ~(np.isfinite(problem.lo) & np.isfinite(problem.hi))
    if endless.any():
        raise InfeasibleError(
            f"C=inf: {int(endless.sum())} of {problem.n} points lie at the origin of feature space, where "
            f"k(x, x) = 0 (first row {int(np.flatnonzero(endless)[0]) % problem.n}); no function without a "
            "bias can separate them: use a finite C, or fit_intercept=True"
        )
    if options.rates is None:
        return np.where(flat, np.inf, options.omega / np.where(flat, 1.0, curvature))
    given = np.asarray(options.rates, dtype=np.float64)
    if given.ndim == 0:
        given = np.full(problem.n, float(given))
    if given.shape != (problem.n,):
        raise ValueError(f"rates has shape {given.shape}; for {problem.n} points it must be ({problem.n},)")
    rate = np.tile(given, problem.copies)
    bad = ~problem.fixed & ~((rate > 0) & (rate * curvature < 2.0))
    if bad.any():
        first = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"rates[{first % problem.n}]={rate[first]:g} must be positive and below 2 / (K_ii + r_i) = "
            f"{2.0 / max(float(curvature[first]), 1e-300):g} for the ascent to converge"
        )
    return rate
