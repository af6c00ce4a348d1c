"""Losses by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from mercer.problems.losses.base import Loss
from mercer.values import subclasses

FOR_CLASSES, FOR_NUMBERS = ("signs", "any", "classes"), ("numbers", "any")

_classification: dict[str, Callable[[], Loss]] = {}
_regression: dict[str, Callable[[], Loss]] = {}

CLASSIFICATION: Mapping[str, Callable[[], Loss]] = MappingProxyType(_classification)
REGRESSION: Mapping[str, Callable[[], Loss]] = MappingProxyType(_regression)


def learn_names() -> None:
    """Find the losses that have a ``name`` of their own; the package calls this once all are there.

    What a loss takes as targets tells what it is for.
    """
    for cls in subclasses(Loss):  # type: ignore[type-abstract]
        name = vars(cls).get("name")
        if name is None:
            continue
        for kinds, known in ((FOR_CLASSES, _classification), (FOR_NUMBERS, _regression)):
            if cls.targets in kinds and known.setdefault(name, cls) is not cls:
                raise TypeError(f"{cls.__name__} and {known[name]!r} have one name: {name!r}")


def as_loss(loss: Any, names: Mapping[str, Callable[[], Loss]]) -> Loss:
    """Return the loss of a name, or the given loss, with its parameters checked.

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
    kinds = FOR_CLASSES if names is CLASSIFICATION else FOR_NUMBERS
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
