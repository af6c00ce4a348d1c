"""The kernel Widrow-Hoff rule."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from mercer.estimators.online._regressor import OnlineRegressor
from mercer.problems.online import Rule, widrow_hoff
from mercer.values import keep_parameters


class KernelWidrowHoff(OnlineRegressor):
    r"""Least squares learned one example at a time: the rule of Widrow and Hoff, with a kernel.

    .. math::
        \min_w \alpha \|w\|^2 + \sum_i (y_i - \langle w, \phi(x_i) \rangle)^2, \qquad
        \beta_i \leftarrow \beta_i + \eta \, \frac{y_i - f(x_i) - \alpha \beta_i}{k(x_i, x_i) + \alpha}

    Passes over a training set (:meth:`fit`) converge to kernel ridge regression with the same alpha, which is
    the mean of a Gaussian process with noise variance alpha, and ``certificate_`` proves how near they are. A
    stream (:meth:`partial_fit`) sees each example once: the machine predicts, sees the truth, and changes
    unless it was exactly right, so that nearly every example is kept unless there is a budget. For a bias,
    add a constant to the kernel: ``RBF() + tau**2``.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the norm. 0 is the plain rule, whose passes end at interpolation, if they end.
    tol : float, default=1e-3
        Largest residual of the normal equations at which ``fit`` stops.
    budget : int, optional
        Most examples to keep, at any time; None for all.

    Attributes
    ----------
    certificate_ : Certificate
        Primal, dual, gap, KKT violation of 1/2 ||w||^2 + 1/(2 alpha) sum (y - f)^2; after ``fit`` only.
    mistakes_ : int
        Predictions so far that were not exact, each made before its truth was seen.
    loss_ : float
        Squared errors so far.
    loss_curve_, n_updates_, t_, status_, n_iter_, support_, entered_, kernel_
        As in :class:`mercer.OnlineSVR`.
    support_vectors_, dual_coef_, intercept_, coef_, shape_fit_
        As in scikit-learn; the intercept is zero.

    References
    ----------
    Widrow and Hoff (1960), Adaptive switching circuits, IRE WESCON Convention Record. Friess and Harrison
    (1999), A kernel-based adaline, ESANN. Cristianini and Shawe-Taylor (2000), An Introduction to Support
    Vector Machines, section 7.6.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelWidrowHoff
    >>> X = np.linspace(0, 3, 30)[:, None]
    >>> model = KernelWidrowHoff(alpha=0.01).fit(X, np.sin(X[:, 0]))
    >>> bool(np.abs(model.predict(X) - np.sin(X[:, 0])).max() < 0.05)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **OnlineRegressor._parameter_constraints,
        "alpha": [Interval(Real, 0.0, None, closed="left")],
    }

    fit_intercept = False

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        alpha: float = 1.0,
        learning_rate: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 1000,
        budget: int | None = None,
        removal: str = "weakest",
        shuffle: bool = False,
        random_state: Any = None,
        cache_size: float = 200,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        on_interrupt: str = "raise",
        verbose: Any = False,
    ) -> None:
        keep_parameters(self, locals())

    def _rule(self) -> Rule:
        return widrow_hoff(alpha=float(self.alpha), rate=float(self.learning_rate))
