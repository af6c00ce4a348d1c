"""The linear support vector regressor, with the parameters of scikit-learn's class."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from mercer.estimators.linear._base import WeightMachine
from mercer.estimators.linear._regressor import WeightRegressor
from mercer.estimators.linear._svc import DUAL
from mercer.estimators.targets import check_targets
from mercer.problems.losses import EpsilonInsensitive, Loss, SquaredEpsilonInsensitive
from mercer.values import keep_parameters

LOSSES = {
    "epsilon_insensitive": EpsilonInsensitive,
    "squared_epsilon_insensitive": SquaredEpsilonInsensitive,
}


class LinearSVR(WeightRegressor):
    r"""Linear support vector regression, in time and memory linear in the rows.

    .. math::
        \min_{w, b} \tfrac12 \|w\|^2 + \tfrac12 (b / s)^2
        + C \sum_i w_i \, L_\epsilon(y_i - \langle w, x_i \rangle - b)

    with the epsilon-insensitive loss or its square, and s the ``intercept_scaling``. Parameters, defaults and
    attributes are those of :class:`sklearn.svm.LinearSVR`; every fit proves how near it is to the optimum
    (``certificate_``), and the bias may be left unpenalised.

    Parameters
    ----------
    epsilon : float, default=0.0
        Half width of the tube in which errors are free.
    tol : float, default=1e-4
        Relative duality gap at which to stop: 1e-4 means proved within 0.01 % of the optimum.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The loss.
    verbose : int, default=0
        Print a line per round.
    max_iter : int, default=1000
        Most Newton steps or sweeps; -1 for no limit.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights.
    intercept_ : ndarray of shape (1,)
        Bias.
    certificate_ : Certificate
        Primal, dual, gap, violation.
    dual_coef_ : sparse array of shape (1, n_samples)
        The multipliers that prove the gap, for the loss with kinks and after coordinate descent.
    n_iter_ : int
        Steps of the solver.
    loss_, fit_status_, shape_fit_, history_
        As in :class:`mercer.KernelRegressor`.

    See Also
    --------
    LinearRegressor : The same with any loss.
    SVR : The same with any kernel, and support vectors.

    References
    ----------
    .. [1] C.-H. Ho and C.-J. Lin (2012). Large-scale linear support vector regression. *Journal of Machine
       Learning Research* 13, 3323-3348.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import LinearSVR
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = LinearSVR(C=10).fit(X, X @ [1.0, 2.0, 3.0])
    >>> np.round(model.coef_, 1).tolist()
    [1.0, 2.0, 3.0]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{k: v for k, v in WeightMachine._parameter_constraints.items() if k != "solver"},
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
        "loss": [StrOptions(set(LOSSES))],
        "dual": ["boolean", StrOptions({"auto"})],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool | str = True,
        intercept_scaling: float = 1.0,
        dual: bool | str = "auto",
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        on_interrupt: str = "raise",
        trace: bool = False,
    ) -> None:
        keep_parameters(self, locals())

    @property
    def solver(self) -> str:
        """The solver that ``dual`` asks for."""
        return DUAL[self.dual]

    def _targets(self, y: Any) -> np.ndarray:
        return check_targets(y, type(self).__name__)

    def _loss(self, n_classes: int) -> Loss:
        return LOSSES[self.loss](float(self.epsilon))
