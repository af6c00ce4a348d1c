"""Fisher's discriminant in feature space, by ridge regression of class scores."""

from __future__ import annotations

import numpy as np

from mercer.arrays import Float64
from mercer.problems.coordinates import Coordinates


def ridge_directions(view: Coordinates, targets: Float64, ridge: float) -> Float64:
    r"""Return the directions of the ridge regression of ``targets`` (centred), in the view's coordinates.

    .. math:: c = \arg\min_c \frac1n \|Y - Z c\|^2 + \kappa \|c\|^2 = (D + n \kappa I)^{-1} D^{1/2} U^T Y

    Parameters
    ----------
    view : Coordinates
        Of the points.
    targets : (n, p) array
        Y, columns of mean zero.
    ridge : float
        :math:`\kappa`.

    Returns
    -------
    (r, p) array
    """
    n = view.U.shape[0]
    weights = np.sqrt(view.d) / (view.d + n * ridge)
    return np.asarray(weights[:, None] * (view.U.T @ targets))
