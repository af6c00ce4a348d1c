# ruff: noqa: D102  what overrides a method is documented in the base class
"""Kernel matrices that the user has computed."""

from __future__ import annotations

import numpy as np

from mercer.kernels.base import Kernel
from mercer.kernels.data import Array, Data


class Precomputed(Kernel):
    r""":math:`k(x_i, z_j) = K_{ij}`: the data are the kernel matrix.

    Training data are the square matrix of all training items; new data have a row for each new item and a
    column for each training item.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Precomputed
    >>> Precomputed()(np.eye(2))
    array([[1., 0.],
           [0., 1.]])
    """

    name = "precomputed"

    def __init__(self) -> None:
        pass

    @property
    def pairwise(self) -> bool:
        return True

    @staticmethod
    def check_square(K: Data) -> None:
        """Raise ValueError if a training matrix is not square.

        Parameters
        ----------
        K : ndarray
            The matrix.
        """
        if np.ndim(K) != 2 or K.shape[0] != K.shape[1]:
            raise ValueError(
                f"Precomputed: the training kernel matrix has shape {np.shape(K)}; it must be square, "
                "with a row and a column for each training item."
            )

    def check_pair(self, X: Data, Z: Data) -> None:
        if X.shape[1] != Z.shape[0]:
            raise ValueError(
                f"Precomputed: the matrix has {X.shape[1]} columns, but there are {Z.shape[0]} "
                "items to compare with."
            )

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        matrix: Array = X
        return matrix

    def fresh(self, X: Data, Z: Data | None = None) -> Array:
        return np.array(X)

    def evaluate_diag(self, X: Data) -> Array:
        self.check_square(X)
        return np.array(np.diagonal(X))
