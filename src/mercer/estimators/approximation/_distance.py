"""The measured distance of a machine on features from the exact kernel machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.arrays import Float64, Index
from mercer.estimators.approximation._values import has_landmarks
from mercer.estimators.fitting import Solved
from mercer.gram import Segment, Workers, cross_products
from mercer.kernels import Kernel, Precomputed
from mercer.kernels.data import take
from mercer.problems import Certificate
from mercer.problems.approximation import (
    CONFIDENT,
    DistanceFromExact,
    Part,
    outside_part,
    projected_part,
    summed,
)

EVALUATIONS = 200_000_000  # kernel values that may be computed for it: a second or two
FEWEST = 100  # rows of a sample


def distance_from_exact(
    model: Any, X: Any, rows: Sequence[Index], found: Sequence[Solved], certificate: Certificate, scale: float
) -> DistanceFromExact | None:
    """Return how far machines are from exact; None where the kernel is not known to be one.

    Parameters
    ----------
    model : estimator
        Fitted on features.
    X : array, CSR or sequence
        Checked training data.
    rows : sequence of arrays
        The rows of each problem.
    found : sequence of Solved
        The machines.
    certificate : Certificate
        Of the machines in their own problems, not scaled.
    scale : float
        The estimator's objective in units of the problem's.
    """
    if model._exact_kernel.is_psd is not True:
        return None
    rng = np.random.default_rng(0)
    landmarks = has_landmarks(model.feature_map_)
    workers, parts = model._workers(), []
    for k, solved in enumerate(found):
        own = certificate.parts[k] if certificate.parts else certificate
        problem: Any = solved.problem
        machine: Any = solved.machine
        beta = machine.multipliers
        if beta is None:
            beta = problem.coefficients(machine.products + machine.intercept)
        look = _Look(model._exact_kernel, X, rows[k], beta, EVALUATIONS // len(found), workers, rng)
        if landmarks:
            parts.append(projected_part(own.primal, own.gap, *look.missing(problem.features)))
        else:
            parts.append(look.outside(problem, float(machine.intercept)))
    return summed(parts, found[0].machine.coef.size, scale)


class _Look:
    """Kernel values between the rows of a problem, all or a sample."""

    def __init__(
        self,
        kernel: Kernel,
        X: Any,
        rows: Index,
        beta: Float64,
        evaluations: int,
        workers: Workers,
        rng: np.random.Generator,
    ) -> None:
        self.kernel, self.X, self.rows, self.beta = kernel, X, rows, beta
        self.support = np.flatnonzero(beta)
        self.most = max(FEWEST, evaluations // max(1, self.support.size))
        self.workers, self.rng = workers, rng

    def products(self, some: Index) -> Float64:
        """Return rows of K beta, in numbers of the problem."""
        many, few = self.rows[some], self.rows[self.support]
        points = few if isinstance(self.kernel, Precomputed) else take(self.X, few)
        coef = self.beta[self.support][:, None]
        segment = Segment(0, few.size, coef, np.array([0]))
        return cross_products(self.kernel, take(self.X, many), points, [segment], 1, self.workers)[:, 0]

    def missing(self, features: Any) -> tuple[float, float, bool]:
        """Return beta'(K - Z Z')beta, half the width of its interval, and whether it is estimated."""
        beta, support = self.beta, self.support
        if support.size == 0:
            return 0.0, 0.0, False
        w = features.transposed_times(beta)
        if support.size <= self.most:
            return float(beta[support] @ self.products(support)) - float(w @ w), 0.0, False
        sizes = np.abs(beta[support])
        total = float(sizes.sum())
        some = support[self.rng.choice(support.size, self.most, p=sizes / total)]
        # A row drawn by the size of its multiplier stands for all: the mean of these terms is the sum.
        terms = total * np.sign(beta[some]) * (self.products(some) - features.rows_times(some, w))
        error = CONFIDENT * float(terms.std(ddof=1)) / np.sqrt(some.size)
        return float(terms.mean()), float(error), True

    def outside(self, problem: Any, bias: float) -> Part:
        """Return the distance of the kernel machine with these multipliers."""
        n = self.beta.size
        if n <= self.most:
            return outside_part(problem, self.beta, self.products(np.arange(n)), bias)
        some = np.sort(self.rng.choice(n, self.most, replace=False))
        return outside_part(problem, self.beta, self.products(some), bias, some)
