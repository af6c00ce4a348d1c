"""Regression with prediction intervals of guaranteed coverage."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin, clone

from mercer.arrays import Float64
from mercer.estimators.conformal._base import BaseConformal
from mercer.estimators.conformal._predictions import PredictionIntervals
from mercer.estimators.svm.svr import SVR
from mercer.estimators.targets import check_targets
from mercer.problems.conformal import lower_ends, quantile, upper_ends
from mercer.problems.losses import Pinball
from mercer.values import keep_parameters


class ConformalRegressor(RegressorMixin, BaseConformal):
    r"""Prediction intervals of guaranteed coverage around any regressor.

    .. math::
        P\{ y \in C(x) \} \ge 1 - a

    for a new row (x, y) that is exchangeable with the training rows, whatever their distribution and however
    poor the regressor. "split" fits on some rows and widens predictions by a quantile of the absolute errors
    of the others; it guarantees the coverage 1 - a that is asked for. "jackknife+" needs no rows of its own:
    with :math:`f_{-i}` the fit without row i and :math:`R_i = |y_i - f_{-i}(x_i)|`, the interval runs from
    the lower quantile of :math:`f_{-i}(x) - R_i` to the upper quantile of :math:`f_{-i}(x) + R_i`, and
    guarantees 1 - 2a (in practice it covers about 1 - a). "cv+" leaves out a fold at a time.

    Whatever depends on the data (scaling, ``gamma="scale"``, a search) is redone in each fold, because the
    whole estimator is: put it all inside. Our own machines with a fixed kernel (``gamma`` a number) need no
    fit from scratch: :class:`~mercer.KernelRidge` has a closed form, and the others go on from the solution
    of all rows, on one kernel matrix.

    Parameters
    ----------
    estimator : regressor, optional
        Any regressor of scikit-learn's kind; :class:`~mercer.SVR` if not given. In a
        :class:`~sklearn.frozen.FrozenEstimator` it is not fitted again, and all rows calibrate it ("split").
    method : {"split", "cv+", "jackknife+"}, default="split"
        How unseen rows are scored.
    cv : int, default=10
        Number of folds of "cv+". They are of equal size; rows beyond them are learned from and not scored.
    calibration_size : float, default=0.5
        Fraction of the rows that "split" calibrates on.
    quantiles : pair of float, optional
        With a quantile regressor (:class:`~mercer.KernelRegressor` with :class:`~mercer.losses.Pinball`, or
        scikit-learn's), the quantiles that the ends of intervals start from, such as (0.05, 0.95). The
        estimator is fitted for each, and for the median, which ``predict`` returns. Intervals are then as
        wide as the noise at each point.
    n_jobs : int, optional
        Processes for fits without a fold, where each is a fit from scratch.
    random_state : int or RandomState, optional
        Seed of the split and of the folds.

    Attributes
    ----------
    estimator_ : estimator
        Fitted: on the rows that are not for calibration ("split"), or on all rows.
    low_, high_ : estimator
        With ``quantiles``, the regressors of the two quantiles.
    scores_ : ndarray
        Scores of unseen rows: absolute errors; with ``quantiles``, how far targets lie outside.
    folds_ : ndarray of shape (n_samples,)
        The fold of each row, -1 for rows without a score.
    left_out_ : list of lists of estimators
        The estimators without each fold, where each was fitted from scratch.
    left_out_coef_, left_out_intercept_ : list of ndarray
        Coefficients (a row for each fold) and biases of our own machines without each fold; ``X_fit_`` has
        the points.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    .. [1] V. Vovk, A. Gammerman and G. Shafer (2005). *Algorithmic Learning in a Random World*. Springer.
    .. [2] R. F. Barber, E. J. Candès, A. Ramdas and R. J. Tibshirani (2021). Predictive inference with the
       jackknife+. *Annals of Statistics* 49, 486-507.
    .. [3] Y. Romano, E. Patterson and E. J. Candès (2019). Conformalized quantile regression. *Advances in
       Neural Information Processing Systems* 32.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import ConformalRegressor, KernelRidge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 3, (100, 1))
    >>> y = np.sin(X[:, 0]) + rng.standard_t(3, size=100) / 5
    >>> ridge = KernelRidge(kernel="rbf", gamma=1.0, alpha=0.1)
    >>> model = ConformalRegressor(ridge, method="jackknife+").fit(X, y)
    >>> intervals = model.predict_interval(X[:5], coverage=0.9)
    >>> print(intervals.guarantee)
    coverage of new rows at least 0.8 guaranteed, 0.9 asked for (jackknife+, 100 rows)
    >>> low, high = intervals
    >>> bool((low < high).all())
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseConformal._parameter_constraints,
        "quantiles": ["array-like", None],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: str = "split",
        cv: int = 10,
        calibration_size: float = 0.5,
        quantiles: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        keep_parameters(self, locals())

    def _default(self) -> Any:
        return SVR()

    def _check_y(self, y: Any) -> NDArray[Any]:
        return check_targets(y, type(self).__name__)

    def _fit_all(self, template: Any, X: Any, y: NDArray[Any]) -> None:
        for name in ("low_", "high_"):
            self.__dict__.pop(name, None)
        if self.quantiles is None:
            super()._fit_all(template, X, y)
            return
        low, high = checked_quantiles(self.quantiles)
        self.low_ = at_quantile(template, low).fit(X, y)
        self.high_ = at_quantile(template, high).fit(X, y)
        self.estimator_ = at_quantile(template, 0.5).fit(X, y)

    def _ends(self) -> list[Any]:
        return [self.estimator_] if self.quantiles is None else [self.low_, self.high_]

    def _takes_functions(self, model: Any) -> bool:
        return True

    def _values_of(self, model: Any, X: Any) -> Float64:
        values: Float64 = np.asarray(model.predict(X), dtype=np.float64)
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        return values

    def _scores_of(self, values: list[Float64], y: NDArray[Any]) -> Float64:
        low, high = values[0], values[-1]
        return np.asarray(np.maximum(low - y, y - high))

    def predict_interval(self, X: Any, coverage: float = 0.9) -> PredictionIntervals:
        """Return prediction intervals, and the coverage that they guarantee.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        coverage : float, default=0.9
            The coverage 1 - a asked for.

        Returns
        -------
        PredictionIntervals
            ``low``, ``high`` and ``guarantee``; ``low, high = ...`` unpacks it.
        """
        X = self._whole(X)
        guarantee = self._guarantee(coverage)
        if self.method == "split":
            values = [self._values_of(model, X) for model in self._ends()]
            half = quantile(self.scores_, coverage)
            low, high = values[0] - half, values[-1] + half
        else:
            parts = [self._fold_intervals(part, coverage) for part in self._batches(X)]
            low, high = (np.concatenate(ends) for ends in zip(*parts, strict=True))
        # Crossed quantiles leave an empty interval; what lies between them covers no less.
        return PredictionIntervals(np.minimum(low, high), np.maximum(low, high), guarantee)

    def _fold_intervals(self, X: Any, coverage: float) -> tuple[Float64, Float64]:
        fold = self.folds_[self.folds_ >= 0]
        ends = [np.stack(list(self._values_by_fold(k, X)), axis=1) for k in range(len(self._ends()))]
        low, high = ends[0], ends[-1]
        return (
            lower_ends(low[:, fold] - self.scores_, coverage),
            upper_ends(high[:, fold] + self.scores_, coverage),
        )


def checked_quantiles(quantiles: Any) -> tuple[float, float]:
    """Return the two quantiles, refusing what is none."""
    found = np.asarray(quantiles, dtype=np.float64)
    if found.shape != (2,) or not 0.0 < found[0] < found[1] < 1.0:
        raise ValueError(
            f"quantiles={quantiles!r} must be two increasing numbers between 0 and 1, such as (0.05, 0.95)"
        )
    return float(found[0]), float(found[1])


def at_quantile(template: Any, quantile: float) -> Any:
    """Return an unfitted copy of a quantile regressor, or of a pipeline that ends in one, for a quantile."""
    copy = clone(template)
    params = copy.get_params()
    named = [name for name in params if name == "quantile" or name.endswith("__quantile")]
    median = [name for name in params if name.endswith("loss") and params[name] == "pinball"]
    boosted = [f"{name[:-4]}alpha" for name in params if name.endswith("loss") and params[name] == "quantile"]
    boosted = [name for name in boosted if name in params]
    if len(named) == 1:
        return copy.set_params(**{named[0]: quantile})
    if len(median) == 1:
        return copy.set_params(**{median[0]: Pinball(quantile=quantile)})
    if len(boosted) == 1:
        return copy.set_params(**{boosted[0]: quantile})
    raise ValueError(
        f"quantiles needs a quantile regressor, such as KernelRegressor(loss='pinball'); {template!r} has no "
        "parameter of that meaning"
    )
