"""Training points as rows of numbers: coordinates in the span of their images, about the mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.arrays import Float64, Index


@dataclass(frozen=True)
class Coordinates:
    r"""An orthonormal basis of (most of) the span of :math:`\phi(x_i) - \mu`, along the principal axes.

    The points have the coordinates :math:`Z = U D^{1/2}` with :math:`\tilde K = U D U^T`: inner products of
    rows of Z are those of the points in feature space, so any linear method on Z is the kernel method.

    Attributes
    ----------
    U : (n, r) array
        Orthonormal columns that sum to zero.
    d : (r,) array
        Positive, descending.
    basis : (m, r) array
        Coefficients of kernel values with the landmarks that give coordinates, up to a shift.
    shift : (r,) array
        What to subtract from them.
    landmarks : (m,) array or None
        Training points that others are compared with; None for all.
    trace : float
        Sum of squared distances from the mean, with what the basis leaves out.
    """

    U: Float64
    d: Float64
    basis: Float64
    shift: Float64
    landmarks: Index | None
    trace: float

    @property
    def variance(self) -> float:
        """Mean squared distance from the mean."""
        return self.trace / int(self.U.shape[0])

    def coefficients(self, directions: Float64) -> tuple[Float64, Float64]:
        """Return C and s with <phi(x) - mu, directions> = k(x, landmarks) C - s.

        Parameters
        ----------
        directions : (r, k) array
            In this basis.

        Returns
        -------
        (m, k) and (k,) arrays
        """
        with np.errstate(over="ignore", invalid="ignore"):  # a model that is not finite is refused in words
            return self.basis @ directions, self.shift @ directions

    def projections(self, directions: Float64) -> Float64:
        """Return the products of the training points with directions in this basis, (n, k)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(self.U @ (np.sqrt(self.d)[:, None] * directions))
