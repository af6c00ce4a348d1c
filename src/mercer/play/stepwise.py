"""One step of an algorithm after another: SMO with its gap, the perceptron with its mistakes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer.estimators import SVC, KernelPerceptron
from mercer.play.catalogue import Settings, parameters
from mercer.play.fitted_view import data_of
from mercer.play.presets import Points

__all__ = ["RUNS", "PerceptronRun", "Run", "SmoRun"]


class Run(Protocol):
    """An algorithm that is stopped after each step.

    Attributes
    ----------
    measure : str
        What ``curve`` counts.
    curve : list of (int, float)
        Steps so far, and the measure there.
    done : bool
        Whether nothing is left to do.
    """

    measure: str
    curve: list[tuple[int, float]]
    done: bool

    def advance(self, steps: int) -> Any:
        """Take so many more steps; return the machine reached."""


class SmoRun:
    """Sequential minimal optimisation of a support vector classifier, a pair of multipliers a step.

    The machine after k steps is the one that ``max_iter=k`` returns, so that what the page shows is the
    solver itself, with the certificate of the machine that was reached.

    Parameters
    ----------
    points : Points
        Two classes.
    settings : Settings
        Kernel and C.
    """

    measure = "duality gap"

    def __init__(self, points: Points, settings: Settings) -> None:
        self.X, self.y = data_of(points, "classification")
        if np.unique(self.y).size != 2:
            raise ValueError("SMO step by step needs points of exactly two classes")
        chosen = parameters(settings)
        kept = ("kernel", "C", "gamma", "degree", "coef0")
        self.arguments = {name: chosen[name] for name in kept if name in chosen}
        self.steps, self.done = 0, False
        self.curve: list[tuple[int, float]] = []

    def advance(self, steps: int) -> Any:
        """Take so many more steps; return the machine reached."""
        self.steps += steps
        machine = SVC(solver="smo", max_iter=self.steps, **self.arguments)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # it is stopped on purpose
            machine.fit(self.X, self.y)
        self.done = machine.certificate_.status != "iteration_limit"
        self.steps = min(self.steps, int(np.max(machine.n_iter_)))
        self.curve.append((self.steps, float(machine.certificate_.gap)))
        return machine


class PerceptronRun:
    """The kernel perceptron, a mistake a step: points are shown in turn until one is misclassified.

    Parameters
    ----------
    points : Points
        Two classes or more.
    settings : Settings
        Kernel.
    """

    measure = "mistakes in the last pass"

    def __init__(self, points: Points, settings: Settings) -> None:
        self.X, self.y = data_of(points, "classification")
        if np.unique(self.y).size < 2:
            raise ValueError("the perceptron needs points of two classes")
        chosen = parameters(settings)
        kept = ("kernel", "gamma", "degree", "coef0")
        arguments = {name: chosen[name] for name in kept if name in chosen}
        radius = 1.0 if settings.kernel in ("rbf", "laplacian") else None
        self.machine = KernelPerceptron(radius=radius, **arguments)
        self.steps, self.done = 0, False
        self.order = self._in_turn()
        self.recent: list[bool] = []
        self.curve: list[tuple[int, float]] = []
        self.machine.partial_fit(self.X[:1], self.y[:1], classes=np.unique(self.y))

    def _in_turn(self) -> Iterator[int]:
        while True:
            yield from range(self.y.size)

    def advance(self, steps: int) -> Any:
        """Take so many more steps; return the machine reached."""
        for _ in range(steps):
            if not self._to_next_mistake():
                self.done = True
                break
            self.steps += 1
            self.curve.append((self.steps, float(sum(self.recent))))
        return self.machine

    def _to_next_mistake(self) -> bool:
        n = self.y.size
        for _ in range(n):
            i = next(self.order)
            before = self.machine.mistakes_
            self.machine.partial_fit(self.X[i : i + 1], self.y[i : i + 1])
            wrong = self.machine.mistakes_ > before
            self.recent = [*self.recent, wrong][-n:]
            if wrong:
                return True
        return False


RUNS: dict[str, type[SmoRun] | type[PerceptronRun]] = {"SMO": SmoRun, "Perceptron": PerceptronRun}
