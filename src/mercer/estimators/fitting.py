"""The one fit: validate, resolve, split the target, state, solve, pack, conclude.

Limits, Ctrl-C, callbacks, warm starts, traces, progress and threads are handled here and nowhere else. An
estimator says what its target is made of (``_split``), what is minimised (``_problem``) and what it keeps.
"""

from __future__ import annotations

import copy
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from types import FrameType
from typing import Any

import numpy as np

from mercer.arrays import Float64
from mercer.estimators.monitoring import Trace, Watch
from mercer.estimators.splits import Split
from mercer.estimators.verdict import check_finite_model, definite, noise_of, wants_probabilities
from mercer.gram import Gram
from mercer.kernels import Kernel, MultipleKernel
from mercer.kernels.indefinite_minors import refuse_indefinite
from mercer.problems import Certificate, Machine, Problem, certified, combine
from mercer.solvers import Limits, Progress, Solution, Solver, as_solver, suited
from mercer.solvers.completion import WAITING
from mercer.solvers.many import Many
from mercer.threads import Workers


class Stop:
    """A request to stop, seen by every solve that shares the limits; inside its block, Ctrl-C is one.

    The first Ctrl-C inside the block is a request to stop, and the second the usual exception, but only when
    what was reached is to be kept. Otherwise, outside the main thread (where no signal arrives), and where
    the program has a handler of its own, Ctrl-C does what it always does.

    Parameters
    ----------
    limits : Limits
        Shared by all solves of one fit. A request leaves them no more time.
    keep : bool
        Whether an unfinished model is wanted.
    """

    def __init__(self, limits: Limits, keep: bool = False) -> None:
        self.limits, self.keep = limits, keep
        self.requested = False
        self.asked_by_callback = False  # then what was reached is wanted, whatever Ctrl-C would do

    def __call__(self) -> None:
        """Ask all solves to stop."""
        self.requested = True
        self.limits.time_limit = 0.0

    def __enter__(self) -> Stop:
        self.keep = (
            self.keep
            and threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )
        if self.keep:
            signal.signal(signal.SIGINT, self._signalled)
        return self

    def __exit__(self, *error: object) -> None:
        if self.keep:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self()


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
    watch : Watch, optional
        Trace, ``verbose``, callbacks, bars.
    starts : list of arrays, optional
        Coefficients of a previous fit.
    free : FreeColumns, optional
        Columns beside the kernel that cost nothing.
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        split: Split,
        workers: Workers,
        stop: Stop,
        watch: Watch | None,
        starts: list[Any] | None,
        free: Any = None,
    ) -> None:
        self.model, self.X, self.split, self.workers = model, X, split, workers
        self.ask, self.watch, self.starts, self.free = stop, watch, starts, free
        self.rows = [task.rows for task in split.tasks]
        self.side_by_side = watch is None or not watch.one_at_a_time
        self.history: list[Trace] = [[] for _ in self.rows] if watch is None else watch.history
        self.solutions: list[Any] = [None] * len(self.rows)
        self.psd = True  # whether a gap may be claimed
        self.known_psd: bool | None = None  # what is known of the matrix while problems are solved
        self.first: Any = None  # the first problem, once it is stated
        self.calibration = model._calibration(split) if wants_probabilities(model) else None

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
        problem: Problem = self.stated(k, self.split.tasks[k].target, weight, part)
        return problem

    def stated(self, k: int, target: Any, weight: Float64, part: Gram) -> Any:
        """Return a problem on the rows of problem k, with its columns beside the kernel."""
        return self.model._stated(target, weight, part, beside(self.free, self.rows[k]))

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
        if self.watch is None:
            return None
        look = None
        if len(self.rows) == 1 and self.model._can_be_looked_at:
            look = lambda p: self.snapshot(p, problem)  # noqa: E731
        return self.watch.listener(k, look)

    def solved(self, k: int, part: Gram, problem: Problem, solution: Solution) -> None:
        """Take the solution of problem k."""
        if solution.reached.stopped == "interrupted":
            self.ask()
        self.solutions[k] = solution
        if self.watch is not None:
            self.watch.solved(k)
        if self.calibration is not None:
            task, rows = self.split.tasks[k], self.rows[k]
            state = partial(self.stated, k)
            self.calibration.learn(
                k, task, part, problem, solution, state, self.split.weight[rows], self.chosen
            )

    def stacked(self, gram: Gram) -> Any:
        """Return all problems as one whose variables stand one after the other, if nobody looks on."""
        model = self.model
        watched = model.trace or model.verbose or not self.side_by_side
        if watched or self.starts is not None or self.calibration is not None or self.free is not None:
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
        keep_machines(twin, self.X, self.split, [found], self.free)
        twin.certificate_ = proof(self.model, [found], self.psd)
        return dict(vars(twin))


def proof(model: Any, found: Sequence[Solved], psd: bool = True) -> Certificate:
    """Return the certificate of machines as they are shipped.

    Parameters
    ----------
    model : estimator
        Its ``tol`` and ``criterion`` say what was asked for.
    found : sequence of Solved
        The machines.
    psd : bool
        Whether the kernel is positive semi-definite: only then is there a gap.
    """
    asked = {"tol": model.tol, "criterion": model.criterion, "psd": psd}
    return combine(
        [
            certified(s.problem, s.machine, n_iter=s.n_iter, stopped=s.stopped, noise=s.noise, **asked)
            for s in found
        ]
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
    noise = noise_of(matrix, rows, machine.coef, problem)
    if reached.noise:
        # The products of the machine are those of the solution, in the machine's own scale.
        before, after = float(np.abs(problem.beta(reached.b)).sum()), float(np.abs(machine.coef).sum())
        noise = noise + reached.noise * (after / before if before > 0 else 1.0)
    return Solved(problem, machine, solution.n_iter, reached.stopped, noise, reached.note)


def wants_columns(model: Any, kernel: Kernel, X: Any) -> bool:
    """Return whether columns beside the kernel that cost nothing are asked for, by user or kernel."""
    wanted = getattr(model, "parametric", None)
    if wanted is None or not isinstance(wanted, str) or wanted != "auto":
        return wanted is not None
    return getattr(X, "ndim", 1) == 2 and kernel.trend_on(int(X.shape[1])) is not None


def beside(free: Any, rows: np.ndarray) -> Any:
    """Return what puts columns that cost nothing beside the kernel of a problem; None without any."""
    return None if free is None else lambda problem: free.beside(problem, rows)


def keep_machines(model: Any, X: Any, split: Split, found: list[Solved], free: Any = None) -> None:
    """Give an estimator the machines that were found, packed, and what they know of themselves."""
    machines = [s.machine for s in found]
    if free is not None:
        model._keep_parametric(free, machines)
    elif hasattr(model, "parametric"):
        model.parametric_ = None
        model.__dict__.pop("parametric_coef_", None)  # of an earlier fit
    split.pack(model, X, machines)
    model._keep(machines, split)
    model._keep_steps([s.n_iter for s in found])


@contextmanager
def working(model: Any, limits: Limits, workers: Workers | None = None) -> Iterator[Stop]:
    """Do what a fit computes inside: Ctrl-C asks it to stop, its threads are its own, overflow is silent.

    Parameters
    ----------
    model : estimator
        Its ``on_interrupt`` says whether an unfinished machine is wanted.
    limits : Limits
        Shared by all solves of the fit.
    workers : Workers, optional
        Threads.
    """
    threads = nullcontext() if workers is None else workers.scope()
    # What overflows is refused by what comes out of it, in words.
    quiet = np.errstate(over="ignore", invalid="ignore")
    with Stop(limits, model.on_interrupt == "keep") as stop, threads, quiet:
        yield stop


def weight_learner(model: Any, kernel: Kernel, X: Any, split: Split, sample_weight: Any) -> Any:
    """Return who learns the weights of several kernels with the machine; None for any other kernel."""
    model.__dict__.pop("kernel_weights_", None)  # of an earlier fit
    if not isinstance(kernel, MultipleKernel):
        return None
    from mercer.estimators.kernel_weights import WeightLearning

    return WeightLearning(model, kernel, X, split, sample_weight)


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
    model._check_feasible(split)
    rows = None if sample_weight is None else split.base
    learner = weight_learner(model, kernel, X, split, rows)
    resolved = kernel.resolve_on(X, rows) if learner is None else learner.resolved()
    free = model._free_columns(resolved, X) if wants_columns(model, resolved, X) else None
    starts = model._starts(split, resolved) if model.warm_start else None
    model._begin(split)
    model.kernel_ = resolved
    model.shape_fit_ = tuple(X.shape) if hasattr(X, "shape") else (split.n,)
    model._gamma = getattr(resolved, "gamma", 0.0)
    workers = model._workers()
    with working(model, limits, workers) as stop:
        looked_at = model.trace or model.verbose or getattr(model, "_skl_callbacks", None) or WAITING.get()
        watch = Watch(model, stop, given, y, sample_weight, len(split.tasks)) if looked_at else None
        fit = Fit(model, X, split, workers, stop, watch, starts, free)
        if learner is not None:
            resolved = learner.learn(fit)
        matrix = model._matrix(resolved, X, split, workers)
        if free is not None:  # the columns' part, which may be large, drowns the rest in single precision
            matrix = matrix.exact()
        if resolved.is_of_user:
            refuse_indefinite(resolved, X)
        if free is not None:
            matrix.is_psd = free.definite
        fit.known_psd = matrix.is_psd
        first = model._definite_first or (free is not None and not free.definite)
        if first:
            fit.psd = fit.known_psd = matrix.is_psd = definite(model, resolved, matrix, free, split.weight)
        found: list[Solved] = model._solve(fit, matrix)
        if not first:  # whoever stops a long fit has something to keep by now
            fit.psd = definite(model, resolved, matrix, free, split.weight)
        if found:
            keep_machines(model, X, split, found, free)
            if fit.calibration is not None:
                model._keep_links(fit.calibration)
            model._keep_history(fit.history)
            if stop.requested:
                found = [replace(s, stopped="interrupted") if s.stopped == "time_limit" else s for s in found]
            certificate = proof(model, found, fit.psd)
            if learner is not None:
                certificate = learner.certificate(certificate, found, workers)
    check_finite_model(model)
    if found:
        notes = [s.note for s in found if s.note]
        model._conclude(certificate, stop.asked_by_callback, notes)
    if watch is not None:
        watch.end()
    return Fitted(X, split, matrix)
