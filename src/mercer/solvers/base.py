"""What every solver takes and returns, and what it may need of a problem."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from mercer.arrays import Float64
from mercer.gram import Gram
from mercer.problems import Certificate, Dual, InfeasibleError, Values, relative

Status = Literal["optimal", "stationary", "iteration_limit", "time_limit", "interrupted"]
Criterion = Literal["kkt", "gap", "growth"]


@dataclass
class Limits:
    """When to give up: steps (-1: never) and seconds (None: never), counted from its creation."""

    max_iter: int = -1
    time_limit: float | None = None
    started: float = field(default_factory=time.perf_counter)

    def steps_left(self, done: int) -> int:
        """Return how many more steps are allowed."""
        return 1 << 62 if self.max_iter < 0 else max(0, self.max_iter - done)

    def out_of_time(self) -> bool:
        """Return whether the seconds are used up."""
        return self.time_limit is not None and time.perf_counter() - self.started >= self.time_limit


@dataclass(frozen=True)
class Progress:
    """One line of a trace; ``b`` and ``f`` are the solver's own arrays, to be looked at only."""

    n_iter: int
    seconds: float
    violation: float
    primal: float
    dual: float
    gap: float
    margin: float
    n_support: int
    evaluations: int
    b: Float64 = field(repr=False, compare=False)
    f: Float64 = field(repr=False, compare=False)
    target: float = math.nan  # the violation at which the solver stops, where it knows

    def row(self) -> dict[str, float]:
        """Return the line under the names of ``history_``."""
        return {
            "n_iter": self.n_iter,
            "seconds": self.seconds,
            "dual": self.dual,
            "primal": self.primal,
            "gap": self.gap,
            "kkt_violation": self.violation,
            "margin": self.margin,
            "n_support": self.n_support,
            "kernel_evaluations": self.evaluations,
        }


Listener = Callable[[Progress], None]


class Onlooker:
    """A listener that is content with a look now and then, so that no solve becomes slower for its sake.

    Parameters
    ----------
    listen : callable
        The listener.
    pause : float
        Seconds between two looks.
    """

    def __init__(self, listen: Listener, pause: float) -> None:
        self.listen, self.pause = listen, pause
        self.last = -math.inf

    @property
    def due(self) -> bool:
        """Whether it is time for a look."""
        return time.perf_counter() - self.last >= self.pause

    def __call__(self, p: Progress) -> None:
        """Look."""
        self.last = time.perf_counter()
        self.listen(p)


def wants_to_know(listener: Listener | None) -> bool:
    """Return whether a listener is there and wants to be told now."""
    return listener is not None and (not isinstance(listener, Onlooker) or listener.due)


def wants_every_line(listener: Listener | None) -> bool:
    """Return whether a listener is there that records: its lines must not depend on the clock."""
    return listener is not None and not isinstance(listener, Onlooker)


def progress(
    problem: Dual,
    b: Float64,
    f: Float64,
    n_iter: int,
    limits: Limits,
    evaluations: int,
    target: float = math.nan,
) -> Progress:
    """Return where a solve stands; the margin is nan where there is none (yet)."""
    values = problem.evaluate(b, f)
    margin = math.nan
    if problem.has_margin:
        try:
            margin = problem.machine(b, f).margin
        except InfeasibleError:  # a hard margin that does not exist: the solver is about to say so
            margin = 0.0
    return Progress(
        n_iter,
        time.perf_counter() - limits.started,
        values.violation,
        values.primal,
        values.dual,
        values.gap,
        margin,
        int(np.count_nonzero(problem.beta(b))),
        evaluations,
        b,
        f,
        target,
    )


@dataclass(frozen=True)
class Solution:
    """The point a solver stopped at, with its proof.

    Attributes
    ----------
    b : (copies n,) float64
        The dual variables.
    f : (n,) float64
        K beta, recomputed in float64 at the end.
    values : Values
        Primal, dual, gap, violation, multipliers there.
    n_iter : int
        Steps.
    status : str
        Why it stopped.
    """

    b: Float64
    f: Float64
    values: Values
    n_iter: int
    status: Status

    def certificate(self, criterion: str, psd: bool) -> Certificate:
        """Return the certificate; without a positive semi-definite kernel there is no gap."""
        v = self.values
        if not psd:
            status = "stationary" if self.status == "optimal" else self.status
            nan = float("nan")
            return Certificate(v.primal, v.dual, nan, nan, v.violation, self.n_iter, status, criterion)
        return Certificate(
            v.primal,
            v.dual,
            v.gap,
            relative(v.gap, v.primal, v.dual),
            v.violation,
            self.n_iter,
            self.status,
            criterion,
        )


class UnsuitableSolverError(ValueError):
    """A solver was asked to solve a problem that is not of its kind."""


@dataclass(frozen=True)
class Need:
    """What a solver needs of a problem: a test, and the sentence for those who fail it.

    Attributes
    ----------
    met : callable
        Given the solver, the Gram and the Dual, whether the need is met.
    why : callable
        Given the same, the rest of a sentence that begins with the solver's name.
    """

    met: Callable[[Solver, Gram, Dual], bool]
    why: Callable[[Solver, Gram, Dual], str]


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
    single_precision: ClassVar[bool] = False  # whether kernel values in float32 are of use to it

    def restate(self, problem: Dual, diag: Float64) -> Dual:
        """Return the problem in the form that this solver takes, given the diagonal of the kernel matrix."""
        return problem

    def check(self, gram: Gram, problem: Dual) -> None:
        """Refuse, in one sentence, a problem that lacks what this solver needs."""
        for need in self.needs:
            if not need.met(self, gram, problem):
                raise UnsuitableSolverError(f"solver={self.name!r} {need.why(self, gram, problem)}")

    def solve(self, gram: Gram, problem: Dual, start: Float64 | None = None) -> Solution:
        """Return a solution from ``start`` (any vector; it is made feasible first)."""
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
