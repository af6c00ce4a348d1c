"""Kernel logistic regression."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.convex._classifier_base import ConvexClassifier
from mercer.estimators.interrupts import Stop
from mercer.gram import Gram
from mercer.problems import Certificate
from mercer.problems.losses import BinomialDeviance, Loss, MultinomialDeviance
from mercer.problems.risk import Risk
from mercer.solvers.risk.import_vectors import ImportVectors

NO_CERTIFICATE = (
    "an import-vector model is optimal only among functions of the chosen points, which were chosen "
    "greedily: it has no certificate. Fit with import_vectors=None for one"
)


class KernelLogisticRegression(ConvexClassifier):
    r"""Logistic regression in the feature space of a kernel, for two and more classes.

    .. math::
        \min_{w, b} \tfrac12 \|w\|^2 + C \sum_i w_i \log(1 + e^{-y_i f(x_i)}), \qquad
        f(x) = \langle w, \phi(x) \rangle + b = \log \frac{P(Y = +1 | x)}{P(Y = -1 | x)}

    for two classes, and for more of them, with a function for each,

    .. math::
        \min_{w, b} \tfrac12 \sum_k \|w_k\|^2
        + C \sum_i w_i \Big( \log \sum_k e^{f_k(x_i)} - f_{y_i}(x_i) \Big)

    solved by Newton's method, with the duality gap, a sum of Kullback-Leibler divergences, as its proof
    (``certificate_``). All points have a coefficient, unless ``import_vectors`` asks for a few chosen ones.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        A name, a :class:`mercer.kernels.Kernel`, a function of two data sets that returns the kernel matrix,
        or "precomputed".
    degree, gamma, coef0
        Parameters of the kernels given by name, as in scikit-learn. ``gamma="scale"`` uses the weighted
        variance when sample weights are given.
    C : float, default=1.0
        Price of a unit of deviance, as in scikit-learn's LogisticRegression.
    class_weight : dict or "balanced", optional
        Factors of C for the classes.
    import_vectors : int or "auto", optional
        None: all points. "auto": points are chosen one by one, each the one that promises most, until the
        objective stops falling. A number: at most so many. Such a model predicts as fast as it is small; it
        has no certificate.
    import_tol : float, default=1e-3
        Fall of the objective over three choices, relative to its value, below which no more are made.
    random_state : int, RandomState or None, default=None
        Of the 500 candidates that are looked at in a step where there are more points; None is 0.
    fit_intercept : bool, default=True
        Whether the functions have unpenalised biases.
    tol : float, default=1e-6
        Relative gap (``criterion="gap"``) or largest error of a probability (``"kkt"``) at which to stop.
    criterion : {"gap", "kkt"}, default="gap"
        What ``tol`` measures.
    max_iter : int, default=-1
        Most Newton steps, or choices; -1 for no limit.
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
        Print a line per step.

    Attributes
    ----------
    certificate_ : Certificate
        Primal, dual, gap, violation. Models with import vectors have none.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    support_ : ndarray of shape (n_support,)
        Rows with a coefficient: all that have a weight, or the import vectors.
    support_vectors_ : array, CSR or sequence
        These rows.
    n_support_ : ndarray of shape (n_classes,)
        Their number in each class.
    dual_coef_ : ndarray of shape (1 or n_classes, n_support)
        Coefficients; one row for two classes.
    intercept_ : ndarray of shape (1 or n_classes,)
        Biases; several sum to zero.
    coef_ : ndarray of shape (1 or n_classes, n_features)
        Weights of the features, for the linear kernel.
    import_objectives_ : ndarray of shape (n_support,)
        The penalised risk after each choice, with import vectors.
    loss_, kernel_, n_iter_, class_weight_, fit_status_, shape_fit_, history_
        As in :class:`mercer.KernelClassifier`.

    References
    ----------
    .. [1] J. Zhu and T. Hastie (2005). Kernel logistic regression and the import vector machine. *Journal of
       Computational and Graphical Statistics* 14, 185-205.
    .. [2] T. Hastie, R. Tibshirani and J. Friedman (2009). *The Elements of Statistical Learning*, 12.3.3.
       Springer.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import KernelLogisticRegression
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = KernelLogisticRegression(C=10).fit(X, y)
    >>> model.predict_proba([[0.0, 1.0]]).round(1)
    array([[1., 0.]])
    >>> sparse = KernelLogisticRegression(C=10, import_vectors="auto").fit(X, y)
    >>> bool(sparse.support_.size < 40 < model.support_.size)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ConvexClassifier._parameter_constraints,
        "import_vectors": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left"), None],
        "import_tol": [Interval(Real, 0.0, None, closed="left")],
        "random_state": ["random_state"],
    }

    multiclass = "ovr"
    decision_function_shape = "ovr"
    break_ties = False

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        C: float = 1.0,
        class_weight: Any = None,
        import_vectors: Any = None,
        import_tol: float = 1e-3,
        random_state: Any = None,
        fit_intercept: bool = True,
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
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.C = C
        self.class_weight = class_weight
        self.import_vectors = import_vectors
        self.import_tol = import_tol
        self.random_state = random_state
        self.fit_intercept = fit_intercept
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

    def __getattr__(self, name: str) -> NoReturn:
        # Called for what is missing only: a sparse model says why it has no certificate.
        if name == "certificate_" and "import_objectives_" in self.__dict__:
            raise AttributeError(NO_CERTIFICATE)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _loss(self, n_classes: int) -> Loss:
        return BinomialDeviance() if n_classes == 2 else MultinomialDeviance()

    # -- import vectors ----------------------------------------------------------------------------------

    def _fit_sparsely(self, X: Any, labels: np.ndarray, weight: np.ndarray, matrix: Gram, stop: Stop) -> bool:
        if self.import_vectors is None:
            self.__dict__.pop("import_objectives_", None)
            return False
        if not self._psd(self.kernel_, matrix):
            raise ValueError(
                f"import_vectors={self.import_vectors!r} needs a positive semi-definite kernel; "
                f"kernel={self.kernel_!r} is none on these data"
            )
        signs = np.where(labels == 1, 1.0, -1.0)
        problem = (
            self._all_classes(labels, weight)
            if self._joint
            else Risk(self.loss_, signs, self.C * weight, fit_intercept=self.fit_intercept)
        )
        seed = check_random_state(0 if self.random_state is None else self.random_state).randint(2**31 - 1)
        found = ImportVectors(
            most=labels.size if self.import_vectors == "auto" else int(self.import_vectors),
            tol=self.import_tol,
            seed=int(seed),
            limits=stop.limits,
            listener=self._choice_listener(),
        ).solve(matrix, problem)
        coef = np.zeros((labels.size, problem.outputs))
        coef[found.points] = found.coef
        self._keep_expansion(X, labels, coef, found.bias)
        self.import_objectives_ = found.objectives
        self.__dict__.pop("certificate_", None)
        self.n_iter_ = np.array([max(1, found.points.size)], dtype=np.int32)
        self.fit_status_ = 0 if found.status == "optimal" else 1
        if self.fit_status_ and not stop.requested:
            what = "max_iter" if found.status == "iteration_limit" else "time_limit"
            warnings.warn(
                f"KernelLogisticRegression stopped at {what}={getattr(self, what)} after choosing "
                f"{found.points.size} import vectors: the objective still fell",
                ConvergenceWarning,
                stacklevel=3,
            )
        return True

    def _choice_listener(self) -> Callable[[int, float], None] | None:
        """Return what is told of each choice; None if nobody looks."""
        if not (self.trace or self.verbose):
            return None
        self.history_: list[list[dict[str, float]]] = [[]]

        def listen(chosen: int, objective: float) -> None:
            if self.trace:
                self.history_[0].append({"n_iter": chosen, "primal": objective})
            if self.verbose:
                sys.stdout.write(f"[KernelLogisticRegression] import vector {chosen}: {objective:.6g}\n")

        return listen

    def certify(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Certificate:
        """Recompute the certificate from nothing but the model and the training data, in float64.

        Parameters
        ----------
        X, y, sample_weight
            The data given to ``fit``.

        Returns
        -------
        Certificate
        """
        check_is_fitted(self)
        if hasattr(self, "import_objectives_"):
            raise ValueError(NO_CERTIFICATE)
        return super().certify(X, y, sample_weight)

    # -- probabilities -----------------------------------------------------------------------------------

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        F = self.decision_function(X)
        if F.ndim == 1:
            return np.stack([expit(-F), expit(F)], axis=1)
        return np.asarray(softmax(F, axis=1))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of the probabilities of the classes, exact where those underflow.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Logarithms.
        """
        F = self.decision_function(X)
        if F.ndim == 1:
            return np.stack([log_expit(-F), log_expit(F)], axis=1)
        return np.asarray(log_softmax(F, axis=1))
