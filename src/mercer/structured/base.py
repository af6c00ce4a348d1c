"""What a structure says of itself: three methods, and what follows from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from mercer.arrays import Float64
from mercer.structured.examples import Examples
from mercer.threads import Workers
from mercer.values import Value


class Structure(Value, ABC):
    r"""A space of outputs: which there are for an input, what they share with it, and what an error costs.

    .. math::
        f(x) = \arg\max_y \langle w, \psi(x, y) \rangle

    A structure of one's own writes three methods: :meth:`joint_feature` is psi, :meth:`loss` is what it costs
    to take one output for another, and :meth:`argmax` is the maximisation, with the loss added in training.
    Inputs and outputs are whatever these methods understand. Outputs that are arrays are compared by their
    contents, others by ``==`` and ``hash``.

    Attributes
    ----------
    exact : bool
        Whether :meth:`argmax` returns a maximum. Only then, or with a :meth:`bound`, does a fit prove how far
        it is from the optimum: a maximum that is missed would be missing from the objective.
    takes_tables : bool
        Whether inputs are the rows of a table, which is then checked as one.
    """

    exact: ClassVar[bool] = False
    takes_tables: ClassVar[bool] = False

    # -- the three methods -----------------------------------------------------------------------------------

    @abstractmethod
    def joint_feature(self, x: Any, y: Any) -> ArrayLike:
        """Return psi(x, y), a vector of the same length for all inputs and outputs.

        Parameters
        ----------
        x, y
            An input and an output.
        """

    @abstractmethod
    def loss(self, y: Any, other: Any) -> float:
        """Return what it costs to predict ``other`` where ``y`` is true: zero for y itself, never negative.

        Parameters
        ----------
        y, other
            The true output, and another one.
        """

    @abstractmethod
    def argmax(self, x: Any, w: Float64, y: Any = None) -> Any:
        """Return the output of the largest score <w, psi(x, output)>, plus its loss where ``y`` is given.

        Parameters
        ----------
        x
            An input.
        w : (n_weights,) float64
            Weights.
        y : optional
            The true output, in training: the score is then augmented by ``loss(y, output)``.
        """

    # -- what may be said as well ----------------------------------------------------------------------------

    def bound(self, x: Any, w: Float64, y: Any) -> float:
        """Return an upper bound on the augmented score of all outputs; infinity where none is known.

        An argmax that is not exact may have one: the value of a relaxation, say.

        Parameters
        ----------
        x, w, y
            As in :meth:`argmax`.
        """
        return float("inf")

    def parts(self, y: Any) -> float:
        """Return how many parts an output has: the mean loss is per part.

        Parameters
        ----------
        y
            An output.
        """
        return 1.0

    # -- what follows ----------------------------------------------------------------------------------------

    def predict(self, x: Any, w: Float64) -> Any:
        """Return the output of the largest score <w, psi(x, output)>.

        Parameters
        ----------
        x
            An input.
        w : (n_weights,) float64
            Weights.
        """
        return self.argmax(x, w, None)

    def validate(self) -> None:
        """Refuse parameters that are not allowed."""

    def checked_inputs(self, X: Any) -> Any:
        """Return inputs in the form that the methods take, or refuse them."""
        return listed(X, "X")

    def checked_outputs(self, X: Any, Y: Any) -> Any:
        """Return outputs in the form that the methods take, or refuse them."""
        return listed(Y, "y")

    def resolve(self, X: Any, Y: Any) -> Self:
        """Return this structure with what it reads off the training data."""
        return self

    def examples(self, X: Any, Y: Any, workers: Workers) -> Examples:
        """Return the training data as solvers see them."""
        return Examples(self, X, Y, workers)

    def predictions(self, X: Any, w: Float64, workers: Workers) -> Any:
        """Return the outputs of many inputs."""
        return self.collected([self.predict(x, w) for x in X])

    def collected(self, outputs: Sequence[Any]) -> Any:
        """Return outputs as one sequence, in a form that a model file can hold where there is one."""
        return list(outputs)

    def check_weights(self, w: Float64) -> None:
        """Refuse weights of the wrong length: compiled loops trust it."""


def listed(items: Any, name: str) -> Sequence[Any]:
    """Return a sequence of items, or refuse what is none."""
    if isinstance(items, str | bytes | dict | set) or not hasattr(items, "__len__"):
        raise TypeError(
            f"{name} must be a sequence with an entry for each sample; it is {type(items).__name__}"
        )
    if hasattr(items, "iloc"):
        items = items.to_numpy()
    if len(items) == 0:
        raise ValueError(f"{name} is empty: at least one sample is needed")
    return items  # type: ignore[no-any-return]


def check_count(structure: Structure, name: str, least: int) -> None:
    """Refuse a number that is neither None nor a whole number of at least ``least``."""
    value = getattr(structure, name)
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(
            f"{type(structure).__name__}: {name}={value!r} is invalid: it must be None or a whole number of "
            f"at least {least}"
        )


def check_flag(structure: Structure, name: str) -> None:
    """Refuse what is neither True nor False."""
    value = getattr(structure, name)
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{type(structure).__name__}: {name}={value!r} is invalid: it must be True or False")
