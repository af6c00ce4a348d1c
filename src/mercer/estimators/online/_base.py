"""What machines that learn from a stream share: kept examples, passes, the tally of losses."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, Options, StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.diagonal import check_finite_diagonal
from mercer.estimators.expansion import ExpansionMixin
from mercer.estimators.interrupts import stoppable
from mercer.estimators.machine import KernelMachine
from mercer.gram import Segment, cross_products
from mercer.kernels import Precomputed
from mercer.problems.online import Rule, Tally, norms
from mercer.solvers.base import Limits
from mercer.solvers.online.stream import Expansion, Learner

SHARED_CONSTRAINTS: dict[str, list[Any]] = {
    "max_iter": [Interval(Integral, 1, None, closed="left"), Options(Integral, {-1})],
    "shuffle": ["boolean"],
    "random_state": ["random_state"],
    "time_limit": [Interval(Real, 0, None, closed="neither"), None],
    "on_interrupt": [StrOptions({"raise", "keep"})],
    "verbose": ["verbose"],
}


class TallyMixin:
    """The count of losses, and the words in which a batch of passes ends."""

    # What the fit of a subclass leaves.
    t_: int
    loss_: float
    mistakes_: int
    loss_curve_: np.ndarray
    status_: str
    n_iter_: int
    # What its parameters are.
    max_iter: int
    time_limit: float | None
    on_interrupt: str
    shuffle: bool
    random_state: Any
    verbose: Any

    def _tally(self) -> Tally:
        return Tally(self.t_, self.loss_, self.mistakes_, self.loss_curve_)

    def _keep_tally(self, tally: Tally) -> None:
        self.t_, self.loss_, self.mistakes_ = tally.steps, tally.loss, tally.mistakes
        self.loss_curve_ = tally.curve

    def _order(self) -> Callable[[int], np.ndarray]:
        """Return what gives the order of each pass."""
        if not self.shuffle:
            return np.arange
        draw = check_random_state(self.random_state)
        return lambda n: np.asarray(draw.permutation(n), dtype=np.int64)

    def _reporter(self) -> Callable[[int, int, float], None] | None:
        if not self.verbose:
            return None

        def say(done: int, mistakes: int, violation: float) -> None:
            sys.stdout.write(
                f"[{type(self).__name__}] pass {done:>5}  mistakes {mistakes:>7}  violation {violation:.3e}\n"
            )

        return say

    def _ended(self, status: str, requested: bool, reached: str) -> None:
        """Keep how the passes ended; raise or warn as the parameters ask."""
        if requested and status == "time_limit":
            status = "interrupted"
        self.status_ = reached if status == "converged" else status
        if self.status_ in ("iteration_limit", "time_limit"):
            what = "max_iter" if self.status_ == "iteration_limit" else "time_limit"
            warnings.warn(
                f"{type(self).__name__} stopped at {what}={getattr(self, what)} after {self.n_iter_} passes, "
                f"{self._shortfall()}. The model is usable; raise {what}, or choose a kernel or a budget "
                "that leaves it more room.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _shortfall(self) -> str:
        """Return what is missing, in words."""
        return "still making mistakes"


class OnlineMachine(TallyMixin, ExpansionMixin, KernelMachine):
    """Base of the machines that keep examples and their coefficients."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: KernelMachine._parameter_constraints[name]
            for name in ("kernel", "degree", "gamma", "coef0", "cache_size", "n_jobs")
        },
        **SHARED_CONSTRAINTS,
        "budget": [Interval(Integral, 1, None, closed="left"), None],
        "removal": [StrOptions({"weakest", "oldest"})],
    }
    _reached = "no_mistakes"  # how a batch of passes ends when it ends well
    _still = 0.25  # violation at which it has ended: the perceptron's is 0 or 1

    # -- what a subclass says ----------------------------------------------------------------------------

    def _rule(self) -> Rule:
        raise NotImplementedError

    def _begin(self, diagonal: np.ndarray) -> None:
        """Fix what the first data decide beside the kernel."""

    def _proved(self, X: Any, target: np.ndarray) -> None:
        """Keep a certificate, where the rule solves a problem."""

    # -- learning ----------------------------------------------------------------------------------------

    def _open(self, X: Any) -> None:
        """Fix the kernel on the first data, which are checked, and start from the function zero."""
        kernel = self._kernel()
        kernel.validate()
        self.__dict__.pop("t_", None)  # not fitted until this fit ends
        self.kernel_ = kernel.resolve_on(X, None)
        self.shape_fit_ = (0, *X.shape[1:]) if hasattr(X, "shape") else (0,)
        diagonal = np.diagonal(X) if isinstance(kernel, Precomputed) else self.kernel_.evaluate_diag(X)
        check_finite_diagonal(self.kernel_, diagonal)
        self._begin(np.asarray(diagonal, dtype=np.float64))

    def _learner(self, limits: Limits) -> Learner:
        return Learner(
            self.kernel_, self._rule(), self.budget, self.removal, limits, int(self.cache_size * 1e6)
        )

    def _fit_passes(self, X: Any, target: np.ndarray, truth: np.ndarray) -> None:
        """Learn from checked data until nothing is wrong any more, or a limit."""
        limits = Limits(max_iter=self.max_iter, time_limit=self.time_limit)
        with stoppable(limits, self.on_interrupt == "keep") as stop:
            f, tally, done, status = self._learner(limits).passes(
                X, target, truth, tol=self._still, order=self._order(), report=self._reporter()
            )
        self.n_iter_ = done
        self.shape_fit_ = tuple(X.shape) if hasattr(X, "shape") else (self._length(X),)
        self._keep_tally(tally)
        self._keep_expansion(f)
        self.status_ = "interrupted" if stop.requested else status
        self._proved(X, target)
        self._ended(status, stop.requested, self._reached)

    def _stream(self, X: Any, target: np.ndarray, truth: np.ndarray) -> None:
        """Learn from checked data once, in their order."""
        if isinstance(self.kernel_, Precomputed):
            raise ValueError(
                "kernel='precomputed' has no values between this batch and later ones, so partial_fit cannot "
                "go on: use fit, or a kernel that can be computed"
            )
        limits = Limits()
        if self.shape_fit_[0] == 0:
            f = Expansion.empty(target.shape[1], self.kernel_.take(X, np.arange(0)))
            tally = Tally.empty()
        else:
            f = Expansion(
                np.ascontiguousarray(self.dual_coef_.T), self.support_.astype(np.int64),
                self.entered_.astype(np.int64), self.intercept_, self.n_updates_, self.support_vectors_,
            )  # fmt: skip
            tally = self._tally()
        seen = self.shape_fit_[0]
        with stoppable(limits, self.on_interrupt == "keep") as stop:
            f, tally, _ = self._learner(limits).stream(f, tally, X, target, truth, seen=seen)
        given = tally.steps - (self.t_ if seen else 0)
        self.shape_fit_ = (seen + given, *self.shape_fit_[1:])
        self.n_iter_ = getattr(self, "n_iter_", 1)
        self._keep_tally(tally)
        self._keep_expansion(f)
        self.status_ = "interrupted" if stop.requested else "streaming"
        for name in ("certificate_", "margin_"):  # they were about a training set, not a stream
            self.__dict__.pop(name, None)

    def _keep_expansion(self, f: Expansion) -> None:
        self.dual_coef_ = np.ascontiguousarray(f.coef.T)
        self.support_, self.entered_ = f.tag, f.born
        self.support_vectors_ = f.items
        self.intercept_, self.n_updates_ = f.bias, f.updates

    # -- use ---------------------------------------------------------------------------------------------

    @property
    def n_support_(self) -> int:
        """Number of kept examples."""
        check_is_fitted(self)
        return int(self.support_.size)

    def _checked_values(self, X: Any) -> np.ndarray:
        """Return the outputs at checked data, one column each."""
        coef = self.dual_coef_
        segment = Segment(0, coef.shape[1], coef.T, np.arange(coef.shape[0]))
        F = cross_products(self.kernel_, X, self._reference(), [segment], coef.shape[0], self._workers())
        F += self.intercept_
        return F

    def _outputs(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return self._checked_values(self._check_X(X, kernel=self.kernel_, reset=False))

    def _norms(self) -> np.ndarray:
        """Return ||w|| of each output."""
        if isinstance(self.kernel_, Precomputed):
            raise ValueError("the norm needs kernel values between kept examples, which are not kept")
        return norms(self.dual_coef_, self._checked_values(self.support_vectors_) - self.intercept_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "t_")
