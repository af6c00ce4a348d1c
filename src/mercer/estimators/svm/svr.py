"""The epsilon support vector regressor."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from mercer.estimators.approximation._mixin import APPROXIMATION, ApproximationMixin
from mercer.estimators.machine import KernelMachine
from mercer.estimators.parametric import PARAMETRIC, ParametricMixin
from mercer.estimators.sklearn_models import TwinMixin
from mercer.estimators.svm.regressor import BaseSVR
from mercer.estimators.updating.mixin import UPDATES, UpdateMixin
from mercer.gram import Gram
from mercer.problems import Dual
from mercer.problems.hard_tube import HardTube
from mercer.problems.linear_risk import LinearRisk
from mercer.problems.losses import EpsilonInsensitive, SquaredEpsilonInsensitive
from mercer.problems.regression import epsilon_tube, squared_epsilon_tube
from mercer.values import keep_parameters


class SVR(UpdateMixin, ApproximationMixin, ParametricMixin, TwinMixin, BaseSVR):
    r"""epsilon-support vector regression.

    .. math::
        \min_{w, b} \tfrac12 \|w\|^2 + C \sum_i w_i \, L(y_i - \langle w, \phi(x_i) \rangle - b)

    with L(u) = max(0, abs(u) - epsilon) (``loss="epsilon_insensitive"``) or its square
    (``"squared_epsilon_insensitive"``), solved through its dual with a proof of the distance to the optimum
    (``certificate_``). A matrix of targets has a function for each column; all share the kernel matrix, and
    the certificate has a part for each.

    Parameters
    ----------
    tol : float, default=1e-3
        Largest KKT violation (``criterion="kkt"``), in units of half the range of y where that is below one,
        or relative gap (``"gap"``) at which to stop.
    C : float, default=1.0
        Price of a unit of loss; ``np.inf`` for the tube that no point may leave.
    epsilon : float, default=0.1
        Half width of the tube inside which there is no loss.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The loss.
    parametric : "auto", None, "constant", "linear", "quadratic", sequence of int or callable, default="auto"
        Functions beside the kernel whose coefficients cost nothing: products of features up to a degree, some
        columns, or those that a function of the data returns (n values, or n by m). "auto" takes the kernel's
        own (1 and x for :class:`~mercer.kernels.Spline`, polynomials for
        :class:`~mercer.kernels.ThinPlate`), None none. Such problems are solved by the interior point.

    Attributes
    ----------
    certificate_ : Certificate
        Primal, dual, gap, KKT violation.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, fit_status_, shape_fit_
        As in scikit-learn.
    parametric_ : Trend or None
        The functions beside the kernel that cost nothing.
    parametric_coef_ : ndarray of shape (1, n_columns)
        Their coefficients, where there are any; that of the constant is in ``intercept_``.
    kernel_ : Kernel
        The kernel with its data-dependent parameters fixed.
    kernel_weights_ : ndarray of shape (n_kernels,)
        With :class:`~mercer.kernels.MultipleKernel`: the weights of its kernels.
    history_ : list of dict
        With ``trace=True``, a line per round of the solver: ``n_iter``, ``seconds``, ``dual``, ``primal``,
        ``gap``, ``kkt_violation``, ``margin``, ``n_support`` and ``kernel_evaluations``.
    feature_map_, feature_weights_, n_components_, distance_from_exact_
        With ``approximation``: the fitted map, the weights of its features (a row for each function), their
        number, and a :class:`~mercer.problems.DistanceFromExact`. There are no support vectors then;
        ``dual_coef_`` has the multipliers of all rows, sparse, where the weights do not determine them.
    X_fit_, y_fit_, sample_weight_fit_
        With ``updatable=True``: the training rows in order of arrival, their targets and weights.

    References
    ----------
    Smola and Schoelkopf (2004), A tutorial on support vector regression, Statistics and Computing 14.
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Algorithms 7.45 and 7.47.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVR
    >>> X = np.linspace(0, 3, 30)[:, None]
    >>> model = SVR(C=10, epsilon=0.05).fit(X, np.sin(X[:, 0]))
    >>> bool(np.abs(model.predict(X) - np.sin(X[:, 0])).max() < 0.06)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        "C": [Interval(Real, 0.0, None, closed="right")],
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
        "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
        **PARAMETRIC,
        **APPROXIMATION,
        **UPDATES,
    }
    _learns_kernel_weights = True

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        loss: str = "epsilon_insensitive",
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: Any = False,
        max_iter: int = -1,
        solver: Any = "auto",
        criterion: str = "kkt",
        time_limit: float | None = None,
        n_jobs: int | None = None,
        precision: str = "auto",
        fit_intercept: bool = True,
        warm_start: bool = False,
        on_interrupt: str = "raise",
        trace: bool = False,
        parametric: Any = "auto",
        approximation: Any = None,
        n_components: Any = "auto",
        updatable: bool = False,
        window: int | None = None,
    ) -> None:
        keep_parameters(self, locals())

    _several = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _precision(self) -> Any:
        return "double" if self.precision == "auto" and np.isinf(self.C) else self.precision

    def _on_features(self, target: Any, weight: Any, features: Any) -> LinearRisk:
        plain = self.loss == "epsilon_insensitive"
        loss = EpsilonInsensitive(self.epsilon) if plain else SquaredEpsilonInsensitive(self.epsilon)
        return self._feature_risk(loss, target, self.C * weight, features)

    def _problem(self, target: Any, weight: np.ndarray, matrix: Gram) -> Dual:
        if np.isinf(self.C):
            spread = float(matrix.diag().max())
            return HardTube(target, weight, self.epsilon, spread, fit_intercept=self.fit_intercept)
        make = epsilon_tube if self.loss == "epsilon_insensitive" else squared_epsilon_tube
        return make(target, self.C * weight, self.epsilon, fit_intercept=self.fit_intercept)
