"""The optima of a fitted machine, kept ready to be moved as rows come and go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Float64, Index
from mercer.estimators.fitting import Solved
from mercer.estimators.splits import BinaryTask, Split
from mercer.estimators.updating.rows import Rows
from mercer.gram import Gram, gram
from mercer.gram.base import UNIT
from mercer.kernels import Kernel
from mercer.kernels.data import is_sparse, take
from mercer.problems import Dual, Problem
from mercer.solvers import Limits, suited
from mercer.solvers.dual.decomposition import Decomposition
from mercer.solvers.updates.optimum import Optimum, StuckError

EXACT = 1e-9  # KKT violation, in the problem's units, to which a working-set solver is asked to go
STEPS = 100  # of that solver, for each variable; the walk finishes what they leave
EVENTS = 400  # of a walk, before the solver takes over
FEW = 12  # rows that one walk brings or takes, however few there are
SHARE = 32  # beyond that, one in so many
FRESH = 128  # updates after which K beta is computed anew


class KnownDiagonal:
    """What a problem is stated with: the diagonal of a kernel matrix."""

    def __init__(self, diagonal: Float64) -> None:
        self._diagonal = diagonal

    def diag(self) -> Float64:
        """Return the diagonal."""
        return self._diagonal

    def exact(self) -> KnownDiagonal:
        """Return the same in float64."""
        return self


@dataclass
class State:
    """Where one problem stands.

    Attributes
    ----------
    where : (n,) intp
        The number of each of its points among the training rows; the order is the optimum's own.
    optimum : Optimum or None
        None for problems that only a solver solves.
    b : float64 array
        The variables of such a problem.
    """

    where: Index
    optimum: Optimum | None
    b: Float64


class KernelValues:
    """Rows of the kernel matrix of all training rows, computed when they are asked for.

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    X : array, CSR or sequence
        The training rows.
    workers : Workers
        Threads for whole products.
    """

    def __init__(self, kernel: Kernel, X: Any, workers: Any) -> None:
        self.kernel, self.workers = kernel, workers
        narrow = (isinstance(X, np.ndarray) or is_sparse(X)) and X.dtype == np.float32
        self.X = X.astype(np.float64) if narrow else X
        self._rows: dict[int, Float64] = {}
        self._gram: Gram | None = None

    def row(self, number: int) -> Float64:
        """Return the row of one training row."""
        row = self._rows.get(number)
        if row is None:
            one = take(self.X, np.array([number]))
            row = np.asarray(self.kernel.evaluate(one, self.X), dtype=np.float64)[0]
            self._rows[number] = row
        return row

    def part(self, rows: Index, cache_bytes: int = 0) -> Gram:
        """Return the matrix of some training rows in this order, as solvers take it."""
        if self._gram is None:
            self._gram = gram(
                self.kernel, self.X, precision="double", workers=self.workers, cache_bytes=cache_bytes
            ).exact()
        whole = np.array_equal(rows, np.arange(self._gram.n))
        return self._gram if whole else self._gram.subset(rows)


def walkable(problem: Problem) -> bool:
    """Return whether the optimum of a problem can be followed: a dual with one fixed sum at most."""
    return (
        isinstance(problem, Dual)
        and problem.equalities is None
        and not problem.sums_vary
        and problem.sums.size <= 1
        and (problem.bounded or problem.has_shift)
    )


class Live:
    """All problems of a fitted machine.

    Parameters
    ----------
    model : estimator
        Fitted.
    rows : Rows
        Its training rows.
    split : Split
        Its target, in parts.
    """

    def __init__(self, model: Any, rows: Rows, split: Split) -> None:
        self.model, self.kernel = model, model.kernel_
        self.workers = model._workers()
        self.diagonal = np.asarray(self.kernel.evaluate_diag(rows.X), dtype=np.float64)
        self.magnitude = np.asarray(self.kernel.magnitude(rows.X), dtype=np.float64)
        self.psd = not np.isnan(model.certificate_.gap)
        self.age = 0
        self.states: dict[Any, State] = {}
        coefs = [split.unpack(model, k) for k in range(len(split.tasks))]
        values = KernelValues(self.kernel, rows.X, self.workers)
        limits = Limits(max_iter=model.max_iter, time_limit=model.time_limit)
        for k, task in enumerate(split.tasks):
            problem = self._stated(split, k)
            state, _ = self._solved(problem, task.rows, problem.recover(coefs[k]), values, limits)
            self.states[key(split, k)] = state

    # -- one update ------------------------------------------------------------------------------------------

    def update(self, rows: Rows, n_new: int, gone: Index, split: Split) -> list[Solved]:
        """Bring all problems to the optimum without some rows and with some more; return the machines.

        Parameters
        ----------
        rows : Rows
            The rows so far and the new ones behind them.
        n_new : int
            How many are new.
        gone : (m,) intp
            The numbers of those that go, in order.
        split : Split
            The target of the rows that stay.
        """
        n_old = rows.n - n_new
        values = KernelValues(self.kernel, rows.X, self.workers)
        limits = Limits(max_iter=self.model.max_iter, time_limit=self.model.time_limit)
        if n_new:
            new = take(values.X, np.arange(n_old, rows.n))
            self.diagonal = np.append(self.diagonal, np.asarray(self.kernel.evaluate_diag(new), np.float64))
            self.magnitude = np.append(self.magnitude, np.asarray(self.kernel.magnitude(new), np.float64))
        stays = np.ones(rows.n, dtype=bool)
        stays[gone] = False
        kept = np.flatnonzero(stays)
        everything = self.diagonal
        self.diagonal, self.magnitude = self.diagonal[kept], self.magnitude[kept]
        place = np.full(rows.n, -1, dtype=np.intp)
        place[kept] = np.arange(kept.size)
        self.age += 1
        found, states = [], {}
        for k, task in enumerate(split.tasks):
            problem = self._stated(split, k)
            state = self.states.get(key(split, k))
            before = 0 if state is None or state.optimum is None else state.optimum.n_events
            step = _Step(self, problem, kept[task.rows], n_old, gone, everything, values, limits)
            state, steps, b, f, noise = step.run(state)
            states[key(split, k)] = State(place[state.where], state.optimum, state.b)
            walked = 0 if state.optimum is None else max(0, state.optimum.n_events - before)
            machine = problem.machine(b, f)
            root = self.magnitude[task.rows]
            noise = noise + UNIT * float(np.abs(machine.coef) @ root) * root
            found.append(Solved(problem, machine, steps + walked, "optimal", noise))
        self.states = states
        return found

    def _stated(self, split: Split, k: int) -> Any:
        task = split.tasks[k]
        diagonal = KnownDiagonal(self.diagonal[task.rows])
        return self.model._problem(task.target, split.weight[task.rows], diagonal)

    def _solved(
        self, problem: Any, rows: Index, start: Float64 | None, values: KernelValues, limits: Limits
    ) -> tuple[State, int]:
        """Solve a problem on some rows by a working-set solver; return where it stands, and the steps."""
        part = values.part(rows, self.model._cache_bytes() // 2)
        part.is_psd = self.psd
        able = walkable(problem) and self.psd
        if able:
            most = STEPS * problem.size + 100_000
            bounded = Limits(most if limits.max_iter < 0 else limits.max_iter, limits.left())
            solver: Any = Decomposition(tol=EXACT, limits=bounded, block_bytes=self.model._cache_bytes() // 2)
            size = float(np.abs(problem.p).max(initial=0.0))
            size += float(np.sqrt(np.abs(part.diag()).max(initial=0.0)))
            solver.tol = EXACT * max(size, 1e-30)
        else:
            solver = suited(part, problem).controlled(
                tol=min(self.model.tol, EXACT), criterion="kkt", limits=limits, listener=None,
                block_bytes=self.model._cache_bytes() // 2,
            )  # fmt: skip
        solution = solver.solve(problem.view(part), problem, start)
        optimum = None
        if able:
            f = part.matvec(problem.beta(solution.b))

            def row_of(point: int) -> Float64:
                return values.row(int(rows[point]))[rows]

            try:
                optimum = Optimum(problem, solution.b, f, row_of, part.diag(), EVENTS + problem.n)
            except StuckError:
                optimum = None
        return State(rows.copy(), optimum, solution.b), solution.n_iter


class _Step:
    """One problem on its way from one set of rows to the next.

    Parameters
    ----------
    live : Live
        All problems.
    problem : Dual
        The next problem, its points in the order of ``rows``.
    rows : (n,) intp
        Their numbers among the rows so far and the new ones.
    n_old : int
        How many rows there were.
    gone : (m,) intp
        Those that go.
    diagonal : float64 array
        Of all rows.
    values : KernelValues
        Their kernel values.
    limits : Limits
        For the solver.
    """

    def __init__(
        self,
        live: Live,
        problem: Any,
        rows: Index,
        n_old: int,
        gone: Index,
        diagonal: Float64,
        values: KernelValues,
        limits: Limits,
    ) -> None:
        self.live, self.problem, self.rows, self.n_old, self.gone = live, problem, rows, n_old, gone
        self.diagonal, self.values, self.limits = diagonal, values, limits
        self.place = np.full(diagonal.size, -1, dtype=np.intp)
        self.place[rows] = np.arange(rows.size)

    def run(self, state: State | None) -> tuple[State, int, Float64, Float64, float]:
        """Return where the problem stands, steps of a solver, the point, K beta there, and its error."""
        new = self.rows[self.rows >= self.n_old]
        leaving = 0 if state is None else int((self.place[state.where] < 0).sum())
        steps, drift = 0, 0.0
        able = state is not None and state.optimum is not None and walkable(self.problem)
        if able and new.size + leaving <= max(FEW, self.rows.size // SHARE):
            assert state is not None
            try:
                state = self._walked(state, new)
                drift = self.live.age % FRESH * UNIT
            except StuckError:
                state, steps = self._solved(state)
        else:
            state, steps = self._solved(state)
        return state, steps, *self._read(state, drift)

    def _start(self, state: State | None) -> Float64 | None:
        """Return the old variables in the order of the next problem."""
        if state is None:
            return None
        b = state.b if state.optimum is None else state.optimum.point()[0]
        copies = self.problem.copies
        old = b.reshape(copies, -1)
        start = np.zeros((copies, self.problem.n))
        place = self.place[state.where]
        start[:, place[place >= 0]] = old[:, place >= 0]
        return start.ravel()

    def _solved(self, state: State | None) -> tuple[State, int]:
        start = self._start(state)
        if not walkable(self.problem):
            start = None
        return self.live._solved(self.problem, self.rows, start, self.values, self.limits)

    def _walked(self, state: State, new: Index) -> State:
        """Follow the optimum."""
        optimum, problem = state.optimum, self.problem
        assert optimum is not None
        place = self.place[state.where]
        before = optimum.r.reshape(problem.copies, -1)[:, place >= 0]
        if (problem.r.reshape(problem.copies, -1)[:, place[place >= 0]] != before).any():
            raise StuckError  # another price of squares is another matrix
        where = state.where
        optimum.row_of = lambda point: self.values.row(int(state.where[point]))[state.where]
        if self.live.age % FRESH == 0:
            optimum.renew(self.values.part(where).matvec(optimum.beta()))
        for number in new:
            where = state.where = np.append(where, number)
            variables = self.place[number] + problem.n * np.arange(problem.copies)
            optimum.add_point(self.values.row(int(number))[where], problem.p[variables], problem.r[variables])
        stays = self.place[where] >= 0
        kept = np.flatnonzero(stays)
        optimum.move(problem.take(self.place[where[kept]]), kept, EVENTS)
        for point in np.flatnonzero(~stays)[::-1]:
            optimum.drop_point(int(point))
            where[point] = where[-1]
            where = state.where = where[:-1].copy()
        if optimum.error() > 1e4:
            raise StuckError
        return State(where, optimum, np.zeros(0))

    def _read(self, state: State, drift: float) -> tuple[Float64, Float64, float]:
        """Return the point in the order of the problem, K beta and its error."""
        order = self.place[state.where]
        problem = self.problem
        if state.optimum is None:
            b = problem.nearest(state.b)
            part = self.values.part(self.rows)
            return b, problem.view(part).matvec(problem.beta(b)), 0.0
        inner, products = state.optimum.point()
        b, f = np.empty((problem.copies, problem.n)), np.empty(problem.n)
        b[:, order] = inner.reshape(problem.copies, -1)
        f[order] = products
        return b.ravel(), f, drift * float(np.abs(f).max(initial=0.0))


def key(split: Split, k: int) -> Any:
    """Return what names a problem, whatever rows it has: the labels of its classes, or its number."""
    task = split.tasks[k]
    if not isinstance(task, BinaryTask):
        return k
    classes = split.labels.classes.tolist()  # type: ignore[attr-defined]
    return classes[task.positive], None if task.negative < 0 else classes[task.negative]
