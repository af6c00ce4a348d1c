"""``partial_fit`` and ``forget`` of classifiers: classes come and go with their rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import column_or_1d

from mercer.arrays import Float64
from mercer.estimators.splits import Classes, Labels, check_labels, weighed_labels
from mercer.estimators.updating.mixin import UpdateMixin, kept_rows_only
from mercer.estimators.updating.rows import Rows


class ClassUpdateMixin(UpdateMixin):
    """Exact updates of classifiers."""

    classes_: np.ndarray
    class_weight_: Float64

    @kept_rows_only
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn more rows, exactly: the result is that of ``fit`` on all rows so far.

        The first call is ``fit``. Kernel parameters and class weights are those of the first call; the
        weight of a class that arrives later is computed when it does. A label that is new adds a class.

        Parameters
        ----------
        X : array, CSR or sequence
            New rows.
        y : array of shape (n_samples,)
            Their labels.
        classes : array of shape (n_classes,), optional
            All labels that are allowed; others raise an error.
        sample_weight : array of shape (n_samples,), optional
            Their weights.

        Returns
        -------
        self
        """
        if classes is not None:
            unknown = np.setdiff1d(np.unique(np.asarray(y)), np.asarray(classes))
            if unknown.size:
                raise ValueError(f"y has the label {unknown[0]!r}, which is not among classes={classes!r}")
        learned: Self = super().partial_fit(X, y, sample_weight)
        return learned

    def _checked_targets(self, X: Any, y: Any) -> np.ndarray:
        this: Any = self
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, estimator_name=type(self).__name__, input_name="y")
        this._check_lengths(X, labels)
        if (labels.dtype.kind in "OUS") != (self.classes_.dtype.kind in "OUS"):
            raise ValueError(
                f"y has labels of type {labels.dtype}; those so far are of type {self.classes_.dtype}"
            )
        return np.asarray(labels)

    def _split_of(self, rows: Rows) -> Classes:
        this: Any = self
        classes, numbers = check_labels(rows.y, type(self).__name__)
        labels = weighed_labels(classes, numbers, this.class_weight, rows.weight)
        factors = dict(zip(self.classes_.tolist(), self.class_weight_.tolist(), strict=True))
        pairs = zip(classes.tolist(), labels.factors.tolist(), strict=True)
        frozen = [factors.get(label, new) for label, new in pairs]
        split: Classes = this._tasks_of(Labels(classes, numbers, np.array(frozen)), rows.weight)
        return split
