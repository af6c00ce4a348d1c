"""Support vector data description."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from mercer.estimators.machine import KernelMachine
from mercer.estimators.svm.ball import BaseBall
from mercer.estimators.updating.mixin import UPDATES, UpdateMixin
from mercer.values import keep_parameters

DEFAULT_NU = 0.1


class SVDD(UpdateMixin, BaseBall):
    r"""Support vector data description: the smallest ball in feature space around (most of) the data.

    .. math::
        \min_{a, r} r^2 + C \sum_i w_i \max(0, \|\phi(x_i) - a\|^2 - r^2), \qquad C = 1 / (\nu W),
        \quad W = \sum_i w_i

    At most a share nu of the weight lies outside the ball and at least a share nu is on support vectors;
    points on the sphere count as inside; nu = 0 (or infinite C) is the smallest enclosing ball. The centre
    is a = sum_i ``dual_coef_[0, i]`` phi(``support_vectors_[i]``). A point is novel beyond r^2 + ``gap``.

    Parameters
    ----------
    nu : float, default=0.1
        In [0, 1]: upper bound on the share of points outside. 0: none may be.
    C : float, optional
        Price of a unit of squared distance outside, instead of ``nu`` (which is then left at its default). At
        least 1 / W; ``np.inf`` for the smallest enclosing ball.
    gap : float, default=0.0
        gamma, added to the squared radius that ``predict`` and ``decision_function`` test: points beyond
        r^2 + gamma are novel. The theorems about false alarms are about this test, for a gap fixed before the
        data are seen; :func:`mercer.bounds.report` states them.

    Attributes
    ----------
    radius_ : float
        r.
    offset_ : float
        Minus the squared radius, minus the gap: ``score_samples`` is minus the squared distance from the
        centre.
    center_squared_norm_ : float
        ||a||^2.
    slack_sum_ : float
        sum_i w_i max(0, ||phi(x_i) - a||^2 - r^2).
    outside_fraction_ : float
        Share of the weight strictly outside; at most nu.
    support_fraction_ : float
        Share of the weight on support vectors; at least nu.
    certificate_ : Certificate
        Primal, dual, gap, KKT violation.
    coef_ : array of shape (1, n_features)
        The centre, for the linear kernel.
    support_, support_vectors_, n_support_, dual_coef_, n_iter_, fit_status_, shape_fit_
        As in scikit-learn's OneClassSVM.
    kernel_ : Kernel
        The kernel with its data-dependent parameters fixed.
    history_ : list of dict
        With ``trace=True``, a line per round of the solver: ``n_iter``, ``seconds``, ``dual``, ``primal``,
        ``gap``, ``kkt_violation``, ``margin``, ``n_support`` and ``kernel_evaluations``.

    References
    ----------
    Tax and Duin (2004), Support vector data description, Machine Learning 54. Shawe-Taylor and Cristianini
    (2004), Kernel Methods for Pattern Analysis, Algorithms 7.2, 7.8 and 7.11.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVDD
    >>> X = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]])
    >>> ball = SVDD(nu=0, kernel="linear").fit(X)
    >>> round(ball.radius_, 6), ball.coef_.round(6)
    (1.0, array([[1., 0.]]))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="both")],
        "C": [Interval(Real, 0.0, None, closed="right"), None],
        "gap": [Interval(Real, 0.0, None, closed="left")],
        **UPDATES,
    }
    _parameter_constraints.pop("fit_intercept")
    _reads_target = False

    def __init__(
        self,
        *,
        nu: float = 0.1,
        C: float | None = None,
        gap: float = 0.0,
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
        updatable: bool = False,
        window: int | None = None,
    ) -> None:
        keep_parameters(self, locals())

    def _threshold(self) -> float:
        return -float(self._squared_radius + self.gap)

    def _share(self) -> tuple[float | None, float | None]:
        if self.C is not None and self.nu != DEFAULT_NU:
            raise ValueError(
                f"nu={self.nu:g} and C={self.C:g} both say how many points may lie outside, C = 1 / (nu n): "
                f"give one of them, and leave nu at {DEFAULT_NU} beside C"
            )
        return (self.nu, None) if self.C is None else (None, self.C)
