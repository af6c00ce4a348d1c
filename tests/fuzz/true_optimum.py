"""Bounds on the true optimum of the support vector problems, from their definitions.

Every problem is  min 1/2 beta'K beta + 1/2 sum_t r_t b_t^2 + p'b  over boxes and sums of groups, b having one
or two copies of the points. Any feasible b bounds the optimum from below, the function that it stands for,
with the best bias, from above: so a solver that is wrong (Clarabel, here) makes the bounds wide, never wrong.
Everything is evaluated in extended precision. Nothing here imports the library.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

Wide = np.longdouble


@dataclass
class Statement:
    """One problem: K, the box, the groups with their sums, and what a function with its bias costs."""

    K: np.ndarray
    p: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    groups: list  # of (index array, sum)
    cost: object  # (beta, f) -> the least cost over the biases
    r: np.ndarray | None = None
    copies: int = 1
    scale: float = 1.0  # the user's dual value is -scale times the objective

    def beta(self, b):
        return b.reshape(self.copies, -1).sum(axis=0)

    def feasible(self, b):
        """Return a feasible point near b, its sums exact in extended precision; None if there is none."""
        b = np.clip(b.astype(Wide), self.lo, self.hi)
        for index, total in self.groups:
            if not self.lo[index].sum() <= total <= self.hi[index].sum():
                return None
            b[index] = _shifted(b[index], self.lo[index], self.hi[index], Wide(total))
        return b

    def lower(self, b):
        """Return the dual value of a feasible b, less what extended precision may have lost of it."""
        beta = self.beta(b)
        quadratic = beta @ (self.K @ beta)
        size = np.abs(beta) @ (np.abs(self.K) @ np.abs(beta))
        if self.r is not None:
            quadratic += (self.r * b * b).sum()
            size += (self.r * b * b).sum()
        size = 0.5 * size + np.abs(self.p) @ np.abs(b)
        lost = 4 * b.size * np.finfo(Wide).eps * size
        return float(-self.scale * (0.5 * quadratic + self.p @ b) - self.scale * lost)

    def upper(self, beta):
        """Return the primal value of a function with its best bias."""
        beta = beta.astype(Wide)
        return float(self.cost(beta, self.K @ beta))


def _shifted(b, lo, hi, total):
    """Return clip(b + t, lo, hi) with the wished sum, up to the last bits of extended precision."""
    width = max(float(np.abs(b).max(initial=0.0)), float(abs(total)), 1e-300)
    low, high = Wide(-width), Wide(width)
    while np.clip(b + low, lo, hi).sum() > total and np.isfinite(float(low)):
        low *= 2
    while np.clip(b + high, lo, hi).sum() < total and np.isfinite(float(high)):
        high *= 2
    for _ in range(140):
        middle = (low + high) / 2
        if np.clip(b + middle, lo, hi).sum() < total:
            low = middle
        else:
            high = middle
    return np.clip(b + high, lo, hi)


def least(function, corners):
    """Return the least value of a convex function of one number that is smooth between these corners."""
    corners = np.unique(np.asarray(corners, dtype=Wide))
    values = [function(c) for c in corners]
    best = int(np.argmin(values))
    answer = values[best]
    for left, right in pairwise(corners[max(0, best - 1) : best + 2]):
        for _ in range(80):
            third = (right - left) / 3
            if function(left + third) <= function(right - third):
                right -= third
            else:
                left += third
        answer = min(answer, function((left + right) / 2))
    return answer


# -- the problems ----------------------------------------------------------------------------------------


def _positive(x):
    return np.maximum(x, Wide(0))


def svc(K, y, C, *, squared=False, intercept=True):
    """Hinge or squared hinge; infinite C is the hard margin."""
    K, y, C = K.astype(Wide), y.astype(Wide), C.astype(Wide)
    hard = np.isinf(C).any()
    there = C > 0
    most = np.where(there, Wide(np.inf), Wide(0)) if squared or hard else C
    r = np.where(there, 1 / (2 * np.where(there, C, 1)), Wide(1)) if squared and not hard else None

    def hinge(beta, f, b):
        slack = _positive(1 - y * (f + b))
        return 0.5 * beta @ f + (C * (slack * slack if squared else slack))[there].sum()

    def cost(beta, f):
        if hard:
            return _hard_cost(beta, f, y, there, intercept)
        return least(lambda b: hinge(beta, f, b), y - f if intercept else [Wide(0)])

    groups = [(np.arange(y.size), 0.0)] if intercept else []
    return Statement(K, -y, np.where(y > 0, 0, -most), np.where(y > 0, most, 0), groups, cost, r)


def _hard_cost(beta, f, y, there, intercept):
    top, bottom = f[there & (y > 0)].min(), f[there & (y < 0)].max()
    b = -(top + bottom) / 2 if intercept else Wide(0)
    margin = (y * (f + b))[there].min()
    return 0.5 * (beta @ f) / (margin * margin) if margin > 0 else Wide(np.inf)


def nusvc(K, y, weight, nu):
    K, y, weight = K.astype(Wide), y.astype(Wide), weight.astype(Wide)
    half = Wide(nu) * weight.sum() / 2
    up, down = y > 0, y < 0

    def cost(beta, f):
        above = least(lambda m: half * m + (weight * _positive(-(f + m)))[up].sum(), -f[up])
        below = least(lambda m: -half * m + (weight * _positive(f + m))[down].sum(), -f[down])
        return 0.5 * beta @ f + above + below

    groups = [(np.flatnonzero(up), half), (np.flatnonzero(down), -half)]
    zero = np.zeros(y.size, dtype=Wide)
    return Statement(K, zero, np.where(up, 0, -weight), np.where(up, weight, 0), groups, cost)


def svr(K, target, C, epsilon, *, squared=False, intercept=True):
    K, t, C = K.astype(Wide), target.astype(Wide), C.astype(Wide)
    there = C > 0
    n = t.size
    zero = np.zeros(n, dtype=Wide)
    most = np.where(there, Wide(np.inf), Wide(0)) if squared else C
    r = np.tile(np.where(there, 1 / (2 * np.where(there, C, 1)), Wide(1)), 2) if squared else None
    epsilon = Wide(epsilon)

    def tube(beta, f, b):
        excess = _positive(np.abs(t - f - b) - epsilon)
        return 0.5 * beta @ f + (C * (excess * excess if squared else excess))[there].sum()

    def cost(beta, f):
        corners = np.concatenate([t - f - epsilon, t - f + epsilon]) if intercept else [Wide(0)]
        return least(lambda b: tube(beta, f, b), corners)

    groups = [(np.arange(2 * n), 0.0)] if intercept else []
    return Statement(
        K, np.concatenate([epsilon - t, -epsilon - t]), np.concatenate([zero, -most]),
        np.concatenate([most, zero]), groups, cost, r, copies=2,
    )  # fmt: skip


def nusvr(K, target, C, nu):
    K, t, C = K.astype(Wide), target.astype(Wide), C.astype(Wide)
    n = t.size
    half = Wide(nu) * C.sum() / 2
    zero = np.zeros(n, dtype=Wide)

    def cost(beta, f):
        e = t - f
        above = least(lambda u: half * u + (C * _positive(e - u)).sum(), e)
        below = least(lambda v: -half * v + (C * _positive(v - e)).sum(), e)
        closed = least(lambda b: (C * np.abs(e - b)).sum(), e)  # epsilon = 0
        # The edges found apart may have crossed; the sum is then no tube, and only the closed one counts.
        crossed = _argmin(lambda u: half * u + (C * _positive(e - u)).sum(), e) < _argmin(
            lambda v: -half * v + (C * _positive(v - e)).sum(), e
        )
        return 0.5 * beta @ f + (closed if crossed else min(closed, above + below))

    groups = [(np.arange(n), half), (np.arange(n, 2 * n), -half)]
    return Statement(
        K,
        np.concatenate([-t, -t]),
        np.concatenate([zero, -C]),
        np.concatenate([C, zero]),
        groups,
        cost,
        copies=2,
    )


def _argmin(function, corners):
    corners = np.unique(corners)
    return corners[int(np.argmin([function(c) for c in corners]))]


def one_class(K, weight, nu):
    K, weight = K.astype(Wide), weight.astype(Wide)
    total = Wide(nu) * weight.sum()

    def cost(beta, f):
        return 0.5 * beta @ f + least(lambda rho: -total * rho + (weight * _positive(rho - f)).sum(), f)

    zero = np.zeros(weight.size, dtype=Wide)
    return Statement(K, zero, zero, weight, [(np.arange(weight.size), total)], cost)


def ball(K, price):
    """Squared radius plus the price of what lies outside; infinite prices allow nothing outside."""
    K, price = K.astype(Wide), price.astype(Wide)
    diag = np.diagonal(K).copy()
    there = price > 0
    hard = np.isinf(price).any()

    def cost(beta, f):
        total = beta.sum()
        if total <= 0:
            return Wide(np.inf)
        beta, f = beta / total, f / total
        squares = _positive(diag - 2 * f + beta @ f)
        if hard:
            return squares[there].max()
        return least(
            lambda r2: r2 + (price * _positive(squares - r2))[there].sum(), np.append(squares[there], Wide(0))
        )

    zero = np.zeros(diag.size, dtype=Wide)
    hi = np.where(there, np.where(np.isinf(price), Wide(1), price), Wide(0))
    return Statement(K, -0.5 * diag, zero, hi, [(np.arange(diag.size), 1.0)], cost, scale=2.0)


# -- an independent solver -------------------------------------------------------------------------------


def interval(statement, candidates=()):
    """Return (lower, upper): the true optimum lies between them. ``candidates`` are other points to try."""
    lower, upper = -np.inf, np.inf
    with np.errstate(all="ignore"):
        points = [solved(statement, regularization) for regularization in (1e-12, 1e-9)]
        for b in (*points, *candidates):
            if b is None or not np.isfinite(b.astype(float)).all():
                continue
            exact = statement.feasible(b)
            if exact is not None and np.isfinite(exact.astype(float)).all():
                value = statement.lower(exact)
                lower = max(lower, value) if np.isfinite(value) else lower
            for beta in (statement.beta(b), *(() if exact is None else (statement.beta(exact),))):
                value = statement.upper(beta)
                upper = min(upper, value) if np.isfinite(value) else upper
    return lower, upper


def solved(statement, regularization):
    """Return Clarabel's solution in units in which the problem is of the order of one; None if it fails."""
    import clarabel
    from scipy import sparse

    free = statement.hi > statement.lo
    if not free.any():
        return statement.lo.copy()
    n = statement.K.shape[0]
    P = np.tile(statement.K, (statement.copies, statement.copies))
    if statement.r is not None:
        P = P + np.diag(statement.r)
    P = P[np.ix_(free, free)]
    q = statement.p[free]
    lo, hi = statement.lo[free], statement.hi[free]
    groups = []
    place = np.cumsum(free) - 1
    for index, total in statement.groups:
        row = np.zeros(int(free.sum()))
        row[place[index[free[index]]]] = 1.0
        groups.append((row, Wide(total) - statement.lo[index[~free[index]]].sum()))
    sizes = [abs(float(total)) for _, total in groups if total] + [
        float(v) for v in np.concatenate([np.abs(lo), np.abs(hi)]) if np.isfinite(v) and v > 0
    ]
    diagonal = float(np.diagonal(P).max(initial=0.0))
    force = float(np.abs(q).max(initial=0.0))
    if diagonal > 0 and force > 0:
        sizes.append(force / diagonal)
    unit = min(sizes) if sizes else 1.0
    if groups and any(total for _, total in groups):
        unit = max(abs(float(total)) for _, total in groups)
    price = max(unit * unit * diagonal, unit * force)
    if not (0 < unit < np.inf and 0 < price < np.inf):
        return None
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    settings.static_regularization_constant = regularization
    settings.max_iter = 200
    settings.time_limit = 5.0
    m = q.size
    eye = sparse.identity(m, format="csc")
    below, above = np.isfinite(lo), np.isfinite(hi)
    rows = [sparse.csc_matrix(np.array([row for row, _ in groups]))] if groups else []
    A = sparse.vstack([*rows, -eye[below], eye[above]], format="csc")
    right = np.concatenate(
        [np.array([float(t / Wide(unit)) for _, t in groups]), (-lo[below] / unit).astype(float),
         (hi[above] / unit).astype(float)]
    )  # fmt: skip
    Q = np.triu((P * Wide(unit) * Wide(unit) / Wide(price)).astype(float))
    linear = (q * Wide(unit) / Wide(price)).astype(float)
    if not (np.isfinite(Q).all() and np.isfinite(linear).all() and np.isfinite(right).all()):
        return None
    cones = [clarabel.ZeroConeT(len(groups))] if groups else []
    cones.append(clarabel.NonnegativeConeT(int(below.sum() + above.sum())))
    solution = clarabel.DefaultSolver(sparse.csc_matrix(Q), linear, A, right, cones, settings).solve()
    x = np.array(solution.x, dtype=float)
    if not np.isfinite(x).all():
        return None
    b = statement.lo.copy()
    b[~np.isfinite(b)] = 0
    b[free] = x * Wide(unit)
    assert b.size == statement.copies * n
    return b
