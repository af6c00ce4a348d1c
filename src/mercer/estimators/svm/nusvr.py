"""The nu support vector regressor."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from mercer.estimators.machine import KernelMachine
from mercer.estimators.sklearn_models import TwinMixin
from mercer.estimators.svm.regressor import BaseSVR
from mercer.gram import Gram
from mercer.problems import Dual, Machine
from mercer.problems.regression import NuTube, Tube
from mercer.values import keep_parameters


class NuSVR(TwinMixin, BaseSVR):
    r"""nu-support vector regression: nu bounds the fraction of points outside the tube and replaces epsilon.

    .. math::
        \min_{w, b, \varepsilon} \tfrac12 \|w\|^2 + C \Big( \nu W \varepsilon
        + \sum_i w_i \max(0, |y_i - \langle w, \phi(x_i) \rangle - b| - \varepsilon) \Big),
        \qquad W = \sum_i w_i

    At the optimum at most a share nu of the weight lies outside the tube and at least a share nu is on
    support vectors. The function is that of :class:`SVR` with ``epsilon=epsilon_``.

    Parameters
    ----------
    nu : float, default=0.5
        In (0, 1]: upper bound on the share of points outside the tube, lower bound on the share of support
        vectors.
    C : float, default=1.0
        Price of a unit of loss (of each point, as in LIBSVM; the textbooks' C is n times ours).
    tol : float, default=1e-3
        Largest KKT violation (``criterion="kkt"``), in units of half the range of y where that is below one,
        or relative gap (``"gap"``) at which to stop.

    Attributes
    ----------
    epsilon_ : float
        Half width of the tube that was found.
    outside_fraction_ : float
        Share of the weight strictly outside the tube; at most nu.
    support_fraction_ : float
        Share of the weight on support vectors; at least nu.
    certificate_ : Certificate
        Primal, dual, gap, KKT violation.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, fit_status_, shape_fit_
        As in scikit-learn.
    kernel_ : Kernel
        The kernel with its data-dependent parameters fixed.
    history_ : list of dict
        With ``trace=True``, a line per round of the solver: ``n_iter``, ``seconds``, ``dual``, ``primal``,
        ``gap``, ``kkt_violation``, ``margin``, ``n_support`` and ``kernel_evaluations``.

    References
    ----------
    Schoelkopf, Smola, Williamson and Bartlett (2000), New support vector algorithms, Neural Computation 12.
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Algorithm 7.51.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import NuSVR
    >>> X = np.linspace(0, 3, 40)[:, None]
    >>> y = np.sin(X[:, 0]) + 0.1 * np.cos(50 * X[:, 0])
    >>> model = NuSVR(nu=0.3, C=10).fit(X, y)
    >>> bool(model.outside_fraction_ <= 0.3 <= model.support_fraction_)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
        "C": [Interval(Real, 0.0, None, closed="neither")],
    }
    _parameter_constraints.pop("fit_intercept")

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        verbose: Any = False,
        max_iter: int = -1,
        solver: Any = "auto",
        criterion: str = "kkt",
        time_limit: float | None = None,
        n_jobs: int | None = None,
        precision: str = "auto",
        warm_start: bool = False,
        on_interrupt: str = "raise",
        trace: bool = False,
    ) -> None:
        keep_parameters(self, locals())

    def _problem(self, target: Any, weight: np.ndarray, matrix: Gram) -> Dual:
        return NuTube(target, self.C, weight, self.nu)

    def _keep(self, machines: list[Tube], split: Any) -> None:
        (tube,) = machines
        self.epsilon_ = tube.epsilon
        self.outside_fraction_ = tube.outside
        self.support_fraction_ = tube.support

    def _shipped(self, number: int, coef: np.ndarray, products: np.ndarray) -> Machine:
        plain = super()._shipped(number, coef, products)
        if not hasattr(self, "epsilon_"):  # models of other programs do not say it
            return plain
        return Tube(plain.coef, plain.intercept, plain.products, float(self.epsilon_))
