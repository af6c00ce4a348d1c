"""From discriminant functions to decisions and posterior probabilities."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Float64
from mercer.estimators.discriminant._ranges import check_columns, check_scores, check_spread
from mercer.estimators.discriminant._singular import SingularCovarianceError
from mercer.estimators.validation import validated
from mercer.estimators.verdict import REMEDY, check_finite_model
from mercer.problems.discriminant.summary import ClassSummary


class DiscriminantClassifier(ClassifierMixin, BaseEstimator):
    r"""Classify by the largest discriminant function.

    A subclass writes :math:`\delta_k(x) = \log \pi_k + \log p(x \mid k)`, up to a term common to all classes,
    as ``_discriminants``; then :math:`P(k \mid x) = e^{\delta_k} / \sum_l e^{\delta_l}`.
    """

    classes_: npt.NDArray[Any]
    priors_: Float64

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model to labelled rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training data.
        y : array-like of shape (n_samples,)
            The labels.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # what comes of it is refused by name
                self._fit(X, y)
        except SingularCovarianceError:  # says what it is
            raise
        except np.linalg.LinAlgError as error:
            raise ValueError(f"{type(self).__name__}: a decomposition failed ({error}). {REMEDY}") from error
        check_finite_model(self, infinite=self._infinite())
        return self

    def _fit(self, X: Any, y: Any) -> None:
        raise NotImplementedError

    def _infinite(self) -> tuple[str, ...]:
        """Return the attributes that may be infinite, though not nan."""
        return ()

    def _summarise(self, X: Any, y: Any) -> tuple[Float64, ClassSummary]:
        """Validate the training data and summarise its classes."""
        X, y = validated(self, X, y, dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(y)
        check_columns(self, X)
        summary = ClassSummary.of(X, y)
        if summary.n_classes < 2:
            raise ValueError(f"y has one class, {summary.name(0)}: a discriminant needs at least two classes")
        check_spread(self, X, summary)
        return X, summary

    def _forget(self, *names: str) -> None:
        """Drop optional attributes of an earlier fit, which this fit may not set again."""
        for name in names:
            self.__dict__.pop(name, None)

    def _discriminants(self, X: Any) -> Float64:
        raise NotImplementedError

    def _validated_discriminants(self, X: Any) -> Float64:
        check_is_fitted(self)
        X = self._checked(X)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self._discriminants(X)
        check_scores(self, X, scores)
        return scores

    def _checked(self, X: Any) -> Any:
        """Return new data, checked."""
        return validated(self, X, reset=False, dtype=np.float64)

    def decision_function(self, X: Any) -> Float64:
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

    def predict_proba(self, X: Any) -> Float64:
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
        probabilities: Float64 = softmax(self._validated_discriminants(X), axis=1)
        return probabilities

    def predict_log_proba(self, X: Any) -> Float64:
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
        logarithms: Float64 = log_softmax(self._validated_discriminants(X), axis=1)
        return logarithms
