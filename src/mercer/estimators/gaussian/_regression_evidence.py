"""What a Gaussian process of numbers is made of, and the evidence of its parameters and noise."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_array

from mercer.arrays import Float64
from mercer.estimators.gaussian._base import BaseGaussianProcess
from mercer.estimators.parametric import ParametricMixin
from mercer.gram.kernel_family import Family, Member
from mercer.gram.sklearn_family import family_of
from mercer.kernels import RBF, Kernel
from mercer.kernels.sklearn_kernels import as_our_kernel
from mercer.kernels.tuning import checked_bounds
from mercer.problems.design import Design
from mercer.problems.evidence import Evidence
from mercer.solvers.base import Limits
from mercer.solvers.gaussian.evidence import StochasticEvidence, exact_evidence
from mercer.solvers.gaussian.kriging import restricted_evidence

LEAST_NOISE, MOST_NOISE = 1e-10, 1e5
ALPHA = 1e-10  # scikit-learn's default


class RegressionEvidence(ParametricMixin, BaseGaussianProcess):
    """A regressor's kernel, noise and trend, and the evidence of its outputs at any parameters."""

    criterion, warm_start = "gap", False
    kernel_: Any  # ours, or scikit-learn's as it was given
    fit_intercept = False  # a constant is part of the trend, or there is none
    noise_: Any
    _Y: Float64  # outputs as the process sees them
    _y_mean: Float64
    _y_std: Float64
    _flat: bool  # whether they came without a second dimension
    _noise_limits: tuple[float, float] | None  # None where the noise is given

    @property
    def _predicts_flat(self) -> bool:
        """Whether predictions have one dimension: those of one output, in whatever shape it came."""
        return bool(self._Y.shape[1] == 1)

    # -- the kernel ------------------------------------------------------------------------------------------

    @property
    def _smooth(self) -> Kernel:
        """The fitted kernel between two sets of points, as one of ours."""
        return self.kernel_ if isinstance(self.kernel_, Kernel) else as_our_kernel(self.kernel_)

    def _family(self, X: Any) -> Family:
        """Return the family of the fitted kernel."""
        return family_of(self.kernel_, self._tuned, X, self._workers())

    def _member(self) -> Member:
        """Return the fitted covariance function on the training data."""
        return self._family(self.X_fit_).at(self._parted(self.theta_)[0])

    # -- parameters ------------------------------------------------------------------------------------------

    @property
    def _automatic(self) -> bool:
        return isinstance(self.noise, str)

    def _default_kernel(self) -> Any:
        return super()._default_kernel() if self.noise is None else 1.0 * RBF()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.noise is not None and not (np.ndim(self.alpha) == 0 and self.alpha == ALPHA):
            raise ValueError(
                f"noise={self.noise!r} and alpha={self.alpha!r} both name the variance of the noise: leave "
                f"alpha at {ALPHA:g}, or noise at None"
            )

    def _given_noise(self, n: int, Y: Float64) -> float | Float64:
        """Return the variance of the noise, where its search is to start if there is one."""
        if self._automatic:
            return max(0.1 * float(Y.var(axis=0).mean()), np.finfo(np.float64).tiny ** 0.5)
        if self.noise is None:
            if np.ndim(self.alpha) == 0:
                return float(self.alpha)
            alpha: Float64 = check_array(self.alpha, ensure_2d=False, dtype=np.float64, input_name="alpha")
            if alpha.shape == (1,):
                return float(alpha[0])
            if alpha.shape != (n,) or not (alpha >= 0).all():
                raise ValueError(
                    "alpha must be a scalar or an array with same number of entries as y, all >= 0. "
                    f"({alpha.shape[0]} != {n})"
                )
            return alpha
        if np.ndim(self.noise) == 0:
            return float(self.noise)
        noise: Float64 = check_array(self.noise, ensure_2d=False, dtype=np.float64, input_name="noise")
        if noise.shape != (n,) or not (noise > 0).all():
            raise ValueError(f"noise has shape {noise.shape}; it must be a number > 0, or {n} of them")
        return noise

    def _limit_noise(self, noise: float | Float64, own: Any, Y: Float64) -> None:
        """Set the bounds between which the noise is searched for, None if it is not."""
        if isinstance(own, str) and own != "fixed":
            raise ValueError(f"bounds['noise']={own!r} must be 'fixed' or two numbers > 0")
        self._noise_limits = None
        if self.noise is None or np.ndim(noise) or isinstance(own, str):
            return
        low, high = min(LEAST_NOISE, float(noise) / 100), max(MOST_NOISE, float(noise) * 100)
        if self._automatic:
            low, high = 1e-7 * float(noise), 1e3 * float(noise)
        self._noise_limits = checked_bounds("noise", np.asarray(noise), (low, high) if own is None else own)

    @property
    def _direct(self) -> bool:
        n = self.shape_fit_[0]
        return bool(self.solver == "cholesky" or (self.solver == "auto" and 8 * n * n <= self._cache_bytes()))

    # -- evidence --------------------------------------------------------------------------------------------

    def _parted(self, theta: Float64) -> tuple[Float64, float | Float64]:
        """Return the kernel's part of theta and the noise that it means."""
        if self._noise_limits is None:
            return theta, self._fixed_noise
        return theta[:-1], math.exp(float(theta[-1]))

    @property
    def _fixed_noise(self) -> float | Float64:
        return self._given_noise(self.shape_fit_[0], self._Y)

    def _evidence(
        self,
        family: Family,
        theta: Float64,
        Y: Float64,
        limits: Limits,
        *,
        gradient: bool = True,
        direct: bool | None = None,
    ) -> Evidence:
        part, noise = self._parted(theta)
        member = family.at(part)
        design = self._design(family.X)
        if design is not None:
            found = restricted_evidence(member, noise, Y, design, gradient=gradient)
        elif self._direct if direct is None else direct:
            found = exact_evidence(member, noise, Y, gradient=gradient)
        else:
            estimate = StochasticEvidence(
                probes=self.n_probes, tol=self.tol, memory=self._cache_bytes(), rank=self.preconditioner_rank,
                seed=self._seed, limits=limits,
            )  # fmt: skip
            found = estimate(member, float(noise), Y, gradient=gradient)
        if gradient and self._noise_limits is None:
            return replace(found, gradient=found.gradient[:-1])
        return found

    def _design(self, X: Any) -> Design | None:
        """Return the columns of a trend at checked data; None without any."""
        free = self._free_columns(self._smooth, X)
        if free is None:
            return None
        every = np.arange(free.values.shape[0])
        return free.design(every, np.ones(every.size))
