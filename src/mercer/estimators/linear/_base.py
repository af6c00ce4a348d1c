"""What the linear machines share: features instead of a kernel matrix, weights instead of support vectors."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.convex._base import LossMachine
from mercer.estimators.fitting import Solved, proof
from mercer.estimators.linear._weights import multipliers
from mercer.gram import Gram
from mercer.gram.features import Features
from mercer.kernels import Kernel, Linear
from mercer.problems import Certificate
from mercer.problems.linear_risk import LinearMachine, LinearRisk
from mercer.solvers import Solver
from mercer.threads import Workers

CACHE = 100_000_000  # bytes that solvers may take beside the data


class WeightMachine(LossMachine):
    """Base of the linear machines.

    Parameters
    ----------
    dual : bool or "auto", default="auto"
        Which problem is solved: the dual by coordinate descent, the primal by Newton's method, or whichever
        suits the data. The machine is the same.
    random_state : int, RandomState or None, default=None
        Accepted for compatibility: a fit does not depend on it.
    C : float, default=1.0
        Price of a unit of loss.
    fit_intercept : bool or "unpenalised", default=True
        Whether there is a bias. ``True`` penalises it as the weight of a feature that is
        ``intercept_scaling`` everywhere; "unpenalised" does not.
    intercept_scaling : float, default=1.0
        See ``fit_intercept``.
    solver : {"auto", "linear_newton", "coordinate_descent"} or mercer.solvers.Solver, default="auto"
        How the problem is solved. "auto" takes Newton's method, and coordinate descent for a loss with
        kinks and many features.
    tol : float, default=1e-4
        Relative duality gap at which to stop.
    max_iter : int, default=-1
        Most Newton steps or sweeps; -1 for no limit.
    time_limit : float, optional
        Seconds after which to stop with the best machine so far.
    n_jobs : int, optional
        Threads; None for all cores (one inside joblib workers).
    warm_start : bool, default=False
        Start from the previous fit.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C during ``fit`` does: raise, or keep the machine so far.
    trace : bool, default=False
        Record ``history_``.
    verbose : bool, default=False
        Print a line per round.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: LossMachine._parameter_constraints[name]
            for name in (
                "tol", "C", "verbose", "time_limit", "n_jobs", "warm_start", "on_interrupt", "trace"
            )
        },
        "solver": [StrOptions({"auto", "linear_newton", "coordinate_descent"}), Solver],
        "fit_intercept": ["boolean", StrOptions({"unpenalised"})],
        "intercept_scaling": [Interval(Real, 0.0, None, closed="neither")],
        "random_state": ["random_state"],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
    }  # fmt: skip

    criterion = "gap"  # at a kink every slope is right, and only the gap says how good a machine is
    coef_: np.ndarray
    intercept_: Any

    # -- fit ---------------------------------------------------------------------------------------------

    def _kernel(self) -> Kernel:
        return Linear()

    def _cache_bytes(self) -> int:
        return CACHE

    def _matrix(self, kernel: Kernel, X: Any, split: Any, workers: Workers) -> Gram:
        return Features(X, workers)

    def _bias_scale(self) -> float:
        """Return the scale of the bias: 0 for none, infinity for one that is not penalised."""
        if self.fit_intercept == "unpenalised":
            return math.inf
        return float(self.intercept_scaling) if self.fit_intercept else 0.0

    def _problem(self, target: Any, weight: Any, matrix: Any) -> Any:
        return LinearRisk(matrix, self.loss_, target, self.C * weight, bias_scale=self._bias_scale())

    def _stated(self, target: Any, weight: Any, matrix: Any, beside: Any = None) -> Any:
        return self._problem(target, weight, matrix)

    def _keep_steps(self, steps: list[int]) -> None:
        self.n_iter_ = max(1, *steps)

    def _certify(self, X: Any, y: Any, sample_weight: Any) -> Certificate:
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        self._fitted_length(X)
        split = self._split_again(X, y, sample_weight)
        features = Features(X, self._workers())
        known, found = self.certificate_, []
        coef, bias = np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_)
        for k, task in enumerate(split.tasks):
            known_ones = multipliers(self, k)
            machine = LinearMachine(coef[k], float(bias[k]), features.times(coef[k]), known_ones)
            part = known.parts[k] if known.parts else known
            problem = self._stated(task.target, split.weight, features)
            noise = features.weight_noise(coef[k])
            found.append(Solved(problem, machine, part.n_iter, part.status, noise))
        return proof(self, found)

    def path(self, X: Any, y: Any, Cs: Iterable[float], sample_weight: ArrayLike | None = None) -> list[Self]:
        """Fit a machine for each of several C, each from the one before.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.
        Cs : iterable of float
            Values of C. Ascending ones cost least.

        Returns
        -------
        list
            A fitted estimator for each C, in the order of ``Cs``; this one is left as it was.
        """
        found: list[Self] = []
        for C in Cs:
            model = clone(self).set_params(C=C)
            if found:
                before = found[-1]
                kept = ("coef_", "intercept_", "dual_coef_", "loss_", "shape_fit_", "_price")
                vars(model).update({name: vars(before)[name] for name in kept if name in vars(before)})
            wanted, model.warm_start = model.warm_start, True
            model.fit(X, y, sample_weight)
            model.warm_start = wanted
            found.append(model)
        return found

    # -- use ---------------------------------------------------------------------------------------------

    def _values(self, X: Any) -> np.ndarray:
        """Return f(X), a column for each function."""
        check_is_fitted(self)
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        coef = np.ascontiguousarray(np.atleast_2d(self.coef_).T)
        return np.asarray(Features(X, self._workers()).times(coef) + self.intercept_)
