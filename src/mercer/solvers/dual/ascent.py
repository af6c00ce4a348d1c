"""Stochastic gradient ascent on the dual, one variable at a time: kernel adatron, Hildreth's method, SOR."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from mercer import _jit
from mercer.arrays import Float64, Index
from mercer.gram import Gram
from mercer.problems import Dual, InfeasibleError
from mercer.solvers.base import Need, Reached, Solver
from mercer.solvers.dual.active_set import polish
from mercer.solvers.dual.round_loop import Rounds, mended_inside
from mercer.solvers.needs import A_DUAL, GROUP_SUMS, NO_FIXED_SUM

Order = Literal["cyclic", "random", "violators", "nonbound", "ascending", "gap", "batch"]
ORDERS = ("cyclic", "random", "violators", "nonbound", "ascending", "gap", "batch")

INNER = 0.1  # share of the violation of a full sweep that sweeps over a part of the variables leave there
PANEL_BYTES = 16_000_000  # rows of the kernel matrix in memory at a time, where not all of them fit
NO_GROWTH = 1e-6  # of the largest growth of a multiplier
MOST_OF_RAY = 2000  # multipliers that grow for which a proof is tried
FLAT = 1e-14  # curvature, relative to the largest, that counts as none


def _may_move_alone(solver: Any, gram: Gram, problem: Dual) -> bool:
    return NO_FIXED_SUM.met(solver, gram, problem) or (solver.zeta is not None and problem.has_zero_sum)


ALONE = Need(_may_move_alone, NO_FIXED_SUM.why)


@dataclass(kw_only=True, repr=False)
class Ascent(Solver):
    r"""Gradient ascent on the dual, one variable at a time or all at once.

    .. math::
        \alpha_i \leftarrow \mathrm{clip}\Bigl(\alpha_i + \eta_i \frac{\partial W}{\partial \alpha_i}\Bigr),
        \qquad \eta_i = \frac{\omega}{K_{ii} + r_i}

    With omega = 1 each variable goes to its best value (Hildreth's method, kernel adatron); other values
    in (0, 2) are successive over-relaxation. One variable cannot change alone while a sum is fixed. A bias
    is therefore the weight of one more coordinate tau that all points share: the problem that is solved is
    that of the kernel K + tau^2 without a bias, which penalises b^2 / (2 tau^2). Other ways to have a bias
    are a given one (``bias``) and a free one whose constraint is relaxed to
    :math:`-\zeta_t \le \sum_i \alpha_i y_i \le \zeta_t` (``zeta``).

    Parameters
    ----------
    omega : float, default=1.0
        Relaxation, in (0, 2).
    order : {"cyclic", "random", "violators", "nonbound", "ascending", "gap", "batch"}, default="violators"
        Which variables a sweep visits: all in turn; all in random order; those that violate the optimality
        conditions, worst first; those strictly inside their box until they are nearly optimal among
        themselves, then all; the support vectors by ascending size, likewise; those that contribute to the
        duality gap, the largest share first. "batch" is steepest ascent: all variables change at once, along
        the gradient projected onto the box, as far as the objective falls (or by ``rates``).
    tau : float or "auto", default="auto"
        The extra coordinate that stands for a bias. "auto" is R, the largest norm of a point in feature
        space: the margin is then at least half of that with a free bias. Without a bias it has no meaning.
    rates : float, array of shape (n_points,) or callable, optional
        Learning rates instead of omega / K_ii; convergence needs 0 < rate (K_ii + r_i) < 2. A function is
        called with the number t of the sweep, from 0 on, and returns the rates of that sweep, whatever they
        are: whether they converge is in its hands, and the certificate tells.
    bias : float, optional
        A bias that is given beforehand; it needs an estimator with ``fit_intercept=True``.
    zeta : float or callable, optional
        The bias is free, and the sum of the signed multipliers stays between -zeta_t and zeta_t in sweep t:
        zeta_t is zeta(t), or zeta / (t + 1) for a number. Before a point is judged, its sum is mended.
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
    bias: float | None = None
    zeta: Any = None

    name: ClassVar[str] = "ascent"
    fixes_bias: ClassVar[bool] = True
    needs = (
        A_DUAL,
        GROUP_SUMS,
        ALONE,
    )

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
        if self.bias is not None and not (isinstance(self.bias, int | float) and math.isfinite(self.bias)):
            raise ValueError(f"bias={self.bias!r} must be a number")
        good = callable(self.zeta) or (isinstance(self.zeta, int | float) and self.zeta > 0)
        if self.zeta is not None and not good:
            raise ValueError(f"zeta={self.zeta!r} must be a positive number or a function of the sweep")
        ways = [name for name in ("bias", "zeta") if getattr(self, name) is not None]
        ways += ["tau"] if self.tau != "auto" else []
        if len(ways) > 1:
            raise ValueError(f"{' and '.join(ways)} are different ways to have a bias: give one of them")
        if self.zeta is not None and self.order == "batch":
            raise ValueError("zeta is for sweeps over single variables: not for order='batch'")

    def restate(self, problem: Any, diag: Float64) -> Any:
        """Return the problem with its bias as one more coordinate."""
        if not isinstance(problem, Dual):
            return problem  # which `check` refuses in words
        if not problem.has_bias:
            for name, given in (("tau", self.tau if self.tau != "auto" else None), ("bias", self.bias),
                                ("zeta", self.zeta)):  # fmt: skip
                if given is not None:
                    raise ValueError(f"{name}={given!r} stands for a bias, and fit_intercept=False has none")
            return problem.without_bias() or problem
        if self.zeta is not None:
            return problem
        if self.bias is not None:
            found = problem.at_bias(float(self.bias))
            if found is None:
                raise ValueError(
                    f"bias={self.bias!r}: the bias of this problem (C=inf, nu, a ball) is more than a shift "
                    "and cannot be given beforehand"
                )
            return found
        radius = math.sqrt(max(float(diag.max(initial=0.0)), 0.0))
        tau = (radius or 1.0) if self.tau == "auto" else float(self.tau)
        return problem.fixed_bias(tau) or problem

    def run(self, gram: Gram, problem: Dual, start: Float64 | None) -> Reached:
        """Run the rounds."""
        return _Sweeps(self, gram, problem, start).run()


class _Sweeps(Rounds):
    """One solve."""

    def __init__(self, options: Ascent, gram: Gram, problem: Dual, start: Float64 | None) -> None:
        super().__init__(options, gram, problem, start)
        self.o = options
        self.random = np.random.default_rng(options.seed)
        self.rate = _rates(options, self.gram.diag(), problem)
        self.relaxed = self.b.copy()  # the point with the sum that zeta allows, and K times it
        self.f_relaxed, self.total = self.f, 0.0
        self.shift = 0.0  # of the slopes, by a free bias
        self.K: Any = None
        self.part: Index | None = None  # variables of the inner sweeps, while they last
        self.inner_target = 0.0
        self.sweeps, self.next_look, self.looked_at = 0, 4, self.b.copy()

    def open(self) -> None:
        if 8 * self.problem.n**2 <= self.o.block_bytes:
            every = np.arange(self.problem.n)
            self.K = self.gram.block(every, every)

    def advance(self) -> bool:
        if callable(self.o.rates):
            self.rate = _rates_of_sweep(self.o.rates, self.sweeps, self.problem)
        if self.o.order == "batch":
            return self._step_of_all()
        if self.o.zeta is not None:
            return self._sweep_in_slab()
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
        g = self.gradient() + self.shift
        wish = np.maximum(np.where(self.b < p.hi, -g, 0.0), np.where(self.b > p.lo, g, 0.0))
        self.cycle_ended = True
        movable = np.flatnonzero(~p.fixed)
        if o.order == "cyclic":
            return movable
        if o.order == "random":
            return self.random.permutation(movable)
        if o.order == "gap":
            share = self._shares(g - self.shift)
            wanting = np.flatnonzero(share > 0.0)
            return wanting[np.argsort(-share[wanting], kind="stable")]
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

    def _shares(self, g: Float64) -> Float64:
        """Return what each variable contributes to the gap, an endless box taken for a wide one."""
        p = self.problem
        costs = p.costs(g, p.multipliers(self.b, g))
        widest = float(np.abs(self.b).max(initial=0.0)) + 1.0
        above, below = np.minimum(self.b - p.lo, widest), np.minimum(p.hi - self.b, widest)
        return np.asarray(above * np.maximum(costs, 0.0) + below * np.maximum(-costs, 0.0))

    # -- all at once -----------------------------------------------------------------------------------------

    def _step_of_all(self) -> bool:
        """Go along the projected gradient, to the best point on the way or as far as the rates say."""
        p, g = self.problem, self.gradient()
        if self.o.rates is None:
            free = np.where(((self.b > p.lo) | (g < 0)) & ((self.b < p.hi) | (g > 0)), g, 0.0)
            curvature = float(free @ self._times(free))
            length = self.o.omega * float(free @ free) / curvature if curvature > 0 else 1.0
            way = np.clip(self.b - length * g, p.lo, p.hi) - self.b
        else:
            way = np.clip(self.b - self.rate * g, p.lo, p.hi) - self.b
        along = self.gram.matvec(p.beta(way))
        slope, bend = float(g @ way), float(p.beta(way) @ along + (p.r * way) @ way)
        part = 1.0
        if self.o.rates is None:
            part = min(1.0, -slope / bend) if bend > 0 else 1.0
        if not np.abs(way).max(initial=0.0) > 0.0 or not (slope < 0.0 or self.o.rates is not None):
            return False
        self.b = np.clip(self.b + part * way, p.lo, p.hi)
        self.f = self.f + part * along
        self.n_iter += 1
        self.sweeps += 1
        self._look_for_a_ray()
        return True

    def _times(self, v: Float64) -> Float64:
        """Return the objective's matrix times a vector of variables."""
        p = self.problem
        return np.asarray(np.tile(self.gram.matvec(p.beta(v)), p.copies) + p.r * v)

    # -- a free bias -----------------------------------------------------------------------------------------

    def _sweep_in_slab(self) -> bool:
        """Sweep with the sum between -zeta_t and zeta_t, then judge the point with its sum mended."""
        p, zeta = self.problem, self.o.zeta
        width = float(zeta(self.sweeps)) if callable(zeta) else float(zeta) / (self.sweeps + 1.0)
        if not (width >= 0.0 and math.isfinite(width)):
            raise ValueError(f"zeta({self.sweeps}) = {width!r} must be a number >= 0")
        self.shift = float(p.multipliers(self.b, self.gradient())[0])
        self.b, self.f = self.relaxed, self.f_relaxed
        order = self._order()
        self.cycle_ended = True
        arrays = (self.b, self.f, p.p, p.r, p.lo, p.hi, self.rate)
        left, done = self.limits.steps_left(self.n_iter), 0
        for rows, slots, few in self._panels(order):
            more, self.total = _jit.ascent.sweep_in_slab(
                rows, slots, few, *arrays, left - done, self.shift, width, self.total
            )
            done += int(more)
            if done >= left or self.limits.out_of_time():
                break
        self.n_iter += done
        self.sweeps += 1
        self.relaxed, self.f_relaxed = self.b.copy(), self.f.copy()
        mended = mended_inside(p, self.b)
        change = p.beta(mended) - p.beta(self.b)
        if change.any():
            self.f = self.f + self.gram.matvec(change)
        self.b = mended
        return done > 0

    # -- sweeps ----------------------------------------------------------------------------------------------

    def _panels(self, order: Index) -> Any:
        """Yield rows of the matrix with the places of a few variables' rows, and these variables."""
        n = self.problem.n
        if self.K is not None:
            yield self.K, order % n, order
            return
        width = max(1, PANEL_BYTES // (8 * n))
        for s in range(0, order.size, width):
            few = order[s : s + width]
            points, slots = np.unique(few % n, return_inverse=True)
            yield np.asarray(self.gram.rows(points), dtype=np.float64), slots, few

    def _sweep(self, order: Index) -> int:
        p = self.problem
        arrays = (self.b, self.f, p.p, p.r, p.lo, p.hi, self.rate)
        left = self.limits.steps_left(self.n_iter)
        done = 0
        for rows, slots, few in self._panels(order):
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
    if options.rates is None or callable(options.rates):
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


def _rates_of_sweep(rates: Any, sweep: int, problem: Dual) -> Float64:
    """Return the rates that a function of time gives to the variables of a sweep."""
    given = np.asarray(rates(sweep), dtype=np.float64)
    if given.ndim == 0:
        given = np.full(problem.n, float(given))
    if given.shape != (problem.n,) or not (np.isfinite(given).all() and (given > 0).all()):
        raise ValueError(
            f"rates({sweep}) must be a positive number, or one for each of {problem.n} points; it is "
            f"{given!r:.60}"
        )
    return np.tile(given, problem.copies)
