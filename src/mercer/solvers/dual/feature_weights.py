"""Solvers on the weights of the features, for the linear kernel: simple, and not accurate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import LinAlgError

from mercer.arrays import Float64
from mercer.gram import Gram
from mercer.problems import Dual
from mercer.solvers.base import Reached, Solver, Status
from mercer.solvers.dual.quadratic import solve_quadratic
from mercer.solvers.dual.round_loop import Rounds, mended_inside
from mercer.solvers.needs import (
    A_DUAL,
    A_LINEAR_LOSS,
    A_LINEAR_LOSS_OR_NONE,
    FEATURES,
    GROUP_SUMS,
    ONE_BIAS,
)

LOOK = 20  # steps between two looks at the criterion
POWER = 30  # products that estimate the largest singular value of the data
NEAR = (0.0, 0.01, 0.1)  # shares of the box within which a variable may be put on its bound
FIRST_LOOK = 1000  # steps after which a hard margin is first suspected not to exist
MOST_OF_RAY = 500  # points that are looked at then
SAFETY = 1.05  # by which that estimate, which is from below, is raised


@dataclass(kw_only=True, repr=False)
class Subgradient(Solver):
    r"""Subgradient descent on the primal of the hinge (or the tube) with a linear kernel.

    .. math::
        w \leftarrow w - \eta_t \Bigl(w - \sum_i \beta_i x_i\Bigr), \qquad \eta_t = \frac{2}{t + 2}

    where -beta_i is a subgradient of the loss of point i, at the bias that is best for the present w. The
    weights are at any time sum_i b_i x_i with b the same averages of the beta, which is a point of the dual:
    the certificate is as honest as for the other solvers. The gap falls like 1 / t, so that about 1e-2 is
    all that can be expected; the solver stops there and says so.

    Parameters
    ----------
    most : int, default=200000
        Steps after which to give up on that gap.

    References
    ----------
    Shalev-Shwartz, Singer, Srebro and Cotter (2011), Pegasos: primal estimated sub-gradient solver for SVM.
    Lacoste-Julien, Schmidt and Bach (2012), A simpler approach to obtaining an O(1/t) convergence rate for
    the projected stochastic subgradient method.
    """

    most: int = 200_000

    name: ClassVar[str] = "subgradient"
    needs = (A_DUAL, GROUP_SUMS, ONE_BIAS, A_LINEAR_LOSS, FEATURES)
    accuracy: ClassVar[float] = 1e-2

    def run(self, gram: Gram, problem: Dual, start: Float64 | None) -> Reached:
        """Run the rounds."""
        return _Descent(self, gram, problem, start).run()


@dataclass(kw_only=True, repr=False)
class Lagrangian(Solver):
    r"""Gradient steps to the saddle point of the Lagrangian, for a linear kernel.

    .. math::
        \min_{w, b} \max_{lo \le \beta \le hi} \;
        \tfrac12 \|w\|^2 - \sum_i \beta_i (\langle w, x_i \rangle + b) - p'\beta

    Weights and bias go down, multipliers go up (clipped to their box), with steps whose product is below
    the inverse square of the largest singular value of the data; the multipliers see the weights one step
    ahead, without which the iterates circle. The sums of the multipliers hold in the limit only; they are
    mended before a point is judged. Accurate to a relative gap of about 1e-2, where it stops and says so.

    The hard margin (``C=np.inf``) is the same saddle point with multipliers that are bounded by zero alone;
    where the classes cannot be separated they grow for ever, along a ray that proves it.

    Parameters
    ----------
    most : int, default=200000
        Steps after which to give up on that gap.

    References
    ----------
    Arrow, Hurwicz and Uzawa (1958), Studies in Linear and Non-Linear Programming. Chambolle and Pock (2011),
    A first-order primal-dual algorithm for convex problems, J. Math. Imaging and Vision 40.
    """

    most: int = 200_000

    name: ClassVar[str] = "lagrangian"
    needs = (A_DUAL, GROUP_SUMS, ONE_BIAS, A_LINEAR_LOSS_OR_NONE, FEATURES)
    accuracy: ClassVar[float] = 1e-2

    def restate(self, problem: Dual, diag: Float64) -> Dual:
        """Return a hard margin in its multipliers as they are, any other problem itself."""
        return (problem.as_cone() or problem) if isinstance(problem, Dual) else problem

    def run(self, gram: Gram, problem: Dual, start: Float64 | None) -> Reached:
        """Run the rounds."""
        return _Saddle(self, gram, problem, start).run()


class _Primal(Rounds):
    """What the two share: products with the data, and a limit of their own."""

    def __init__(self, options: Any, gram: Gram, problem: Dual, start: Float64 | None) -> None:
        super().__init__(options, gram, problem, start)
        X = gram.features()
        self.X: Any = X.astype(np.float64)
        self.most = options.most

    def weights(self, b: Float64) -> Float64:
        """Return sum_i beta_i x_i."""
        return np.asarray(self.X.T @ self.problem.beta(b))

    def limit(self) -> Status | None:
        return super().limit() or ("iteration_limit" if self.n_iter >= self.most else None)

    def advance(self) -> bool:
        steps = int(min(LOOK, self.limits.steps_left(self.n_iter), self.most - self.n_iter))
        if steps <= 0:
            return False
        for _ in range(steps):
            self.step()
            self.n_iter += 1
        self.look()
        return True

    def step(self) -> None:
        """Take one step."""
        raise NotImplementedError

    def judge(self, b: Float64) -> None:
        """Set ``b`` and ``f`` to the best of a few points near the present one.

        Averages and gradient steps leave hardly a variable on its bound, where most belong; the bias is read
        off those inside.
        """
        p = self.problem
        width = np.where(np.isfinite(p.hi - p.lo), p.hi - p.lo, np.abs(b).max(initial=0.0))
        best = np.inf
        for share in NEAR:
            low, high = b - p.lo <= share * width, p.hi - b <= share * width
            point = mended_inside(p, np.where(low, p.lo, np.where(high, p.hi, b)))
            f = np.asarray(self.X @ self.weights(point))
            gap = p.evaluate(point, f).gap
            if gap < best or p.hopeless(point, f):
                best, self.b, self.f = gap, point, f
        if p.hopeless(self.b, self.f):
            self.most = self.n_iter  # a proof that there is no solution

    def look(self) -> None:
        """Set ``b`` and ``f`` to the point that stands for the present weights."""
        raise NotImplementedError


class _Descent(_Primal):
    """Subgradient steps."""

    def open(self) -> None:
        self.average = self.b.copy()
        self.w = self.weights(self.b)

    def step(self) -> None:
        p = self.problem
        slope = np.tile(self.X @ self.w, p.copies) + p.p
        target = _best_vertex(p, slope)
        rate = 2.0 / (self.n_iter + 2.0)
        self.average += rate * (target - self.average)
        self.w += rate * (self.weights(target) - self.w)

    def look(self) -> None:
        self.judge(self.average)


class _Saddle(_Primal):
    """Steps to the saddle point: ``beta`` need not have the right sums, ``b`` does."""

    def open(self) -> None:
        p = self.problem
        self.beta, self.next_look = self.b.copy(), FIRST_LOOK
        self.w, self.bias = self.weights(self.b), 0.0
        self.ahead, self.bias_ahead = self.w, self.bias
        norm = SAFETY * math.sqrt(p.copies) * _norm(self.X, p.group is not None)
        # The sizes of both sides at the solution tell how to share the steps out between them.
        if not p.bounded:  # as far as the means of the classes tell
            size = max(float(np.linalg.norm(self.w)), 1e-300)
            self._share(float(np.linalg.norm(self.b)) / size, norm)
            return
        vertex = _best_vertex(p, p.p)
        steep = math.sqrt(p.n) * float(np.abs(p.p).max()) / max(norm, 1e-300)
        size = max(min(float(np.linalg.norm(self.weights(vertex))), steep), 1e-300)
        self._share(max(float(np.linalg.norm(vertex)), 1e-300) / size, norm)

    def _share(self, ratio: float, norm: float) -> None:
        self.up = ratio / max(norm, 1e-300)
        self.down = 1.0 / (ratio * max(norm, 1e-300))

    def step(self) -> None:
        p = self.problem
        slope = np.tile(self.X @ self.ahead + self.bias_ahead, p.copies) + p.p
        self.beta = np.clip(self.beta - self.up * slope, p.lo, p.hi)
        w = (self.w + self.down * self.weights(self.beta)) / (1.0 + self.down)
        bias = self.bias + self.down * float(self.beta.sum()) if p.group is not None else 0.0
        self.ahead, self.bias_ahead = 2.0 * w - self.w, 2.0 * bias - self.bias
        self.w, self.bias = w, bias

    def look(self) -> None:
        self.judge(self.beta)
        if self.problem.unbounded_without_margin and self.n_iter >= self.next_look:
            self.next_look = 2 * self.n_iter
            self._look_for_a_ray()

    def _look_for_a_ray(self) -> None:
        """Stop where the points with the largest multipliers prove that the classes cannot be separated.

        Their convex hulls then meet, which a small quadratic problem tells to rounding.
        """
        p = self.problem
        there = np.argsort(-np.abs(self.beta), kind="stable")[:MOST_OF_RAY]
        there = np.sort(there[self.beta[there] != 0.0])
        y = np.sign(self.beta[there])
        part = self.X[there]
        part = part if isinstance(part, np.ndarray) else part.toarray()
        Q = y[:, None] * (part @ part.T) * y[None, :]
        sides = [y > 0, y < 0] if p.group is not None else [y != 0]
        if not all(side.any() for side in sides):
            return
        A = np.array(sides, dtype=np.float64)
        zero = np.zeros(there.size)
        try:
            alpha, _ = solve_quadratic(Q, zero, zero, zero + 2.0, A, np.ones(A.shape[0]))
        except LinAlgError:  # rounding made the matrix indefinite: nothing is proved
            return
        ray = np.zeros(p.size)
        ray[there] = y * alpha
        along = np.asarray(self.X @ self.weights(ray))
        if p.hopeless(ray, along):
            self.b, self.f, self.most = ray, along, self.n_iter


def _best_vertex(p: Dual, slope: Float64) -> Float64:
    """Return the point of box and sum that is least along ``slope``: minus a subgradient of the losses."""
    if p.group is None:
        return np.where(slope > 0.0, p.lo, p.hi)
    order = np.argsort(slope, kind="stable")
    width = (p.hi - p.lo)[order]
    missing = float(p.sums[0] - p.lo.sum())
    before = np.cumsum(width) - width
    out = p.lo.copy()
    out[order] += np.clip(missing - before, 0.0, width)
    return out


def _norm(X: Any, with_ones: bool) -> float:
    """Return (from below) the largest singular value of the data, with a column of ones for the bias."""
    v = np.random.default_rng(0).normal(size=X.shape[1])
    c = 1.0 if with_ones else 0.0
    size = 0.0
    for _ in range(POWER):
        length = math.hypot(float(np.linalg.norm(v)), c)
        if length == 0.0:
            break
        v, c = v / length, c / length
        u = np.asarray(X @ v) + c
        size = float(np.linalg.norm(u))
        v, c = np.asarray(X.T @ u), float(u.sum()) if with_ones else 0.0
    return size
