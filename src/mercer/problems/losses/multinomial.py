# ruff: noqa: D102  what overrides a method is documented in the base class
"""The loss of several classes at once."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from scipy.special import log_softmax, logsumexp, softmax, xlogy

from mercer.arrays import Float64
from mercer.problems.losses.base import SLACK, Loss
from mercer.problems.losses.margin import divergence


class MultinomialDeviance(Loss):
    r"""The loss of multinomial logistic regression, :math:`L(y, f) = \log \sum_k e^{f_k} - f_y`.

    y is the number of a class and f has a column for each class. The population minimiser is log P(Y = k), up
    to a constant for each x. The terms of the gap are Kullback-Leibler divergences.
    """

    name = "multinomial_deviance"
    targets: ClassVar[Literal["signs", "numbers", "any", "classes"]] = "classes"

    @staticmethod
    def _members(y: Float64, k: int) -> Float64:
        return np.asarray(np.asarray(y)[..., None] == np.arange(k), dtype=np.float64)

    def value(self, y: Float64, f: Float64) -> Float64:
        return np.asarray(logsumexp(f, axis=-1) - (self._members(y, f.shape[-1]) * f).sum(axis=-1))

    def derivative(self, y: Float64, f: Float64) -> Float64:
        """Return the gradient: the probabilities minus 1 at the class of y."""
        return np.asarray(softmax(f, axis=-1) - self._members(y, f.shape[-1]))

    def curvature(self, y: Float64, f: Float64) -> Float64:
        """Return the Hessian diag(p) - p p' of each point."""
        p = np.asarray(softmax(f, axis=-1))
        return np.asarray(p[..., :, None] * (np.eye(f.shape[-1]) - p[..., None, :]))

    def root(self, y: Float64, f: Float64) -> Float64:
        """Return G with the Hessian equal to G G': diag(sqrt p) (1 - sqrt(p) sqrt(p)')."""
        r = np.sqrt(np.asarray(softmax(f, axis=-1)))
        return np.asarray(r[..., :, None] * (np.eye(f.shape[-1]) - r[..., :, None] * r[..., None, :]))

    def _simplex(self, y: Float64, s: Float64) -> tuple[Float64, Float64]:
        p = s + self._members(y, s.shape[-1])
        inside = np.asarray(np.maximum(p, 0.0))
        out = (np.abs(p - inside).max(axis=-1) > SLACK) | (np.abs(p.sum(axis=-1) - 1.0) > SLACK)
        return inside, np.where(out, np.inf, 0.0)

    def conjugate(self, y: Float64, s: Float64) -> Float64:
        p, penalty = self._simplex(y, s)
        return np.asarray(penalty + xlogy(p, p).sum(axis=-1))

    def excess(self, y: Float64, f: Float64, s: Float64) -> Float64:
        p, penalty = self._simplex(y, s)
        log_q = np.asarray(log_softmax(f, axis=-1))
        return np.asarray(penalty + divergence(p, np.exp(log_q), log_q).sum(axis=-1))

    def population_minimiser(self, p: Float64) -> Float64:
        """Return f, of mean zero, that minimises the expected loss when P(Y = k) = p_k."""
        with np.errstate(divide="ignore"):
            logarithm = np.log(p)
        return np.asarray(logarithm - logarithm.mean(axis=-1, keepdims=True))
