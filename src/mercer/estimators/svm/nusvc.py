"""The nu support vector classifier."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Hidden, Interval, StrOptions

from mercer.estimators.degenerate import DegenerateFitWarning
from mercer.estimators.probability import UNSET
from mercer.estimators.sklearn_models import PlattNamesMixin, TwinMixin
from mercer.estimators.splits import BinaryTask, TwoClassTasks
from mercer.estimators.svm.svc import BaseSVC
from mercer.estimators.user_warnings import warn_user
from mercer.gram import Gram
from mercer.problems import Dual, Machine
from mercer.problems.nu import NuMachine, NuMargin, check_nu, largest_nu
from mercer.values import keep_parameters


class NuSVC(PlattNamesMixin, TwinMixin, BaseSVC):
    r"""nu-support vector classification: nu bounds the fraction of margin errors and replaces C.

    .. math::
        \min_{w, b, \rho} \tfrac12 \|w\|^2 - \nu W \rho
        + \sum_i w_i \max(0, \rho - y_i (\langle w, \phi(x_i) \rangle + b)), \qquad W = \sum_i w_i

    At the optimum at most a share nu of the weight lies inside the margin and at least a share nu is on
    support vectors. The function is shipped divided by rho, so that the margin is at +-1; it is then the
    function of :class:`SVC` with C = 1 / rho.

    Parameters
    ----------
    nu : float, default=0.5
        In (0, 1]. At most 2 min(W+, W-) / (W+ + W-), the weights of the two classes; a larger value is
        refused before any kernel value is computed.
    tol : float, default=1e-3
        Largest KKT violation of the problem above (``criterion="kkt"``), in units of rho where that is below
        one, or relative gap (``"gap"``) at which to stop.
    class_weight : dict or "balanced", optional
        Factors of the sample weights per class. Where they leave too little weight for ``nu``, it is lowered
        to the largest feasible value (see ``nu_``) and the lighter class is ignored, with a warning.
        scikit-learn ignores this parameter.

    Attributes
    ----------
    rho_ : float or array of shape (n_machines,)
        The margin before scaling: a number for two classes, one per two-class machine for more. 0 when the
        reduced convex hulls of the classes meet; the function is then not scaled.
    margin_error_fraction_ : float or array of shape (n_machines,)
        Share of the weight strictly inside the margin; at most nu.
    support_fraction_ : float or array of shape (n_machines,)
        Share of the weight on support vectors; at least nu.
    nu_ : float or array of shape (n_machines,)
        The value used: ``nu`` unless ``class_weight`` left too little weight for it.
    margin_ : float or array of shape (n_machines,)
        The geometric margin 1 / ||w|| of the scaled function.
    certificate_ : Certificate
        Primal, dual, gap, KKT violation of the problem above (before scaling).
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, classes_, n_iter_, fit_status_,
    class_weight_, shape_fit_
        As in scikit-learn.
    kernel_ : Kernel
        The kernel with its data-dependent parameters fixed.
    link_knots_, link_slopes_ : arrays of shape (n_machines, 2, n_pieces)
        With ``probability=True``: how decisions below 0 (first) and above become logits, a straight line of
        slope ``link_slopes_`` from each of ``link_knots_`` on.
    history_ : list of list of dict
        With ``trace=True``, for each two-class problem a line per round of the solver: ``n_iter``,
        ``seconds``, ``dual``, ``primal``, ``gap``, ``kkt_violation``, ``margin``, ``n_support`` and
        ``kernel_evaluations``.

    References
    ----------
    Schoelkopf, Smola, Williamson and Bartlett (2000), New support vector algorithms, Neural Computation 12.
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Algorithm 7.32.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import NuSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = NuSVC(nu=0.1).fit(X[50:], y[50:])
    >>> bool(model.margin_error_fraction_ <= 0.1 <= model.support_fraction_)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSVC._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
        "probability": ["boolean", Hidden(StrOptions({UNSET}))],
        "threshold": [Interval(Real, None, None, closed="neither")],
    }
    _parameter_constraints.pop("fit_intercept")

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: Any = UNSET,
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
        warm_start: bool = False,
        on_interrupt: str = "raise",
        threshold: float = 0.0,
        trace: bool = False,
    ) -> None:
        keep_parameters(self, locals())

    def _check_feasible(self, split: TwoClassTasks) -> None:
        used, weight = [], split.weight
        for task in split.tasks:
            most = largest_nu(task.sign, weight[task.rows])
            where = _named(task, split.labels.classes)
            if self.nu > most * (1 + 1e-12):
                # Class weights are a wish about the balance of errors; the rows themselves must allow nu.
                which = split.base if self.class_weight is not None else weight
                check_nu(task.sign, which[task.rows], self.nu, where=where)
                warn_user(
                    f"class_weight leaves too little weight for nu={self.nu:g}{where}: the largest feasible "
                    f"value, nu={most:.6g}, is used, and the lighter class is ignored",
                    UserWarning,
                )
            used.append(min(self.nu, most))
        self.nu_ = self._per_machine(used)

    def _problem(self, sign: np.ndarray, weight: np.ndarray, matrix: Gram) -> Dual:
        spread = float(matrix.diag().max(initial=0.0))
        return NuMargin(sign, weight, self.nu, spread, surrender=self.class_weight is not None)

    def _keep(self, machines: list[NuMachine], split: Any) -> None:
        super()._keep(machines, split)
        self.rho_ = self._per_machine([m.rho for m in machines])
        self.margin_error_fraction_ = self._per_machine([m.margin_errors for m in machines])
        self.support_fraction_ = self._per_machine([m.support for m in machines])
        flat = [number for number, m in enumerate(machines) if m.rho == 0]
        if flat:
            which = "" if len(machines) == 1 else f" of machine {flat[0]} (of {len(machines)})"
            warn_user(
                f"nu={self.nu:g} is so small that the reduced convex hulls of the classes{which} meet: the "
                "optimum is w = 0 and there is no margin to scale by. The decision values are zero up to "
                "rounding; raise nu, or take a kernel that separates the classes better.",
                DegenerateFitWarning,
            )

    def _shipped(self, number: int, coef: np.ndarray, products: np.ndarray) -> Machine:
        plain = super()._shipped(number, coef, products)
        if not hasattr(self, "rho_"):  # models of other programs do not say it
            return plain
        rho = float(np.atleast_1d(self.rho_)[number])
        return NuMachine(plain.coef, plain.intercept, plain.products, rho)


def _named(task: BinaryTask, classes: np.ndarray) -> str:
    """Return which classes a task is about, when there are more than two."""
    if classes.size == 2:
        return ""
    names = classes.tolist()
    rival = "all others" if task.negative < 0 else f"class {names[task.negative]!r}"
    return f" (class {names[task.positive]!r} against {rival})"
