"""What every solver takes and returns, when it gives up, and what it may need of a problem."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np

from mercer.arrays import Float64
from mercer.gram import Gram
from mercer.problems import Certificate, InfeasibleError, Problem, Values
from mercer.problems.certificate import concluded
from mercer.solvers.many import Many
from mercer.solvers.progress import Listener
from mercer.threads import Workers

Status = Literal[
    "optimal",
    "stationary",
    "ill_conditioned",
    "iteration_limit",
    "time_limit",
    "interrupted",
    "infeasible",
    "unbounded",
]
Criterion = Literal["kkt", "gap", "growth"]


@dataclass
class Limits:
    """When to give up: steps (-1: never) and seconds (None: never), counted from its creation."""

    max_iter: int = -1
    time_limit: float | None = None
    started: float = field(default_factory=lambda: time.perf_counter())

    def steps_left(self, done: int) -> int:
        """Return how many more steps are allowed."""
        return 1 << 62 if self.max_iter < 0 else max(0, self.max_iter - done)

    def left(self) -> float | None:
        """Return the seconds that are left; None if they are not limited."""
        if self.time_limit is None:
            return None
        return max(0.0, self.time_limit - (time.perf_counter() - self.started))

    def out_of_time(self) -> bool:
        """Return whether the seconds are used up."""
        return self.left() == 0.0

    def seconds_left(self) -> float:
        """Return how many seconds are left, infinity if they are not limited."""
        if self.time_limit is None:
            return math.inf
        return self.time_limit - (time.perf_counter() - self.started)

    @property
    def unlimited(self) -> bool:
        """Whether neither steps nor seconds are limited."""
        return self.max_iter < 0 and self.time_limit is None

    def part(self, share: float = 1.0) -> TimeShare:
        """Return limits without steps that end when a share of these limits' seconds is used up."""
        return TimeShare(whole=self, share=share)


@dataclass
class TimeShare(Limits):
    """A share of the seconds of other limits; whoever stops those stops these."""

    whole: Limits = field(default_factory=Limits)
    share: float = 1.0

    def __post_init__(self) -> None:
        self.started = self.whole.started

    def out_of_time(self) -> bool:
        """Return whether the share is used up."""
        return self.seconds_left() <= 0.0

    def seconds_left(self) -> float:
        """Return how many seconds of the share are left."""
        if self.whole.time_limit is None:
            return math.inf
        return self.share * self.whole.time_limit - (time.perf_counter() - self.started)

    @property
    def unlimited(self) -> bool:
        """Whether seconds are not limited."""
        return self.whole.time_limit is None


@dataclass(frozen=True)
class Reached:
    """Where an algorithm stopped, and why. It claims nothing: what the point is worth is computed from it.

    Attributes
    ----------
    b : array
        The dual variables.
    f : array
        K beta, in float64 sums.
    n_iter : int
        Steps.
    stopped : str
        The limit that stopped the algorithm, "ill_conditioned" where rounding did, or "optimal" where it
        believes that the criterion is met.
    noise : float
        A bound on the error of f, beyond the rounding of float64 sums.
    multipliers : array, optional
        Those that belong to b, where the algorithm knows better ones than the problem would find.
    note : str
        What the user should know.
    condition : float
        The condition number of the last linear system, nan where none is known.
    """

    b: Float64
    f: Float64
    n_iter: int
    stopped: Status
    noise: float = 0.0
    multipliers: Float64 | None = None
    note: str = ""
    condition: float = math.nan


@dataclass(frozen=True)
class Solution:
    """The point that an algorithm reached, with what it is worth.

    Attributes
    ----------
    problem : Problem
        What was solved.
    reached : Reached
        The point.
    noise : float or (n,) float64
        A bound on the error of f.
    tol, criterion
        What was asked for.
    psd : bool
        Whether the matrix is not known to be indefinite.
    """

    problem: Problem = field(repr=False)
    reached: Reached
    noise: Float64 | float
    tol: float
    criterion: Criterion
    psd: bool = True

    @cached_property
    def values(self) -> Values:
        """Primal, dual, gap, violation, multipliers at the point; a shipped machine has its own."""
        reached, known = self.reached, self.problem.known
        if known is not None:
            return known
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite in the end is refused
            return self.problem.evaluate(reached.b, reached.f, reached.multipliers, self.noise)

    @property
    def b(self) -> Float64:
        """The dual variables."""
        return self.reached.b

    @property
    def f(self) -> Float64:
        """K beta."""
        return self.reached.f

    @property
    def n_iter(self) -> int:
        """Steps."""
        return self.reached.n_iter

    @property
    def status(self) -> str:
        """What the values deserve: see :class:`~mercer.problems.Certificate`."""
        return self.certificate(self.psd).status

    def certificate(self, psd: bool = True) -> Certificate:
        """Return the certificate of the point; without a positive semi-definite kernel there is no gap."""
        return concluded(
            self.problem,
            self.values,
            tol=self.tol,
            criterion=self.criterion,
            n_iter=self.n_iter,
            stopped=self.reached.stopped,
            psd=psd,
        )


def judged(gram: Gram, problem: Problem, reached: Reached, tol: float, criterion: Criterion) -> Solution:
    """Return the point that an algorithm reached with what it is worth, refusing one that is not finite."""
    if not (np.isfinite(reached.b).all() and np.isfinite(reached.f).all()):
        raise InfeasibleError(
            "the objective decreases without bound: the kernel is not positive semi-definite, or its values "
            "overflow. Use a loss whose slope is bounded (hinge, epsilon_insensitive, deviances), a smaller "
            "C, precision='double', or another kernel; or scale the features"
        )
    noise = problem.noise(gram, reached.b) + reached.noise
    return Solution(problem, reached, noise, tol, criterion, gram.is_psd is not False)


class UnsuitableSolverError(ValueError):
    """A solver was asked to solve a problem that is not of its kind."""


@dataclass(frozen=True)
class Need:
    """What a solver needs of a problem: a test, and the sentence for those who fail it.

    Attributes
    ----------
    met : callable
        Given the solver, the Gram and the problem, whether the need is met.
    why : callable
        Given the same, the rest of a sentence that begins with the solver's name.
    """

    met: Callable[[Any, Gram, Any], bool]
    why: Callable[[Any, Gram, Any], str]


@dataclass(kw_only=True, repr=False)
class Solver:
    """Base of the solvers: options of the algorithm, and what the caller controls.

    An estimator's ``solver`` parameter takes a solver object too; the fields below are then set from the
    estimator's own parameters, and must be left alone in the object.

    Parameters
    ----------
    tol : float
        Where to stop: see ``criterion``.
    criterion : {"kkt", "gap", "growth"}
        What ``tol`` measures: the largest KKT violation, the relative gap, or the relative growth of the dual
        from round to round. The last proves nothing; the certificate tells the true gap all the same.
    block_bytes : int
        Memory for kernel values of a working set, or of all points.
    limits : Limits
        Steps and seconds.
    listener : callable, optional
        Called with a :class:`Progress` after every round.
    """

    tol: float = 1e-3
    criterion: Criterion = "kkt"
    block_bytes: int = 100_000_000
    limits: Limits | None = None
    listener: Listener | None = None

    name: ClassVar[str] = ""
    needs: ClassVar[tuple[Need, ...]] = ()
    accuracy: ClassVar[float] = 0.0  # the least relative gap that the algorithm reaches in practice
    fixes_bias: ClassVar[bool] = False  # whether a bias is one more coordinate to it, and hence penalised
    side_by_side: ClassVar[range] = range(400, 4097)  # points of problems that are solved several at a time
    single_precision: ClassVar[bool] = False  # whether kernel values in float32 are of use to it

    def restate(self, problem: Any, diag: Float64) -> Any:
        """Return the problem in the form that this solver takes, given the diagonal of the kernel matrix."""
        return problem

    def check(self, gram: Gram, problem: Problem) -> None:
        """Refuse, in one sentence, a problem that lacks what this solver needs."""
        need = self.unmet(gram, problem)
        if need is not None:
            raise UnsuitableSolverError(f"solver={self.name!r} {need.why(self, gram, problem)}")

    def unmet(self, gram: Gram, problem: Problem) -> Need | None:
        """Return the first need that a problem does not meet, None if it meets them all."""
        return next((need for need in self.needs if not need.met(self, gram, problem)), None)

    def solve(self, gram: Gram, problem: Problem, start: Float64 | None = None) -> Solution:
        """Return a solution, refusing what this solver cannot solve.

        Parameters
        ----------
        gram : Gram
            The matrix that the problem's variables see.
        problem : Problem
            What is minimised.
        start : array, optional
            Where to begin: any vector; it is made feasible first.
        """
        self.check(gram, problem)
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite in the end is refused
            return judged(gram, problem, self.run(gram, problem, start), self.tol, self.criterion)

    def solve_many(self, gram: Gram, many: Many, workers: Workers) -> None:
        """Solve many problems over parts of one matrix, several at a time where that pays.

        Parameters
        ----------
        gram : Gram
            The whole matrix.
        many : Many
            The problems; it is told of each solution.
        workers : Workers
            Threads.
        """
        sizes = [rows.size for rows in many.rows]
        if len(sizes) > 1:
            gram = gram.shared(self.block_bytes)
        together = (
            len(sizes) > 1
            and workers.threads > 1
            and gram.independent_subsets
            and many.side_by_side
            and max(sizes) in self.side_by_side
        )
        share = min(workers.threads, len(sizes)) if together else 1

        def solve(k: int) -> None:
            rows = many.rows[k]
            part = gram if rows.size == gram.n else gram.subset(rows, Workers(1) if together else None)
            part = many.prepared(k, part)
            problem, start = many.state(k, part)
            listener = many.listener(k, problem)
            solver = replace(self, block_bytes=self.block_bytes // share, listener=listener)
            many.solved(k, part, problem, solver.solve(problem.view(part), problem, start))

        if together:
            workers.each(len(sizes), solve, stop=many.stop)
        else:
            for k in range(len(sizes)):
                solve(k)

    def run(self, gram: Gram, problem: Any, start: Float64 | None) -> Reached:
        """Run the algorithm on a problem that meets its needs; return where it stopped."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """Return the constructor's call, defaults left out."""
        given = [(f.name, getattr(self, f.name)) for f in fields(self)]
        shown = {f.name: f.default for f in fields(self)}
        text = ", ".join(f"{name}={value!r}" for name, value in given if repr(value) != repr(shown[name]))
        return f"{type(self).__name__}({text})"

    # -- as a parameter of an estimator ----------------------------------------------------------------------

    def controlled(self, **controls: Any) -> Self:
        """Return a copy with the caller's controls, which this object must have left alone."""
        for given in fields(Solver):
            if getattr(self, given.name) != given.default and given.default is not MISSING:
                hint = {"block_bytes": "cache_size", "limits": "max_iter and time_limit"}
                theirs = {"listener": "trace=True"}.get(given.name, hint.get(given.name, given.name))
                raise ValueError(
                    f"solver={type(self).__name__}({given.name}=...): inside an estimator this is set by the "
                    f"estimator's own {theirs}; leave it out of the solver"
                )
        return replace(self, **controls)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the fields by name, for scikit-learn's ``clone`` and ``set_params``."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def set_params(self, **params: Any) -> Self:
        """Change fields by name, and check the result."""
        names = [f.name for f in fields(self)]
        for name, value in params.items():
            if name not in names:
                raise ValueError(
                    f"Invalid parameter {name!r} for solver {self!r}. Valid parameters are: {names!r}."
                )
            setattr(self, name, value)
        replace(self)  # runs the checks of __post_init__ again
        return self
