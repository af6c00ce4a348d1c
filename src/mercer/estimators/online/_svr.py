"""On-line support vector regression."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from mercer.estimators.online._regressor import OnlineRegressor
from mercer.problems.online import Rule, tube
from mercer.values import keep_parameters


class OnlineSVR(OnlineRegressor):
    r"""Support vector regression without bias, learned one example at a time.

    .. math::
        \min_w \tfrac12 \|w\|^2 + C \sum_i L(y_i - \langle w, \phi(x_i) \rangle), \qquad
        \beta_i \leftarrow \beta_i + \eta \,
        \frac{y_i - f(x_i) - \epsilon \, \mathrm{sgn}(\beta_i)}{k(x_i, x_i)}

    with L(u) = max(0, abs(u) - epsilon) or its square. sgn(0) is the number in [-1, 1] that moves the
    coefficient least; a coefficient that would change its sign stops at zero, and none leaves [-C, C]. Passes
    over a training set (:meth:`fit`) converge to the machine that ``SVR(fit_intercept=False)`` finds, and
    ``certificate_`` proves how near they are. A stream (:meth:`partial_fit`) sees each example once: the
    machine predicts, sees the truth, and changes only if the error is larger than epsilon. For a bias, add a
    constant to the kernel: ``RBF() + tau**2``.

    Parameters
    ----------
    C : float, default=1.0
        Price of a unit of loss; ``np.inf`` for none beyond the tube.
    epsilon : float, default=0.1
        Half width of the tube inside which there is no loss.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The loss.

    Attributes
    ----------
    certificate_ : Certificate
        Primal, dual, gap, KKT violation; after ``fit`` only.
    mistakes_ : int
        Predictions so far that were off by more than epsilon, each made before its truth was seen.
    loss_ : float
        Losses so far.
    loss_curve_ : ndarray of shape (n_points, 3)
        Steps, and loss and mistakes up to there; at most 4096 points, evenly spaced.
    n_updates_ : ndarray of shape (1,)
        Changes of the function.
    t_ : int
        Examples seen, each time counted.
    status_ : {"optimal", "iteration_limit", "time_limit", "interrupted", "streaming"}
        How ``fit`` ended; "streaming" after ``partial_fit``.
    n_iter_ : int
        Passes.
    support_vectors_, dual_coef_, intercept_, coef_, shape_fit_
        As in scikit-learn; the intercept is zero.
    support_, entered_ : ndarray
        Numbers of the kept examples among all rows given so far, and the steps at which they came in.
    kernel_ : Kernel
        The kernel with its data-dependent parameters fixed.

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Algorithm 7.61. Kivinen, Smola
    and Williamson (2004), Online learning with kernels, IEEE Transactions on Signal Processing 52.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import OnlineSVR
    >>> X = np.linspace(0, 3, 30)[:, None]
    >>> model = OnlineSVR(C=10, epsilon=0.05).fit(X, np.sin(X[:, 0]))
    >>> bool(np.abs(model.predict(X) - np.sin(X[:, 0])).max() < 0.06)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **OnlineRegressor._parameter_constraints,
        "C": [Interval(Real, 0.0, None, closed="right")],
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
        "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
    }

    fit_intercept = False

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        C: float = 1.0,
        epsilon: float = 0.1,
        loss: str = "epsilon_insensitive",
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
        squared = self.loss == "squared_epsilon_insensitive"
        return tube(
            C=float(self.C), epsilon=float(self.epsilon), squared=squared, rate=float(self.learning_rate)
        )
