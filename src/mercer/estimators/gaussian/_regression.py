"""How a Gaussian process is fitted to numbers: parameters and noise, then the posterior of the function."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from mercer.arrays import Float64
from mercer.estimators.fitting import Fit, Solved, proof
from mercer.estimators.gaussian._regression_posterior import RegressionPosterior
from mercer.estimators.gaussian._regression_search import RegressionSearch
from mercer.estimators.gaussian._starts import data_starts, default_kernel, with_amplitude
from mercer.gram import Gram, Workers
from mercer.gram.kernel_family import Family, Member
from mercer.gram.sklearn_family import family_of
from mercer.kernels import Kernel, Precomputed, SklearnKernel
from mercer.kernels.statistics import distances_kept
from mercer.problems import Certificate, Machine
from mercer.problems.design import Design
from mercer.problems.equalities import ParametricMachine
from mercer.problems.parametric_ridge import ParametricRidge
from mercer.problems.ridge import Ridge
from mercer.solvers.base import Limits
from mercer.solvers.gaussian.evidence import evidence_of, factored
from mercer.solvers.gaussian.hyperparameters import Found, remembering
from mercer.solvers.gaussian.kriging import KrigingPosterior, kriged, restricted_value
from mercer.solvers.gaussian.posterior import ExactPosterior
from mercer.solvers.linear_algebra.factored import WORST
from mercer.solvers.linear_algebra.packed import PackedFactored

PACKED = 5000  # rows from which on the factor takes half of a matrix, and products compute the kernel again
KEPT = 4000  # rows up to which a search keeps their distances
SEARCHING = 0.6  # share of the seconds for the search where the posterior takes iterations, too


class BaseRegression(RegressionSearch, RegressionPosterior):
    """The parts of the regressor that are not its interface."""

    def _solve(self, fit: Fit, matrix: Gram) -> list[Solved]:
        self._require_definite(fit.psd, self.kernel_)
        split: Any = fit.split
        X, Y, limits = fit.X, split.Y, fit.ask.limits
        rng = check_random_state(self.random_state)
        if not self._direct:  # random starts are scikit-learn's where nothing else is random
            self._seed = int(rng.randint(2**31 - 1))
        design = self._design(X)
        if design is not None:
            Y = Y - design.B @ (design.dual_basis.T @ Y)  # contrasts are the same
            if not self._direct:
                raise ValueError("a trend (parametric) needs solver='cholesky' and a cache_size that holds K")
        noise = self._given_noise(split.n, Y)
        if not self._direct and np.ndim(noise):
            raise ValueError("a noise for each point needs solver='cholesky' and a cache_size that holds K")
        family, theta, limit = self._opened(X, Y, noise, fit.workers)
        found = None
        if self.optimizer is not None and theta.size:
            time_left = limits if self._direct else replace(limits.part(SEARCHING), max_iter=limits.max_iter)
            keeping = self._direct and split.n <= KEPT and hasattr(X, "shape")
            evidence = remembering(lambda t: self._evidence(family, t, Y, time_left))
            settled = False
            with distances_kept(family.X) if keeping else nullcontext():
                if not (self._automatic and self._noise_limits is not None):
                    starts, settled = self._sketched(family, X, Y, theta, limit, time_left, evidence)
                else:
                    starts, limit = self._data_starts(family, X, Y, theta, limit, time_left, rng)
                found = self._search(evidence, starts, limit, time_left, rng, settled)
            theta = found.theta
        if self._direct:
            self._seed = int(rng.randint(2**31 - 1))
        self._settle(family, theta, limit, found, Y if design is None else None)
        member = family.at(self._parted(theta)[0])
        if design is not None:
            return self._infer_beside(member, found, split.Y, design)
        return self._infer(fit, member, found, Y)

    def _opened(
        self, X: Any, Y: Float64, noise: float | Float64, workers: Workers
    ) -> tuple[Family, Float64, Float64]:
        """Return the family of the kernel, where the search starts, and its bounds."""
        bounds = {} if self.bounds is None else dict(self.bounds)
        self._limit_noise(noise, bounds.pop("noise", None), Y)
        kernel: Kernel = self.kernel_
        if self._automatic and self.kernel is None:
            kernel = default_kernel(X, self.normalize_y).resolve_on(X, None)
        elif self._automatic and isinstance(self.kernel, str) and not isinstance(kernel, Precomputed):
            kernel = with_amplitude(kernel, self.normalize_y)
        self.kernel_, self._tuned = self._beginning(kernel, bounds)
        family = family_of(self.kernel_, self._tuned, X, workers)
        theta, limit = family.theta, family.bounds
        if self._noise_limits is not None:
            theta = np.append(theta, math.log(float(noise)))
            limit = np.vstack([limit, np.log(self._noise_limits)])
        self.hyperparameters_ = [*family.labels, *([] if self._noise_limits is None else ["noise"])]
        return family, theta, limit

    def _data_starts(
        self, family: Family, X: Any, Y: Float64, theta: Float64, limit: Float64, limits: Limits, rng: Any
    ) -> tuple[list[Float64], Float64]:
        """Return the best starts with the scales of the data, and bounds with room around them."""
        starts = data_starts(family, Y, theta)
        limit = self._roomy(limit, starts, family.labels)
        return self._tried(family, X, Y, starts, limit, limits, rng), limit

    def _settle(
        self, family: Family, theta: Float64, limit: Float64, found: Found | None, Y: Float64 | None
    ) -> None:
        """Store the parameters that were found, and warn of those that mean little.

        Parameters
        ----------
        family : Family
            The kernels.
        theta, limit : array
            The parameters and their bounds.
        found : Found or None
            The result of a search, if there was one.
        Y : array or None
            Outputs, if a constant might be as good.
        """
        self.theta_ = theta
        part, self.noise_ = self._parted(theta)
        self.kernel_ = family.at(part).shown
        if found is not None:
            if self._automatic and self.kernel is None:  # a feature, or the offset, may not be needed
                spare = [j for j, label in enumerate(family.labels) if "gamma[" in label or "value" in label]
                limit = limit.copy()
                limit[spare, 0] = -np.inf
            self._warn_of_bounds(theta, limit, self.hyperparameters_, self.kernel_)
            if Y is not None:
                self._warn_of_nothing_found(found, Y)

    def _infer(self, fit: Fit, member: Member, found: Found | None, Y: Float64) -> list[Solved]:
        """Compute the posterior at the chosen parameters."""
        noise = self.noise_ + member.white
        problem = _ridge(Y, noise)
        limits = fit.ask.limits
        self._cut_short = "optimal" if found is None else found.status
        if fit.ask.requested:
            self._cut_short = "interrupted"
        self.n_iter_ = 1 if found is None else found.evaluations
        self.condition_, status = math.nan, "optimal"
        if self._direct:
            packed = Y.shape[0] >= PACKED and not isinstance(member.kernel, Precomputed | SklearnKernel)
            system, jitter = factored(member, noise, packed=packed)
            A = system.solve(Y)
            F = system.times(A) - np.reshape(noise + jitter, (-1, 1)) * A
            if isinstance(system, PackedFactored):
                system.forget()
            self._posterior, self.condition_ = ExactPosterior(system), system.condition
            note = self._ill(system.condition, jitter, noise)
            value = evidence_of(system, A, Y)
        else:
            value = (
                found.evidence
                if found
                else self._evidence(
                    member.family, self.theta_, Y, limits.part(SEARCHING), gradient=False, direct=False
                )
            )
            solver = self._iterative(limits.part())
            solution = solver.solve(member.gram(self.precision, Workers(1)), problem, fit.workers)
            A, F, note, status = solution.A, solution.F, solution.note, solution.status
            self._posterior = None  # set up when a variance is asked for
        self.log_marginal_likelihood_value_ = value.value
        self.log_marginal_likelihood_error_ = value.error
        self.quadratic_bounds_ = (value.lower, value.upper)
        products = member.gram("double")
        return [
            Solved(
                one,
                Machine(A[:, t], 0.0, F[:, t]),
                self.n_iter_,
                status,
                products.noise(A[:, t]),
                note,
            )
            for t, one in enumerate(problem.outputs())
        ]

    def _infer_beside(self, member: Member, found: Found | None, Y: Float64, design: Design) -> list[Solved]:
        """Compute the posterior around a trend at the chosen parameters."""
        noise = self.noise_ + member.white
        self._cut_short = "optimal" if found is None else found.status
        self.n_iter_ = 1 if found is None else found.evaluations
        best = kriged(member, noise, Y, design)
        self.condition_ = best.system.condition
        value = restricted_value(best, Y)
        self._posterior = KrigingPosterior.of(best)
        self.log_marginal_likelihood_value_, self.log_marginal_likelihood_error_ = value.value, value.error
        self.quadratic_bounds_ = (value.lower, value.upper)
        note = self._ill(best.system.condition, best.jitter, noise)
        intercept, others = design.split(best.coefficients())
        F, seen = best.products(noise), design.projected(member.gram("double"))
        return [
            Solved(
                one,
                ParametricMachine(best.A[:, t], float(intercept[t]), F[:, t], others[:, t]),
                self.n_iter_,
                "optimal",
                seen.noise(best.A[:, t]),
                note,
            )
            for t, one in enumerate(ParametricRidge.of(_ridge(Y, noise), design).outputs())
        ]

    def _begin(self, split: Any) -> None:
        super()._begin(split)
        self.__dict__.pop("intercept_", None)  # of an earlier fit with columns that cost nothing

    def _keep_parametric(self, free: Any, machines: list[Machine]) -> None:
        super()._keep_parametric(free, machines)  # in the units of y
        self.intercept_ = self._y_std * np.array([m.intercept for m in machines])
        self.parametric_coef_ = self._y_std[:, None] * self.parametric_coef_

    def _keep_steps(self, steps: list[int]) -> None:
        self.n_iter_ = steps[0]  # of the search

    def _conclude(self, certificate: Certificate, keep: bool = False, notes: Sequence[str] = ()) -> None:
        certificate = replace(certificate, n_iter=self.n_iter_)
        if self._cut_short != "optimal":
            certificate = replace(certificate, status=self._cut_short)
        del self._cut_short
        super()._conclude(certificate, keep, notes)

    def _ill(self, condition: float, jitter: float, noise: float | Float64) -> str:
        """Return what to say of an ill-conditioned system; nothing of a good one."""
        if not jitter and condition < WORST:
            return ""
        what = (
            f"not positive definite in floating-point arithmetic; {jitter:.1e} was added to its diagonal"
            if jitter
            else f"near-singular: its condition number is about {condition:.1e}"
        )
        name = "alpha" if self.noise is None else "noise"
        return (
            f"K + {name} I is {what}. Raise {name} (now {float(np.min(noise)):.1e}), or drop duplicate rows"
        )

    def _certify(self, X: Any, y: Any, sample_weight: Any) -> Certificate:
        X = self._check_X(X, kernel=self._smooth, reset=False)
        self._fitted_length(X)
        split: Any = self._split_again(X, y, sample_weight)
        member = self._family(X).at(self._parted(self.theta_)[0])
        A, F, known = self._coef(), self._means(X), self.certificate_
        matrix, problem = member.gram("double"), _ridge(split.Y, self.noise_ + member.white)
        machines: list[Machine] = [Machine(A[:, t], 0.0, F[:, t]) for t in range(A.shape[1])]
        design = self._design(X)
        if design is not None:
            matrix, problem = design.projected(matrix), ParametricRidge.of(problem, design)
            bias, d = self.intercept_ / self._y_std, self.parametric_coef_ / self._y_std[:, None]
            machines = [
                ParametricMachine(m.coef, float(bias[t]), m.products, d[t]) for t, m in enumerate(machines)
            ]
        found = [
            Solved(one, machines[t], known.n_iter, known.status, matrix.noise(A[:, t]))
            for t, one in enumerate(problem.outputs())
        ]
        return replace(proof(self, found), n_iter=known.n_iter)


def _ridge(Y: Float64, noise: float | Float64) -> Ridge:
    """Return the ridge regression whose solution the posterior mean is."""
    n, t = Y.shape
    if np.ndim(noise) == 0:
        return Ridge(Y, np.ones(n), np.full(t, float(noise)))
    # An exact observation has no finite weight; beside other noise, rounding takes its place.
    least = float(np.finfo(np.float64).eps * np.max(noise))
    return Ridge(Y, 1.0 / np.maximum(noise, least), np.ones(t))
