"""The epsilon support vector regressor."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from mercer.estimators.machine import KernelMachine
from mercer.estimators.sklearn_models import TwinMixin
from mercer.estimators.svm.regressor import BaseSVR
from mercer.gram import Gram
from mercer.problems import Dual
from mercer.problems.regression import epsilon_tube, squared_epsilon_tube


class SVR(TwinMixin, BaseSVR):
    r"""epsilon-support vector regression.

    .. math::
        \min_{w, b} \tfrac12 \|w\|^2 + C \sum_i w_i \, L(y_i - \langle w, \phi(x_i) \rangle - b)

    with L(u) = max(0, abs(u) - epsilon) (``loss="epsilon_insensitive"``) or its square
    (``"squared_epsilon_insensitive"``), solved through its dual with a proof of the distance to the optimum
    (``certificate_``).

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        A name, a :class:`mercer.kernels.Kernel`, a function of two data sets that returns the kernel matrix,
        or "precomputed".
    degree, gamma, coef0
        Parameters of the kernels given by name, as in scikit-learn. ``gamma="scale"`` uses the weighted
        variance when sample weights are given.
    tol : float, default=1e-3
        Largest KKT violation (``criterion="kkt"``), in units of half the range of y where that is below one,
        or relative gap (``"gap"``) at which to stop.
    C : float, default=1.0
        Price of a unit of loss.
    epsilon : float, default=0.1
        Half width of the tube inside which there is no loss.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The loss.
    shrinking : bool, default=True
        Accepted for compatibility; working sets make a separate shrinking step needless.
    cache_size : float, default=200
        Memory for kernel values, in MB.
    verbose : bool or int, default=False
        Print where the solver stands, twice a second at most (2: after every round), and the verdict.
    max_iter : int, default=-1
        Most steps of the solver; -1 for no limit.
    solver : str or mercer.solvers.Solver, default="auto"
        How the problem is solved. "auto" chooses; the other names, those of ``mercer.solvers.SOLVERS``, are
        there to be studied and compared. A solver object brings its options, such as
        ``mercer.solvers.Ascent(omega=1.5)``. What a solver cannot solve it refuses, and says why.
    criterion : {"kkt", "gap", "growth"}, default="kkt"
        What ``tol`` measures: the largest KKT violation, the relative gap, or the relative growth of the dual
        in a round (which proves nothing; the certificate tells the true gap all the same).
    time_limit : float, optional
        Seconds after which to stop with the best machine so far.
    n_jobs : int, optional
        Threads; None for all cores (one inside joblib workers).
    precision : {"auto", "single", "double"}, default="auto"
        Precision of kernel values. Sums, gradients and the certificate are always float64.
    fit_intercept : bool, default=True
        Whether the function has an unpenalised bias.
    warm_start : bool, default=False
        Start from the previous fit on the same rows.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C during ``fit`` does: raise, or keep the machine so far.
    trace : bool, default=False
        Record ``history_``, which :func:`mercer.plots.convergence` draws. scikit-learn's ``set_callbacks``,
        where the installed version has it, is called after each round, too.

    Attributes
    ----------
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
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
        "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
    }

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
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.loss = loss
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.solver = solver
        self.criterion = criterion
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.precision = precision
        self.fit_intercept = fit_intercept
        self.warm_start = warm_start
        self.on_interrupt = on_interrupt
        self.trace = trace

    def _problem(self, target: Any, weight: np.ndarray, matrix: Gram) -> Dual:
        make = epsilon_tube if self.loss == "epsilon_insensitive" else squared_epsilon_tube
        return make(target, self.C * weight, self.epsilon, fit_intercept=self.fit_intercept)
