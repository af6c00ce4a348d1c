"""Covariances without an inverse: what is refused, and what is left out with a warning."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import LinAlgWarning

from mercer.problems.discriminant.spectra import ClassSpectra, Sphering
from mercer.problems.discriminant.summary import ClassSummary


class SingularCovarianceError(np.linalg.LinAlgError):
    """A class's Gaussian has no density; a ValueError as well."""


def require_variation(sphering: Sphering) -> None:
    """Refuse data in which nothing varies within the classes: there is no distance to measure with."""
    if sphering.rank == 0:
        raise ValueError(
            "X has no variation within any class: every feature is constant in each class, so the "
            "within-class covariance is zero and distances to the class means are undefined"
        )


def require_full_rank(spectra: ClassSpectra, summary: ClassSummary, alpha: float, tol: float) -> None:
    """Refuse a class whose Gaussian has no density in the space that the pooled covariance spans."""
    for k, rank in enumerate(spectra.ranks(alpha, tol)):
        if rank < spectra.sphering.rank:
            raise SingularCovarianceError(
                f"The covariance matrix of class {summary.name(k)} is not full rank. The covariance of class "
                f"{summary.name(k)} ({summary.sizes[k]} row(s)) has rank {rank}, the pooled one rank "
                f"{spectra.sphering.rank}: it has no inverse and no density. Give the class more rows, use "
                "fewer features, set shrinkage or reg_param, or take RegularizedDiscriminantAnalysis with an "
                "alpha below 1"
            )


def warn_if_singular(sphering: Sphering, what: str, *, stacklevel: int = 4) -> None:
    """Warn, naming the covariance, when directions were left out; 4 is right for calls from ``_fit``."""
    if sphering.rank < sphering.n_features:
        warnings.warn(
            f"{what} is singular: rank {sphering.rank} for {sphering.n_features} features. The directions "
            "in which no class varies are left out (pseudo-inverse)",
            LinAlgWarning,
            stacklevel=stacklevel,
        )
