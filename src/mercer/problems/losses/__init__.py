"""Convex losses as small objects: value, derivative, curvature, conjugate, population minimiser.

They are what :class:`mercer.KernelClassifier` and :class:`mercer.KernelRegressor` take as ``loss``. A new one
derives from :class:`Loss` and gives its value and its derivative.
"""

from mercer.problems.losses.base import Loss, Pieces
from mercer.problems.losses.margin import (
    BinomialDeviance,
    Hinge,
    HuberizedSquaredHinge,
    MarginLoss,
    PerceptronLoss,
    SquaredHinge,
)
from mercer.problems.losses.multinomial import MultinomialDeviance
from mercer.problems.losses.names import CLASSIFICATION, REGRESSION, as_loss, learn_names
from mercer.problems.losses.residual import (
    EpsilonInsensitive,
    Huber,
    Pinball,
    ResidualLoss,
    SquaredEpsilonInsensitive,
    SquaredError,
)

__all__ = [
    "CLASSIFICATION",
    "REGRESSION",
    "BinomialDeviance",
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "HuberizedSquaredHinge",
    "Loss",
    "MarginLoss",
    "MultinomialDeviance",
    "PerceptronLoss",
    "Pieces",
    "Pinball",
    "ResidualLoss",
    "SquaredEpsilonInsensitive",
    "SquaredError",
    "SquaredHinge",
    "as_loss",
]

learn_names()


def __dir__() -> list[str]:
    return list(__all__)  # not the modules
