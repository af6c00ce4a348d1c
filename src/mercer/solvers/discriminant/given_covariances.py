"""Discriminants from covariances that were estimated elsewhere."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from mercer.arrays import Float64
from mercer.problems.discriminant.rules import log_priors
from mercer.problems.discriminant.spectra import ClassSpectra
from mercer.problems.discriminant.summary import ClassSummary
from mercer.solvers.discriminant.factor_rows import factor_rows
from mercer.solvers.discriminant.sphering import sphere


def fisher_directions(within: Float64, total: Float64) -> tuple[Float64, Float64]:
    r"""Solve :math:`(T - W) a = \lambda W a` with :math:`a^T W a = 1`.

    Returns
    -------
    values, directions : ndarrays of shape (p,) and (p, p)
        In descending order; of each direction (a column) the entry of largest size is positive.
    """
    values, directions = scipy.linalg.eigh(total - within, within)
    values, directions = values[::-1], directions[:, ::-1]
    largest = np.abs(directions).argmax(axis=0)
    signs = np.where(np.take_along_axis(directions, largest[None, :], axis=0)[0] < 0, -1.0, 1.0)
    return values, directions * signs


def linear_rule(slopes: Float64, means: Float64, center: Float64, priors: Float64) -> tuple[Float64, Float64]:
    r"""Slopes and offsets about a center of :math:`\delta_k(x) = (x - \mu_k / 2)^T s_k + \log \pi_k`.

    With two classes only their difference counts: the log-odds of the second.
    """
    offsets = log_priors(priors) + np.einsum("ij,ij->i", center - 0.5 * means, slopes)
    if len(priors) == 2:
        return slopes[1:] - slopes[:1], offsets[1:] - offsets[:1]
    return slopes, offsets


def spectra_of(covariances: list[Float64], summary: ClassSummary, tol: float) -> ClassSpectra:
    """Decompose given class covariances where their mean, weighted by class size, is the identity."""
    pooled = np.einsum("k,kij->ij", summary.proportions, np.array(covariances))
    sphering = sphere(factor_rows(pooled)[0], tol)
    inside = np.array([sphering.forward.T @ one @ sphering.forward for one in covariances])
    values, vectors = np.linalg.eigh(0.5 * (inside + inside.transpose(0, 2, 1)))
    centroids = (summary.means - summary.center) @ sphering.forward
    return ClassSpectra(sphering, summary.center, centroids, np.maximum(values, 0.0), vectors)
