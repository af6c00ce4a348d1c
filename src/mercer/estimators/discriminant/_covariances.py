"""Covariances that scikit-learn's parameters ask for: plain, shrunk, or those of another estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.covariance import ledoit_wolf

from mercer.arrays import Float64
from mercer.estimators.discriminant._checks import check_real
from mercer.problems.discriminant.summary import ClassSummary


def check_shrinkage(shrinkage: Any) -> Any:
    """Return ``shrinkage`` if it is None, "auto" or a number in [0, 1]."""
    if shrinkage is None or (isinstance(shrinkage, str) and shrinkage == "auto"):
        return shrinkage
    return check_real("shrinkage", shrinkage, 0.0, 1.0)


def check_estimator(covariance_estimator: Any, shrinkage: Any) -> None:
    """Refuse what cannot estimate a covariance, and two ways to do it at once."""
    if covariance_estimator is None:
        return
    if not hasattr(covariance_estimator, "fit"):
        raise TypeError(f"covariance_estimator={covariance_estimator!r} must have a method fit, or be None")
    if shrinkage is not None and shrinkage != 0:
        raise ValueError(
            "covariance_estimator and shrinkage parameters are not None. Only one of the two can be set."
        )


def covariance(X: Float64, shrinkage: Any, covariance_estimator: Any) -> Float64:
    r"""Estimate the covariance of rows.

    Without ``shrinkage`` it is the maximum-likelihood estimate S; with a number s it is
    :math:`(1 - s) S + s \, (\operatorname{tr} S / p) I`; with "auto" that of standardised features, with the
    s of Ledoit and Wolf's lemma.
    """
    if covariance_estimator is not None:
        covariance_estimator.fit(X)
        if not hasattr(covariance_estimator, "covariance_"):
            raise ValueError(f"{type(covariance_estimator).__name__} does not have a covariance_ attribute")
        given: Float64 = np.atleast_2d(np.asarray(covariance_estimator.covariance_, dtype=np.float64))
        if given.shape != (X.shape[1], X.shape[1]) or not np.isfinite(given).all():
            raise ValueError(
                f"{type(covariance_estimator).__name__}.covariance_ must be {X.shape[1]} finite rows and "
                f"columns, one for each feature; its shape is {given.shape}"
            )
        return given
    centred = X - X.mean(axis=0)
    if shrinkage == "auto":
        deviation = np.sqrt((centred**2).mean(axis=0))
        deviation[deviation == 0.0] = 1.0
        shrunk: Float64 = ledoit_wolf(centred / deviation, assume_centered=True)[0]
        return shrunk * np.outer(deviation, deviation)
    plain: Float64 = centred.T @ centred / len(X)
    if shrinkage:
        trace = float(np.trace(plain))
        plain *= 1.0 - shrinkage
        plain[np.diag_indices_from(plain)] += shrinkage * trace / len(plain)
    return plain


def class_covariances(
    X: Float64, summary: ClassSummary, shrinkage: Any, covariance_estimator: Any
) -> list[Float64]:
    """Estimate the covariance of each class."""
    classes = range(summary.n_classes)
    return [covariance(X[summary.codes == k], shrinkage, covariance_estimator) for k in classes]
