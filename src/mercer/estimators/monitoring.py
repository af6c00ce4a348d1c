"""Who looks on while a machine is fitted: the trace, the lines of ``verbose``, scikit-learn's callbacks."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mercer.problems import InfeasibleError
from mercer.solvers.completion import WAITING, Nearing
from mercer.solvers.progress import Listener, Progress

if TYPE_CHECKING:
    from mercer.estimators.fitting import Stop

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # scikit-learn before 1.9 has no callbacks, and its estimators no set_callbacks

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing."""


__all__ = ["CallbackSupportMixin", "Trace", "Watch"]

Trace = list[dict[str, float]]
Snapshot = Callable[[Progress], dict[str, Any]]
PAUSE = 0.5  # seconds between two lines of verbose=True


class Watch:
    """All that looks on during one fit. Where nobody does, solvers are given no listener and lose no time.

    Parameters
    ----------
    estimator : KernelMachine
        Its ``trace``, ``verbose`` and callbacks say what is wanted.
    stop : Stop
        Called when a callback asks for an early end.
    X, y, sample_weight
        What ``fit`` was given, for the callbacks.
    problems : int
        How many problems the fit consists of.
    """

    def __init__(
        self, estimator: Any, stop: Stop, X: Any, y: Any, sample_weight: Any, problems: int = 1
    ) -> None:
        self.estimator, self.stop, self.problems = estimator, stop, problems
        self.history: list[Trace] = [[] for _ in range(problems)]
        self.last_line = -PAUSE
        told = None if estimator._tells_of_itself else WAITING.get()
        self.nearing = None
        if told is not None:
            self.nearing = Nearing(told, problems, estimator.tol, getattr(estimator, "criterion", "gap"))
        self.root: Any = None
        self.data: dict[str, Any] = {}
        if getattr(estimator, "_skl_callbacks", None):
            weights = None if sample_weight is None else {"sample_weight": sample_weight}
            self.data = {"estimator": estimator, "X": X, "y": y, "metadata": weights}
            self.root = estimator._init_callback_context(max_subtasks=None if problems == 1 else problems)
            self.root.call_on_fit_task_begin(**self.data)

    @property
    def one_at_a_time(self) -> bool:
        """Whether problems must not be solved side by side: callbacks need not bear threads."""
        return self.root is not None

    def listener(self, number: int = 0, snapshot: Snapshot | None = None) -> Listener | None:
        """Return what a solver calls after each round of problem ``number``; None if nobody looks.

        Parameters
        ----------
        number : int
            Which problem.
        snapshot : callable, optional
            Returns the attributes of an estimator fitted so far, for callbacks that score it.
        """
        wanted: list[Listener] = []
        if self.estimator.trace:
            wanted.append(lambda p: self.history[number].append(p.row()))
        if self.estimator.verbose:
            wanted.append(lambda p: self._print(number, p))
        if self.root is not None:
            wanted.append(self._announcer(number, snapshot))
        if self.nearing is not None:
            wanted.append(self.nearing.listener(number))
        if len(wanted) < 2:
            return wanted[0] if wanted else None

        def tell(p: Progress) -> None:
            for listen in wanted:
                listen(p)

        return tell

    def _print(self, number: int, p: Progress) -> None:
        now = time.perf_counter()
        if self.estimator.verbose < 2 and now - self.last_line < PAUSE:
            return
        self.last_line = now
        which = "" if self.problems == 1 else f" problem {number + 1} of {self.problems}"
        sys.stdout.write(
            f"[{type(self.estimator).__name__}]{which} {p.seconds:8.2f} s  step {p.n_iter:>9}  KKT violation "
            f"{p.violation:.3e}  gap {p.gap:.3e}  support vectors {p.n_support}\n"
        )

    def _announcer(self, number: int, snapshot: Snapshot | None) -> Listener:
        parent = self.root
        if self.problems > 1:
            parent = self.root.subcontext(task_name=f"problem {number + 1}", max_subtasks=None)
            parent.call_on_fit_task_begin(**self.data)

        def announce(p: Progress) -> None:
            task = parent.subcontext(task_name="round")
            task.call_on_fit_task_begin(**self.data)
            attributes = None if snapshot is None else lambda: _quietly(snapshot, p)
            if task.call_on_fit_task_end(**self.data, reconstruction_attributes=attributes):
                self.stop.asked_by_callback = True
                self.stop()

        return announce

    def solved(self, number: int) -> None:
        """Say that one of the problems is solved."""
        if self.nearing is not None:
            self.nearing.done(number)

    def end(self) -> None:
        """Close: the estimator is fitted."""
        for number in range(self.problems):
            self.solved(number)
        if self.root is not None:
            for task in self.root._children_map.values() if self.problems > 1 else ():
                task.call_on_fit_task_end(**self.data)
            self.root.call_on_fit_task_end(**self.data, reconstruction_attributes={})
        if self.estimator.verbose:
            sys.stdout.write(f"[{type(self.estimator).__name__}] {self.estimator.certificate_}\n")


def _quietly(snapshot: Snapshot, p: Progress) -> dict[str, Any] | None:
    """Return a snapshot without the warnings that are for the end of a fit; None if there is no machine."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return snapshot(p)
        except InfeasibleError:
            return None
