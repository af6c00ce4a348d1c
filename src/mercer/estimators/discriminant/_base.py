"""From discriminant functions to decisions and posterior probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer.estimators.discriminant._checks import Floats
from mercer.estimators.discriminant._summary import ClassSummary


def log_priors(priors: Floats) -> Floats:
    """Logarithms of the priors; a class of prior zero gets minus infinity and is never predicted."""
    with np.errstate(divide="ignore"):
        return np.log(priors)


def squared_distances(Z: Floats, centroids: Floats) -> Floats:
    """Squared Euclidean distances of the rows of ``Z`` to ``centroids``, of shape (n, K)."""
    cross = Z @ centroids.T
    squares = np.einsum("ij,ij->i", Z, Z)[:, None] + np.einsum("ij,ij->i", centroids, centroids)
    distances: Floats = np.maximum(squares - 2.0 * cross, 0.0)
    return distances


class DiscriminantClassifier(ClassifierMixin, BaseEstimator):
    r"""Classify by the largest discriminant function.

    A subclass writes :math:`\delta_k(x) = \log \pi_k + \log p(x \mid k)`, up to a term common to all classes,
    as ``_discriminants``; then :math:`P(k \mid x) = e^{\delta_k} / \sum_l e^{\delta_l}`.
    """

    classes_: npt.NDArray[Any]
    priors_: Floats

    def _summarise(self, X: Any, y: Any) -> tuple[Floats, ClassSummary]:
        """Validate the training data and summarise its classes."""
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(y)
        summary = ClassSummary.of(X, y)
        if summary.n_classes < 2:
            raise ValueError(f"y has one class, {summary.name(0)}: a discriminant needs at least two classes")
        return X, summary

    def _forget(self, *names: str) -> None:
        """Drop optional attributes of an earlier fit, which this fit may not set again."""
        for name in names:
            self.__dict__.pop(name, None)

    def _discriminants(self, X: Floats) -> Floats:
        raise NotImplementedError

    def _validated_discriminants(self, X: Any) -> Floats:
        check_is_fitted(self)
        return self._discriminants(validate_data(self, X, reset=False, dtype=np.float64))

    def decision_function(self, X: Any) -> Floats:
        """Evaluate the discriminant functions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes) or (n_samples,)
            Log-posteriors up to a term common to all classes; with two classes, the log-odds of the second.
        """
        scores = self._validated_discriminants(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The class of largest posterior probability.
        """
        largest = self._validated_discriminants(X).argmax(axis=1)
        labels: npt.NDArray[Any] = self.classes_[largest]
        return labels

    def predict_proba(self, X: Any) -> Floats:
        """Posterior probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        probabilities: Floats = softmax(self._validated_discriminants(X), axis=1)
        return probabilities

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the posterior probabilities, without underflow.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        logarithms: Floats = log_softmax(self._validated_discriminants(X), axis=1)
        return logarithms
