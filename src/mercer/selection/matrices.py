"""Machines fitted on kernel matrices in memory, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.estimators.machine import KernelMachine
from mercer.estimators.svm.classifier import BaseSVC
from mercer.estimators.svm.regressor import BaseSVR
from mercer.gram import Gram
from mercer.gram.whole import WholeGram
from mercer.problems import Dual, Machine
from mercer.problems.multiclass import Task, one_versus_one, one_versus_rest
from mercer.selection.heldout import HeldOutClassifier, HeldOutRegressor
from mercer.solvers import Limits, Solution
from mercer.solvers.dual.neighbours import Walk

Float64 = NDArray[np.float64]
Index = NDArray[np.intp]


@dataclass
class Part:
    """One dual of a machine, solved: its rows, the matrix it sees, its problem, solution and function."""

    rows: Index
    sign: Float64 | None  # of a two-class problem
    gram: Gram
    dual: Dual
    solution: Solution
    machine: Machine


@dataclass
class Fitted:
    """A machine fitted on some rows.

    Attributes
    ----------
    parts : list of Part
        One for each two-class machine; one for a regressor.
    classes : ndarray or None
        The classes of the rows.
    labels : ndarray or None
        Class numbers of the rows.
    whole : ndarray
        Kernel matrix of the rows.
    """

    owner: KernelMachine
    parts: list[Part]
    classes: NDArray[Any] | None = None
    labels: Index | None = None
    whole: Any = None

    @property
    def status(self) -> str:
        """How the worst of the parts ended."""
        order = ("time_limit", "iteration_limit")
        ends = {part.solution.status for part in self.parts}
        return next((status for status in order if status in ends), "optimal")

    def values(self, K: Any) -> Float64:
        """Return the functions (m, n_parts) at points whose kernel values with the rows are K (m, n)."""
        coef = np.zeros((K.shape[1], len(self.parts)))
        for k, part in enumerate(self.parts):
            coef[part.rows, k] = part.machine.coef
        out: Float64 = np.asarray(K @ coef.astype(K.dtype), dtype=np.float64)
        out += np.array([part.machine.intercept for part in self.parts])
        return out

    def held_out(self, F: Float64) -> Any:
        """Return what a scorer can be handed, given the functions' values at the scored points."""
        if self.classes is None:
            return HeldOutRegressor(F)
        return HeldOutClassifier(self.owner, self.classes, F)


@dataclass
class Rows:
    """Training rows of one fold: their targets and weights, and the kernel matrix that is on at the moment.

    Parameters
    ----------
    y : ndarray
        Targets.
    weight : ndarray or None
        Sample weights.
    """

    y: NDArray[Any]
    weight: Any = None
    gram: WholeGram | None = None
    _parts: dict[str, list[tuple[Task, Gram]]] = field(default_factory=dict)
    _labels: Any = None

    def use(self, gram: WholeGram) -> None:
        """Go over to another kernel matrix of the same rows."""
        self.gram = gram
        self._parts = {}

    def fit(self, machine: KernelMachine, starts: Sequence[list[Float64]], limits: Limits) -> Fitted:
        """Fit a machine, begun at the best of some neighbours' variables.

        Parameters
        ----------
        machine : KernelMachine
            With its parameters set; it is not changed.
        starts : sequence of lists of (copies n,) float64
            For each neighbour, the variables of all parts.
        limits : Limits
            When to give up.
        """
        if isinstance(machine, BaseSVC):
            return self._fit_classifier(machine, starts, limits)
        assert isinstance(machine, BaseSVR)
        assert self.gram is not None
        target = machine._target(self.y, self.y)
        base = machine._check_weight(self.weight, self.y, target.size)
        machine._check_feasible(base)
        dual = machine._stated(machine._problem(target, base, self.gram), self.gram)
        begin = [s[0] for s in starts if s[0].size == dual.size]
        solution = solve(machine, self.gram, dual, begin, limits)
        found = dual.machine(solution.b, solution.f)
        every = np.arange(target.size)
        part = Part(every, None, dual.view(self.gram), dual, solution, found)
        return Fitted(machine, [part], whole=self.gram.K)

    def _fit_classifier(self, machine: BaseSVC, starts: Sequence[list[Float64]], limits: Limits) -> Fitted:
        if self._labels is None:
            self._labels = machine._check_y(self.y, self.y)
        classes, labels = self._labels
        base = machine._check_weight(self.weight, self.y, labels.size)
        weight, _ = machine._weigh(classes, labels, base)
        tasks = self._tasks(machine, weight, base)
        parts = []
        for k, (task, gram) in enumerate(tasks):
            dual = machine._stated(machine._problem(task.sign, weight[task.rows], gram), gram)
            begin = [s[k] for s in starts if len(s) == len(tasks) and s[k].size == dual.size]
            solution = solve(machine, gram, dual, begin, limits)
            found = dual.machine(solution.b, solution.f)
            parts.append(Part(task.rows, task.sign, dual.view(gram), dual, solution, found))
        assert self.gram is not None
        return Fitted(machine, parts, classes, labels, self.gram.K)

    def _tasks(self, machine: BaseSVC, weight: Float64, base: Float64) -> list[tuple[Task, Gram]]:
        assert self.gram is not None
        classes, labels = self._labels
        key = f"{machine.multiclass} {machine.class_weight!r}"
        if key not in self._parts:
            machine._check_shape()
            split = one_versus_one if machine.multiclass == "ovo" else one_versus_rest
            tasks = split(labels, classes.size, weight > 0)
            self._parts[key] = [
                (t, self.gram if t.rows.size == labels.size else self.gram.subset(t.rows)) for t in tasks
            ]
        found = self._parts[key]
        machine._check_tasks([task for task, _ in found], weight, base, classes)
        return found


def solve(
    machine: KernelMachine, gram: Gram, dual: Dual, starts: Sequence[Float64], limits: Limits
) -> Solution:
    """Solve one dual on a matrix in memory as the machine's parameters say."""
    mine = Limits(machine.max_iter, limits.time_limit, limits.started)
    solver = machine._solver(mine, None)
    seen = dual.view(gram)
    solver.check(seen, dual)  # what the machine's own solver refuses is not scored
    if machine.criterion == "kkt" and not dual.unbounded_without_margin:
        return Walk(machine.tol, mine).solve(seen, dual, starts)
    return solver.solve(seen, dual, starts[0] if starts else None)
