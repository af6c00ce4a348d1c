"""Where expectation-maximisation starts: memberships from clusters of each class."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from mercer.arrays import Float64, Index
from mercer.problems.discriminant.mixture import MixtureProblem
from mercer.solvers.discriminant.mixture_em import Fit, expectation_maximisation


def clustered_memberships(problem: MixtureProblem, counts: Index, random: np.random.RandomState) -> Float64:
    """Memberships, zero or one, from k-means clusters of each class; ``counts`` are their numbers."""
    memberships = np.zeros((len(problem.Z), len(problem.owner)))
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    for k, (offset, number) in enumerate(zip(first, counts, strict=True)):
        rows = np.flatnonzero(problem.codes == k)
        clusters = np.zeros(len(rows), dtype=np.intp)
        if number > 1:
            with warnings.catch_warnings():
                # Rows that differ by rounding only may share a cluster; the spare subclass then stays empty.
                warnings.simplefilter("ignore", ConvergenceWarning)
                seed = random.randint(np.iinfo(np.int32).max)
                clusters = KMeans(int(number), n_init=1, random_state=seed).fit_predict(problem.Z[rows])
        memberships[rows, offset + clusters] = 1.0
    return memberships


def best_of_starts(
    problem: MixtureProblem,
    counts: Index,
    n_init: int,
    tol: float,
    max_iter: int,
    random: np.random.RandomState,
) -> Fit:
    """Run expectation-maximisation from ``n_init`` starts; return the fit of largest likelihood."""
    # With one subclass in each class there is nothing to start differently.
    starts = n_init if counts.max() > 1 else 1
    fits = [
        expectation_maximisation(problem, clustered_memberships(problem, counts, random), tol, max_iter)
        for _ in range(starts)
    ]
    return max(fits, key=lambda fit: fit.history[-1])
