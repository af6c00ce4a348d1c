"""The support vector classifier."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from mercer.estimators.sklearn_models import TwinMixin
from mercer.estimators.svm.classifier import BaseSVC
from mercer.gram import Gram
from mercer.problems import Dual, HardMargin, HardMarginThroughOrigin, soft_margin, squared_hinge

__all__ = ["SVC", "BaseSVC"]


class SVC(TwinMixin, BaseSVC):
    r"""C-support vector classification.

    .. math::
        \min_{w, b} \tfrac12 \|w\|^2 + C \sum_i w_i \, L(y_i (\langle w, \phi(x_i) \rangle + b))

    with L(u) = max(0, 1 - u) (``loss="hinge"``) or its square (``"squared_hinge"``), solved through its dual
    with a proof of the distance to the optimum (``certificate_``). ``C=np.inf`` is the hard margin.

    Parameters
    ----------
    C : float, default=1.0
        Price of a unit of loss; ``np.inf`` for the hard margin.
    kernel : str, Kernel or callable, default="rbf"
        A name, a :class:`mercer.kernels.Kernel`, a function of two data sets that returns the kernel matrix,
        or "precomputed".
    degree, gamma, coef0
        Parameters of the kernels given by name, as in scikit-learn. ``gamma="scale"`` uses the weighted
        variance when sample weights are given.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The loss.
    shrinking : bool, default=True
        Accepted for compatibility; working sets make a separate shrinking step needless.
    probability : bool, default=False
        Whether ``predict_proba`` will be available. Its largest probability is that of the class that
        ``predict`` returns; for two classes it costs less than a second fit as a rule. Probabilities are
        those of the rows as ``sample_weight`` counts them: ``class_weight`` moves the decision only.
    tol : float, default=1e-3
        Largest KKT violation (``criterion="kkt"``) or relative gap (``"gap"``) at which to stop.
    cache_size : float, default=200
        Memory for kernel values, in MB.
    class_weight : dict or "balanced", optional
        Factors of C per class. "balanced" counts each row as often as its sample weight says.
    verbose : bool or int, default=False
        Print where the solver stands, twice a second at most (2: after every round), and the verdict.
    max_iter : int, default=-1
        Most steps of the solver for each two-class problem; -1 for no limit.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Shape of ``decision_function`` for more than two classes.
    break_ties : bool, default=False
        Break ties between classes by confidence instead of class order.
    random_state : int, RandomState or None
        Used for the folds of ``probability=True`` only.
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
        Threads; None for all cores (one inside joblib workers). Small pairs of classes are solved side by
        side.
    precision : {"auto", "single", "double"}, default="auto"
        Precision of kernel values. Sums, gradients and the certificate are always float64.
    multiclass : {"ovo", "ovr"}, default="ovo"
        One machine per pair of classes, or one per class.
    fit_intercept : bool, default=True
        Whether the function has an unpenalised bias.
    warm_start : bool, default=False
        Start from the previous fit on the same rows.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C during ``fit`` does: raise, or keep the machine so far (a second Ctrl-C raises).
    trace : bool, default=False
        Record ``history_``, which :func:`mercer.plots.convergence` draws. scikit-learn's ``set_callbacks``,
        where the installed version has it, is called after each round, too.

    Attributes
    ----------
    certificate_ : Certificate
        Primal, dual, gap, KKT violation.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, classes_, n_iter_, fit_status_,
    class_weight_, shape_fit_
        As in scikit-learn. Support vectors keep the type of the data (float32 stays float32); sparse data
        give sparse ``dual_coef_`` and ``coef_``.
    margin_ : float or array of shape (n_machines,)
        The geometric margin 1 / ||w||: a number for two classes, one per two-class machine, in the order of
        ``intercept_``, for more.
    kernel_ : Kernel
        The kernel with its data-dependent parameters fixed.
    link_knots_, link_slopes_ : arrays of shape (n_machines, 2, n_pieces)
        With ``probability=True``: how decisions below 0 (first) and above become logits, a straight line of
        slope ``link_slopes_`` from each of ``link_knots_`` on.
    smallest_eigenvalue_ : float
        An estimate of the least eigenvalue of the kernel matrix, for kernels not known to be positive
        semi-definite.
    history_ : list of list of dict
        With ``trace=True``, for each two-class problem a line per round of the solver: ``n_iter``,
        ``seconds``, ``dual``, ``primal``, ``gap``, ``kkt_violation``, ``margin``, ``n_support`` and
        ``kernel_evaluations``.

    References
    ----------
    Cortes and Vapnik (1995), Support-vector networks, Machine Learning 20. Cristianini and Shawe-Taylor
    (2000), An Introduction to Support Vector Machines.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(C=10).fit(X, y)
    >>> model.certificate_.status
    'optimal'
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSVC._parameter_constraints,
        "C": [Interval(Real, 0.0, None, closed="right")],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "probability": ["boolean"],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        loss: str = "hinge",
        shrinking: bool = True,
        probability: bool = False,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: Any = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        solver: Any = "auto",
        criterion: str = "kkt",
        time_limit: float | None = None,
        n_jobs: int | None = None,
        precision: str = "auto",
        multiclass: str = "ovo",
        fit_intercept: bool = True,
        warm_start: bool = False,
        on_interrupt: str = "raise",
        trace: bool = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.loss = loss
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.solver = solver
        self.criterion = criterion
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.precision = precision
        self.multiclass = multiclass
        self.fit_intercept = fit_intercept
        self.warm_start = warm_start
        self.on_interrupt = on_interrupt
        self.trace = trace

    def _precision(self) -> Any:
        # The distance of two hulls that nearly touch drowns in the rounding of single precision.
        return "double" if self.precision == "auto" and np.isinf(self.C) else self.precision

    def _problem(self, sign: np.ndarray, weight: np.ndarray, matrix: Gram) -> Dual:
        if np.isinf(self.C):
            hard = HardMargin if self.fit_intercept else HardMarginThroughOrigin
            return hard(sign, weight, float(matrix.diag().max(initial=0.0)))
        make = soft_margin if self.loss == "hinge" else squared_hinge
        return make(sign, self.C * weight, fit_intercept=self.fit_intercept)
