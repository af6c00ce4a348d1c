"""Losses, and targets for each."""

import numpy as np

from mercer import losses


class LogCosh(losses.Loss):
    """A user's loss: nothing but value and derivative."""

    targets = "numbers"

    def value(self, y, f):
        r = np.abs(y - f)
        return r + np.log1p(np.exp(-2.0 * r)) - np.log(2.0)

    def derivative(self, y, f):
        return np.tanh(f - y)


class Exponential(losses.MarginLoss):
    """The loss of boosting, from its definition."""

    def value(self, y, f):
        return np.exp(-y * f)

    def derivative(self, y, f):
        return -y * np.exp(-y * f)


class Cornered(losses.Loss):
    """A user's loss with a kink that is not piecewise linear: abs(r) + r^2."""

    targets = "numbers"
    smooth = False

    def value(self, y, f):
        return np.abs(y - f) + (y - f) ** 2

    def derivative(self, y, f):
        return np.sign(f - y) + 2 * (f - y)


SIGNS = [losses.Hinge(), losses.SquaredHinge(), losses.HuberizedSquaredHinge(), losses.BinomialDeviance()]
NUMBERS = [
    losses.SquaredError(),
    losses.Huber(threshold=0.7),
    losses.EpsilonInsensitive(epsilon=0.3),
    losses.SquaredEpsilonInsensitive(epsilon=0.3),
    losses.Pinball(quantile=0.2),
]
OWN = [LogCosh(), Exponential(), Cornered()]


def targets(loss, rng, n):
    if loss.targets == "signs":
        return np.where(rng.random(n) < 0.5, 1.0, -1.0)
    return rng.normal(size=n)
