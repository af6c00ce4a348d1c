"""The posterior of a function fitted to numbers: its mean and its covariances at new points."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.arrays import Float64
from mercer.estimators.approximation._values import feature_products, has_features
from mercer.estimators.gaussian._regression_evidence import RegressionEvidence
from mercer.gram import Segment, Workers, cross_products
from mercer.kernels import Precomputed
from mercer.solvers.base import Limits
from mercer.solvers.gaussian.kriging import KrigingPosterior
from mercer.solvers.gaussian.posterior import ExactPosterior, IterativePosterior
from mercer.solvers.ridge.iterative import IterativeRidge

TILE_VALUES = 1 << 22  # kernel values between new and training points in memory at a time


class RegressionPosterior(RegressionEvidence):
    """A regressor that has been fitted."""

    _posterior: ExactPosterior | IterativePosterior | KrigingPosterior | None

    def _coef(self) -> Float64:
        return np.ascontiguousarray(np.reshape(self.dual_coef_, (self.shape_fit_[0], -1)))

    def _means(self, X: Any) -> Float64:
        """Return K(X, training data) dual_coef for checked data, or the same of features."""
        if has_features(self):
            return feature_products(self, X, self._workers())
        coef = self._coef()
        outputs = np.arange(coef.shape[1])
        kernel = self._smooth
        Z = np.arange(self.shape_fit_[0]) if isinstance(kernel, Precomputed) else self.X_fit_
        segment = Segment(0, coef.shape[0], coef, outputs)
        return cross_products(kernel, X, Z, [segment], outputs.size, self._workers())

    def _trend(self, X: Any) -> Any:
        """Return the trend at checked data in the units of y, zero without any."""
        return 0.0 if self.parametric_ is None else self.intercept_ + self._trend_values(X)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if isinstance(state.get("_posterior"), IterativePosterior):  # it holds threads; it is set up again
            state["_posterior"] = None
        return state

    def _iterative(self, limits: Limits) -> IterativeRidge:
        return IterativeRidge(
            tol=self.tol, memory=self._cache_bytes(), rank=self.preconditioner_rank, limits=limits,
            seed=np.random.default_rng(self._seed),
        )  # fmt: skip

    def _get_posterior(self) -> ExactPosterior | IterativePosterior | KrigingPosterior:
        if self._posterior is None:
            member = self._member()
            noise = float(self.noise_) + float(member.white)
            solver = self._iterative(Limits())
            matrix = member.gram("double", Workers(1))
            self._posterior = IterativePosterior(matrix, noise, self._workers(), solver)
        return self._posterior

    def _variances(self, X: Any) -> Float64:
        """Return the variances of f at checked points, before the outputs' scale."""
        n, posterior, member = self._length(X), self._get_posterior(), self._member()
        out = np.empty(n)
        step = max(1, TILE_VALUES // self.shape_fit_[0])
        for start in range(0, n, step):
            rows = np.arange(start, min(n, start + step))
            part = member.kernel.take(X, rows)
            if isinstance(posterior, KrigingPosterior):
                explained = posterior.explained(member.cross(part), self._columns(part))
            else:
                explained = posterior.explained(member.cross(part))
            out[rows] = np.maximum(member.prior_variances(part) - explained, 0.0)
        return out

    def _covariance(self, X: Any) -> Float64:
        member, posterior = self._member(), self._get_posterior()
        if isinstance(posterior, KrigingPosterior):
            explained = posterior.explained_jointly(member.cross(X), self._columns(X))
        else:
            explained = posterior.explained_jointly(member.cross(X))
        joint = member.prior_covariance(X) - explained
        return np.asarray(0.5 * (joint + joint.T))

    def _columns(self, X: Any) -> Float64:
        """Return the columns of the trend at checked data, the constant first."""
        trend = self.parametric_
        assert trend is not None
        values = trend.columns(X)
        return np.hstack([np.ones((values.shape[0], 1)), values]) if trend.constant else values
