"""A grid on shared kernel matrices: distances once, a matrix per kernel, walks along C in every fold."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from mercer.arrays import Index
from mercer.estimators.machine import KernelMachine
from mercer.estimators.verdict import check_finite_diagonal
from mercer.gram import Workers
from mercer.gram.base import MatrixGram
from mercer.gram.build import _needs_double
from mercer.gram.shared_statistic import SharedStatistic
from mercer.kernels import Kernel, Precomputed
from mercer.kernels.data import size, take
from mercer.selection.matrix_fits import Fitted, Rows
from mercer.selection.parameter_grids import chains_along_c, short
from mercer.solvers import Limits


@dataclass
class Fold:
    """Rows to train on and rows to be judged by, of data that are prepared for this fold.

    Parameters
    ----------
    train, test : (m,) intp
        Row numbers; ``test`` is empty for criteria that need no held-out rows.
    ground : Ground
        The data: shared by all folds, or this fold's own when a pipeline's first steps learn from its rows.
    y, weight : ndarray
        Of all rows; weight may be None.
    """

    train: Index
    test: Index
    ground: Ground
    y: NDArray[Any]
    weight: Any = None


class Ground:
    """Data with what their kernel matrices have in common."""

    def __init__(self, X: Any, workers: Workers) -> None:
        self.X = X
        self.statistic = SharedStatistic(X, workers)


class _Group:
    """Candidates with the same kernel, before it is resolved on data."""

    def __init__(self, kernel: Kernel, members: list[int]) -> None:
        self.kernel, self.members = kernel, members
        self.lock = threading.Lock()
        self.left = 0
        self.matrices: dict[Any, Any] = {}

    def matrix(self, ground: Ground, kernel: Kernel, dtype: Any) -> Any:
        """Return the kernel matrix of all rows, computed by whoever comes first."""
        key = (id(ground), kernel)
        with self.lock:
            if key not in self.matrices:
                self.matrices[key] = _whole(ground, kernel, dtype)
            return self.matrices[key]

    def leave(self) -> None:
        """Say that one fold less needs the matrices."""
        with self.lock:
            self.left -= 1
            if self.left == 0:
                self.matrices = {}


def _whole(ground: Ground, kernel: Kernel, dtype: Any) -> tuple[Any, Any]:
    if isinstance(kernel, Precomputed):
        K = np.ascontiguousarray(ground.X)
        return K, np.diagonal(K).astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        diag = np.asarray(kernel.evaluate_diag(_double(ground.X)), dtype=np.float64)
    check_finite_diagonal(kernel, diag)
    return ground.statistic.matrix(kernel, dtype), diag


def _double(X: Any) -> Any:
    return X.astype(np.float64) if getattr(X, "dtype", None) == np.float32 else X


Judge = Callable[[int, int, Fitted, Any], float]  # candidate, fold, machine, K(test, train) -> score


class SharedRun:
    """Evaluates all candidates on all folds.

    Parameters
    ----------
    machines : list of KernelMachine
        One per candidate, with its parameters.
    candidates : list of dict
        Their parameters.
    folds : list of Fold
        The folds.
    judge : callable
        Given the numbers of candidate and fold, the fitted machine and the kernel values between test and
        training rows, returns its score.
    limits : Limits
        For the whole run.
    record : callable
        Told each score: candidate, fold, score, seconds of fit and of score.
    """

    def __init__(
        self,
        machines: Sequence[KernelMachine],
        candidates: list[dict[str, Any]],
        folds: Sequence[Fold],
        judge: Judge,
        limits: Limits,
        record: Callable[[int, int, float, float, float], None],
    ) -> None:
        self.machines, self.candidates, self.folds = machines, candidates, folds
        self.judge, self.limits, self.record = judge, limits, record
        self.unfinished = 0  # fits that stopped at max_iter
        groups: dict[Kernel, list[int]] = {}
        for k, machine in enumerate(machines):
            groups.setdefault(machine._kernel(), []).append(k)
        self.groups = [_Group(kernel, members) for kernel, members in groups.items()]
        self.chains = [
            (group, chain) for group in self.groups for chain in chains_along_c(candidates, group.members)
        ]
        self.rows = [Rows(_taken(f.y, f.train), _taken(f.weight, f.train)) for f in folds]
        self.solved: list[dict[Any, list[Any]]] = [{} for _ in folds]  # by C, in the last chain
        self.seen: list[Any] = [None for _ in folds]  # the kernel that a fold is at, and what it needs of it
        self.over = [[threading.Event() for _ in folds] for _ in self.chains]

    def run(self, workers: Workers) -> None:
        """Do it all; Ctrl-C and limits leave what is done."""
        for group, _ in self.chains:
            group.left += len(self.folds)
            group.kernel.validate()

        def work(number: int) -> None:
            c, j = divmod(number, len(self.folds))
            if c > 0:
                self.over[c - 1][j].wait()  # a fold's chains follow each other: each starts the next
            group, chain = self.chains[c]
            try:
                if not self.limits.out_of_time():
                    self._follow(group, chain, j)
            finally:
                group.leave()
                self.over[c][j].set()

        workers.each(len(self.chains) * len(self.folds), work, stop=self._stop)

    def _stop(self) -> None:
        self.limits.time_limit = 0.0
        for events in self.over:
            for event in events:
                event.set()

    def _cross(self, group: _Group, j: int) -> Any:
        """Give the fold's rows their kernel matrix; return the values between test and training rows."""
        if self.seen[j] is not None and self.seen[j][0] is group:
            return self.seen[j][1]
        fold, rows = self.folds[j], self.rows[j]
        X = fold.ground.X
        kernel = group.kernel
        if not kernel.is_resolved:
            kernel = kernel.resolve_on(take(X, fold.train), rows.weight)
        K, diag = group.matrix(fold.ground, kernel, self._dtype(group, kernel, X))
        everything = fold.train.size == size(X)
        inner = K if everything else K[np.ix_(fold.train, fold.train)]
        rows.use(MatrixGram(inner, kernel.is_psd, diag=diag if everything else diag[fold.train]))
        self.seen[j] = group, K[np.ix_(fold.test, fold.train)]
        return self.seen[j][1]

    def _follow(self, group: _Group, chain: list[int], j: int) -> None:
        started = time.perf_counter()
        cross = self._cross(group, j)
        share = (time.perf_counter() - started) / len(chain)
        solved: dict[Any, list[Any]] = {}
        last: list[Any] | None = None
        for k in chain:
            if self.limits.out_of_time():
                return
            price = _price(self.candidates[k])
            near = last if last is not None else self.solved[j].get(price)
            started = time.perf_counter()
            fitted = self.rows[j].fit(self.machines[k], [] if near is None else [near], self.limits)
            if fitted.status == "time_limit":
                return
            self.unfinished += fitted.status == "iteration_limit"
            last = solved[price] = [part.solution.b for part in fitted.parts]
            middle = time.perf_counter()
            score = self.judge(k, j, fitted, cross)
            self.record(k, j, score, middle - started + share, time.perf_counter() - middle)
        self.solved[j] = solved

    def _dtype(self, group: _Group, kernel: Kernel, X: Any) -> Any:
        if isinstance(kernel, Precomputed):
            return None
        asked = {self.machines[k]._precision() for k in group.members}
        if "double" in asked:
            return np.float64
        if asked == {"single"}:
            return np.float32
        tol = min(self.machines[k].tol for k in group.members)
        return np.float64 if _needs_double(kernel, X, tol) else np.float32


def _price(params: dict[str, Any]) -> Any:
    return next((v for n, v in params.items() if short(n) == "C"), None)


def _taken(values: Any, idx: Index) -> Any:
    return None if values is None else take(values, idx)


def configured(template: KernelMachine, params: list[dict[str, Any]]) -> list[KernelMachine]:
    """Return a machine per setting, its parameters checked."""
    machines = []
    for setting in params:
        machine = clone(template).set_params(**{k: clone(v, safe=False) for k, v in setting.items()})
        machine._validate_params()
        machines.append(machine)
    return machines
