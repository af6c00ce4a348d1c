"""What machines that learn from a stream share: passes, batches, the tally of losses, kept examples."""

from __future__ import annotations

import sys
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, Options, StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.expansion import ExpansionMixin
from mercer.estimators.fitting import working
from mercer.estimators.machine import KernelMachine
from mercer.estimators.user_warnings import warn_user
from mercer.estimators.verdict import check_finite_diagonal, check_finite_model
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


class StreamLearner:
    """Passes over a training set, batches of a stream, the count of losses, and the words at the end.

    A subclass has a ``_learner``, and keeps what that returns.
    """

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
    shape_fit_: tuple[int, ...]

    _reached = "no_mistakes"  # how a batch of passes ends when it ends well
    _still = 0.25  # violation at which it has ended: the perceptron's is 0 or 1

    # -- what a subclass says ----------------------------------------------------------------------------

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """Return checked data."""
        raise NotImplementedError

    def _open(self, X: Any) -> None:
        """Fix what the first data decide, and start from the function zero."""
        raise NotImplementedError

    def _learner(self, limits: Limits) -> Any:
        """Return what learns: it has ``passes`` and ``stream``."""
        raise NotImplementedError

    def _known_function(self) -> Any:
        """Return the function that was learned so far."""
        raise NotImplementedError

    def _keep_function(self, f: Any) -> None:
        """Store a function."""
        raise NotImplementedError

    def _proved(self, X: Any, target: np.ndarray) -> None:
        """Keep a certificate, where the rule solves a problem."""

    # -- learning ----------------------------------------------------------------------------------------

    def _fit_passes(self, X: Any, target: np.ndarray, truth: np.ndarray) -> None:
        """Learn from checked data until nothing is wrong any more, or a limit."""
        self._open(X)
        limits = Limits(max_iter=self.max_iter, time_limit=self.time_limit)
        with working(self, limits) as stop:
            f, tally, done, status = self._learner(limits).passes(
                X, target, truth, tol=self._still, order=self._order(), report=self._reporter()
            )
        self.n_iter_ = done
        self.shape_fit_ = tuple(X.shape) if hasattr(X, "shape") else (len(X),)
        self._keep(f, tally)
        self.status_ = "interrupted" if stop.requested else status
        self._proved(X, target)
        check_finite_model(self)
        self._ended(status, stop.requested)

    def _stream(self, X: Any, target: np.ndarray, truth: np.ndarray) -> None:
        """Learn from checked data once, in their order."""
        seen = self.shape_fit_[0]
        f = self._known_function() if seen else None
        tally = Tally(self.t_, self.loss_, self.mistakes_, self.loss_curve_) if seen else Tally.empty()
        limits, before = Limits(), tally.steps
        with working(self, limits) as stop:
            f, tally = self._learner(limits).stream(f, tally, X, target, truth, seen=seen)
        self.shape_fit_ = (seen + tally.steps - before, *self.shape_fit_[1:])
        self.n_iter_ = getattr(self, "n_iter_", 1)
        self._keep(f, tally)
        self.status_ = "interrupted" if stop.requested else "streaming"
        for name in ("certificate_", "margin_"):  # they were about a training set, not a stream
            self.__dict__.pop(name, None)
        check_finite_model(self)

    def _keep(self, f: Any, tally: Tally) -> None:
        self.t_, self.loss_, self.mistakes_ = tally.steps, tally.loss, tally.mistakes
        self.loss_curve_ = tally.curve
        self._keep_function(f)

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

    def _ended(self, status: str, requested: bool) -> None:
        """Keep how the passes ended; raise or warn as the parameters ask."""
        if requested and status == "time_limit":
            status = "interrupted"
        self.status_ = self._reached if status == "converged" else status
        if self.status_ in ("iteration_limit", "time_limit"):
            what = "max_iter" if self.status_ == "iteration_limit" else "time_limit"
            warn_user(
                f"{type(self).__name__} stopped at {what}={getattr(self, what)} after {self.n_iter_} passes, "
                f"{self._shortfall()}. The model is usable; raise {what}, or choose a kernel or a budget "
                "that leaves it more room.",
                ConvergenceWarning,
            )

    def _shortfall(self) -> str:
        """Return what is missing, in words."""
        return "still making mistakes"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "t_")


class OnlineMachine(StreamLearner, ExpansionMixin, KernelMachine):
    """Base of the machines that keep examples and their coefficients.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        A name, a :class:`mercer.kernels.Kernel`, a function of two data sets that returns the kernel matrix,
        or "precomputed" (``fit`` only).
    degree, gamma, coef0
        Parameters of the kernels given by name, as in scikit-learn. ``gamma="scale"`` is computed from the
        data in ``fit`` and from the first batch in ``partial_fit``.
    learning_rate : float, default=1.0
        eta, between 0 and 2.
    tol : float, default=1e-3
        Largest KKT violation at which ``fit`` stops.
    max_iter : int, default=1000
        Most passes of ``fit``; -1 for no limit.
    budget : int, optional
        Most examples to keep, at any time; None for as many as it takes.
    removal : {"weakest", "oldest"}, default="weakest"
        Which example makes room when the budget is used up: the one without which the function changes least
        (the smallest k(x, x) beta^2; of equals the one that came first), or the one that came first.
    shuffle : bool, default=False
        Whether each pass of ``fit`` has its own order.
    random_state : int, RandomState instance or None, default=None
        Of the orders.
    cache_size : float, default=200
        Memory for the kernel matrix that the passes of ``fit`` share, in MB; where it does not fit, values
        are computed anew.
    time_limit : float, optional
        Seconds after which ``fit`` stops.
    n_jobs : int, optional
        Threads of predictions; None for all cores (one inside joblib workers).
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does: raise, which leaves a model that ``partial_fit`` had begun with as it was before the
        call, or keep what was learned so far (``t_`` says how far that is).
    verbose : bool, default=False
        Print a line per pass.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: KernelMachine._parameter_constraints[name]
            for name in ("kernel", "degree", "gamma", "coef0", "cache_size", "n_jobs")
        },
        **SHARED_CONSTRAINTS,
        "budget": [Interval(Integral, 1, None, closed="left"), None],
        "removal": [StrOptions({"weakest", "oldest"})],
    }
    # -- what a subclass says ----------------------------------------------------------------------------

    def _rule(self) -> Rule:
        raise NotImplementedError

    def _begin(self, diagonal: np.ndarray) -> None:
        """Fix what the first data decide beside the kernel."""

    # -- learning ----------------------------------------------------------------------------------------

    def _checked(self, X: Any, *, reset: bool) -> Any:
        return self._check_X(X, kernel=self._kernel() if reset else self.kernel_, reset=reset)

    def _open(self, X: Any) -> None:
        """Fix the kernel on the first data, which are checked, and start from the function zero."""
        kernel = self._kernel()
        kernel.validate()
        self.__dict__.pop("t_", None)  # not fitted until this fit ends
        self.kernel_ = kernel.resolve_on(X, None)
        self.shape_fit_ = (0, *X.shape[1:]) if hasattr(X, "shape") else (0,)
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused in words
            diagonal = np.diagonal(X) if isinstance(kernel, Precomputed) else self.kernel_.evaluate_diag(X)
        check_finite_diagonal(self.kernel_, diagonal)
        self._begin(np.asarray(diagonal, dtype=np.float64))

    def _learner(self, limits: Limits) -> Learner:
        return Learner(
            self.kernel_, self._rule(), self.budget, self.removal, limits, int(self.cache_size * 1e6)
        )

    def _stream(self, X: Any, target: np.ndarray, truth: np.ndarray) -> None:
        if isinstance(self.kernel_, Precomputed):
            raise ValueError(
                "kernel='precomputed' has no values between this batch and later ones, so partial_fit cannot "
                "go on: use fit, or a kernel that can be computed"
            )
        super()._stream(X, target, truth)

    def _known_function(self) -> Expansion:
        return Expansion(
            np.ascontiguousarray(self.dual_coef_.T), self.support_.astype(np.int64),
            self.entered_.astype(np.int64), self.intercept_, self.n_updates_, self.support_vectors_,
        )  # fmt: skip

    def _keep_function(self, f: Expansion) -> None:
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
