"""Losses by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from mercer.problems.losses.base import Loss
from mercer.problems.losses.margin import BinomialDeviance, Hinge, HuberizedSquaredHinge, SquaredHinge
from mercer.problems.losses.multinomial import MultinomialDeviance
from mercer.problems.losses.residual import (
    EpsilonInsensitive,
    Huber,
    Pinball,
    SquaredEpsilonInsensitive,
    SquaredError,
)

CLASSIFICATION: Mapping[str, Callable[[], Loss]] = MappingProxyType(
    {
        "hinge": Hinge,
        "squared_hinge": SquaredHinge,
        "huberized_squared_hinge": HuberizedSquaredHinge,
        "binomial_deviance": BinomialDeviance,
        "multinomial_deviance": MultinomialDeviance,
        "squared_error": SquaredError,
    }
)

REGRESSION: Mapping[str, Callable[[], Loss]] = MappingProxyType(
    {
        "squared_error": SquaredError,
        "huber": Huber,
        "epsilon_insensitive": EpsilonInsensitive,
        "squared_epsilon_insensitive": SquaredEpsilonInsensitive,
        "pinball": Pinball,
    }
)


def as_loss(loss: Any, names: Mapping[str, Callable[[], Loss]]) -> Loss:
    """Return the loss that a name stands for, or the given one, its parameters checked.

    Parameters
    ----------
    loss : str or Loss
        A name, or a loss.
    names : mapping
        The names that are allowed.
    """
    if isinstance(loss, str):
        if loss not in names:
            raise ValueError(
                f"loss={loss!r} is not one of {sorted(names)}; a Loss object may be given instead"
            )
        return names[loss]()
    if not isinstance(loss, Loss):
        raise TypeError(
            f"loss={loss!r} must be one of {sorted(names)} or an object of a class derived from "
            "mercer.losses.Loss"
        )
    kinds = ("signs", "any", "classes") if names is CLASSIFICATION else ("numbers", "any")
    if loss.targets not in kinds:
        wanted = "classes" if names is CLASSIFICATION else "numbers"
        raise ValueError(f"loss={loss!r} is a loss for {loss.targets}, not for {wanted}")
    given = type(loss)
    own = given.curvature is not Loss.curvature and given.conjugate is not Loss.conjugate
    if loss.targets == "classes" and not own:
        raise ValueError(
            f"loss={loss!r} is a loss of several functions: it must give curvature and conjugate"
        )
    loss.validate()
    return loss
