"""What the estimators of whole regularisation paths share."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from mercer.estimators.fitting import Solved, Stop, keep_machines, proof
from mercer.estimators.svm.path_lookups import PathLookups
from mercer.estimators.user_warnings import warn_user
from mercer.estimators.verdict import INDEFINITE
from mercer.gram import Gram
from mercer.gram.spectrum import spectrum
from mercer.kernels import Kernel
from mercer.problems import Certificate
from mercer.problems.parametric_family import ParametricFamily
from mercer.solvers.completion import WAITING, paced, share_of_way
from mercer.solvers.path.breakpoints import Path
from mercer.solvers.path.follow import PathSolver


def _along(tell: Callable[[float], None], number: int, of: int, end: float) -> Callable[[float, int], None]:
    """Return what tells how much of the way to the end of its parameter a path has come, in digits."""
    first: list[float] = []

    def listen(t: float, events: int) -> None:
        first.append(t)
        tell((number + share_of_way(first[0], t, end)) / of)

    return listen


class PathMixin(PathLookups):
    """Follow paths, which can then be looked up.

    The estimator has ``C``, ``C_min``, ``C_max`` and what every kernel machine has.

    Parameters
    ----------
    C_min : float, default=0.0
        Where the path begins; 0 for the very beginning.
    C_max : float, default=1e4
        Where it ends.
    degree, gamma, coef0
        Parameters of the kernels given by name.
    tol : float, default=1e-8
        The KKT violation that no knot may exceed without a warning (unless rounding alone explains it). The
        walk itself is as exact as float64 allows.
    cache_size : float, default=200
        Memory for the kernel matrix, in MB. It is kept whole: 8 n^2 bytes.
    verbose : bool, default=False
        Print a line per slice of the walk.
    time_limit : float, optional
        Seconds after which to stop; the path is exact as far as it has come.
    n_jobs : int, optional
        Threads for kernel values.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C during ``fit`` does: raise, or keep the path so far.
    """

    _range_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "C_min": [Interval(Real, 0.0, None, closed="left")],
        "C_max": [Interval(Real, 0.0, None, closed="neither")],
    }

    # The estimators are kernel machines without these choices: a path is exact, in double precision.
    criterion, precision, solver = "kkt", "double", "auto"
    shrinking, warm_start, trace = True, False, False
    _definite_first, _tells_of_itself = True, True

    C: float
    C_min: float
    C_max: float
    tol: float
    cache_size: float
    verbose: Any
    on_interrupt: str
    paths_: list[Path]
    _data: Any

    def _check_parameters(self) -> None:
        super()._check_parameters()  # type: ignore[misc]
        if not self.C_min < self.C_max:
            raise ValueError(f"C_min={self.C_min!r} must be less than C_max={self.C_max!r}")
        if not self.C_min <= self.C <= self.C_max:
            raise ValueError(
                f"C={self.C!r} is not on the path: it must be between C_min={self.C_min!r} and "
                f"C_max={self.C_max!r}"
            )

    def _psd(self, kernel: Kernel, matrix: Gram) -> bool:
        """Refuse what has no path: an indefinite matrix, or one that does not fit into memory."""
        need = 8e-6 * matrix.n**2
        if need > self.cache_size:
            raise ValueError(
                f"cache_size={self.cache_size!r} MB is too small: a path keeps the whole kernel matrix, "
                f"which takes {math.ceil(need)} MB for {matrix.n} rows"
            )
        if kernel.is_psd:
            return True
        ends = spectrum(matrix)
        if (
            kernel.is_psd is False
            or ends.asymmetry
            or ends.smallest < -INDEFINITE * max(ends.largest, 1e-300)
        ):
            raise ValueError(
                f"kernel={kernel!r} has a matrix that is not positive semi-definite (its smallest eigenvalue "
                f"is about {ends.smallest:.3g}, its largest {ends.largest:.3g}): its solutions form no path"
            )
        return True

    def _follow(self, K: np.ndarray, family: ParametricFamily, stop: Stop, number: int, of: int) -> Path:
        first = np.inf if self.C_min == 0.0 else 1.0 / self.C_min
        solver = PathSolver(limits=stop.limits, listener=self._listen(number, of))
        path = solver.solve(K, family, 1.0 / self.C_max, first)
        if stop.requested and path.status == "time_limit":
            path = replace(path, status="interrupted")
        return path

    def _listen(self, number: int, of: int) -> Callable[[float, int], None] | None:
        told = WAITING.get()
        if told is not None:
            return _along(paced(told), number, of, 1.0 / self.C_max)
        if not self.verbose:
            return None
        name = type(self).__name__ if of == 1 else f"{type(self).__name__} {number + 1}/{of}"

        def listen(t: float, events: int) -> None:
            sys.stdout.write(f"[{name}] {events:>7} events, C = {1.0 / t:.3e} of {self.C_max:.3e}\n")

        return listen

    def _judge(self) -> None:
        """Say so when a path ends early, or is less exact than asked for."""
        name = type(self).__name__
        statuses = {path.status for path in self.paths_}
        if "interrupted" in statuses and self.on_interrupt == "raise":
            raise KeyboardInterrupt
        for status, what in (("time_limit", "time_limit"), ("iteration_limit", "max_iter")):
            if status in statuses:
                warn_user(
                    f"{name} stopped at {what}={getattr(self, what)}: the path reaches "
                    f"C={self.C_range_[1]:.4g} instead of C_max={self.C_max:.4g}. It is exact so far.",
                    ConvergenceWarning,
                )
        self.kkt_violation_ = 0.0
        for path in self.paths_:
            violations, _ = path.verdict()
            rounding = path.rounding()
            self.kkt_violation_ = max(self.kkt_violation_, float(violations.max()))
            worst = int(np.argmax(violations - rounding))
            if violations[worst] > max(self.tol, float(rounding[worst])):
                warn_user(
                    f"{name}: at C={1.0 / path.t[worst]:.4g} the KKT violation is {violations[worst]:.3g}, "
                    f"above tol={self.tol:g}. Scale the features, or lower C_max.",
                    ConvergenceWarning,
                )

    def _nearest(self) -> float:
        """Return C, or the largest value reached when the path ends before."""
        return min(float(self.C), self.C_range_[1])

    # -- the fit -----------------------------------------------------------------------------------------

    def _family(self, target: np.ndarray, weight: np.ndarray) -> ParametricFamily:
        """Return the problems of one part of the target, for every C."""
        raise NotImplementedError

    def _remember(self, X: Any, split: Any) -> None:
        """Store what the machine at any C is made of."""
        raise NotImplementedError

    def _solve(self, fit: Any, matrix: Gram) -> list[Solved]:
        every = np.arange(matrix.n)
        K = matrix.exact_block(every, every)
        tasks, weight = fit.split.tasks, fit.split.weight
        self.paths_ = []
        for number, task in enumerate(tasks):
            rows = task.rows
            part = K if rows.size == matrix.n else K[np.ix_(rows, rows)]
            family = self._family(task.target, weight[rows])
            self.paths_.append(self._follow(part, family, fit.ask, number, len(tasks)))
        self._remember(fit.X, fit.split)
        self._judge()
        return self._solved(self._nearest())

    def _conclude(self, certificate: Certificate, keep: bool = False, notes: Any = ()) -> None:
        """Store the certificate of the machine at C; what there is to say of the path has been said."""
        self.certificate_ = certificate
        self.fit_status_ = int(any(path.status != "optimal" for path in self.paths_))

    def _solved(self, C: float) -> list[Solved]:
        """Return the machines of a value of C with their problems."""
        found = []
        for path in self.paths_:
            dual, solution = path.solution(C, self.tol)
            machine = dual.machine(solution.b, solution.f)
            found.append(Solved(dual, machine, solution.n_iter, "optimal", path.noise(machine.coef)))
        return found

    def _give(self, model: Any, C: float, split: Any) -> Any:
        """Give a model what a fit at C would have given it."""
        found = self._solved(C)
        keep_machines(model, self._data, split, found)
        model.certificate_ = proof(self, found)
        model.fit_status_ = 0
        return model
