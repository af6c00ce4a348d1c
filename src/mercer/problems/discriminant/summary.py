"""Classes, their sizes and their means; the covariances within, between and in total."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.arrays import Float64, Index

FEW_CLASSES = 32
# A column whose spread within the classes is below this multiple of its magnitude is rounding, not variation.
_ROUNDING = 10.0 * float(np.finfo(np.float64).eps)


def _largest(X: Float64) -> Float64:
    """Return the largest size of each column, without an array of sizes."""
    largest: Float64 = np.maximum(X.max(axis=0), -X.min(axis=0))
    return largest


def class_means(values: Float64, codes: Index) -> Float64:
    """Return the mean of the rows of each class 0, 1, ..., of shape (K, q)."""
    return np.array([values[codes == k].mean(axis=0) for k in range(int(codes.max()) + 1)])


@dataclass(frozen=True)
class ClassSummary:
    r"""Means and proportions of K classes in n rows of p features.

    With proportions :math:`\pi_k = n_k / n` and class means :math:`\mu_k`,

    .. math::
        W = \frac1n \sum_i (x_i - \mu_{g_i})(x_i - \mu_{g_i})^T, \quad
        B = \sum_k \pi_k (\mu_k - \bar x)(\mu_k - \bar x)^T, \quad
        T = \frac1n \sum_i (x_i - \bar x)(x_i - \bar x)^T = B + W,

    the maximum-likelihood estimates. The identity needs B weighted by class size.

    Attributes
    ----------
    classes : ndarray of shape (K,)
        The labels, sorted.
    codes : ndarray of shape (n,)
        The index into ``classes`` of each row.
    sizes : ndarray of shape (K,)
        The number of rows of each class.
    center : ndarray of shape (p,)
        The mean of all rows.
    means : ndarray of shape (K, p)
        The mean of each class.
    """

    classes: npt.NDArray[Any]
    codes: Index
    sizes: Index
    center: Float64
    means: Float64

    @classmethod
    def of(cls, X: Float64, y: npt.NDArray[Any]) -> ClassSummary:
        """Summarise the rows of ``X`` by their labels ``y``."""
        classes, codes = np.unique(y, return_inverse=True)
        sizes = np.bincount(codes)
        center = X.mean(axis=0)
        # Sums about the overall mean: a large common offset would cost the class means their last digits.
        if len(classes) <= FEW_CLASSES:  # one product is faster than sorting the rows
            sums = (codes == np.arange(len(classes))[:, None]).astype(np.float64) @ (X - center)
        else:
            order = np.argsort(codes, kind="stable")
            starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
            sums = np.add.reduceat(X[order] - center, starts, axis=0)
        return cls(classes, codes, sizes, center, center + sums / sizes[:, None])

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.classes)

    @property
    def proportions(self) -> Float64:
        """The share of each class in the rows."""
        return self.sizes / len(self.codes)

    def name(self, k: int) -> str:
        """Write the label of class ``k`` for a message."""
        label = self.classes[k]
        return repr(label.item() if isinstance(label, np.generic) else label)

    def residual_rows(self, X: Float64) -> Float64:
        """Rows (x_i - mean of its class) / sqrt(n), whose Gram matrix over features is W."""
        rows: Float64 = self.means[self.codes]
        np.subtract(X, rows, out=rows)
        rows *= 1.0 / np.sqrt(len(X))
        constant = np.sqrt(np.einsum("ij,ij->j", rows, rows)) <= _ROUNDING * _largest(X)
        if constant.any():
            rows[:, constant] = 0.0
        return rows

    def spread(self, X: Float64) -> Float64:
        """Return how far each column strays from its class means; 0 where that is rounding."""
        spread: Float64 = _largest(X - self.means[self.codes])
        spread[spread <= _ROUNDING * _largest(X)] = 0.0
        return spread

    def class_rows(self, rows: Float64, k: int) -> Float64:
        """Rows whose Gram matrix is the covariance of class ``k``, from the ``residual_rows``."""
        scaled: Float64 = rows[self.codes == k] / np.sqrt(self.proportions[k])
        return scaled

    def within(self, X: Float64) -> Float64:
        """W, the pooled covariance within the classes."""
        rows = self.residual_rows(X)
        return rows.T @ rows

    def between(self) -> Float64:
        """B, the covariance of the class means weighted by class size."""
        spread = (self.means - self.center) * np.sqrt(self.proportions)[:, None]
        return spread.T @ spread

    def total(self, X: Float64) -> Float64:
        """T, the covariance of all rows, labels ignored."""
        rows: Float64 = (X - self.center) / np.sqrt(len(X))
        return rows.T @ rows
