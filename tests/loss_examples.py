"""Losses, at least one for each class, and targets for each.

A class whose parameters all have defaults is tried at these without being named here.
"""

import importlib
import inspect
import pkgutil

import numpy as np

import mercer.problems.losses
from mercer import losses
from mercer.problems.losses.envelope import Envelope
from mercer.problems.losses.of_box import BoxLoss
from mercer.values import subclasses


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


OWN = [LogCosh(), Exponential(), Cornered()]

# Losses at other parameters than their defaults, and those that have none.
CHOSEN = [
    losses.Huber(threshold=0.7),
    losses.EpsilonInsensitive(epsilon=0.3),
    losses.SquaredEpsilonInsensitive(epsilon=0.3),
    losses.Pinball(quantile=0.2),
    Envelope(losses.EpsilonInsensitive(epsilon=0.3), slopes=np.array(0.4), rho=2.0),
]


def concrete_losses():
    """Return every class of the package that is a loss one can make."""
    for module in pkgutil.walk_packages(mercer.problems.losses.__path__, "mercer.problems.losses."):
        importlib.import_module(module.name)
    return [
        cls
        for cls in subclasses(losses.Loss)
        if not inspect.isabstract(cls) and cls.__module__.startswith("mercer.problems.")
        if cls is not BoxLoss  # its targets are numbers of points: tests/solvers/linear looks at it
    ]


def needs_arguments(cls):
    parameters = list(inspect.signature(cls).parameters.values())
    return any(p.default is p.empty for p in parameters)


# Each other class at its defaults is an example that nobody has to write.
chosen = {type(loss) for loss in CHOSEN}
LIBRARY = CHOSEN + [cls() for cls in concrete_losses() if cls not in chosen and not needs_arguments(cls)]
PUBLIC = [loss for loss in LIBRARY if type(loss).__name__ in losses.__all__]
INNER = [loss for loss in LIBRARY if loss not in PUBLIC]  # steps on the way, which nobody passes to a machine

SIGNS = [loss for loss in PUBLIC if loss.targets == "signs"]
NUMBERS = [loss for loss in PUBLIC if loss.targets in ("numbers", "any")]
EITHER = [loss for loss in PUBLIC if loss.targets == "any"]
CLASSES = [loss for loss in PUBLIC if loss.targets == "classes"]


def targets(loss, rng, n):
    if loss.targets == "signs":
        return np.where(rng.random(n) < 0.5, 1.0, -1.0)
    return rng.normal(size=n)
