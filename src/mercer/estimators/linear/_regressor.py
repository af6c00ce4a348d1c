"""Linear regression with any convex loss."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import MultiOutputMixin, RegressorMixin, _fit_context
from sklearn.utils._param_validation import StrOptions

from mercer.estimators.linear._base import WeightMachine
from mercer.estimators.linear._weights import LinearOutputs
from mercer.estimators.targets import check_outputs
from mercer.estimators.verdict import check_squares
from mercer.problems.losses import REGRESSION, Loss, as_loss
from mercer.values import keep_parameters


class WeightRegressor(RegressorMixin, WeightMachine):
    """Base of the linear regressors."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the machine.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features)
            Training data, in single or double precision.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        sample_weight : array of shape (n_samples,), optional
            Non-negative factors of C; a weight of 2 equals the row twice.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight)
        return self

    def _split(self, X: Any, y: Any, sample_weight: Any) -> LinearOutputs:
        Y = self._targets(y)
        check_squares(Y)
        self._check_lengths(X, Y)
        weight = self._check_weight(sample_weight, X, Y.shape[0])
        split = LinearOutputs(Y[:, None] if Y.ndim == 1 else Y, weight, Y.ndim == 1)
        split.loss = self._loss(0)
        return split

    def _split_again(self, X: Any, y: Any, sample_weight: Any) -> LinearOutputs:
        split = self._split(X, y, sample_weight)
        known = np.size(self.intercept_)
        if len(split.tasks) != known:
            raise ValueError(f"y has {len(split.tasks)} outputs; this model was fitted on {known}")
        return split

    def _targets(self, y: Any) -> np.ndarray:
        """Return checked targets: a vector, or a column for each output."""
        return check_outputs(y, type(self).__name__)

    def predict(self, X: Any) -> np.ndarray:
        """Return f at new points.

        Parameters
        ----------
        X : {array, CSR} of shape (n, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n,) or (n, n_outputs)
            Values.
        """
        F = self._values(X)
        return F[:, 0] if self.coef_.ndim == 1 else F


class LinearRegressor(MultiOutputMixin, WeightRegressor):
    r"""Linear regression with any convex loss.

    .. math::
        \min_{w, b} \tfrac12 \|w\|^2 + C \sum_i w_i \, L(y_i, \langle w, x_i \rangle + b)

    in time and memory linear in the rows: :class:`KernelRegressor` with the linear kernel, without the kernel
    matrix. The conjugate of the loss proves how near the optimum the weights are (``certificate_``). Several
    outputs are fitted one by one.

    Parameters
    ----------
    loss : str or Loss, default="huber"
        "squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive", "pinball" (the
        median), or an object of :mod:`mercer.losses` such as ``Pinball(quantile=0.9)``, perhaps your own.
    fit_intercept : bool or "unpenalised", default="unpenalised"
        Whether there is a bias. ``True`` penalises it as the weight of a feature that is
        ``intercept_scaling`` everywhere, as :class:`LinearSVR` does.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        Weights.
    intercept_ : float or ndarray of shape (n_outputs,)
        Biases.
    certificate_ : Certificate
        Primal, dual, gap, violation; one part per output.
    loss_ : Loss
        The loss.
    dual_coef_ : sparse array of shape (n_outputs, n_samples)
        The multipliers that prove the gap, where the weights do not determine them: for a loss with kinks,
        and after coordinate descent.
    n_iter_ : int
        Most steps of any output's solver.
    fit_status_, shape_fit_, history_
        As in :class:`mercer.KernelRegressor`.

    See Also
    --------
    LinearSVR : The epsilon-insensitive losses, with the parameters of scikit-learn's class.
    KernelRegressor : The same with any kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import LinearRegressor
    >>> from mercer.losses import Pinball
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + rng.normal(size=500)
    >>> high = LinearRegressor(loss=Pinball(quantile=0.9), C=10).fit(X, y)
    >>> bool(abs((y < high.predict(X)).mean() - 0.9) < 0.02)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{k: v for k, v in WeightMachine._parameter_constraints.items() if k != "random_state"},
        "loss": [StrOptions(set(REGRESSION)), Loss],
    }

    def __init__(
        self,
        *,
        loss: Any = "huber",
        C: float = 1.0,
        fit_intercept: bool | str = "unpenalised",
        intercept_scaling: float = 1.0,
        solver: Any = "auto",
        tol: float = 1e-4,
        max_iter: int = -1,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        on_interrupt: str = "raise",
        trace: bool = False,
        verbose: Any = False,
    ) -> None:
        keep_parameters(self, locals())

    def _keep(self, machines: list[Any], split: Any) -> None:
        if split.flat:
            self.intercept_ = float(self.intercept_[0])

    def _loss(self, n_classes: int) -> Loss:
        return as_loss(self.loss, REGRESSION)
