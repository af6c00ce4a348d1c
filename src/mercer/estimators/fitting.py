"""The one fit: validate, resolve, split the target, state, solve, pack, conclude.

Limits, Ctrl-C, callbacks, warm starts, traces, progress and threads are handled here and nowhere else. An
estimator says what its target is made of (``_split``), what is minimised (``_problem``) and what it keeps.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Float64
from mercer.estimators.finite import check_finite_model
from mercer.estimators.interrupts import Stop, stoppable
from mercer.estimators.monitoring import Watch
from mercer.estimators.splits import Split
from mercer.gram import Gram, cross_products
from mercer.kernels.check_psd import refuse_indefinite
from mercer.problems import Certificate, Machine, Problem, certified, combine
from mercer.solvers import Limits, Progress, Solution, Solver, as_solver, suited
from mercer.solvers.many import Many
from mercer.threads import Workers


@dataclass(frozen=True)
class Solved:
    """A machine, the problem that it solves, and how the solver stopped."""

    problem: Problem
    machine: Machine
    n_iter: int
    stopped: str
    noise: Float64 | float = 0.0
    note: str = ""


@dataclass(frozen=True)
class Fitted:
    """What an estimator may go on with after its fit: checked data, split target, kernel matrix."""

    X: Any
    split: Split
    matrix: Gram


class Fit(Many):
    """The problems of one fit, and all who look on while they are solved.

    Parameters
    ----------
    model : KernelMachine
        The estimator.
    X : array, CSR or sequence
        Checked data.
    split : Split
        The target, in parts.
    workers : Workers
        Threads.
    stop : Stop
        Ctrl-C, and the limits.
    watch : Watch
        Trace, ``verbose``, callbacks, bars.
    starts : list of arrays, optional
        Coefficients of a previous fit.
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        split: Split,
        workers: Workers,
        stop: Stop,
        watch: Watch,
        starts: list[Any] | None,
    ) -> None:
        self.model, self.X, self.split, self.workers = model, X, split, workers
        self.ask, self.watch, self.starts = stop, watch, starts
        self.rows = [task.rows for task in split.tasks]
        self.side_by_side = not watch.one_at_a_time
        self.solutions: list[Any] = [None] * len(self.rows)
        self.psd = True  # whether a gap may be claimed
        self.known_psd: bool | None = None  # what is known of the matrix while problems are solved
        self.first: Any = None  # the first problem, once it is stated
        self.calibration = model._calibration(split)

    # -- solving ---------------------------------------------------------------------------------------------

    def solver(self, matrix: Gram) -> Solver:
        """Return the solver that the parameter names, or the one that suits the first problem."""
        part = matrix
        if as_solver(self.model.solver) is None:
            part = matrix if self.rows[0].size == matrix.n else matrix.subset(self.rows[0])
            part.is_psd = matrix.is_psd
            self.first = self.problem(0, part)
        return chosen(self.model, part, self.first, self.ask.limits)

    def problem(self, k: int, part: Gram) -> Problem:
        """Return problem k in the form that the solver takes."""
        weight = self.split.weight[self.rows[k]]
        problem: Problem = self.model._stated(self.split.tasks[k].target, weight, part)
        return problem

    def solve(self, matrix: Gram) -> list[Solved]:
        """Solve all problems; after a request to stop, the rest end where they are or start."""
        self.chosen = self.solver(matrix)
        self.chosen.solve_many(matrix, self, self.workers)
        return [solved(s.problem, s, matrix, self.rows[k]) for k, s in enumerate(self.solutions)]

    def state(self, k: int, part: Gram) -> tuple[Problem, Float64 | None]:
        """Return problem k on its part of the kernel matrix, and where to begin."""
        if self.ask.requested and self.model.on_interrupt == "raise" and not self.ask.asked_by_callback:
            raise KeyboardInterrupt
        part.is_psd = self.known_psd
        problem = self.problem(k, part) if k or self.first is None else self.first
        return problem, None if self.starts is None else problem.recover(self.starts[k])

    def prepared(self, k: int, part: Gram) -> Gram:
        """Return a part of the matrix that keeps what the solver asks for, where it is needed again."""
        return part if self.calibration is None else self.calibration.watch(part)

    def listener(self, k: int, problem: Problem) -> Any:
        """Return who looks on while problem k is solved."""
        look = None
        if len(self.rows) == 1 and self.model._can_be_looked_at:
            look = lambda p: self.snapshot(p, problem)  # noqa: E731
        return self.watch.listener(k, look)

    def solved(self, k: int, part: Gram, problem: Problem, solution: Solution) -> None:
        """Take the solution of problem k."""
        if solution.reached.stopped == "interrupted":
            self.ask()
        self.solutions[k] = solution
        self.watch.solved(k)
        if self.calibration is not None:
            task, rows = self.split.tasks[k], self.rows[k]
            state = self.model._stated
            self.calibration.learn(
                k, task, part, problem, solution, state, self.split.weight[rows], self.chosen
            )

    def stacked(self, gram: Gram) -> Any:
        """Return all problems as one whose variables stand one after the other, if nobody looks on."""
        model = self.model
        watched = model.trace or model.verbose or self.watch.one_at_a_time
        if watched or self.starts is not None or self.calibration is not None:
            return None
        target = np.concatenate([task.target for task in self.split.tasks])
        return model._problem(target, self.split.weight[np.concatenate(self.rows)], gram)

    def stop(self) -> None:
        """Ask all solves that still run to end early."""
        self.ask()

    def snapshot(self, p: Progress, problem: Problem) -> dict[str, Any]:
        """Return the attributes of an estimator fitted so far, for callbacks that score it."""
        twin = copy.copy(self.model)
        machine = problem.machine(p.b.copy(), p.f.copy())
        found = Solved(problem, machine, p.n_iter, "iteration_limit")
        keep_machines(twin, self.X, self.split, [found])
        twin.certificate_ = combine([self.certificate(found)])
        return dict(vars(twin))

    # -- the verdict -----------------------------------------------------------------------------------------

    def certificate(self, s: Solved) -> Certificate:
        """Return the certificate of a machine as it is shipped."""
        stopped = s.stopped
        if self.ask.requested and stopped == "time_limit":
            stopped = "interrupted"
        return certified(
            s.problem,
            s.machine,
            tol=self.model.tol,
            criterion=self.model.criterion,
            n_iter=s.n_iter,
            stopped=stopped,
            psd=self.psd,
            noise=s.noise,
        )


def chosen(model: Any, gram: Gram, problem: Problem, limits: Limits) -> Solver:
    """Return the solver that an estimator names, or the one that suits a problem, in its control."""
    solver = as_solver(model.solver) or suited(gram, problem)
    return solver.controlled(
        tol=model.tol,
        criterion=model.criterion,
        block_bytes=model._cache_bytes() // 2,
        limits=limits,
        listener=None,
    )


def solved(problem: Problem, solution: Solution, matrix: Gram, rows: np.ndarray) -> Solved:
    """Return the machine of a solution, and a bound on the error of its products."""
    machine = problem.machine(solution.b, solution.f)
    reached = solution.reached
    if problem.known is not None:
        return Solved(problem, machine, solution.n_iter, reached.stopped)
    noise = noise_of(matrix, rows, machine.coef)
    if reached.noise:
        # The products of the machine are those of the solution, in the machine's own scale.
        before, after = float(np.abs(problem.beta(reached.b)).sum()), float(np.abs(machine.coef).sum())
        noise = noise + reached.noise * (after / before if before > 0 else 1.0)
    return Solved(problem, machine, solution.n_iter, reached.stopped, noise, reached.note)


def keep_machines(model: Any, X: Any, split: Split, found: list[Solved]) -> None:
    """Give an estimator the machines that were found, packed, and what they know of themselves."""
    machines = [s.machine for s in found]
    split.pack(model, X, machines)
    model._keep(machines, split)
    model._keep_steps([s.n_iter for s in found])


def noise_of(matrix: Gram, rows: np.ndarray, coef: Float64) -> Float64:
    """Return a bound on the rounding error of products with some rows' part of a matrix."""
    if rows.size == matrix.n:
        return matrix.noise(coef)
    whole = np.zeros((matrix.n, *coef.shape[1:]))
    whole[rows] = coef
    noise: Float64 = matrix.noise(whole)[rows]
    return noise


def fit_machine(model: Any, X: Any, y: Any, sample_weight: Any) -> Fitted:
    """Fit an estimator; return what it may go on with.

    Parameters
    ----------
    model : KernelMachine
        The estimator.
    X, y, sample_weight
        What ``fit`` was given.
    """
    limits = Limits(max_iter=model.max_iter, time_limit=model.time_limit)
    given, kernel = X, model._kernel()
    model._check_parameters()
    X = model._check_X(X, kernel=kernel, reset=True)
    split: Split = model._split(X, y, sample_weight)
    kernel.validate()
    resolved = kernel.resolve_on(X, None if sample_weight is None else split.base)
    model._check_feasible(split)
    starts = model._starts(split) if model.warm_start else None
    model._begin(split)
    model.kernel_ = resolved
    model.shape_fit_ = tuple(X.shape) if hasattr(X, "shape") else (split.n,)
    model._gamma = getattr(resolved, "gamma", 0.0)
    workers = model._workers()
    # What overflows is refused by what comes out of it, in words.
    quiet = np.errstate(over="ignore", invalid="ignore")
    with stoppable(limits, model.on_interrupt == "keep") as stop, workers.scope(), quiet:
        watch = Watch(model, stop, given, y, sample_weight, len(split.tasks))
        matrix = model._matrix(resolved, X, split, workers)
        fit = Fit(model, X, split, workers, stop, watch, starts)
        refuse_indefinite(resolved, X, np.random.default_rng(0))
        fit.known_psd = matrix.is_psd
        if model._definite_first:
            fit.psd = fit.known_psd = matrix.is_psd = model._psd(resolved, matrix)
        found: list[Solved] = model._solve(fit, matrix)
        if not model._definite_first:  # whoever stops a long fit has something to keep by now
            fit.psd = model._psd(resolved, matrix)
        if found:
            keep_machines(model, X, split, found)
            model._keep_links(fit.calibration)
            model._keep_history(watch.history)
            certificate = combine([fit.certificate(s) for s in found])
    check_finite_model(model)
    if found:
        notes = [s.note for s in found if s.note]
        model._conclude(certificate, stop.asked_by_callback, notes)
    watch.end()
    return Fitted(X, split, matrix)


def certify_machine(model: Any, X: Any, y: Any, sample_weight: Any) -> Certificate:
    """Recompute the certificate of a fitted estimator from nothing but the model and the data, in float64.

    Parameters
    ----------
    model : KernelMachine
        The estimator.
    X, y, sample_weight
        The data given to ``fit``.
    """
    X = model._check_X(X, kernel=model.kernel_, reset=False)
    model._fitted_length(X)
    split: Split = model._split_again(X, y, sample_weight)
    workers = model._workers()
    segments, outputs = model._segments()
    F = cross_products(model.kernel_, X, model._reference(), segments, outputs, workers)
    matrix = model._gram(model.kernel_, X, workers, double=True)
    known = model.certificate_
    psd = not math.isnan(known.gap)
    matrix.is_psd = psd
    parts = []
    for k, task in enumerate(split.tasks):
        rows = task.rows
        part = matrix if rows.size == matrix.n else matrix.subset(rows)
        problem = model._stated(task.target, split.weight[rows], part)
        coef = split.unpack(model, k)
        machine = model._shipped(k, coef, split.outputs(F, k))
        part_known = known.parts[k] if known.parts else known
        parts.append(
            certified(
                problem,
                machine,
                tol=model.tol,
                criterion=model.criterion,
                n_iter=part_known.n_iter,
                stopped=part_known.status,
                psd=psd,
                noise=part.noise(coef),
            )
        )
    return combine(parts)
