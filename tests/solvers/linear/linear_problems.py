"""Small problems on features, and what a judge says of them."""

import cvxpy as cp
import numpy as np

from mercer import losses
from mercer.gram import Features
from mercer.problems.linear_risk import LinearRisk

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 4)) + 0.3
SIGN = np.where(X[:, 0] + 0.8 * RNG.normal(size=60) > 0.3, 1.0, -1.0)
NUMBER = X @ [1.0, -2.0, 0.5, 0.0] + RNG.standard_t(3, size=60)
PRICE = RNG.uniform(0.2, 2.0, size=60) * (RNG.random(60) > 0.1)  # some rows cost nothing

LOSSES = [
    losses.Hinge(),
    losses.SquaredHinge(),
    losses.HuberizedSquaredHinge(),
    losses.BinomialDeviance(),
    losses.SquaredError(),
    losses.Huber(0.7),
    losses.EpsilonInsensitive(0.3),
    losses.SquaredEpsilonInsensitive(0.3),
    losses.Pinball(0.2),
]
SCALES = [0.0, 0.5, np.inf]  # no bias, a penalised one, a free one


def target(loss):
    return SIGN if loss.targets == "signs" else NUMBER


def problem(loss, scale, Z=X):
    return LinearRisk(Features(Z), loss, target(loss), PRICE, bias_scale=scale)


def as_expression(loss, f, y):
    """Return the losses in the judge's words."""
    u, r = cp.multiply(y, f), y - f
    if isinstance(loss, losses.HuberizedSquaredHinge):  # as the best of a square and a straight line
        z = cp.pos(1 - u)
        return cp.huber(z, 2.0)
    return {
        losses.Hinge: lambda: cp.pos(1 - u),
        losses.SquaredHinge: lambda: cp.square(cp.pos(1 - u)),
        losses.BinomialDeviance: lambda: cp.logistic(-u),
        losses.SquaredError: lambda: cp.square(r),
        losses.Huber: lambda: 0.5 * cp.huber(r, loss.threshold),
        losses.EpsilonInsensitive: lambda: cp.pos(cp.abs(r) - loss.epsilon),
        losses.SquaredEpsilonInsensitive: lambda: cp.square(cp.pos(cp.abs(r) - loss.epsilon)),
        losses.Pinball: lambda: cp.maximum(loss.quantile * r, (loss.quantile - 1) * r),
    }[type(loss)]()


def judged(loss, scale):
    """Return the least primal value, by an interior-point method."""
    w, b = cp.Variable(4), cp.Variable()
    ridge = 0.5 * cp.sum_squares(w)
    if np.isfinite(scale) and scale > 0:
        ridge += 0.5 * cp.square(b / scale)
    f = X @ w + (b if scale > 0 else 0.0)
    total = cp.sum(cp.multiply(PRICE, as_expression(loss, f, target(loss))))
    return float(cp.Problem(cp.Minimize(ridge + total)).solve(solver=cp.CLARABEL))


def naive_sweep(loss, scale, order):
    """Return multipliers after one sweep from zero: each takes its best value, found by a plain search."""
    y, K = target(loss), X @ X.T + scale**2
    beta = np.zeros(X.shape[0])
    box = loss.box_conjugate(y)
    for i in order:
        others = K[i] @ beta - K[i, i] * beta[i]

        def dual(value, i=i, others=others):
            s = np.array([-value / PRICE[i]])
            return 0.5 * K[i, i] * value**2 + others * value + PRICE[i] * loss.conjugate(y[i : i + 1], s)[0]

        low, high = (max(box.lo[i], -30.0) * PRICE[i], min(box.hi[i], 30.0) * PRICE[i])
        for _ in range(100):  # golden sections of a convex function
            a, b = low + 0.382 * (high - low), low + 0.618 * (high - low)
            low, high = (low, b) if dual(a) < dual(b) else (a, high)
        beta[i] = 0.5 * (low + high)
    return beta
