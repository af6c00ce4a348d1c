"""Support vector data description."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from mercer.estimators.machine import KernelMachine
from mercer.estimators.svm.ball import BaseBall

DEFAULT_NU = 0.1


class SVDD(BaseBall):
    r"""Support vector data description: the smallest ball in feature space around (most of) the data.

    .. math::
        \min_{a, r} r^2 + C \sum_i w_i \max(0, \|\phi(x_i) - a\|^2 - r^2), \qquad C = 1 / (\nu W),
        \quad W = \sum_i w_i

    At most a share nu of the weight lies outside the ball and at least a share nu is on support vectors;
    points on the sphere count as inside; nu = 0 (or infinite C) is the smallest enclosing ball. The centre
    is a = sum_i ``dual_coef_[0, i]`` phi(``support_vectors_[i]``).

    Parameters
    ----------
    nu : float, default=0.1
        In [0, 1]: upper bound on the share of points outside. 0: none may be.
    C : float, optional
        Price of a unit of squared distance outside, instead of ``nu`` (which is then left at its default). At
        least 1 / W; ``np.inf`` for the smallest enclosing ball.
    kernel : str, Kernel or callable, default="rbf"
        A name, a :class:`mercer.kernels.Kernel`, a function of two data sets that returns the kernel matrix,
        or "precomputed".
    degree, gamma, coef0
        Parameters of the kernels given by name, as in scikit-learn. ``gamma="scale"`` uses the weighted
        variance when sample weights are given.
    tol : float, default=1e-3
        Largest KKT violation (``criterion="kkt"``), in units of the squared radius where that is below one,
        or relative gap (``"gap"``) at which to stop. The hard ball is solved a thousand times finer.
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
    warm_start : bool, default=False
        Start from the previous fit on the same rows.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C during ``fit`` does: raise, or keep the machine so far.
    trace : bool, default=False
        Record ``history_``, which :func:`mercer.plots.convergence` draws. scikit-learn's ``set_callbacks``,
        where the installed version has it, is called after each round, too.

    Attributes
    ----------
    radius_ : float
        r.
    offset_ : float
        Minus the squared radius: ``score_samples`` is minus the squared distance from the centre.
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
    }
    _parameter_constraints.pop("fit_intercept")

    def __init__(
        self,
        *,
        nu: float = 0.1,
        C: float | None = None,
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
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.solver = solver
        self.criterion = criterion
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.precision = precision
        self.warm_start = warm_start
        self.on_interrupt = on_interrupt
        self.trace = trace

    def _share(self) -> tuple[float | None, float | None]:
        if self.C is not None and self.nu != DEFAULT_NU:
            raise ValueError(
                f"nu={self.nu:g} and C={self.C:g} both say how many points may lie outside, C = 1 / (nu n): "
                f"give one of them, and leave nu at {DEFAULT_NU} beside C"
            )
        return (self.nu, None) if self.C is None else (None, self.C)
