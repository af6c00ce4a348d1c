"""Kernel regression with any convex loss."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import MultiOutputMixin, RegressorMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array

from mercer.estimators.approximation._mixin import APPROXIMATION, ApproximationMixin
from mercer.estimators.convex._base import LossMachine
from mercer.estimators.expansion import FunctionsMixin
from mercer.estimators.parametric import PARAMETRIC, ParametricMixin
from mercer.estimators.splits import Outputs
from mercer.estimators.user_warnings import warn_user
from mercer.problems.losses import REGRESSION, Loss, ResidualLoss, as_loss
from mercer.problems.robust_scale import ROUNDS, SETTLED, median_absolute_deviation, weighted_median
from mercer.values import keep_parameters


class KernelRegressor(
    ParametricMixin, MultiOutputMixin, RegressorMixin, FunctionsMixin, LossMachine, ApproximationMixin
):
    r"""Regression with any convex loss and any kernel.

    .. math::
        \min_{w, b} \tfrac12 \|w\|^2 + C \sum_i w_i \, L(y_i, \langle w, \phi(x_i) \rangle + b)

    The solution is :math:`f(x) = \sum_i \beta_i k(x_i, x) + b` with
    :math:`\beta_i = -C w_i L'(y_i, f(x_i))`; the conjugate of the loss proves how near it is
    (``certificate_``). Piecewise-linear losses are solved through their box-constrained dual, all others by a
    semismooth Newton method. Several outputs are fitted one by one, on one kernel matrix.

    Parameters
    ----------
    loss : str or Loss, default="huber"
        "squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive", "pinball" (the
        median), or an object of :mod:`mercer.losses` such as ``Huber(threshold=0.5)`` or
        ``Pinball(quantile=0.9)``, perhaps your own. Its parameters can be searched as
        ``loss__threshold`` and the like.
    scale : float or "mad", optional
        The unit of the loss's threshold or epsilon: residuals are counted in multiples of it, so that the
        usual values (``Huber(1.345)``) suit targets of any size. "mad" is the median absolute deviation of
        the residuals (as a standard deviation), for which the machine is fitted until it settles; few wild
        rows do not move it. Not for losses without such a parameter.

    Attributes
    ----------
    certificate_ : Certificate
        Primal, dual, gap, violation; one part per output.
    loss_ : Loss
        The loss, its parameters in the units of y.
    scale_ : float
        With ``scale``, the unit of the loss's parameters.
    support_ : ndarray of shape (n_support,)
        Rows with a coefficient that is not zero for some output.
    support_vectors_ : array, CSR or sequence
        These rows.
    dual_coef_ : ndarray of shape (n_outputs, n_support)
        Coefficients.
    intercept_ : ndarray of shape (n_outputs,)
        Biases.
    coef_ : ndarray of shape (n_outputs, n_features)
        Weights of the features, for the linear kernel.
    n_iter_ : int
        Steps of the solver, of all outputs together.
    parametric_ : Trend or None
        The functions beside the kernel that cost nothing.
    parametric_coef_ : ndarray of shape (n_outputs, n_columns)
        Their coefficients, where there are any; that of the constant is in ``intercept_``.
    kernel_ : Kernel
        The kernel with its data-dependent parameters fixed.
    fit_status_, shape_fit_, history_
        As in :class:`mercer.SVR`; ``history_`` has a list for each output.
    feature_map_, feature_weights_, n_components_, distance_from_exact_
        With ``approximation``: the fitted map, the weights of its features (a row for each function), their
        number, and a :class:`~mercer.problems.DistanceFromExact`. There are no support vectors then;
        ``dual_coef_`` has the multipliers of all rows, sparse, where the weights do not determine them.

    See Also
    --------
    SVR : The epsilon-insensitive losses.
    KernelRidge : Squared error, with leave-one-out and a grid of penalties in one go.

    References
    ----------
    .. [1] T. Hastie, R. Tibshirani and J. Friedman (2009). *The Elements of Statistical Learning*, 12.3.6 and
       12.3.7. Springer.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRegressor
    >>> from mercer.losses import Pinball
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 3, (200, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(size=200) / 5
    >>> high = KernelRegressor(loss=Pinball(quantile=0.9), C=10).fit(X, y)
    >>> bool(abs((y < high.predict(X)).mean() - 0.9) < 0.05)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LossMachine._parameter_constraints,
        "loss": [StrOptions(set(REGRESSION)), Loss],
        "scale": [StrOptions({"mad"}), Interval(Real, 0.0, None, closed="neither"), None],
        **PARAMETRIC,
        **APPROXIMATION,
    }

    def __init__(
        self,
        *,
        loss: Any = "huber",
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        C: float = 1.0,
        fit_intercept: bool = True,
        solver: Any = "auto",
        tol: float = 1e-6,
        criterion: str = "gap",
        max_iter: int = -1,
        time_limit: float | None = None,
        cache_size: float = 200,
        n_jobs: int | None = None,
        precision: str = "auto",
        warm_start: bool = False,
        on_interrupt: str = "raise",
        trace: bool = False,
        verbose: Any = False,
        scale: Any = None,
        parametric: Any = "auto",
        approximation: Any = None,
        n_components: Any = "auto",
    ) -> None:
        keep_parameters(self, locals())

    # -- fit ---------------------------------------------------------------------------------------------

    def _targets(self, X: Any, y: Any) -> tuple[np.ndarray, bool]:
        """Return the targets as a column for each output, and whether they were given as one vector."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        Y = check_array(y, ensure_2d=False, dtype=None, input_name="y", estimator=self)
        flat = Y.ndim == 1
        Y = Y[:, None] if flat else Y
        try:
            Y = Y.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"y must hold numbers; its entries are of type {Y.dtype}") from error
        self._check_lengths(X, Y)
        return np.asarray(Y), flat

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the machine.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features), (n_samples, n_samples) or a sequence
            Training data: whatever the kernel takes; the kernel matrix for ``kernel="precomputed"``.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        sample_weight : array of shape (n_samples,), optional
            Non-negative factors of C; a weight of 2 equals the row twice.

        Returns
        -------
        self
        """
        if self.scale == "mad":
            self._fit_to_scale(X, y, sample_weight)
        else:
            self._unit = None if self.scale is None else float(self.scale)
            self._fit(X, y, sample_weight)
        self._keep_scale()
        return self

    def _fit_to_scale(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Fit again and again, with the spread of the residuals as the unit of the loss."""
        before = 0.0
        Y, _ = self._targets(X, y)
        weight = self._check_weight(sample_weight, X, Y.shape[0])
        middle = [weighted_median(column, weight) for column in Y.T]
        self._unit = first = median_absolute_deviation(Y - np.array(middle), weight)
        for _ in range(ROUNDS):
            if not self._unit > 1e-9 * first:
                raise ValueError(
                    'scale="mad": most residuals vanish, so they have no spread to be measured by: lower C, '
                    "or give the scale as a number"
                )
            self._fit(X, y, sample_weight)
            before, F = self._unit, np.asarray(self._values(X))
            self._unit = median_absolute_deviation(Y - F, weight)
            if abs(self._unit - before) <= SETTLED * before:
                self._unit = before  # the machine that was fitted
                return
        warn_user(
            f'KernelRegressor: scale="mad" did not converge in {ROUNDS} fits; it is {before:.4g} here and '
            f"{self._unit:.4g} by these residuals. The model is usable.",
            ConvergenceWarning,
        )
        self._unit = before

    def _keep_scale(self) -> None:
        self.__dict__.pop("scale_", None)
        if self._unit is not None:
            self.scale_ = self._unit
        del self._unit

    def _split(self, X: Any, y: Any, sample_weight: Any) -> Outputs:
        Y, self._flat = self._targets(X, y)
        split = Outputs(Y, self._check_weight(sample_weight, X, Y.shape[0]))
        split.loss = self._scaled_loss()
        return split

    def _split_again(self, X: Any, y: Any, sample_weight: Any) -> Outputs:
        Y, _ = self._targets(X, y)
        if Y.shape[1] != self.intercept_.size:
            raise ValueError(f"y has {Y.shape[1]} outputs; this model was fitted on {self.intercept_.size}")
        return Outputs(Y, self._check_weight(sample_weight, X, Y.shape[0]))

    def _scaled_loss(self) -> Loss:
        """Return the loss with its parameters in the units of y."""
        loss = as_loss(self.loss, REGRESSION)
        unit = self.__dict__.get("_unit", self.scale)
        if unit is None:
            return loss
        if not isinstance(loss, ResidualLoss):
            raise ValueError(f"loss={loss!r} is no function of residuals: scale= does not apply to it")
        return loss.in_units(unit)

    # -- use ---------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> np.ndarray:
        """Return f at new points.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,) or (n, n_outputs)
            Values.
        """
        F = self._values(X)
        return F[:, 0] if self._flat else F
