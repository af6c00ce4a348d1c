"""Machines fitted on kernel matrices in memory, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.arrays import Float64, Index
from mercer.estimators.fitting import chosen
from mercer.estimators.machine import ProblemMachine
from mercer.estimators.splits import Split
from mercer.gram import Gram
from mercer.gram.base import MatrixGram
from mercer.problems import Dual, Machine
from mercer.selection.held_out_machines import HeldOutClassifier, HeldOutRegressor
from mercer.solvers import Limits, Solution
from mercer.solvers.dual.neighbours import Walk


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

    owner: ProblemMachine
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
    gram: MatrixGram | None = None
    _splits: dict[str, Split] = field(default_factory=dict)
    _parts: dict[str, list[Gram]] = field(default_factory=dict)

    def use(self, gram: MatrixGram) -> None:
        """Go over to another kernel matrix of the same rows."""
        self.gram = gram
        self._parts = {}

    def fit(self, machine: ProblemMachine, starts: Sequence[list[Float64]], limits: Limits) -> Fitted:
        """Fit a machine, begun at the best of some neighbours' variables.

        Parameters
        ----------
        machine : ProblemMachine
            With its parameters set; it is not changed.
        starts : sequence of lists of (copies n,) float64
            For each neighbour, the variables of all parts.
        limits : Limits
            When to give up.
        """
        split, grams = self._split(machine)
        machine._check_feasible(split)
        parts = []
        for k, (task, gram) in enumerate(zip(split.tasks, grams, strict=True)):
            dual = machine._stated(task.target, split.weight[task.rows], gram)
            begin = [s[k] for s in starts if len(s) == len(grams) and s[k].size == dual.size]
            solution = solve(machine, gram, dual, begin, limits)
            found = dual.machine(solution.b, solution.f)
            sign = getattr(task, "sign", None)
            parts.append(Part(task.rows, sign, dual.view(gram), dual, solution, found))
        assert self.gram is not None
        labels = getattr(split, "labels", None)
        if labels is None:
            return Fitted(machine, parts, whole=self.gram.K)
        return Fitted(machine, parts, labels.classes, labels.numbers, self.gram.K)

    def _split(self, machine: ProblemMachine) -> tuple[Split, list[Gram]]:
        """Return the parts of the target, each with its part of the matrix that is on at the moment."""
        assert self.gram is not None
        key = " ".join(repr(getattr(machine, name, None)) for name in ("multiclass", "class_weight"))
        if key not in self._splits:
            machine._check_parameters()
            self._splits[key] = machine._split(self.y, self.y, self.weight)
        split = self._splits[key]
        if key not in self._parts:
            n = self.gram.n
            self._parts[key] = [
                self.gram if task.rows.size == n else self.gram.subset(task.rows) for task in split.tasks
            ]
        return split, self._parts[key]


def solve(
    machine: ProblemMachine, gram: Gram, dual: Dual, starts: Sequence[Float64], limits: Limits
) -> Solution:
    """Solve one dual on a matrix in memory as the machine's parameters say."""
    mine = Limits(machine.max_iter, limits.time_limit, limits.started)
    seen = dual.view(gram)
    solver = chosen(machine, seen, dual, mine)
    solver.check(seen, dual)  # what the machine's own solver refuses is not scored
    if machine.criterion == "kkt" and not dual.unbounded_without_margin:
        return Walk(machine.tol, mine).solve(seen, dual, starts)
    return solver.solve(seen, dual, starts[0] if starts else None)
