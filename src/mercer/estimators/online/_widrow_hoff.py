"""The kernel Widrow-Hoff rule."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from mercer.estimators.online._regressor import OnlineRegressor
from mercer.problems.online import Rule, widrow_hoff


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
    kernel : str, Kernel or callable, default="rbf"
        A name, a :class:`mercer.kernels.Kernel`, a function of two data sets that returns the kernel matrix,
        or "precomputed" (``fit`` only).
    degree, gamma, coef0
        Parameters of the kernels given by name, as in scikit-learn. ``gamma="scale"`` is computed from the
        data in ``fit`` and from the first batch in ``partial_fit``.
    alpha : float, default=1.0
        Weight of the norm. 0 is the plain rule, whose passes end at interpolation, if they end.
    learning_rate : float, default=1.0
        eta, between 0 and 2.
    tol : float, default=1e-3
        Largest residual of the normal equations at which ``fit`` stops.
    max_iter : int, default=1000
        Most passes of ``fit``; -1 for no limit.
    budget : int, optional
        Most examples to keep, at any time; None for all.
    removal : {"weakest", "oldest"}, default="weakest"
        Which example makes room when the budget is used up: the one without which the function changes least
        (the smallest k(x, x) beta^2; of equals the one that came first), or the one that came first.
    shuffle : bool, default=False
        Whether each pass of ``fit`` has its own order.
    random_state : int, RandomState instance or None, default=None
        Of the orders.
    cache_size : float, default=200
        Memory for the kernel matrix that the passes of ``fit`` share, in MB; where it does not fit, values
        are computed anew.
    time_limit : float, optional
        Seconds after which ``fit`` stops.
    n_jobs : int, optional
        Threads of predictions; None for all cores (one inside joblib workers).
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does: raise, which leaves a model that ``partial_fit`` had begun with as it was before the
        call, or keep what was learned so far (``t_`` says how far that is).
    verbose : bool, default=False
        Print a line per pass.

    Attributes
    ----------
    certificate_ : Certificate
        Primal, dual, gap, KKT violation of 1/2 ||w||^2 + 1/(2 alpha) sum (y - f)^2; after ``fit`` only.
    mistakes_ : int
        Predictions so far that were not exact, each made before its truth was seen.
    loss_ : float
        Squared errors so far.
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
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.alpha = alpha
        self.learning_rate = learning_rate
        self.tol = tol
        self.max_iter = max_iter
        self.budget = budget
        self.removal = removal
        self.shuffle = shuffle
        self.random_state = random_state
        self.cache_size = cache_size
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.on_interrupt = on_interrupt
        self.verbose = verbose

    def _rule(self) -> Rule:
        return widrow_hoff(alpha=float(self.alpha), rate=float(self.learning_rate))
