"""What the estimators with any loss share: their parameters, and the problem."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from mercer.estimators.machine import KernelMachine
from mercer.estimators.problem_machine import ProblemMachine
from mercer.gram import Gram
from mercer.problems import Problem
from mercer.problems.losses import Loss
from mercer.problems.losses.check import refuse_wrong_loss
from mercer.problems.penalised import penalised


class LossMachine(ProblemMachine):
    """Base of the estimators that minimise any convex loss."""

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

    # -- what a subclass says ----------------------------------------------------------------------------

    def _loss(self, n_classes: int) -> Loss:
        """Return the loss that the parameters name."""
        raise NotImplementedError

    @property
    def _functions(self) -> int:
        """How many functions one problem has: all classes at once have one for each."""
        return 1

    # -- fit ---------------------------------------------------------------------------------------------

    def _starts(self, split: Any) -> list[Any] | None:
        return super()._starts(split) if getattr(self, "loss_", None) == split.loss else None

    def _check_feasible(self, split: Any) -> None:
        for task in split.tasks:
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
