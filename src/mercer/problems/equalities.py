# ruff: noqa: D102  what overrides a method is documented in the base class
"""Duals with linear equalities: what an unpenalised parametric part of the function asks for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import lstsq
from scipy.optimize import Bounds, LinearConstraint, milp

from mercer.arrays import Float64
from mercer.problems.dual import Dual
from mercer.problems.problem import InfeasibleError, Machine, Values

NEWTON_STEPS = 60
EMPTY = 1e-300


@dataclass(frozen=True)
class ParametricMachine(Machine):
    r"""A function :math:`f(x) = \sum_i \beta_i k(x_i, x) + \sum_j d_j p_j(x)`; ``products`` are K beta.

    ``parametric`` are the :math:`d_j`, without that of a constant column, which is the intercept; ``trend``
    is :math:`\sum_j d_j p_j` at the training points, where it is known. Several functions have a column each.
    """

    parametric: Float64 = field(default_factory=lambda: np.zeros(0))
    trend: Float64 | None = None

    @property
    def values(self) -> Float64:
        """F at the training points."""
        assert self.trend is not None
        return np.asarray(self.products + self.trend + self.intercept)


class EqualityDual(Dual):
    r"""A box-constrained quadratic problem with any linear equalities over the points' coefficients.

    .. math::
        \min_b \; \tfrac12 \beta' K \beta + \tfrac12 \sum_t r_t b_t^2 + p'b
        \quad \text{subject to} \quad lo \le b \le hi, \quad A \beta = s

    With A = P' and s = 0 the multipliers of the equalities are the coefficients of the columns of P, which
    cost nothing: the function is :math:`\sum_i \beta_i k(x_i, \cdot) + \sum_j d_j p_j(\cdot)`. A column of
    ones is the bias. The kernel need be positive semi-definite only where P' beta = 0.

    Parameters
    ----------
    p, lo, hi : (copies n,) float64
        Linear term and box.
    A : (m, n) float64
        The equalities; its rows must be linearly independent.
    s : (m,) float64
        Their right sides.
    r : (copies n,) float64, optional
        Diagonal shift (the squared losses).
    copies : int
        Variables per point.
    scale : float
        The problem's own dual value is -scale q.

    References
    ----------
    Smola, Friess and Schoelkopf (1999), Semiparametric support vector and linear programming machines, NIPS.
    """

    def __init__(
        self,
        p: Float64,
        lo: Float64,
        hi: Float64,
        A: Float64,
        s: Float64,
        *,
        r: Float64 | None = None,
        copies: int = 1,
        scale: float = 1.0,
    ) -> None:
        super().__init__(p, lo, hi, r=r, copies=copies, scale=scale)
        rank = int(np.linalg.matrix_rank(A)) if A.size else 0
        if rank < A.shape[0]:
            raise InfeasibleError(
                f"the {A.shape[0]} linear equalities have rank {rank}: one is a combination of the others"
            )
        self.equalities = A
        self.sums = s

    def take(self, points: np.ndarray) -> Dual:
        raise TypeError("a part of a problem with linear equalities depends on the rest")

    def _matrix(self) -> Float64:
        """Return the equalities over the variables."""
        assert self.equalities is not None
        return np.tile(self.equalities, (1, self.copies))

    # -- points ----------------------------------------------------------------------------------------------

    def start(self) -> Float64:
        zero = np.clip(np.zeros(self.size), self.lo, self.hi)
        return zero if self.missed(zero) == 0.0 else self.nearest(zero)

    def nearest(self, b: Float64) -> Float64:
        """Return the feasible point nearest to ``b``, or (rarely) any other feasible one."""
        A = self._matrix()
        found = _projected(np.clip(b, self.lo, self.hi), A, self.sums, self.lo, self.hi)
        return found if self._holds(found, A) else self._by_linear_program(b, A)

    def _holds(self, b: Float64, A: Float64) -> bool:
        return self.missed(b) <= 1e-13 * float(np.abs(A) @ np.abs(b) @ np.ones(A.shape[0]) + EMPTY)

    def _by_linear_program(self, b: Float64, A: Float64) -> Float64:
        """Return a feasible point whose largest change from ``b`` is least, or say that there is none."""
        n, m = self.size, A.shape[0]
        b = np.clip(b, self.lo, self.hi)
        one: Any = sparse.eye_array(n)
        column: Any = np.full((n, 1), -1.0)
        found = milp(
            np.append(np.zeros(n), 1.0),
            bounds=Bounds(np.append(self.lo - b, 0.0), np.append(self.hi - b, np.inf)),
            constraints=[
                LinearConstraint(np.hstack([A, np.zeros((m, 1))]), self.sums - A @ b, self.sums - A @ b),
                LinearConstraint(sparse.hstack([one, column]), -np.inf, 0.0),
                LinearConstraint(sparse.hstack([-one, column]), -np.inf, 0.0),
            ],
        )
        if found.x is None:
            raise InfeasibleError("no point of the box satisfies the linear equalities")
        return np.clip(b + found.x[:n], self.lo, self.hi)

    def missed(self, b: Float64) -> float:
        outside = float(np.maximum(np.maximum(self.lo - b, b - self.hi), 0.0).sum())
        return outside + float(np.abs(self._matrix() @ b - self.sums).sum())

    # -- value and optimality --------------------------------------------------------------------------------

    def multipliers(self, b: Float64, g: Float64) -> Float64:
        """Return the equalities' multipliers: least squares over the free variables, else over all."""
        near = self._near(b)
        free = (b - self.lo > near) & (self.hi - b > near)
        A = self._matrix()
        if np.linalg.matrix_rank(A[:, free]) < A.shape[0]:
            return self._least_violation(b, g)
        return np.asarray(lstsq(A[:, free].T, -g[free])[0])

    def _least_violation(self, b: Float64, g: Float64) -> Float64:
        """Return multipliers at which the largest violation of the optimality conditions is least."""
        settled, A = self.settled(b), self._matrix()
        m = A.shape[0]
        grow, shrink = settled < self.hi, settled > self.lo
        # minimise t  subject to  -(g + A'd) <= t where b may grow,  g + A'd <= t where it may shrink
        rows = np.vstack([np.hstack([-A[:, grow].T, -np.ones((int(grow.sum()), 1))]),
                          np.hstack([A[:, shrink].T, -np.ones((int(shrink.sum()), 1))])])  # fmt: skip
        limit = np.concatenate([g[grow], -g[shrink]])
        found = milp(
            np.append(np.zeros(m), 1.0),
            bounds=Bounds(np.append(np.full(m, -np.inf), 0.0), np.full(m + 1, np.inf)),
            constraints=[LinearConstraint(rows, -np.inf, limit)],
        )
        return np.zeros(m) if found.x is None else np.asarray(found.x[:m])

    def costs(self, g: Float64, multipliers: Float64) -> Float64:
        return np.asarray(g + self._matrix().T @ multipliers)

    def violation(self, b: Float64, g: Float64) -> float:
        costs = self.costs(g, self.multipliers(b, g))
        return max(
            0.0,
            float((-costs[b < self.hi]).max(initial=0.0)),
            float(costs[b > self.lo].max(initial=0.0)),
        )

    # -- the way back ----------------------------------------------------------------------------------------

    @property
    def has_bias(self) -> bool:
        return False  # unless a column is constant, which the user knows

    def without_bias(self) -> Dual | None:
        return None

    def machine(self, b: Float64, f: Float64) -> ParametricMachine:
        d = self.multipliers(b, self.gradient(b, f))
        return ParametricMachine(self.beta(b), 0.0, f, d)

    def certify(self, machine: Machine, f: Float64, noise: Float64 | float = 0.0) -> Values:
        assert isinstance(machine, ParametricMachine)
        return self.evaluate(self.recover(machine.coef), f, machine.parametric, noise)


def _projected(b: Float64, A: Float64, s: Float64, lo: Float64, hi: Float64) -> Float64:
    r"""Return the point of the box with A x = s that is nearest to b, as far as Newton's method finds it.

    It is :math:`x(\lambda) = \mathrm{clip}(b + A^T \lambda)`, and :math:`A x(\lambda) = s` is the gradient of
    a convex, piecewise quadratic function of a few variables.
    """
    dual = np.zeros(A.shape[0])
    x = b
    size = float(np.abs(A).max(initial=1.0)) * float(np.abs(b).sum()) + float(np.abs(s).sum())
    missing = s - A @ x
    for _ in range(NEWTON_STEPS):
        if float(np.abs(missing).max(initial=0.0)) <= 1e-16 * size:
            break
        free = (x > lo) & (x < hi)
        H = A[:, free] @ A[:, free].T
        H.flat[:: H.shape[0] + 1] += 1e-14 * max(float(np.trace(H)), EMPTY)
        step = np.asarray(lstsq(H, missing)[0])
        length, before = 1.0, float(missing @ missing)
        while True:
            new = np.clip(b + A.T @ (dual + length * step), lo, hi)
            left = s - A @ new
            if float(left @ left) < before or length < 1e-6:
                break
            length *= 0.5
        if not float(left @ left) < before:
            break
        dual, x, missing = dual + length * step, new, left
    return x
