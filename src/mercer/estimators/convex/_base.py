"""What the estimators with any loss share: their parameters, and the problem."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from mercer.estimators.machine import KernelMachine, ProblemMachine
from mercer.gram import Gram
from mercer.kernels import Kernel
from mercer.problems import Problem
from mercer.problems.linear_risk import LinearRisk
from mercer.problems.losses.check import refuse_wrong_loss
from mercer.problems.risk import penalised


class LossMachine(ProblemMachine):
    r"""Base of the estimators that minimise any convex loss.

    Parameters
    ----------
    C : float, default=1.0
        Price of a unit of loss.
    solver : str or mercer.solvers.Solver, default="auto"
        How the problem is solved; "auto" chooses by the loss: "decomposition" where it is piecewise linear,
        else "newton", "proximal" (a loss with kinks) or "convex_concave" (an indefinite kernel). What a
        solver cannot solve it refuses, and says why.
    tol : float, default=1e-6
        Relative gap (``criterion="gap"``) or largest violation of the optimality conditions (``"kkt"``) at
        which to stop.
    criterion : {"gap", "kkt"}, default="gap"
        What ``tol`` measures.
    cache_size : float, default=200
        Memory for kernel values, in MB; a Newton system may take as much again. Up to
        :math:`n = \sqrt{10^6 \mathtt{cache\_size} / 8}` points (5000 by default) the kernel matrix is kept;
        beyond, it is recomputed by conjugate gradients in every product.
    precision : {"auto", "single", "double"}, default="auto"
        Precision of kernel values. Sums and the certificate are always float64.
    trace : bool, default=False
        Record ``history_``.
    verbose : bool, default=False
        Print a line per round.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: KernelMachine._parameter_constraints[name]
            for name in (
                "kernel", "degree", "gamma", "coef0", "tol", "cache_size", "max_iter", "verbose", "solver",
                "time_limit", "n_jobs", "precision", "fit_intercept", "warm_start", "on_interrupt", "trace",
            )
        },
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "criterion": [StrOptions({"kkt", "gap"})],
    }  # fmt: skip

    _can_be_looked_at = False
    _definite_first = True

    @property
    def _functions(self) -> int:
        """How many functions one problem has: all classes at once have one for each."""
        return 1

    # -- fit ---------------------------------------------------------------------------------------------

    def _starts(self, split: Any, kernel: Kernel) -> list[Any] | None:
        return super()._starts(split, kernel) if getattr(self, "loss_", None) == split.loss else None

    def _check_feasible(self, split: Any) -> None:
        for task in split.tasks if split.loss.is_of_user else ():
            refuse_wrong_loss(split.loss, task.target, np.random.default_rng(0))

    def _begin(self, split: Any) -> None:
        super()._begin(split)
        self.loss_ = split.loss

    def _problem(self, target: np.ndarray, weight: np.ndarray, matrix: Gram) -> Problem:
        return penalised(
            self.loss_,
            target,
            self.C * weight,
            fit_intercept=self.fit_intercept,
            outputs=self._functions,
        )

    def _on_features(self, target: np.ndarray, weight: np.ndarray, features: Any) -> LinearRisk:
        """Return what is minimised over the weights of features that stand for the kernel."""
        if self._functions > 1:
            raise ValueError(
                f"approximation={self.approximation!r} is for losses of one function, and {self.loss_!r} has "
                'all classes at once: use KernelClassifier(loss="binomial_deviance", approximation=...), '
                "which fits a function for each pair of classes"
            )
        return LinearRisk(
            features,
            self.loss_,
            target,
            self.C * weight,
            bias_scale=math.inf if self.fit_intercept else 0.0,
        )
