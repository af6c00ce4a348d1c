"""Learning from a stream: one example after the other, in slices between which limits are looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer import _jit
from mercer._jit import online_rules as rules
from mercer.arrays import Float64, Ints
from mercer.kernels import Fused, Kernel, Precomputed
from mercer.kernels.fused import RBF
from mercer.problems.online import Rule, Tally
from mercer.solvers.base import Limits

Removal = Literal["weakest", "oldest"]
Status = Literal["converged", "iteration_limit", "time_limit"]

REMOVALS = {"weakest": rules.WEAKEST, "oldest": rules.OLDEST}
SLICE = 4e7  # kernel values times their cost in one slice of compiled work: about a tenth of a second
CHUNK = 256  # steps whose kernel values are computed at a time, where the loop cannot compute them itself
UNBOUNDED = 1 << 62
MOST_LOSS = 1e280  # of one step: beyond, the sum of a long stream overflows


@dataclass
class Expansion:
    """A function f_o(x) = sum_j coef[j, o] k(z_j, x) + bias[o] and where its examples come from."""

    coef: Float64  # (size, outputs)
    tag: Ints  # (size,) numbers of the examples
    born: Ints  # (size,) steps at which they were kept
    bias: Float64  # (outputs,)
    updates: Ints  # (outputs,)
    items: Any  # the examples themselves

    @classmethod
    def empty(cls, outputs: int, items: Any) -> Expansion:
        """Return the function zero; ``items`` is an empty piece of data of the right kind."""
        none = np.empty(0, dtype=np.int64)
        return cls(
            np.empty((0, outputs)), none, none, np.zeros(outputs), np.zeros(outputs, dtype=np.int64), items
        )


@dataclass
class Learner:
    """A rule at work.

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    rule : Rule
        What an example changes.
    budget : int, optional
        Most examples to keep.
    removal : {"weakest", "oldest"}
        Which example makes room when the budget is used up.
    limits : Limits
        ``max_iter`` counts passes.
    cache_bytes : int
        Memory for a kernel matrix that several passes share.
    """

    kernel: Kernel
    rule: Rule
    budget: int | None = None
    removal: Removal = "weakest"
    limits: Limits = field(default_factory=Limits)
    cache_bytes: int = 200_000_000

    def stream(
        self, known: Expansion | None, tally: Tally, X: Any, target: Float64, truth: Ints, *, seen: int
    ) -> tuple[Expansion, Tally]:
        """Show each example once, in order; ``seen`` were shown before. Time that is up leaves the rest."""
        f = self._trimmed(known or Expansion.empty(target.shape[1], self.kernel.take(X, np.arange(0))))
        work = _Work(self, f, X, target, truth, seen, whole=False)
        done, _ = work.sweep(np.arange(target.shape[0]), tally)
        return work.expansion(), done

    def _trimmed(self, f: Expansion) -> Expansion:
        """Return the function cut down to the budget, which may have been larger when it was learned."""
        if self.budget is None or f.tag.size <= self.budget:
            return f
        weight = np.zeros(f.tag.size)
        if self.removal == "weakest":
            weight = self.kernel.evaluate_diag(f.items) * np.square(f.coef).sum(axis=1)
        keep = np.sort(np.lexsort((f.born, weight))[f.tag.size - self.budget :])
        items = self.kernel.take(f.items, keep)
        return Expansion(f.coef[keep], f.tag[keep], f.born[keep], f.bias, f.updates, items)

    def passes(
        self,
        X: Any,
        target: Float64,
        truth: Ints,
        *,
        tol: float,
        order: Callable[[int], Ints],
        report: Callable[[int, int, float], None] | None = None,
    ) -> tuple[Expansion, Tally, int, Status]:
        """Show all examples again and again, until a pass meets no violation beyond ``tol``.

        Returns the function, the tally, the number of passes and why they ended.
        """
        n, outputs = target.shape
        start = Expansion.empty(outputs, self.kernel.take(X, np.arange(0)))
        work = _Work(self, start, X, target, truth, 0, whole=True)
        tally, done = Tally.empty(), 0
        while True:
            before = tally.mistakes
            tally, violation = work.sweep(order(n), tally)
            done += 1
            if not work.finished:
                return work.expansion(compact=True), tally, done, "time_limit"
            if report is not None:
                report(done, tally.mistakes - before, violation)
            # What a pass met while it moved may be gone, or new, at its end: a still look decides.
            if violation == 0.0 or (violation <= 2.0 * tol and work.still() <= tol):
                return work.expansion(compact=True), tally, done, "converged"
            if self.limits.steps_left(done) == 0:
                return work.expansion(compact=True), tally, done, "iteration_limit"


class _Work:
    """Buffers of a run: slots for examples, and kernel values from one of three sources."""

    def __init__(
        self, learner: Learner, f: Expansion, X: Any, target: Float64, truth: Ints, seen: int, *, whole: bool
    ) -> None:
        self.learner, self.kernel, self.target, self.truth = learner, learner.kernel, target, truth
        self.n, self.first_tag = target.shape[0], seen
        old = f.tag.size
        budget = learner.budget
        capacity = old + self.n if budget is None else min(budget, old + self.n)
        self.budget = UNBOUNDED if budget is None else budget
        self.size, self.finished = old, True
        self.bias, self.updates = f.bias.copy(), f.updates.copy()
        self.coef = _room(f.coef, capacity)
        self.tag, self.born = _room(f.tag, capacity), _room(f.born, capacity)
        self.slot_of = np.full(self.n, -1, dtype=np.int64)
        self.pool = X if old == 0 else _joined(f.items, X)
        self.offset = old
        self.item = _room(np.arange(old, dtype=np.int64), capacity)
        self._values(X, f, capacity, whole)

    def _values(self, X: Any, f: Expansion, capacity: int, whole: bool) -> None:
        """Choose where kernel values come from."""
        kernel, old = self.kernel, self.offset
        none = np.empty((0, 0))
        self.X, self.ZT, self.G, self.doubled = none, none, none, None
        fused = None if isinstance(kernel, Precomputed) else kernel.fused()
        self.line: tuple[Any, ...] = (1.0,)
        kept = self.n**2 * 8 <= self.learner.cache_bytes and self.learner.limits.max_iter != 1
        if isinstance(kernel, Precomputed):
            self.own = np.array(np.diagonal(X), dtype=np.float64)
            self.norm = _room(np.empty(0), capacity)
            self.G = np.require(X, np.float64, ["C", "W"])
            self.source: Literal["matrix", "fused", "chunks"] = "matrix"
            return
        doubled = _in_double(self.pool)
        diagonal = np.asarray(kernel.evaluate_diag(doubled), dtype=np.float64)
        self.own, self.norm = np.ascontiguousarray(diagonal[old:]), _room(diagonal[:old], capacity)
        if fused is not None and not sp.issparse(self.pool):
            self.line = _line(fused)
            self.X = np.require(doubled[old:], requirements=["C", "W"])  # one type, compiled once
            if whole and kept:
                self.G = np.empty((self.n, self.n))
                _jit.online.kernel_rows(np.ascontiguousarray(self.X.T), self.X, self.line, self.G)
                self.source = "matrix"
                return
            self.ZT = np.empty((self.X.shape[1], capacity))
            self.ZT[:, :old] = doubled[:old].T
            self.source = "fused"
        elif whole and kept:
            self.G = np.require(kernel.evaluate(doubled), np.float64, ["C", "W"])
            self.source = "matrix"
        else:
            self.doubled = doubled
            self.source = "chunks"

    def sweep(self, order: Ints, tally: Tally) -> tuple[Tally, float]:
        """Show the examples in this order; stop early when time is up (``finished`` tells)."""
        worst, at = 0.0, 0
        loss, mistake = np.zeros(self.n), np.zeros(self.n)
        while at < self.n:
            if self.learner.limits.out_of_time():
                self.finished = False
                break
            to = min(self.n, at + self._slice())
            violation = self._run(at, to, order, tally.steps, loss, mistake)
            self._refuse_overflow(loss[at:to], order[at:to])
            tally = tally.grown(loss[at:to], mistake[at:to])
            worst, at = max(worst, violation), to
        return tally, worst

    def _refuse_overflow(self, loss: Float64, order: Ints) -> None:
        """Refuse steps that run away: their coefficients have left what float64 can hold."""
        bad = np.flatnonzero(~(loss < MOST_LOSS))
        if bad.size:
            raise ValueError(
                f"the steps overflow: the loss of row {int(order[bad[0]])} of X is {loss[bad[0]]}. Scale the "
                f"features and the target, or choose a kernel that is positive semi-definite "
                f"(kernel={self.kernel!r}) and a smaller step"
            )

    def still(self) -> float:
        """Return the largest violation at the present function: a pass whose changes are thrown away."""
        kept = {name: getattr(self, name).copy() for name in STATE}
        size, worst = self.size, 0.0
        frozen = Rule(**{**self.learner.rule.__dict__, "rate": 0.0, "bias_step": 0.0})
        loss, at = np.zeros(self.n), 0
        while at < self.n:
            to = min(self.n, at + self._slice())
            worst = max(worst, self._run(at, to, np.arange(self.n), 0, loss, loss.copy(), frozen))
            at = to
        self.size = size
        for name, value in kept.items():
            setattr(self, name, value)
        return worst

    def _slice(self) -> int:
        if self.source == "chunks":
            return CHUNK
        cost = 1.0 if self.source == "matrix" else self.X.shape[1] + 8.0
        return max(16, int(SLICE / ((self.size + 1024) * (cost + self.coef.shape[1]))))

    def _run(
        self,
        at: int,
        to: int,
        order: Ints,
        steps: int,
        loss: Float64,
        mistake: Float64,
        rule: Rule | None = None,
    ) -> float:
        rule = rule or self.learner.rule
        # Which example of the pool a column of G, or a slot, stands for.
        lines = order if self.source == "matrix" else order - order
        sources, shown, G, source = self.offset + order, None, self.G, self.item
        if self.source == "chunks":
            mine = order[at:to]
            shown = np.concatenate([self.item[: self.size], self.offset + mine])
            rows = self.kernel.take(self.doubled, self.offset + mine)
            values = self.kernel.evaluate(rows, self.kernel.take(self.doubled, shown))
            G = np.require(values, np.float64, ["C", "W"])
            lines = np.arange(self.n) - at
            sources = self.size + lines
            source = np.zeros_like(self.item)
            source[: self.size] = np.arange(self.size)
        self.size, violation = _jit.online.run(
            at, to, order, self.X, self.ZT, G, lines, sources, self.source != "fused", self.line,
            self.own, self.target, self.truth, self.slot_of, self.coef, source, self.tag, self.born,
            self.norm, self.bias, self.size, self.budget, REMOVALS[self.learner.removal], rule.code,
            rule.rate, rule.most, rule.shift, rule.epsilon, rule.bias_step, self.first_tag, steps, loss,
            mistake, self.updates,
        )  # fmt: skip
        if shown is not None:
            self.item[: self.size] = shown[source[: self.size]]
        return float(violation)

    def expansion(self, *, compact: bool = False) -> Expansion:
        """Return the function; ``compact`` drops examples whose coefficients went back to zero."""
        keep = np.arange(self.size)
        if compact:
            keep = keep[self.coef[: self.size].any(axis=1)]
        items: Any = np.empty((0, 0))
        if not isinstance(self.kernel, Precomputed):
            items = self.kernel.take(self.pool, self.item[keep])
        return Expansion(self.coef[keep], self.tag[keep], self.born[keep], self.bias, self.updates, items)


STATE = ("coef", "tag", "born", "norm", "bias", "updates", "slot_of", "item")


def _line(fused: Fused) -> tuple[Any, ...]:
    """Return the kernel's line as the compiled loops take it: the Gaussian has loops of its own."""
    if fused.code == RBF:
        return (float(fused.a),)
    return (fused.statistic == "sqdist", int(fused.code), float(fused.a), float(fused.b), float(fused.c))


def _room(values: NDArray[Any], capacity: int) -> NDArray[Any]:
    """Return an array with room for ``capacity`` entries that begins with these."""
    out = np.zeros((capacity, *values.shape[1:]), dtype=values.dtype)
    out[: values.shape[0]] = values
    return out


def _joined(first: Any, second: Any) -> Any:
    if sp.issparse(first) or sp.issparse(second):
        kind = sp.csr_array if isinstance(second, sp.sparray) else sp.csr_matrix
        return kind(sp.vstack([first, second], format="csr"))
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return np.concatenate([first, second])
    return [*first, *second]


def _in_double(X: Any) -> Any:
    return X.astype(np.float64) if getattr(X, "dtype", None) == np.float32 else X
