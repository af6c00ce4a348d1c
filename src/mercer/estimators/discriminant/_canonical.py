"""What discriminants that transform share: canonical variates, and how many of them."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from scipy.linalg import LinAlgWarning
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Float64
from mercer.estimators.discriminant._checks import check_count
from mercer.estimators.validation import validated
from mercer.problems.discriminant.variates import significant


def check_n_components(n_components: Any, high: int, why: str) -> int:
    """Return the number of canonical variates asked for, ``high`` when it is None."""
    whole = isinstance(n_components, Integral) and not isinstance(n_components, bool | np.bool_)
    if whole and n_components > high:
        raise ValueError(f"n_components cannot be larger than {why}, which is {high}; it is {n_components}")
    return high if n_components is None else check_count("n_components", n_components, 1, high, why=why)


def count_components(
    variances: Float64, asked: int, tol: float, *, explicit: bool, stacklevel: int = 4
) -> int:
    """Count the leading canonical variates to keep: at most ``asked``, and none that is noise.

    Those that are left out because the class means do not differ there are named in a warning when the user
    asked for that many (``explicit``). The ``stacklevel`` is right for calls from ``_fit``.
    """
    there = significant(np.sqrt(variances), tol)
    if explicit and there < asked:
        warnings.warn(
            f"n_components={asked}, but the class means span {there} dimension(s) only: the others are "
            "left out",
            LinAlgWarning,
            stacklevel=stacklevel,
        )
    return min(asked, there)


class CanonicalTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """The transformer side of a discriminant: ``transform`` gives the canonical variates."""

    _n_features_out: int

    def _variates(self, X: Float64) -> Float64:
        raise NotImplementedError

    def transform(self, X: Any) -> Any:
        """Project data on the canonical variates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            Coordinates in which the covariance within the classes is the identity, ordered by how far they
            spread the class means.
        """
        check_is_fitted(self)
        return self._variates(validated(self, X, reset=False, dtype=np.float64))
