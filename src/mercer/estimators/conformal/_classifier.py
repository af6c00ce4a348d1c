"""Classification with prediction sets of guaranteed coverage."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if

from mercer.arrays import Float64
from mercer.estimators.conformal._base import BaseConformal
from mercer.estimators.conformal._predictions import PredictionSets
from mercer.estimators.splits import check_labels
from mercer.estimators.svm.svc import SVC
from mercer.problems.conformal import class_scores, is_member, quantile
from mercer.values import keep_parameters


def _inside(name: str) -> Any:
    """Return whether the estimator inside has a method, as scikit-learn asks."""

    def check(model: Any) -> bool:
        getattr(getattr(model, "estimator_", None) or model._template(), name)
        return True

    return available_if(check)


class ConformalClassifier(ClassifierMixin, BaseConformal):
    r"""Prediction sets of guaranteed coverage around any classifier.

    .. math::
        P\{ y \in C(x) \} \ge 1 - a

    for a new row (x, y) that is exchangeable with the training rows; with ``mondrian=True`` for the rows of
    each class, however rare. A set has the classes whose scores are no worse than those of most unseen rows:
    one where the classifier is sure, several where it is not, none where the row is like no class.

    "split" guarantees the coverage 1 - a that is asked for, "jackknife+" 1 - 2a and "cv+" a little less (in
    practice they cover about 1 - a); see :class:`~mercer.ConformalRegressor`.

    Parameters
    ----------
    estimator : classifier, optional
        Any classifier of scikit-learn's kind; :class:`~mercer.SVC` if not given. In a
        :class:`~sklearn.frozen.FrozenEstimator` it is not fitted again, and all rows calibrate it ("split").
    method : {"split", "cv+", "jackknife+"}, default="split"
        How unseen rows are scored.
    class_score : {"auto", "probability", "cumulative", "decision"}, default="auto"
        How badly a class fits: 1 - p of the class (small sets); the probability of all classes that are at
        least as probable (sets adapt to how hard a row is); or the largest decision of another class minus
        its own. "auto" takes probabilities where there are any, else decisions.
    mondrian : bool, default=False
        Whether the coverage holds for each class. Not with "cv+".
    cv : int, default=10
        Number of folds of "cv+". They are of equal size; rows beyond them are learned from and not scored.
    calibration_size : float, default=0.5
        Fraction of the rows that "split" calibrates on; of each class with ``mondrian``.
    n_jobs : int, optional
        Processes for fits without a fold, where each is a fit from scratch.
    random_state : int or RandomState, optional
        Seed of the split and of the folds.

    Attributes
    ----------
    estimator_ : estimator
        Fitted: on the rows that are not for calibration ("split"), or on all rows.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    scores_ : ndarray
        Scores of unseen rows.
    labels_ : ndarray of int
        The class numbers of these rows.
    folds_, left_out_, left_out_coef_, left_out_intercept_, n_features_in_, feature_names_in_
        As in :class:`~mercer.ConformalRegressor`.

    References
    ----------
    .. [1] V. Vovk, A. Gammerman and G. Shafer (2005). *Algorithmic Learning in a Random World*. Springer.
    .. [2] Y. Romano, M. Sesia and E. J. Candès (2020). Classification with valid and adaptive coverage.
       *Advances in Neural Information Processing Systems* 33.

    Examples
    --------
    >>> from mercer import ConformalClassifier, SVC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ConformalClassifier(SVC(), random_state=0).fit(X, y)
    >>> sets = model.predict_set(X, coverage=0.95)
    >>> print(sets.guarantee)
    coverage of new rows at least 0.95 guaranteed, 0.95 asked for (split, 75 calibration rows)
    >>> sets[0].tolist()
    [0]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseConformal._parameter_constraints,
        "class_score": [StrOptions({"auto", "probability", "cumulative", "decision"})],
        "mondrian": ["boolean"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: str = "split",
        class_score: str = "auto",
        mondrian: bool = False,
        cv: int = 10,
        calibration_size: float = 0.5,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        keep_parameters(self, locals())

    def _default(self) -> Any:
        return SVC()

    def _check_y(self, y: Any) -> NDArray[Any]:
        if self.mondrian and self.method == "cv+":
            raise ValueError(
                "mondrian=True has no guarantee with method='cv+', whose folds mix the classes: use 'split' "
                "or 'jackknife+'"
            )
        self.classes_, numbers = check_labels(y, type(self).__name__)
        return np.asarray(self.classes_[numbers])

    def _calibration_rows(self, y: NDArray[Any]) -> NDArray[np.intp]:
        random = check_random_state(self.random_state)
        if not self.mondrian:  # classes are left to chance, or rows would not be exchangeable
            return self._drawn(y.size, random)
        drawn = np.zeros(y.size, dtype=np.intp)
        for label in self.classes_:
            rows = np.flatnonzero(y == label)
            if rows.size < 2:
                raise ValueError(f"class {label} has 1 row: mondrian=True needs rows to fit and to calibrate")
            drawn[rows] = self._drawn(rows.size, random)
        return drawn

    @property
    def _score(self) -> str:
        """The score, chosen by what the estimator has."""
        if self.class_score != "auto":
            return str(self.class_score)
        return "probability" if hasattr(self.estimator_, "predict_proba") else "decision"

    def _takes_functions(self, model: Any) -> bool:
        return self._score == "decision" and self.classes_.size == 2

    def _values_of_functions(self, F: Float64) -> Float64:
        return class_scores(np.stack([-F, F], axis=1), "decision")

    def _values_of(self, model: Any, X: Any) -> Float64:
        """Return the score of each class at new rows; infinite for classes that the model has not seen."""
        if self._score == "decision":
            values = np.asarray(model.decision_function(X), dtype=np.float64)
            if values.ndim == 1 or values.shape[1] == 1:
                values = np.stack([-np.ravel(values), np.ravel(values)], axis=1)
        else:
            if not hasattr(model, "predict_proba"):
                name = type(model).__name__
                raise ValueError(
                    f"class_score={self.class_score!r} needs probabilities, which {name} lacks:"
                    " set probability=True, or class_score='decision'"
                )
            values = np.asarray(model.predict_proba(X), dtype=np.float64)
        if values.shape[1] != len(model.classes_):
            raise ValueError(
                f"decision_function returns {values.shape[1]} columns for {len(model.classes_)} classes: set "
                "decision_function_shape='ovr'"
            )
        out = np.full((values.shape[0], self.classes_.size), np.inf)
        out[:, np.searchsorted(self.classes_, model.classes_)] = class_scores(values, self._score)
        return out

    def _scores_of(self, values: list[Float64], y: NDArray[Any]) -> Float64:
        self.labels_ = np.searchsorted(self.classes_, y)
        return np.asarray(np.take_along_axis(values[0], self.labels_[:, None], axis=1)[:, 0])

    def predict_set(self, X: Any, coverage: float = 0.9) -> PredictionSets:
        """Return prediction sets, and the coverage that they guarantee.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        coverage : float, default=0.9
            The coverage 1 - a asked for.

        Returns
        -------
        PredictionSets
            ``members`` and ``guarantee``; iteration gives the classes of each row.
        """
        X = self._whole(X)
        guarantee = self._guarantee(coverage, self.mondrian)
        if self.method == "split":
            table = self._values_of(self.estimator_, X)
            members = table <= np.array([quantile(self.scores_[rows], coverage) for rows in self._groups()])
        else:
            members = np.concatenate([self._fold_sets(part, coverage) for part in self._batches(X)])
        return PredictionSets(members, self.classes_, guarantee)

    def _groups(self) -> list[Any]:
        """Return, for each class, the scores that it is compared with."""
        if not self.mondrian:
            return [slice(None)] * self.classes_.size
        return [self.labels_ == k for k in range(self.classes_.size)]

    def _fold_sets(self, X: Any, coverage: float) -> NDArray[np.bool_]:
        fold = self.folds_[self.folds_ >= 0]
        columns = []
        tables = list(self._values_by_fold(0, X))
        for k, rows in enumerate(self._groups()):
            scores, folds = self.scores_[rows], fold[rows]
            beaten = np.zeros(tables[0].shape[0], dtype=np.intp)
            for j, table in enumerate(tables):
                beaten += np.searchsorted(np.sort(scores[folds == j]), table[:, k], side="left")
            columns.append(is_member(beaten, scores.size, coverage))
        return np.stack(columns, axis=1)

    @_inside("decision_function")
    def decision_function(self, X: Any) -> Any:
        """Return the decisions of the estimator inside.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray
            Decisions.
        """
        X = self._whole(X)
        return self.estimator_.decision_function(X)

    @_inside("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the estimator inside.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Probabilities.
        """
        X = self._whole(X)
        return self.estimator_.predict_proba(X)
