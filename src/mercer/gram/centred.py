"""Kernel matrices of the points less their mean in feature space."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from mercer.arrays import Float64
from mercer.gram.base import Gram, MatrixGram, whole
from mercer.gram.tiled import TiledProduct
from mercer.threads import Workers


class CentredGram:
    r"""The matrix :math:`\tilde K = H K H`, :math:`H = I - 1 1^T / n`, by its products.

    Its entries are the inner products of :math:`\phi(x_i) - \mu`, with :math:`\mu` the mean. Centring the
    vectors before and after a product with K costs O(n) a vector; nothing of size n by n is made.

    Parameters
    ----------
    gram : Gram
        K, symmetric.
    keep_bytes : int
        K is computed once and kept if it takes no more than this, else its tiles are computed anew for each
        product.
    workers : Workers, optional
        Threads for these products, which the Gram must not use itself; one when not given.
    """

    def __init__(self, gram: Gram, keep_bytes: int = 0, workers: Workers | None = None) -> None:
        self.gram = gram
        self.workers = workers or Workers(1)
        self.n = gram.n
        self._diag = gram.diag()
        self._means: Float64 | None = None
        self.kept = isinstance(gram, MatrixGram) or gram.n**2 * 8 <= keep_bytes
        self._K: Float64 | None = whole(gram.exact()) if self.kept else None

    def _product(self, V: Float64) -> Float64:
        return TiledProduct(self.gram, self.workers)(V) if self._K is None else self._K @ V

    def product(self, V: Float64) -> Float64:
        r"""Return :math:`\tilde K V`.

        Parameters
        ----------
        V : (n, p) float64 array
            The vectors.

        Returns
        -------
        (n, p) float64 array
        """
        centred = V - V.mean(axis=0)
        if self._means is None:  # the first product brings the means along
            out = self._product(np.column_stack([centred, np.full(self.n, 1.0 / self.n)]))
            self._means, out = out[:, -1].copy(), out[:, :-1]
        else:
            out = self._product(centred)
        centred_out: Float64 = out - out.mean(axis=0)
        return centred_out

    @property
    def means(self) -> Float64:
        """The mean of each row of K: the inner products of the points with their mean."""
        if self._means is None:
            self._means = self._product(np.full((self.n, 1), 1.0 / self.n))[:, 0]
        return self._means

    @property
    def mean(self) -> float:
        """The mean of all entries of K: the squared length of the points' mean."""
        return float(self.means.mean())

    @cached_property
    def diag(self) -> Float64:
        """The squared distances of the points from their mean; what is below rounding is 0."""
        squares = self._diag - 2.0 * self.means + self.mean
        noise = 32 * np.finfo(np.float64).eps * (np.abs(self._diag) + 2 * np.abs(self.means) + abs(self.mean))
        return np.where(np.abs(squares) <= noise, 0.0, squares)

    def dense(self) -> Float64:
        r"""Return :math:`\tilde K` itself, symmetric to the last bit.

        Returns
        -------
        (n, n) float64 array
            Fresh.
        """
        K = whole(self.gram.exact()) if self._K is None else self._K.copy()
        K += K.T  # the sum may alias its transpose: NumPy buffers overlapping operands
        K *= 0.5
        if self._means is None:
            self._means = K.mean(axis=0)
        K -= K.mean(axis=0)[:, None]
        K -= K.mean(axis=0)[None, :]
        return 0.5 * (K + K.T)
