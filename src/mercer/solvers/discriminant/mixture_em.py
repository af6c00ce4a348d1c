"""Expectation-maximisation for Gaussian mixtures, one for each class, with one covariance for all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.arrays import Float64
from mercer.problems.discriminant.mixture import Mixture, MixtureProblem


@dataclass(frozen=True)
class Fit:
    """The outcome of one start; the last log-likelihood of its ``history`` is that of its ``mixture``."""

    mixture: Mixture
    history: list[float]
    converged: bool


def maximise(problem: MixtureProblem, memberships: Float64) -> Mixture:
    """Do the M-step: a weighted discriminant analysis of reduced rank with subclasses for classes."""
    n = len(problem.Z)
    sizes = np.bincount(problem.codes).astype(np.float64)
    counts = memberships.sum(axis=0)
    # A subclass that has lost all its rows rests at its class's mean, where it changes nothing.
    lost = counts <= 1e-10
    means = (memberships.T @ problem.Z) / np.where(lost, 1.0, counts)[:, None]
    means[lost] = problem.class_means[problem.owner[lost]]
    # The covariance within the classes is the identity, less what the subclass means explain of it.
    offsets = (means - problem.class_means[problem.owner]) * np.sqrt(counts / n)[:, None]
    values, vectors = np.linalg.eigh(np.eye(problem.Z.shape[1]) - offsets.T @ offsets)
    floored = bool(values[0] < problem.floor)
    # At full rank, clipping eigenvalues is the exact maximiser subject to the floor.
    deviation = np.sqrt(np.maximum(values, problem.floor))
    sphered = means @ (vectors / deviation)
    _, spread, axes = np.linalg.svd(np.sqrt(counts / n)[:, None] * sphered, full_matrices=True)
    variances = np.zeros(len(values))
    variances[: len(spread)] = spread[: len(values)] ** 2
    log_det = 2.0 * float(np.log(deviation).sum()) + float(np.log1p(variances[problem.rank :]).sum())
    return Mixture(
        weights=counts / sizes[problem.owner],
        forward=(vectors / deviation) @ axes.T,
        backward=(axes * deviation) @ vectors.T,
        centroids=sphered @ axes[: problem.rank].T,
        variances=variances,
        log_det=log_det,
        floored=floored,
    )


def expectation_maximisation(problem: MixtureProblem, memberships: Float64, tol: float, max_iter: int) -> Fit:
    """Alternate both steps until an iteration gains less than ``tol`` per row."""
    mixture = maximise(problem, memberships)
    memberships, likelihood = problem.expect(mixture)
    history = [likelihood]
    for _ in range(max_iter - 1):
        candidate = maximise(problem, memberships)
        memberships, likelihood = problem.expect(candidate)
        gain = likelihood - history[-1]
        if gain < 0.0:
            # Rounding at the optimum, or a floor together with a reduced rank: the step is not made.
            return Fit(mixture, history, converged=True)
        mixture = candidate
        history.append(likelihood)
        if gain < tol * len(problem.Z):
            return Fit(mixture, history, converged=True)
    return Fit(mixture, history, converged=False)
