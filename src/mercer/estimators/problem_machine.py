"""Estimators that state problems and have them solved by the one fit."""

from __future__ import annotations

from typing import Any

from mercer.estimators.fitting import Fit, Fitted, Solved, certify_machine, fit_machine
from mercer.estimators.machine import KernelMachine
from mercer.estimators.splits import Split
from mercer.gram import Gram
from mercer.kernels import Kernel
from mercer.problems import Certificate, Machine
from mercer.solvers import as_solver
from mercer.threads import Workers


class ProblemMachine(KernelMachine):
    """Base of the estimators whose fit is: split the target, state the problems, solve, pack.

    A subclass says what its target is made of (``_split``) and what is minimised (``_problem``). The rest has
    defaults.
    """

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Fitted:
        """Run the one fit; return what a subclass may go on with."""
        return fit_machine(self, X, y, sample_weight)

    def _certify(self, X: Any, y: Any, sample_weight: Any) -> Certificate:
        """Recompute the certificate from nothing but the model and the data."""
        return certify_machine(self, X, y, sample_weight)

    # -- what an estimator says --------------------------------------------------------------------------

    def _split(self, X: Any, y: Any, sample_weight: Any) -> Split:
        """Return the checked target and weights, in parts."""
        raise NotImplementedError

    def _split_again(self, X: Any, y: Any, sample_weight: Any) -> Split:
        """Return the target that a fitted machine was given, in the same parts."""
        return self._split(X, y, sample_weight)

    def _problem(self, target: Any, weight: Any, matrix: Any) -> Any:
        """Return what is minimised, for one part of the target."""
        raise NotImplementedError

    def _check_parameters(self) -> None:
        """Refuse parameters that contradict each other; called before the data are looked at."""

    def _check_feasible(self, split: Any) -> None:
        """Refuse what no kernel could make feasible; called before any kernel value is computed."""

    def _starts(self, split: Any) -> list[Any] | None:
        """Return the coefficients of the previous fit, a start for each problem, where they match."""
        starts: list[Any] | None = split.starts(self)
        return starts

    def _begin(self, split: Any) -> None:
        """Store what is known before anything is solved."""
        split.keep(self)

    def _keep(self, machines: list[Any], split: Any) -> None:
        """Store what the machines know beside their coefficients and intercepts."""

    def _keep_steps(self, steps: list[int]) -> None:
        """Store the number of steps of each problem's solver."""
        self.n_iter_: Any = max(1, sum(steps))

    def _keep_history(self, history: list[Any]) -> None:
        """Store the traces, if they were asked for."""
        if self.trace:
            self.history_ = history

    def _shipped(self, number: int, coef: Any, products: Any) -> Machine:
        """Return machine ``number`` as it was shipped, given its coefficients and K coef."""
        return Machine(coef, float(self.intercept_[number]), products)

    _tells_of_itself = False  # whether its solver tells those who wait how far it has come
    _definite_first = False  # whether the way to solve a problem depends on the kernel's definiteness
    _can_be_looked_at = True  # whether a solver's round already makes an estimator that predicts

    def _calibration(self, split: Any) -> Any:
        return None

    def _keep_links(self, calibration: Any) -> None:
        """Store what turns decisions into probabilities."""

    def _matrix(self, kernel: Kernel, X: Any, split: Any, workers: Workers) -> Gram:
        """Return the kernel matrix that the problems are solved on."""
        named = as_solver(self.solver)
        return self._gram(kernel, X, workers, named is not None and not named.single_precision)

    def _stated(self, target: Any, weight: Any, matrix: Gram) -> Any:
        """Return a problem in the form that the solver takes."""
        problem, named = self._problem(target, weight, matrix), as_solver(self.solver)
        return problem if named is None else named.restate(problem, matrix.diag())

    def _solve(self, fit: Fit, matrix: Gram) -> list[Solved]:
        """Solve all problems of a fit."""
        return fit.solve(matrix)
