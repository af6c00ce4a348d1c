r"""The optimum of a dual, and the way from there to the optimum of a dual nearby.

    minimise    1/2 beta' K beta + 1/2 sum_t r_t b_t^2 + p'b
    subject to  lo <= b <= hi,   sum b = s   (or no sum)

Let p, lo, hi and s change along straight lines from those of a problem whose optimum is known to those of
another. The optimum then follows a piecewise linear curve. Variables at a bound stay there and move with it;
the free ones keep their reduced costs at zero, which one linear system says how; an event is a free variable
that meets a bound or a variable at a bound whose reduced cost vanishes. A point that comes has a box that
opens from [0, 0]; a point that goes has one that closes. A solution that is merely near an optimum is one of
a problem whose p differs a little, and is brought to its own by the same walk.

References
----------
Cauwenberghs and Poggio (2001), Incremental and decremental support vector machine learning, NIPS 13.
Ferreau, Bock and Diehl (2008), An online active set strategy to overcome the limitations of explicit MPC,
International Journal of Robust and Nonlinear Control 18.
"""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mercer import _jit
from mercer.arrays import Float64
from mercer.problems import Dual
from mercer.solvers.updates.free_block import FreeBlock
from mercer.solvers.updates.movable_point import EPS, MovablePoint

QUIET = 64.0 * EPS  # of a rate, likewise
PATIENCE = 60  # events in a row without any progress
RATIO = 1e-12  # by which the factor of a box may differ from variable to variable
CORRECTIONS = 3


class StuckError(RuntimeError):
    """The walk cannot go on: ties, rounding, an indefinite matrix, or too many events."""


class Optimum(MovablePoint):
    """An optimum that can be moved.

    Points have an order of their own: the last one takes the place of one that goes.

    Parameters
    ----------
    problem : Dual
        The problem, with one fixed sum or none.
    b, f : float64 arrays
        A point near its optimum, and K beta there.
    row_of : callable
        Given a point's number, returns its row of K in float64.
    diag : (n,) float64
        The diagonal of K.
    most : int
        Events after which bringing b to the optimum is given up.

    Attributes
    ----------
    b, f : float64 arrays
        The variables and K beta, in units of ``unit``.
    multiplier : float
        That of the sum.
    n_events : int
        Events so far.
    """

    def __init__(
        self,
        problem: Dual,
        b: Float64,
        f: Float64,
        row_of: Callable[[int], Float64],
        diag: Float64,
        most: int = 5000,
    ) -> None:
        self.row_of, self.copies, self.n = row_of, problem.copies, problem.n
        self.unit = 1.0
        self.p, self.lo, self.hi, self.r = (
            a.astype(np.float64) for a in (problem.p, problem.lo, problem.hi, problem.r)
        )
        self.summed, self.shifted = problem.group is not None, problem.has_shift
        self.total = float(problem.sums[0]) if self.summed else 0.0
        self.largest = float(np.abs(diag).max(initial=0.0))
        self.kappa = (float(np.mean(np.abs(diag))) or 1.0) if self.summed else 0.0
        self.b, self.f = problem.settled(b).astype(np.float64), f.astype(np.float64)
        self.n_events = 0
        self.place = np.where(self.b <= self.lo, -1, np.where(self.b >= self.hi, 1, 0)).astype(np.float64)
        self.block = FreeBlock(self.n, self.kappa)
        self.multiplier = 0.0
        if self.summed:
            self.multiplier = float(problem.multipliers(self.b, problem.gradient(self.b, self.f))[0])
        self._settle(most)

    # -- settling --------------------------------------------------------------------------------------------

    def _settle(self, most: int) -> None:
        """Make a point near the optimum the optimum: that of a problem with another p, then of this one."""
        free = np.flatnonzero(self.place == 0).tolist()
        self.place[free] = -1  # resting wherever they are, until they are members
        waiting = self.block.rebuild(free, self.r, self.row_of)
        self.place[self.block.members] = 0
        for v in waiting:
            self._enter(v, 1.0)
        costs = self.costs()
        wanted = self.p.copy()
        wrong = np.where(self.place == 0, costs, 0.0)
        wrong = np.where((self.place == -1) & (costs < 0), costs, wrong)
        wrong = np.where((self.place == 1) & (costs > 0), costs, wrong)
        wrong[self.lo == self.hi] = 0.0
        total = self.total
        if self.summed:
            self.total = float(self.b.sum())
        self.p = self.p - wrong
        self.walk(wanted, self.lo, self.hi, total, most)

    def twin(self) -> Optimum:
        """Return a copy that can be moved while this one stays."""
        other = copy.copy(self)
        for name in ("p", "lo", "hi", "r", "b", "f", "place"):
            setattr(other, name, getattr(self, name).copy())
        other.block = self.block.twin()
        return other

    def renew(self, f: Float64) -> None:
        """Take K beta as it was computed anew, and factorise the free variables' matrix anew."""
        self.f = f
        if self.block.rebuild(list(self.block.members), self.r, self.row_of):
            raise StuckError

    # -- to another problem ----------------------------------------------------------------------------------

    def move(self, problem: Dual, kept: NDArray[np.intp], most: int) -> None:
        """Go to the optimum of another problem.

        Parameters
        ----------
        problem : Dual
            The problem on the points that are ``kept``; all others are to end at zero.
        kept : (problem.n,) intp
            Their numbers.
        most : int
            Events after which the walk is given up.
        """
        variables = (kept[None, :] + self.n * np.arange(self.copies)[:, None]).ravel()
        self._rescale(problem, variables)
        p, lo, hi = self.p.copy(), np.zeros(self.b.size), np.zeros(self.b.size)
        p[variables] = self.unit * problem.p
        lo[variables], hi[variables] = self.unit * problem.lo, self.unit * problem.hi
        goes = np.ones(self.b.size, dtype=bool)
        goes[variables] = False
        costs = self.costs()
        for v in np.flatnonzero(goes & (self.place == 0)):
            self.block.remove(self.block.members.index(int(v)))
        self.lo[goes] = self.hi[goes] = self.b[goes]
        self.place[goes] = np.where(self.b[goes] > 0, 1, -1)
        new = np.flatnonzero((self.lo == self.hi) & (lo < hi))
        self.place[new] = np.where(costs[new] < 0, 1, -1)
        # A box without an end is replaced by one that is wide enough: the cost falls by at least r a unit.
        for v in new:
            reach = 2.0 * abs(float(costs[v])) / float(self.r[v]) + 1.0 if self.r[v] > 0 else np.inf
            if np.isinf(hi[v]) or np.isinf(lo[v]):
                if not np.isfinite(reach):
                    raise StuckError
                lo[v], hi[v] = max(lo[v], -reach), min(hi[v], reach)
        ends = lo.copy(), hi.copy()
        ends[0][variables], ends[1][variables] = self.unit * problem.lo, self.unit * problem.hi
        self.walk(p, lo, hi, self.unit * float(problem.sums[0]) if self.summed else 0.0, most)
        self.lo, self.hi = ends

    def _rescale(self, problem: Dual, variables: NDArray[np.intp]) -> None:
        """Take the problem's variables in other units, so that the boxes stay where they are."""
        there = self.hi[variables] > self.lo[variables]
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = problem.hi[there] * self.unit / self.hi[variables][there]
        if not ratio.size or not np.isfinite(ratio).all():
            return
        q = float(ratio[0])
        if q > 0 and q != 1.0 and float(np.abs(ratio - q).max()) <= RATIO * q:
            self.unit /= q

    # -- the walk --------------------------------------------------------------------------------------------

    def walk(self, p: Float64, lo: Float64, hi: Float64, total: float, most: int) -> None:
        """Follow the optimum while p, the box and the sum go to those given."""
        begin = self.p, self.lo, self.hi, self.total
        self.lo, self.hi = self.lo.copy(), self.hi.copy()
        with np.errstate(invalid="ignore"):
            dp, dlo, dhi = p - self.p, lo - self.lo, hi - self.hi
        dlo[~np.isfinite(dlo)], dhi[~np.isfinite(dhi)] = 0.0, 0.0
        ds = total - self.total
        self._speeds = dlo, dhi
        shut = (lo == hi) & (self.lo == self.hi)
        moving = dlo[self.place < 0].any() or dhi[self.place > 0].any()
        if not (moving or ds or dp.any()):  # boxes open, and nobody wants to move
            self.p, self.lo, self.hi, self.total = p.copy(), lo.copy(), hi.copy(), total
            return
        drive = self._drive()
        moves = np.flatnonzero((dlo != 0) | (dhi != 0))  # variables with a moving bound
        from_lo, from_hi = begin[1][moves], begin[2][moves]
        shaped, largest_dp = bool(dp.any()), float(np.abs(dp).max(initial=0.0))
        noise = self._noise()
        t, idle, done = 0.0, 0, 0
        while t < 1.0:
            done += 1
            self.n_events += 1
            if done > most or idle > PATIENCE:
                raise StuckError
            if self._correct(noise):  # a member had to leave, perhaps to a bound that moves
                drive = self._drive()
                idle += 1
                continue
            place = self.place[moves]
            pushed = np.where(place < 0, dlo[moves], np.where(place > 0, dhi[moves], 0.0))
            size, rest = float(np.abs(pushed).sum()), ds - float(pushed.sum())
            if self.summed and not self.block.size and abs(rest) > 64 * EPS * (size + abs(ds)):
                self._make_free(self.costs(), rest, shut, lo, hi)
                drive = self._drive()
                idle += 1
                continue
            members = np.asarray(self.block.members, dtype=np.intp)
            x, mu = self.block.solve(-(dp[members] + drive[members % self.n]), rest, self.summed)
            rate = drive.copy()
            self.block.product(x, rate)
            linear, drift = self.p, dp
            if self.shifted:
                linear, drift = self.p + self.r * self.b, dp.copy()
                drift[moves] += self.r[moves] * pushed
            size = (size + float(np.abs(x).sum())) * self.largest + abs(mu) + largest_dp
            step, who, side = self._next_free(x, members, 1.0 - t)
            scalars = np.array([self.multiplier, mu, QUIET * size, 8.0 * noise])
            step, other = _jit.next_event.next_at_bound(
                self.f, linear, rate, drift, self.place, shut, scalars, step
            )
            who = int(other) if other >= 0 else who
            idle = idle + 1 if step <= 1e-15 else 0
            t = 1.0 if who < 0 else min(1.0, t + step)
            self.b[members] += step * x
            self.f += step * rate
            self.multiplier += step * mu
            if who < 0:
                self.p, self.lo, self.hi, self.total = p.copy(), lo.copy(), hi.copy(), total
            else:
                self.total = begin[3] + t * ds
                if shaped:
                    self.p = begin[0] + t * dp
                self.lo[moves], self.hi[moves] = from_lo + t * dlo[moves], from_hi + t * dhi[moves]
            place = self.place[moves]
            at_bound = np.where(place < 0, self.lo[moves], self.hi[moves])
            self.b[moves] = np.where(place != 0, at_bound, self.b[moves])
            if who < 0:
                break
            if self.place[who] == 0:
                row = self._leave(int(who), side)
                drive += (dlo[who] if side < 0 else dhi[who]) * row
            else:
                sign = 1.0 if self.place[who] < 0 else -1.0
                old = dlo[who] if sign > 0 else dhi[who]
                if self._enter(int(who), sign):
                    drive = self._drive()
                elif old:
                    drive -= old * self.block.rows[self.block.slots[-1], : self.n]
        self._correct(noise)

    def _drive(self) -> Float64:
        """Return K times the speeds of the variables at moving bounds."""
        dlo, dhi = self._speeds
        speed = np.where(self.place < 0, dlo, np.where(self.place > 0, dhi, 0.0))
        moving = np.flatnonzero(speed)
        out = np.zeros(self.n)
        for v in moving:
            out += speed[v] * self.row_of(int(v) % self.n)
        return out

    def _next_free(self, x: Float64, members: NDArray[np.intp], ahead: float) -> tuple[float, int, int]:
        """Return the time until a free variable meets a bound, which one, and on which side."""
        dlo, dhi = self._speeds
        if not members.size:
            return ahead, -1, 0
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.full((2, members.size), np.inf)
            b = self.b[members]
            down, up = dlo[members] - x, x - dhi[members]
            least = QUIET * np.maximum(np.abs(x).max(initial=0.0), 1e-300)
            room[0] = np.where(down > least, (b - self.lo[members]) / down, np.inf)
            room[1] = np.where(up > least, (self.hi[members] - b) / up, np.inf)
        room = np.maximum(room, 0.0)
        place = int(np.argmin(room))
        first = float(room.ravel()[place])
        if first >= ahead:
            return ahead, -1, 0
        return first, int(members[place % members.size]), -1 if place < members.size else 1

    def _make_free(
        self, costs: Float64, rest: float, shut: NDArray[np.bool_], lo: Float64, hi: Float64
    ) -> None:
        """Without a free variable the multiplier has an interval: go to the end that lets the sum change."""
        open_box = ~shut & ((self.hi > self.lo) | (hi > lo))
        side = -1 if rest > 0 else 1
        which = np.flatnonzero((self.place == side) & open_box)
        if not which.size:
            raise StuckError
        v = int(which[np.argmin(-side * costs[which])])
        self.multiplier -= float(costs[v])
        self._enter(v, float(-side))

    def _leave(self, variable: int, side: int) -> Float64:
        """Put a member to rest at a bound; return its row."""
        place = self.block.members.index(variable)
        row = self.block.rows[self.block.slots[place], : self.n].copy()
        bound = self.lo[variable] if side < 0 else self.hi[variable]
        change = float(bound - self.b[variable])
        if change:
            self.f += change * row
            self.b[variable] = bound
        self.place[variable] = side
        self.block.remove(place)
        return row

    def _enter(self, variable: int, sign: float) -> bool:
        """Make a variable free; where that would be singular, exchange it for another, and return True.

        There is then a direction in which nothing but b changes. It is followed until a member, or the
        variable, meets a bound.
        """
        point = variable % self.n
        row = self.row_of(point)
        for attempt in range(self.block.size + 2):
            x, corner, left = self.block.column(row, point, float(self.r[variable]))
            if self.block.regular(corner, left, self.largest):
                self.block.append(variable, row, x, left)
                self.place[variable] = 0
                return attempt > 0
            if left < -1e-7 * max(corner, self.largest):
                raise StuckError  # an indefinite matrix
            direction = -sign * self.block.null_direction(x)
            members = np.asarray(self.block.members, dtype=np.intp)
            b, lo, hi = self.b[members], self.lo[members], self.hi[members]
            own = self.hi[variable] - self.b[variable] if sign > 0 else self.b[variable] - self.lo[variable]
            least = 1e-9 * max(1.0, float(np.abs(direction).max(initial=0.0)))
            with np.errstate(divide="ignore", invalid="ignore"):
                room = np.where(direction > least, (hi - b) / direction, np.inf)
                room = np.where(direction < -least, (lo - b) / direction, room)
            room = np.maximum(room, 0.0)
            place = int(np.argmin(room)) if room.size else -1
            step = min(float(own), float(room[place]) if room.size else np.inf)
            if not np.isfinite(step):
                raise StuckError
            self.b[members] += step * direction
            self.b[variable] += sign * step
            self.f += sign * step * row
            self.block.product(step * direction, self.f)
            if own <= step:
                self.place[variable] = 1 if sign > 0 else -1
                self.b[variable] = self.hi[variable] if sign > 0 else self.lo[variable]
                return True
            self._leave(int(members[place]), 1 if direction[place] > 0 else -1)
        raise StuckError

    def _correct(self, noise: float) -> bool:
        """Take the rounding out of the free variables' costs; return whether one of them had to leave."""
        for attempt in range(CORRECTIONS):
            members = np.asarray(self.block.members, dtype=np.intp)
            if not members.size:
                return False
            costs = self.f[members % self.n] + self.p[members] + self.multiplier
            if self.shifted:
                costs += self.r[members] * self.b[members]
            missing = self.total - float(self.b.sum()) if self.summed else 0.0
            small = abs(missing) <= 8.0 * EPS * (float(np.abs(self.b).sum()) + abs(self.total))
            if float(np.abs(costs).max()) <= noise and small:
                return False
            if attempt == CORRECTIONS - 1:
                if float(np.abs(costs).max()) > 1e6 * noise:
                    raise StuckError
                return False
            x, mu = self.block.solve(-costs, missing, self.summed)
            b, lo, hi = self.b[members], self.lo[members], self.hi[members]
            with np.errstate(divide="ignore", invalid="ignore"):
                room = np.where(x > 0, (hi - b) / x, np.where(x < 0, (lo - b) / x, np.inf))
            room = np.maximum(room, 0.0)
            place = int(np.argmin(room))
            step = min(1.0, float(room[place]))
            self.b[members] += step * x
            self.block.product(step * x, self.f)
            self.multiplier += step * mu
            if step < 1.0:
                self._leave(int(members[place]), 1 if x[place] > 0 else -1)
                return True
        return False
