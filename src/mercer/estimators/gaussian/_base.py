"""How a Gaussian process is fitted: hyper-parameters, then the posterior, exactly or by iterations."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state

from mercer.arrays import Float64
from mercer.estimators.interrupts import Stop, stoppable
from mercer.estimators.machine import KernelMachine
from mercer.estimators.user_warnings import warn_user
from mercer.gram import Segment, Workers, cross_products, gram
from mercer.gram.kernel_family import KernelFamily
from mercer.kernels import RBF, Kernel, Precomputed, as_kernel
from mercer.kernels.tuning import Tuning, checked_bounds
from mercer.problems import Certificate, Machine, certified, combine
from mercer.problems.evidence import Evidence
from mercer.problems.ridge import Ridge
from mercer.solvers.gaussian.evidence import StochasticEvidence, evidence_of, exact_evidence, factored
from mercer.solvers.gaussian.hyperparameters import Found, maximise
from mercer.solvers.gaussian.posterior import ExactPosterior, IterativePosterior
from mercer.solvers.limits import Limits
from mercer.solvers.linear_algebra.factored import WORST
from mercer.solvers.ridge.iterative import IterativeRidge

TILE_VALUES = 1 << 22  # kernel values between new and training points in memory at a time
LEAST_NOISE, MOST_NOISE = 1e-10, 1e5


class BaseGaussianProcess(KernelMachine):
    """The parts of the regressor that are not its interface."""

    kernel_: Kernel
    noise_: Any
    _Y: Float64  # outputs as the process sees them
    _noise_limits: tuple[float, float] | None  # None where the noise is given
    _posterior: ExactPosterior | IterativePosterior | None

    def _kernel(self) -> Kernel:
        return 1.0 * RBF() if self.kernel is None else as_kernel(self.kernel)

    # -- parameters ------------------------------------------------------------------------------------------

    def _noise(self, n: int) -> float | Float64:
        if np.ndim(self.noise) == 0:
            return float(self.noise)
        noise: Float64 = check_array(self.noise, ensure_2d=False, dtype=np.float64, input_name="noise")
        if noise.shape != (n,) or not (noise > 0).all():
            raise ValueError(f"noise has shape {noise.shape}; it must be a number > 0, or {n} of them")
        return noise

    def _tuning(self, kernel: Kernel, noise: float | Float64) -> Tuning:
        """Return the kernel's free parameters, and set the bounds of the noise."""
        given = {} if self.bounds is None else dict(self.bounds)
        own = given.pop("noise", None)
        if isinstance(own, str) and own != "fixed":
            raise ValueError(f"bounds['noise']={own!r} must be 'fixed' or two numbers > 0")
        self._noise_limits = None
        if np.ndim(noise) == 0 and not isinstance(own, str):
            default = (min(LEAST_NOISE, float(noise) / 100), max(MOST_NOISE, float(noise) * 100))
            self._noise_limits = checked_bounds("noise", np.asarray(noise), default if own is None else own)
        return Tuning(kernel, given)

    @property
    def _direct(self) -> bool:
        n = self.shape_fit_[0]
        return bool(self.solver == "cholesky" or (self.solver == "auto" and 8 * n * n <= self._cache_bytes()))

    # -- evidence --------------------------------------------------------------------------------------------

    def _split(self, theta: Float64) -> tuple[Float64, float | Float64]:
        """Return the kernel's part of theta and the noise that it means."""
        if self._noise_limits is None:
            return theta, self._given_noise
        return theta[:-1], math.exp(float(theta[-1]))

    @property
    def _given_noise(self) -> float | Float64:
        return self._noise(self.shape_fit_[0])

    def _evidence(
        self, family: KernelFamily, theta: Float64, limits: Limits, *, gradient: bool = True
    ) -> Evidence:
        part, noise = self._split(theta)
        kernel = family.kernel(part)
        if self._direct:
            found = exact_evidence(family, kernel, noise, self._Y, gradient=gradient)
        else:
            estimate = StochasticEvidence(
                probes=self.n_probes, tol=self.tol, memory=self._cache_bytes(), rank=self.preconditioner_rank,
                seed=self._seed, limits=limits,
            )  # fmt: skip
            found = estimate(family, kernel, float(noise), self._Y, gradient=gradient)
        if gradient and self._noise_limits is None:
            return replace(found, gradient=found.gradient[:-1])
        return found

    def _start(self, tuning: Tuning, noise: float | Float64) -> Float64:
        return tuning.theta if self._noise_limits is None else np.append(tuning.theta, math.log(float(noise)))

    def _search(self, family: KernelFamily, start: Float64, limits: Limits, rng: Any) -> Found | None:
        """Maximise the evidence, unless there is nothing to choose."""
        if self.optimizer is None or start.size == 0:
            return None
        bounds = family.tuning.bounds
        if self._noise_limits is not None:
            bounds = np.vstack([bounds, np.log(self._noise_limits)])
        listener: Callable[[int, float], None] | None = None
        if self.verbose:

            def listener(count: int, value: float) -> None:
                sys.stdout.write(f"[{type(self).__name__}] evaluation {count:>4}  log evidence {value:.6f}\n")

        found = maximise(
            lambda theta: self._evidence(family, theta, limits), start, bounds, limits=limits, rng=rng,
            restarts=self.n_restarts_optimizer, optimizer=self.optimizer, listener=listener,
        )  # fmt: skip
        near = np.isclose(found.theta[:, None], bounds, atol=1e-3, rtol=0).any(axis=1)
        labels = [*family.tuning.labels, "noise"]
        if near.any():
            named = [
                f"{labels[j]} ({math.exp(found.theta[j]):.3g} in [{math.exp(bounds[j, 0]):.3g}, "
                f"{math.exp(bounds[j, 1]):.3g}])"
                for j in np.flatnonzero(near)
            ]
            warn_user(
                f"the best value of {', '.join(named)} lies at a bound: widen bounds, or fix what the data "
                "do not determine",
                ConvergenceWarning,
            )
        return found

    # -- fit -------------------------------------------------------------------------------------------------

    def _fit_process(self, X: Any, Y: Float64) -> None:
        """Fit to outputs as the process sees them."""
        n = Y.shape[0]
        kernel = self._kernel()
        kernel.validate()
        self._Y = Y
        rng = check_random_state(self.random_state)
        self._seed = int(rng.randint(2**31 - 1))
        noise = self._noise(n)
        if not self._direct and np.ndim(noise):
            raise ValueError("a noise for each point needs solver='cholesky' and a cache_size that holds K")
        kernel = kernel.resolve_on(X, None)
        self.kernel_ = kernel
        tuning = self._tuning(kernel, noise)
        family = KernelFamily(tuning, X, self._workers())
        limits = Limits(self.max_iter, self.time_limit)
        with stoppable(limits, self.on_interrupt == "keep") as stop:
            self._check_definite(kernel, family)
            found = self._search(family, self._start(tuning, noise), limits, rng)
            theta = self._start(tuning, noise) if found is None else found.theta
            part, self.noise_ = self._split(theta)
            self.kernel_ = family.kernel(part)
            self.theta_, self._tuned = theta, tuning
            self.hyperparameters_ = [*tuning.labels, *([] if self._noise_limits is None else ["noise"])]
            self._infer(family, limits, found, stop)

    def _check_definite(self, kernel: Kernel, family: KernelFamily) -> None:
        if kernel.is_psd:
            return
        if kernel.is_psd is False or not self._psd(kernel, family.gram(kernel)):
            raise ValueError(
                f"kernel={kernel!r} is not positive semi-definite: there is no Gaussian process with it"
            )

    def _infer(self, family: KernelFamily, limits: Limits, found: Found | None, stop: Stop) -> None:
        """Compute the posterior at the chosen parameters."""
        status = "optimal" if found is None else found.status
        problem = self._ridge(self._Y)
        self.n_iter_ = 1 if found is None else found.evaluations
        self.condition_ = math.nan
        if self._direct:
            system, jitter = factored(family, self.kernel_, self.noise_)
            A = system.solve(self._Y)
            F = system.times(A) - np.reshape(self.noise_ + jitter, (-1, 1)) * A
            self._posterior, self.condition_ = ExactPosterior(system), system.condition
            note = self._ill(system.condition, jitter)
            value = evidence_of(system, A, self._Y)
        else:
            solver = self._iterative(Limits(time_limit=self.time_limit))
            solution = solver.solve(
                family.gram(self.kernel_, self.precision, Workers(1)), problem, self._workers()
            )
            A, F = solution.A, solution.F
            status = solution.status if status == "optimal" else status
            self._posterior = None  # set up when a variance is asked for
            note = solution.note
            value = found.evidence if found else self._evidence(family, self.theta_, limits, gradient=False)
        if stop.requested:
            status = "interrupted"
        self.dual_coef_: Any = A[:, 0] if self._flat else A
        self.log_marginal_likelihood_value_ = value.value
        self.log_marginal_likelihood_error_ = value.error
        self.quadratic_bounds_ = (value.lower, value.upper)
        certificate = self._certified(problem, A, F, self.n_iter_, status)
        if found is not None and found.status != "optimal":  # a search that was cut short
            certificate = replace(certificate, status=status)
        self._conclude(certificate, notes=[note] if note else [])

    def _certified(self, problem: Ridge, A: Float64, F: Float64, n_iter: int, stopped: str) -> Certificate:
        """Return the certificate of the posterior mean, one part for each output."""
        matrix = gram(self.kernel_, self.X_fit_, precision="double", cache_bytes=0)
        parts = [
            certified(
                one,
                Machine(A[:, t], 0.0, F[:, t]),
                tol=self.tol,
                criterion="gap",
                n_iter=n_iter,
                stopped=stopped,
                noise=matrix.noise(A[:, t]),
            )
            for t, one in enumerate(problem.outputs())
        ]
        return replace(combine(parts), n_iter=n_iter)

    def _ill(self, condition: float, jitter: float) -> str:
        """Return what to say of an ill-conditioned system; nothing of a good one."""
        if not jitter and condition < WORST:
            return ""
        what = (
            f"not positive definite in floating-point arithmetic; {jitter:.1e} was added to its diagonal"
            if jitter
            else f"near-singular: its condition number is about {condition:.1e}"
        )
        smallest = float(np.min(self.noise_))
        return f"K + noise I is {what}. Raise noise (now {smallest:.1e}), or drop duplicate rows"

    def _iterative(self, limits: Limits) -> IterativeRidge:
        return IterativeRidge(
            tol=self.tol, memory=self._cache_bytes(), rank=self.preconditioner_rank, limits=limits,
            seed=np.random.default_rng(self._seed),
        )  # fmt: skip

    def _ridge(self, Y: Float64) -> Ridge:
        """Return the ridge regression whose solution the posterior mean is."""
        n, t = Y.shape
        if np.ndim(self.noise_) == 0:
            return Ridge(Y, np.ones(n), np.full(t, float(self.noise_)))
        return Ridge(Y, 1.0 / np.asarray(self.noise_), np.ones(t))

    # -- use -------------------------------------------------------------------------------------------------

    def _coef(self) -> Float64:
        return np.ascontiguousarray(np.reshape(self.dual_coef_, (self.shape_fit_[0], -1)))

    def _means(self, X: Any) -> Float64:
        """Return K(X, training data) dual_coef for checked data."""
        coef = self._coef()
        outputs = np.arange(coef.shape[1])
        Z = np.arange(self.shape_fit_[0]) if isinstance(self.kernel_, Precomputed) else self.X_fit_
        segment = Segment(0, coef.shape[0], coef, outputs)
        return cross_products(self.kernel_, X, Z, [segment], outputs.size, self._workers())

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if isinstance(state.get("_posterior"), IterativePosterior):  # it holds threads; it is set up again
            state["_posterior"] = None
        return state

    def _get_posterior(self) -> ExactPosterior | IterativePosterior:
        if self._posterior is None:
            family = KernelFamily(self._tuned, self.X_fit_, self._workers())
            matrix = family.gram(self.kernel_, "double", Workers(1))
            solver = self._iterative(Limits())
            self._posterior = IterativePosterior(matrix, float(self.noise_), self._workers(), solver)
        return self._posterior

    def _cross(self, X: Any) -> Float64:
        """Return the kernel values between checked new points and the training points, in float64."""
        if isinstance(self.kernel_, Precomputed):
            return np.asarray(X, dtype=np.float64)
        return np.asarray(self.kernel_.evaluate(_double(X), _double(self.X_fit_)), dtype=np.float64)

    def _variances(self, X: Any) -> Float64:
        """Return the variances of f at checked points, before the outputs' scale."""
        n, posterior = self._length(X), self._get_posterior()
        out = np.empty(n)
        step = max(1, TILE_VALUES // self.shape_fit_[0])
        for start in range(0, n, step):
            rows = np.arange(start, min(n, start + step))
            part = self.kernel_.take(X, rows)
            prior = np.asarray(self.kernel_.evaluate_diag(_double(part)), dtype=np.float64)
            out[rows] = np.maximum(prior - posterior.explained(self._cross(part)), 0.0)
        return out

    def _covariance(self, X: Any) -> Float64:
        prior = np.asarray(self.kernel_.evaluate(_double(X)), dtype=np.float64)
        joint = prior - self._get_posterior().explained_jointly(self._cross(X))
        return np.asarray(0.5 * (joint + joint.T))

    def _certify_process(self, X: Any, Y: Float64) -> Certificate:
        self._fitted_length(X)
        A, known = self._coef(), self.certificate_
        return self._certified(self._ridge(Y), A, self._means(X), known.n_iter, known.status)


def _double(X: Any) -> Any:
    return X.astype(np.float64) if getattr(X, "dtype", None) == np.float32 else X


def check_bounds_type(bounds: Any) -> None:
    """Refuse bounds that are no mapping."""
    if bounds is not None and not isinstance(bounds, Mapping):
        raise TypeError(f"bounds={bounds!r} must be None or a dict of (low, high) or 'fixed' by name")
