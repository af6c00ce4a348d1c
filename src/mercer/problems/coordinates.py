"""Training points as rows of numbers: coordinates in the span of their images, about the mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.gram.centred import CentredGram
from mercer.gram.incomplete_cholesky import Factor, pivoted_cholesky

Float64 = NDArray[np.float64]
Index = NDArray[np.intp]


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
        return self.basis @ directions, self.shift @ directions

    def projections(self, directions: Float64) -> Float64:
        """Return the products of the training points with directions in this basis, (n, k)."""
        return np.asarray((self.U * np.sqrt(self.d)) @ directions)


def exact_coordinates(gram: Gram) -> Coordinates:
    """Return all coordinates by an eigendecomposition of the centred kernel matrix, O(n^3).

    Parameters
    ----------
    gram : Gram
        The kernel matrix.

    Returns
    -------
    Coordinates
    """
    centred = CentredGram(gram)
    K = centred.dense()
    values, vectors = scipy.linalg.eigh(K, overwrite_a=True)
    keep = np.flatnonzero(values > gram.n * np.finfo(np.float64).eps * max(float(values[-1]), 0.0))[::-1]
    d, U = values[keep], vectors[:, keep]
    U = np.ascontiguousarray(U - U.mean(axis=0))
    basis = U / np.sqrt(d)
    return Coordinates(U, d, basis, centred.means @ basis, None, float(d.sum()))


def low_rank_coordinates(gram: Gram, rank: int, tol: float) -> Coordinates:
    """Return coordinates in the span of a few landmarks, by incomplete Cholesky, O(n m^2).

    Parameters
    ----------
    gram : Gram
        The kernel matrix.
    rank : int
        Most landmarks.
    tol : float
        Share of the trace that may be left out.

    Returns
    -------
    Coordinates
    """
    factor: Factor = pivoted_cholesky(gram, rank, tol)
    mean = factor.L.mean(axis=0)
    U, s, Vt = np.linalg.svd(factor.L - mean, full_matrices=False)  # NumPy's takes empty matrices
    keep = s > np.sqrt(gram.n) * np.finfo(np.float64).eps * s.max(initial=0.0)
    U, s, Vt = U[:, keep], s[keep], Vt[keep]
    basis = factor.on_landmarks(Vt.T)
    left = factor.residual * float(gram.diag().sum())
    return Coordinates(U, s**2, basis, mean @ Vt.T, factor.pivots, float((s**2).sum()) + left)
