"""Kernel classification with any convex loss."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.convex._classifier_base import LossClassifier
from mercer.problems.losses import CLASSIFICATION, Loss, MultinomialDeviance, as_loss
from mercer.problems.probabilities import class_logits, softmax_with_choice
from mercer.solvers.calibration.coupling import couple


def _has_probabilities(estimator: Any) -> bool:
    loss = as_loss(estimator.loss, CLASSIFICATION)
    if not isinstance(loss, MultinomialDeviance) and loss.probability(np.zeros(1)) is None:
        raise AttributeError(
            f"predict_proba is not available with loss={estimator.loss!r}, whose minimiser does not "
            "determine the probabilities: use a deviance or a squared loss, or CalibratedClassifierCV"
        )
    return True


class KernelClassifier(LossClassifier):
    r"""Classification with any convex loss and any kernel.

    .. math::
        \min_{w, b} \tfrac12 \|w\|^2 + C \sum_i w_i \, L(y_i, \langle w, \phi(x_i) \rangle + b)

    The solution is :math:`f(x) = \sum_i \beta_i k(x_i, x) + b` with
    :math:`\beta_i = -C w_i L'(y_i, f(x_i))`; the conjugate of the loss proves how near it is
    (``certificate_``). Piecewise-linear losses are solved through their box-constrained dual, all others by a
    semismooth Newton method. With the multinomial deviance one problem has all classes, and the penalty is
    the sum of the squared norms of their functions.

    Parameters
    ----------
    loss : str or Loss, default="squared_hinge"
        "hinge", "squared_hinge", "huberized_squared_hinge", "binomial_deviance", "multinomial_deviance",
        "squared_error", or an object of :mod:`mercer.losses`, perhaps your own.
    kernel : str, Kernel or callable, default="rbf"
        A name, a :class:`mercer.kernels.Kernel`, a function of two data sets that returns the kernel matrix,
        or "precomputed".
    degree, gamma, coef0
        Parameters of the kernels given by name, as in scikit-learn. ``gamma="scale"`` uses the weighted
        variance when sample weights are given.
    C : float, default=1.0
        Price of a unit of loss.
    class_weight : dict or "balanced", optional
        Factors of C for the classes.
    multiclass : {"ovo", "ovr"}, default="ovo"
        One machine per pair of classes, or one per class against the rest.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Whether ``decision_function`` has a column per class or per pair.
    break_ties : bool, default=False
        Break ties of the votes by the confidences.
    fit_intercept : bool, default=True
        Whether the function has an unpenalised bias.
    solver : str or mercer.solvers.Solver, default="auto"
        How the problem is solved; "auto" chooses by the loss: "decomposition" where it is piecewise linear,
        else "newton", "proximal" (a loss with kinks) or "convex_concave" (an indefinite kernel). What a
        solver cannot solve it refuses, and says why.
    tol : float, default=1e-6
        Relative gap (``criterion="gap"``) or largest violation of the optimality conditions (``"kkt"``) at
        which to stop.
    criterion : {"gap", "kkt"}, default="gap"
        What ``tol`` measures.
    max_iter : int, default=-1
        Most steps of the solver; -1 for no limit.
    time_limit : float, optional
        Seconds after which to stop with the best machine so far.
    cache_size : float, default=200
        Memory for kernel values, in MB; a Newton system may take as much again. Up to
        :math:`n = \sqrt{10^6 \mathtt{cache\_size} / 8}` points (5000 by default) the kernel matrix is kept;
        beyond, it is recomputed by conjugate gradients in every product.
    n_jobs : int, optional
        Threads; None for all cores (one inside joblib workers).
    precision : {"auto", "single", "double"}, default="auto"
        Precision of kernel values. Sums and the certificate are always float64.
    warm_start : bool, default=False
        Start from the previous fit on the same rows.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C during ``fit`` does: raise, or keep the machine so far.
    trace : bool, default=False
        Record ``history_``.
    verbose : bool, default=False
        Print a line per round.

    Attributes
    ----------
    certificate_ : Certificate
        Primal, dual, gap, violation; one part per two-class problem.
    loss_ : Loss
        The loss.
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, class_weight_
        As in :class:`mercer.SVC`. With the multinomial deviance ``dual_coef_`` has a row for each class.
    kernel_ : Kernel
        The kernel with its data-dependent parameters fixed.
    margin_ : float or ndarray
        Geometric margin of each two-class machine.
    fit_status_, shape_fit_, history_
        As in :class:`mercer.SVC`.

    See Also
    --------
    KernelLogisticRegression : The deviances, with import vectors as an option.
    SVC : The hinge losses.

    References
    ----------
    .. [1] T. Hastie, R. Tibshirani and J. Friedman (2009). *The Elements of Statistical Learning*, 12.3.2 and
       12.3.3. Springer.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelClassifier(loss="huberized_squared_hinge", C=10).fit(X, y)
    >>> bool(model.certificate_.relative_gap < 1e-6)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LossClassifier._parameter_constraints,
        "loss": [StrOptions(set(CLASSIFICATION)), Loss],
        "multiclass": [StrOptions({"ovo", "ovr"})],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
    }

    def __init__(
        self,
        *,
        loss: Any = "squared_hinge",
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        C: float = 1.0,
        class_weight: Any = None,
        multiclass: str = "ovo",
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        fit_intercept: bool = True,
        solver: Any = "auto",
        tol: float = 1e-6,
        criterion: str = "gap",
        max_iter: int = -1,
        time_limit: float | None = None,
        cache_size: float = 200,
        n_jobs: int | None = None,
        precision: str = "auto",
        warm_start: bool = False,
        on_interrupt: str = "raise",
        trace: bool = False,
        verbose: Any = False,
    ) -> None:
        self.loss = loss
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.C = C
        self.class_weight = class_weight
        self.multiclass = multiclass
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.criterion = criterion
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.cache_size = cache_size
        self.n_jobs = n_jobs
        self.precision = precision
        self.warm_start = warm_start
        self.on_interrupt = on_interrupt
        self.trace = trace
        self.verbose = verbose

    def _loss(self, n_classes: int) -> Loss:
        return as_loss(self.loss, CLASSIFICATION)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes that the loss aims at; the largest is that of ``predict``.

        The population minimiser of the loss is a function of P(Y = +1): the log-odds for the deviances,
        2 P - 1 for the squared losses. This undoes it. Pairs of classes are coupled.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        check_is_fitted(self)
        F = self._raw_decision(X)
        choice = self._choose(F)
        if self._joint:
            return softmax_with_choice(F, choice)
        logits = class_logits(self.loss_, F)
        return couple(logits, self.classes_.size, choice, pairs=self.multiclass == "ovo")

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Logarithms of ``predict_proba``.
        """
        logarithms: np.ndarray = np.log(self.predict_proba(X))
        return logarithms
