"""Convex losses as small objects: value, derivative, curvature, conjugate, population minimiser.

They are what :class:`mercer.KernelClassifier` and :class:`mercer.KernelRegressor` take as ``loss``. A new one
derives from :class:`Loss` and gives its value and its derivative.
"""

from mercer.problems.losses import *  # noqa: F403
from mercer.problems.losses import __all__ as __all__


def __dir__() -> list[str]:
    return list(__all__)  # not the modules
