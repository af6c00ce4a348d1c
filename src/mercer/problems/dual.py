"""The one dual of all support vector problems, in signed variables.

    minimise    q(b) = 1/2 beta' K beta + 1/2 sum_t r_t b_t^2 + p'b
    subject to  lo <= b <= hi,   the sum of b over each group g equal to s_g

beta (one entry per point) is the sum of the ``copies`` of b: one copy for classification and novelty
detection, two for regression, one for each side of the tube. With beta_i = y_i alpha_i no label appears
anywhere else.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np

from mercer.arrays import Float64, Ints
from mercer.gram.base import UNIT
from mercer.problems.problem import FEASIBLE, InfeasibleError, Machine, Problem, Values, of_variables, total

ROUNDING = 1e-14  # share of a box's width within which a variable is on its bound
SUM_ROUNDING = 4 * float(np.finfo(np.float64).eps)  # likewise, of all of b


# NumPy's methods take longer to call these than they take to reduce a hundred numbers.
def _sum(x: Float64) -> float:
    return float(np.add.reduce(x))


def _least(x: Float64) -> float:
    return float(np.minimum.reduce(x, initial=np.inf))


def _largest(x: Float64) -> float:
    return float(np.maximum.reduce(x, initial=-np.inf))


class Dual(Problem):
    r"""A box-constrained quadratic problem over a kernel matrix, with the sums of groups fixed.

    .. math::
        \min_b \; q(b) = \tfrac12 \beta' K \beta + \tfrac12 \sum_t r_t b_t^2 + p'b
        \quad \text{subject to} \quad lo \le b \le hi, \quad \sum_{t \in g} b_t = s_g

    Parameters
    ----------
    p, lo, hi : (copies n,) float64
        Linear term and box.
    r : (copies n,) float64, optional
        Diagonal shift (the squared losses).
    group : (copies n,) int64, optional
        Group of each variable; None when no sum is fixed (a fixed bias).
    sums : (groups,) float64, optional
        The sums.
    copies : int
        Variables per point.
    scale : float
        The problem's own dual value is -scale q.
    """

    has_margin = True  # whether 1 / ||w|| means a distance
    equalities: Float64 | None = None  # further equalities over the points' coefficients: see EqualityDual
    sums_vary = False  # whether an order of the multipliers lets the sums differ from those given
    unbounded_without_margin = False  # whether q falls for ever where the classes cannot be separated

    def __init__(
        self,
        p: Float64,
        lo: Float64,
        hi: Float64,
        *,
        r: Float64 | None = None,
        group: Ints | None = None,
        sums: Float64 | None = None,
        copies: int = 1,
        scale: float = 1.0,
    ) -> None:
        self.p, self.lo, self.hi = p, lo, hi
        self.copies = copies
        self.size = p.size
        self.n = p.size // copies
        self.r = np.zeros(p.size) if r is None else r
        self.has_shift = r is not None
        self.group = group
        self.sums = np.zeros(0) if sums is None else sums
        self.scale = scale
        self.fixed = lo == hi
        self.bounded = bool(np.isfinite(lo).all() and np.isfinite(hi).all())

    # -- points ----------------------------------------------------------------------------------------------

    def start(self) -> Float64:
        """Return a feasible point: zero moved as little as the sums demand, first variables first."""
        zero = np.zeros(self.size)
        if not self.sums.any() and (self.lo <= 0).all() and (self.hi >= 0).all():
            return zero
        return self.nearest(zero)

    def nearest(self, b: Float64) -> Float64:
        """Return a feasible point near ``b``: clipped to the box, then each group's sum mended."""
        b = np.clip(b, self.lo, self.hi)
        if self.group is None:
            return b
        for g, wanted in enumerate(self.sums):
            members = np.flatnonzero(self.group == g)
            missing = float(wanted - b[members].sum())
            room = self.hi[members] - b[members] if missing > 0 else b[members] - self.lo[members]
            if not np.isfinite(room).all():
                room = np.minimum(room, abs(missing) + 1.0)
            before = np.concatenate([[0.0], np.cumsum(room)[:-1]])
            step = np.clip(abs(missing) - before, 0.0, room)
            b[members] += np.sign(missing) * step
            size = max(abs(float(wanted)), abs(missing), float(np.abs(b[members]).sum()), 1e-300)
            if abs(float(wanted - b[members].sum())) > 1e-9 * size:
                raise InfeasibleError(f"the variables of group {g} cannot sum to {wanted:g} inside their box")
        return b

    def beta(self, b: Float64) -> Float64:
        """Return the coefficients of the points."""
        return b if self.copies == 1 else b.reshape(self.copies, self.n).sum(axis=0)

    # -- value and optimality --------------------------------------------------------------------------------

    def gradient(self, b: Float64, f: Float64) -> Float64:
        """Return the gradient of q at b, given f = K beta."""
        whole = f if self.copies == 1 else np.tile(f, self.copies)
        g = whole + self.p
        if self.has_shift:
            g += self.r * b
        return g

    def objective(self, b: Float64, f: Float64) -> float:
        """Return q(b), given f = K beta."""
        # Sums, not inner products: BLAS would wake its threads for them, which takes longer than the work.
        value = 0.5 * _sum(self.beta(b) * f) + _sum(self.p * b)
        if self.has_shift:
            value += 0.5 * _sum(self.r * b * b)
        return value

    def extremes(self, b: Float64, g: Float64) -> tuple[Float64, Float64]:
        """Return, per group, the largest -gradient where b may grow and the least where it may shrink."""
        assert self.group is not None
        grow, shrink = b < self.hi, b > self.lo
        if self.sums.size == 1:
            return np.array([-_least(g[grow])]), np.array([-_largest(g[shrink])])
        groups = [self.group == k for k in range(self.sums.size)]
        tops = np.array([-_least(g[grow & group]) for group in groups])
        bottoms = np.array([-_largest(g[shrink & group]) for group in groups])
        return tops, bottoms

    def violation(self, b: Float64, g: Float64) -> float:
        """Return the largest KKT violation: the most that any allowed exchange could gain per unit."""
        if self.group is None:
            return max(0.0, -_least(g[b < self.hi]), _largest(g[b > self.lo]))
        if self.sums.size == 1:
            return max(0.0, _largest(g[b > self.lo]) - _least(g[b < self.hi]))
        tops, bottoms = self.extremes(b, g)
        gains = (t - s for t, s in zip(tops.tolist(), bottoms.tolist(), strict=True))
        return max(0.0, max(gains, default=0.0))

    def _near(self, b: Float64) -> Float64:
        """Return how near to its bounds rounding may keep each variable that belongs on one."""
        width = self.hi - self.lo
        if not self.bounded:
            width = np.where(np.isfinite(width), width, np.abs(b).max(initial=0.0))
        near = ROUNDING * width
        # A fixed sum leaves its rounding in a variable of any width.
        return near if self.group is None else near + SUM_ROUNDING * _sum(np.abs(b))

    def settled(self, b: Float64) -> Float64:
        """Return b with the variables that only rounding keeps from their bounds put on them: not free."""
        near = self._near(b)
        above, below = b - self.lo, self.hi - b
        bound = np.where(above <= below, self.lo, self.hi)
        return np.where(np.minimum(above, below) <= near, bound, b)

    def multipliers(self, b: Float64, g: Float64) -> Float64:
        """Return the groups' multipliers: the mean over free variables, else the middle of the interval."""
        if self.group is None:
            return np.zeros(0)
        near = self._near(b)
        free = (b - self.lo > near) & (self.hi - b > near)
        out = np.zeros(self.sums.size)
        ends: tuple[Float64, Float64] | None = None
        for k in range(self.sums.size):
            inside = g[free if self.sums.size == 1 else free & (self.group == k)]
            if inside.size:
                out[k] = -_sum(inside) / inside.size
                continue
            ends = ends or self.extremes(self.settled(b), g)
            known = [end[k] for end in ends if np.isfinite(end[k])]
            out[k] = sum(known) / max(1, len(known))
        return out

    def costs(self, g: Float64, multipliers: Float64) -> Float64:
        """Return the reduced costs: gradient plus the group's multiplier."""
        if self.group is None:
            return g
        return g + (multipliers[0] if self.sums.size == 1 else multipliers[self.group])

    def gap(self, b: Float64, costs: Float64) -> float:
        r"""Return primal minus dual as a sum of non-negative terms.

        A bounded variable with reduced cost c gives (b - lo) max(c, 0) + (hi - b) max(-c, 0). A variable that
        is unbounded on the side of its loss, with shift r, gives the squared loss's term: with
        h = c - r b (the cost before the shift) and u the part of -h that the loss sees,
        :math:`(u - r |b|)^2 / (2 r) + |b| \max(h, 0)`.
        """
        return self._gap(self.settled(b), costs, 0.0)[0]

    def _gap(self, b: Float64, costs: Float64, noise: Float64 | float) -> tuple[float, float]:
        """Return the gap at a settled point, and how far noise in the costs may move it."""
        if self.bounded:
            above, below = b - self.lo, self.hi - b
            gap = _sum(above * np.maximum(costs, 0.0)) - _sum(below * np.minimum(costs, 0.0))
            # Where the sign of a cost is beyond doubt, only one side of the box counts: at an optimum, none.
            reach = np.maximum(np.where(costs > -noise, above, 0.0), np.where(costs < noise, below, 0.0))
            return self.scale * gap, self.scale * total(reach, noise)
        return self._unbounded_gap(b, costs, noise)

    def _unbounded_gap(self, b: Float64, costs: Float64, noise: Float64 | float) -> tuple[float, float]:
        with np.errstate(invalid="ignore"):
            low = np.where(costs > 0, (b - self.lo) * costs, 0.0)
            high = np.where(costs < 0, (self.hi - b) * -costs, 0.0)
        unbounded = ~np.isfinite(self.hi) | ~np.isfinite(self.lo)
        with np.errstate(invalid="ignore"):
            reach = np.maximum(
                np.where(costs > -noise, b - self.lo, 0.0), np.where(costs < noise, self.hi - b, 0.0)
            )
        reach = np.where(unbounded, np.abs(b), reach)
        if not self.has_shift:
            gap = float(np.nan_to_num(low + high, nan=0.0, posinf=np.inf).sum())
            return self.scale * gap, self.scale * total(reach, noise)
        bounded = float((low + high)[~unbounded].sum())
        r, sign = self.r[unbounded], np.where(np.isfinite(self.lo[unbounded]), 1.0, -1.0)
        size = sign * b[unbounded]
        h = sign * (costs - self.r * b)[unbounded]
        miss = np.maximum(-h, 0.0) - r * size
        term = miss**2 / (2.0 * r) + size * np.maximum(h, 0.0)
        worst = float(np.max(noise))
        reach[unbounded] += np.abs(miss) / r + worst / (2.0 * r)
        return self.scale * (bounded + float(term.sum())), self.scale * total(reach, noise)

    def missed(self, b: Float64) -> float:
        """Return by how much b leaves the box and misses the fixed sums, all in all."""
        missed = _sum(np.maximum(np.maximum(self.lo - b, b - self.hi), 0.0))
        if self.group is None:
            return missed
        if self.sums.size == 1:
            return missed + abs(_sum(b) - float(self.sums[0]))
        found = np.bincount(self.group, weights=b, minlength=self.sums.size)
        return missed + _sum(np.abs(found - self.sums))

    def evaluate(
        self, b: Float64, f: Float64, multipliers: Float64 | None = None, noise: Float64 | float = 0.0
    ) -> Values:
        """Return primal, dual, gap and violation at b, given f = K beta; no bound where b is infeasible.

        What rounding leaves of box and sums is paid for: a feasible point is that far away, so the dual value
        there is lower by at most the distance times the largest reduced cost.
        """
        g = self.gradient(b, f)
        if multipliers is None:
            multipliers = self.multipliers(b, g)
        costs = self.costs(g, multipliers)
        settled = self.settled(b)
        gap, rounding = self._gap(settled, costs, of_variables(noise, self.copies))
        dual = -self.scale * self.objective(b, f)
        missed = self.missed(b)
        if not missed <= FEASIBLE * _sum(np.abs(b)):
            primal = dual + gap
            if self.group is not None:  # that identity is off by the error of the sums
                found = np.bincount(self.group, weights=b, minlength=self.sums.size)
                primal -= self.scale * float(multipliers @ (found - self.sums))
            return Values.infeasible(primal, multipliers)
        if missed > 0.0:
            rounding += 2.0 * self.scale * missed * _largest(np.abs(costs))
        # A variable that a file or a scale has moved off its bound by rounding is not free.
        beta = self.beta(b)
        rounding += 0.5 * self.scale * total(np.abs(beta), noise)  # of the objective's own quadratic term
        # K beta may be of any size, and the bias cancel it: only what is linear tells the objective's own.
        size = self.scale * (0.5 * abs(_sum(beta * f)) + _sum(np.abs(self.p * b)))
        rounding += UNIT * size
        return Values(dual + gap, dual, gap, self.violation(settled, g), multipliers, rounding, size)

    def hopeless(self, b: Float64, f: Float64) -> bool:
        """Return True when this point proves that the user's problem has no solution."""
        return False

    # -- the way back ----------------------------------------------------------------------------------------

    def machine(self, b: Float64, f: Float64) -> Machine:
        """Return the function that the point stands for."""
        multipliers = self.multipliers(b, self.gradient(b, f))
        intercept = float(multipliers[0]) if multipliers.size else 0.0
        return Machine(self.beta(b), intercept, f)

    def recover(self, coef: Float64) -> Float64:
        """Return the variables that stand for given coefficients of the points."""
        if self.copies == 1:
            return coef.copy()
        return np.concatenate([np.maximum(coef, 0.0), np.minimum(coef, 0.0)])

    def certify(self, machine: Machine, f: Float64, noise: Float64 | float = 0.0) -> Values:
        """Return what a shipped machine is worth, given f = K coef."""
        multipliers = np.full(self.sums.size, machine.intercept)
        return self.evaluate(self.recover(machine.coef), f, multipliers, noise)

    @property
    def has_bias(self) -> bool:
        """Whether the function has a bias of its own."""
        return self.group is not None

    @property
    def has_zero_sum(self) -> bool:
        """Whether one sum is fixed, at zero: that of the bias."""
        return self.group is not None and self.sums.size == 1 and float(self.sums[0]) == 0.0

    def without_bias(self) -> Dual | None:
        """Return this problem without its bias and with no sum fixed; None where sums mean something else."""
        if self.group is None:
            return self
        if self.sums.size != 1 or self.sums[0] != 0.0:
            return None
        bare = copy.copy(self)
        bare.group, bare.sums = None, np.zeros(0)
        return bare

    def as_cone(self) -> Dual | None:
        """Return a hard margin in its multipliers as they are; None for any other problem."""
        return None

    def fixed_bias(self, tau: float) -> Dual | None:
        """Return this problem with the bias as the weight of one more coordinate tau; None: see above."""
        from mercer.problems.fixed_bias import FixedBias

        bare = self.without_bias()
        return None if bare is None else FixedBias(bare, tau)

    def with_parametric(
        self, columns: Float64, *, constant: bool, names: Sequence[str] | None = None
    ) -> Problem:
        """Return this problem with columns beside the kernel that cost nothing."""
        from mercer.problems.design import Design
        from mercer.problems.parametric_dual import ParametricDual

        bare = self.without_bias()
        if bare is None or type(bare) is not type(self):
            return super().with_parametric(columns, constant=constant, names=names)
        movable = (~self.fixed).reshape(self.copies, self.n).any(axis=0)
        return ParametricDual(bare, Design.of(columns, movable, constant=constant, names=names))

    def at_bias(self, bias: float) -> Dual | None:
        """Return this problem with a bias that is given; None where the bias is more than a shift."""
        from mercer.problems.fixed_bias import GivenBias

        bare = self.without_bias()
        return GivenBias(bare, bias) if bare is not None and type(bare) is type(self) else None

    def take(self, points: Ints) -> Dual:
        """Return the problem of some points while the others stay (given K beta, that is all it takes)."""
        variables = (points[None, :] + self.n * np.arange(self.copies)[:, None]).ravel()
        part = object.__new__(Dual)
        part.p, part.lo, part.hi, part.r = (
            self.p[variables],
            self.lo[variables],
            self.hi[variables],
            self.r[variables],
        )
        part.copies, part.size, part.n = self.copies, variables.size, points.size
        part.has_shift, part.scale = self.has_shift, self.scale
        part.group = None if self.group is None else self.group[variables]
        part.sums = self.sums
        part.fixed, part.bounded = self.fixed[variables], self.bounded
        return part
