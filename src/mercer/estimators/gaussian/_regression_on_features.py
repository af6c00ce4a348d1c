"""Gaussian processes of many rows: explicit features stand for the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state

from mercer.arrays import Float64
from mercer.estimators.approximation._fitting import OnFeatures, fit_on_features
from mercer.estimators.approximation._maps import as_gram, unfitted_map
from mercer.estimators.approximation._mixin import ApproximationMixin
from mercer.estimators.approximation._values import has_features, has_landmarks, transformed
from mercer.estimators.fitting import Fit, Fitted, Solved
from mercer.estimators.gaussian._regression import BaseRegression
from mercer.gram import Gram, Workers
from mercer.gram.kernel_family import Family, TunedMember
from mercer.kernels import Kernel, Precomputed
from mercer.problems.evidence import Evidence
from mercer.problems.linear_risk import LinearRisk
from mercer.problems.losses import SquaredError
from mercer.solvers.gaussian.hyperparameters import Found
from mercer.solvers.gaussian.on_features import FeaturePosterior, FeatureSums, landmark_evidence

SAMPLE = 1000  # rows whose exact evidence the search begins with
LEAST = 1e-8  # noise in units of the kernel's mean diagonal: features are known to some eight digits
DIRECTIONS = 1e-10  # share of the largest eigenvalue of the landmarks below which rounding is all there is
SEARCHING = 0.8  # share of the seconds for the search


class RegressionOnFeatures(ApproximationMixin, BaseRegression):
    """A regressor whose kernel features may stand for."""

    log_marginal_likelihood_bounds_: tuple[float, float] | None
    _posterior: Any

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Fitted:
        for name in ("log_marginal_likelihood_bounds_", "intercept_"):
            self.__dict__.pop(name, None)
        if self.approximation is None:
            return super()._fit(X, y, sample_weight)
        return fit_on_features(self, X, y, sample_weight, ProcessOnFeatures)

    # -- what the fit on features asks for -------------------------------------------------------------------

    @property
    def _exact_kernel(self) -> Kernel:
        return self._smooth

    def _check_approximation(self) -> None:
        if self.solver != "auto":
            raise ValueError(
                f"solver={self.solver!r} works on a kernel matrix; with approximation=... it must be 'auto'"
            )
        if np.ndim(self.alpha) or np.ndim(self.noise):
            raise ValueError(
                "a noise for each point is not available with approximation=...: pass noise='auto' or one "
                "number"
            )

    def _level(self) -> float:
        """Return the variance of all noise of a fitted process."""
        return float(self.noise_) + float(self._white)

    def _on_features(self, target: Any, weight: Any, features: Any) -> LinearRisk:
        return self._feature_risk(SquaredError(), target, weight / (2.0 * self._level()), features)

    def _objective_scale(self) -> float:
        return 2.0 * self._level()

    def _price_of_loss(self) -> float:
        return 1.0 / self._objective_scale()

    def _keep_biases(self, biases: Float64, split: Any) -> None:
        """Store nothing: a constant is part of the kernel."""

    def _biases(self) -> Float64:
        return np.zeros(len(self.feature_weights_))

    def _trial_parameters(self, X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
        """Return parameters with which trial fits take little time: kernel and noise of some rows."""
        if self.optimizer is None:
            return {}
        n = self._length(X)
        some = np.sort(np.random.default_rng(0).choice(n, min(n, SAMPLE), replace=False))
        exact = clone(self).set_params(approximation=None, solver="cholesky")
        exact.fit(_safe_indexing(X, some), _safe_indexing(y, some))
        found = {"kernel": exact.kernel_, "optimizer": None, "bounds": None}
        return found if self.noise is None else {**found, "noise": float(exact.noise_)}

    # -- parameters ------------------------------------------------------------------------------------------

    def _choose_on_features(
        self, fit: Fit, n_components: int | None
    ) -> tuple[Found | None, FeatureSums, Any]:
        """Find kernel, noise and map; store them with their evidence."""
        split: Any = fit.split
        X, Y = fit.X, split.Y
        rng = check_random_state(self.random_state)
        self._seed = int(rng.randint(2**31 - 1))
        family, theta, limit = self._opened(X, Y, self._given_noise(split.n, Y), fit.workers)
        self._refuse_tiny_noise(family, theta)
        limits, found = fit.ask.limits.part(SEARCHING), None
        limits.max_iter = fit.ask.limits.max_iter
        searched = self.optimizer is not None and theta.size > 0
        if searched:
            found, theta, limit = self._sampled_search(family, X, Y, theta, limit, limits, rng)
        drawn: Any = unfitted_map(self, family.at(self._parted(theta)[0]).kernel, n_components).fit(X)
        if searched and has_landmarks(drawn):
            if not isinstance(family.at(self._parted(theta)[0]), TunedMember):
                raise ValueError(
                    f"kernel={self.kernel_!r} has no twin in mercer.kernels: pass optimizer=None, or "
                    "approximation='features'"
                )
            found = self._search(
                lambda t: self._bound(family, drawn, t, Y, fit.workers), [theta], limit, limits, rng
            )
            theta = found.theta
        landmarks = has_landmarks(drawn)
        self._settle(family, theta, limit, found, Y if landmarks else None)
        member = family.at(self._parted(theta)[0])
        self._white = float(member.white)
        self.feature_map_ = drawn._moved(member.kernel, X, DIRECTIONS) if landmarks else drawn
        features = as_gram(self.feature_map_, X, fit.workers, self._cache_bytes() // 2)
        diagonal = member.gram().diag() if landmarks else None
        sums = FeatureSums.of(features, Y, diagonal)
        value, bounds = sums.evidence(self._level())
        self.log_marginal_likelihood_value_, self.log_marginal_likelihood_error_ = value.value, 0.0
        self.quadratic_bounds_ = (value.lower, value.upper)
        self.log_marginal_likelihood_bounds_ = bounds if landmarks else None
        return found, sums, features

    def _refuse_tiny_noise(self, family: Family, theta: Float64) -> None:
        part, noise = self._parted(theta)
        member = family.at(part)
        if np.ndim(member.white):
            raise ValueError(
                f"kernel={self.kernel_!r} has a noise of its own for each point, which is not available with "
                "approximation=..."
            )
        level, least = float(noise) + float(member.white), LEAST * float(member.gram().diag().mean())
        if not level >= least:
            name = "alpha" if self.noise is None else "noise"
            raise ValueError(
                f"{name}={float(noise):g} is too small for approximation=...: features are not exact, and it "
                f"must be at least {least:.2g}. Pass noise='auto' to find it"
            )

    def _sampled_search(
        self, family: Family, X: Any, Y: Float64, theta: Float64, limit: Float64, limits: Any, rng: Any
    ) -> tuple[Found, Float64, Float64]:
        """Return the parameters of largest exact evidence on some of the rows, and the bounds."""
        starts = [theta]
        fewer = Y.shape[0] > SAMPLE and not isinstance(self.kernel_, Precomputed)
        some, some_y = self._sample(family, X, Y, SAMPLE) if fewer else (family, Y)
        if self._automatic and self._noise_limits is not None:
            starts, limit = self._data_starts(family, X, Y, theta, limit, limits, rng)
        found = self._search(
            lambda t: self._evidence(some, t, some_y, limits, direct=True), starts, limit, limits, rng
        )
        return found, found.theta, limit

    def _bound(self, family: Any, drawn: Any, theta: Float64, Y: Float64, workers: Workers) -> Evidence:
        """Return the lower bound on the evidence of all rows, by landmarks, and its gradient."""
        part, noise = self._parted(theta)
        member = family.at(part)
        features = drawn._moved(member.kernel, family.X, DIRECTIONS)
        matrix = as_gram(features, family.X, workers, self._cache_bytes() // 2)
        found = landmark_evidence(member, matrix, features.components_, float(noise), Y)
        if self._noise_limits is not None:
            return found
        return Evidence(found.value, 0.0, found.lower, found.upper, found.gradient[:-1])

    # -- use -------------------------------------------------------------------------------------------------

    def _variances(self, X: Any) -> Float64:
        if not has_features(self):
            return super()._variances(X)
        out = np.empty(self._length(X))
        step = max(16, (1 << 22) // self.n_components_)
        family = self._family(X)
        prior = family.at(self._parted(self.theta_)[0]).prior_variances(X) - self._white
        for start in range(0, out.size, step):
            rows = np.arange(start, min(out.size, start + step))
            Z = transformed(self.feature_map_, self._smooth.take(X, rows))
            out[rows] = self._posterior.variances(prior[rows], Z)
        return out + self._white

    def _covariance(self, X: Any) -> Float64:
        if not has_features(self):
            return super()._covariance(X)
        member = self._family(X).at(self._parted(self.theta_)[0])
        prior = member.prior_covariance(X)
        prior.ravel()[:: prior.shape[0] + 1] -= self._white
        joint = self._posterior.covariance(prior, transformed(self.feature_map_, X))
        joint.ravel()[:: joint.shape[0] + 1] += self._white
        return np.asarray(0.5 * (joint + joint.T))


class ProcessOnFeatures(OnFeatures):
    """A Gaussian process as the one fit sees it when features stand for its kernel.

    Parameters are found on the way, so that the features are known only when all else is stated.
    """

    solver = "auto"

    def _matrix(self, kernel: Kernel, X: Any, split: Any, workers: Workers) -> Gram:
        self._require_definite(kernel.is_psd is not False, kernel)
        matrix: Gram = self.model._matrix(kernel, X, split, workers)
        return matrix

    def _solve(self, fit: Fit, matrix: Gram) -> list[Solved]:
        model = self.model
        found, sums, features = model._choose_on_features(fit, self.n_components)
        self.n_components_ = features.width
        model._cut_short = "optimal" if found is None else found.status
        if fit.ask.requested:
            model._cut_short = "interrupted"
        vars(self)["evaluations"] = 1 if found is None else found.evaluations
        model.condition_ = float("nan")
        model._posterior = FeaturePosterior.of(sums, model._level(), has_landmarks(model.feature_map_))
        fit.ask.limits.max_iter = -1  # it was the optimizer's
        return super()._solve(fit, features)

    def _keep_steps(self, steps: list[int]) -> None:
        self.n_iter_ = vars(self)["evaluations"]
