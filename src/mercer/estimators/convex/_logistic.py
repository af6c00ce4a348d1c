"""Kernel logistic regression."""

from __future__ import annotations

import sys
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.approximation._mixin import APPROXIMATION, ApproximationMixin
from mercer.estimators.convex._base import LossMachine
from mercer.estimators.expansion import FunctionsMixin
from mercer.estimators.machine import ClassMachine
from mercer.estimators.splits import AllClasses, Classes, Labels, TwoClassTasks
from mercer.estimators.user_warnings import warn_user
from mercer.gram import Gram
from mercer.problems import Certificate, Machine
from mercer.problems.losses import BinomialDeviance, MultinomialDeviance
from mercer.solvers.risk.import_vectors import ImportVectors
from mercer.values import keep_parameters

NO_CERTIFICATE = (
    "an import-vector model is optimal only among functions of the chosen points, which were chosen "
    "greedily: it has no certificate. Fit with import_vectors=None for one"
)


class KernelLogisticRegression(FunctionsMixin, LossMachine, ClassMachine, ApproximationMixin):
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
    solver : str or mercer.solvers.Solver, default="auto"
        How the problem is solved: "newton", or "convex_concave" for an indefinite kernel; "auto" chooses.
    tol : float, default=1e-6
        Relative gap (``criterion="gap"``) or largest error of a probability (``"kkt"``) at which to stop.
    max_iter : int, default=-1
        Most Newton steps, or choices; -1 for no limit.
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
    feature_map_, feature_weights_, n_components_, distance_from_exact_
        With ``approximation``: the fitted map, the weights of its features (a row for each function), their
        number, and a :class:`~mercer.problems.DistanceFromExact`. There are no support vectors then;
        ``dual_coef_`` has the multipliers of all rows, sparse, where the weights do not determine them.

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
        **LossMachine._parameter_constraints,
        "class_weight": ClassMachine._parameter_constraints["class_weight"],
        **APPROXIMATION,
        "import_vectors": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left"), None],
        "import_tol": [Interval(Real, 0.0, None, closed="left")],
        "random_state": ["random_state"],
    }

    multiclass = "ovr"  # two classes have one function, more of them one each

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
        approximation: Any = None,
        n_components: Any = "auto",
    ) -> None:
        keep_parameters(self, locals())

    def __getattr__(self, name: str) -> Any:
        # Called for what is missing only: a sparse model says why it has no certificate.
        if name == "certificate_" and "import_objectives_" in self.__dict__:
            raise AttributeError(NO_CERTIFICATE)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    # -- fit ---------------------------------------------------------------------------------------------

    def _tasks_of(self, labels: Labels, base: np.ndarray) -> Classes:
        joint = labels.classes.size > 2
        split = AllClasses(labels, base) if joint else TwoClassTasks(labels, base, pairs=False)
        split.loss = MultinomialDeviance() if joint else BinomialDeviance()
        return split

    @property
    def _joint(self) -> bool:
        """Whether one problem has all classes, a function for each."""
        return bool(self.classes_.size > 2)

    @property
    def _functions(self) -> int:
        return int(self.classes_.size) if self._joint else 1

    def _check_approximation(self) -> None:
        if self.import_vectors is not None:
            raise ValueError(
                f"import_vectors={self.import_vectors!r} chooses rows of the kernel matrix, which "
                f"approximation={self.approximation!r} does without: set one of the two to None"
            )

    def _keep(self, machines: list[Any], split: Any) -> None:
        if self._joint:
            self.__dict__.pop("margin_", None)
        else:
            super()._keep(machines, split)

    def _shipped(self, number: int, coef: np.ndarray, products: np.ndarray) -> Machine:
        return Machine(coef, self.intercept_ if self._joint else float(self.intercept_[0]), products)

    # -- import vectors ----------------------------------------------------------------------------------

    def _solve(self, fit: Any, matrix: Gram) -> list[Any]:
        if self.import_vectors is None:
            self.__dict__.pop("import_objectives_", None)
            return super()._solve(fit, matrix)
        if not fit.psd:
            raise ValueError(
                f"import_vectors={self.import_vectors!r} needs a positive semi-definite kernel; "
                f"kernel={self.kernel_!r} is not, on these data"
            )
        (task,), weight = fit.split.tasks, fit.split.weight
        problem: Any = self._problem(task.target, weight[task.rows], matrix)
        part = matrix if task.rows.size == matrix.n else matrix.subset(task.rows)
        seed = check_random_state(0 if self.random_state is None else self.random_state).randint(2**31 - 1)
        found = ImportVectors(
            most=task.rows.size if self.import_vectors == "auto" else int(self.import_vectors),
            tol=self.import_tol,
            seed=int(seed),
            limits=fit.ask.limits,
            listener=self._choice_listener(),
        ).solve(part, problem)
        coef = np.zeros((task.rows.size, problem.outputs))
        coef[found.points] = found.coef
        joint = problem.outputs > 1
        machine = Machine(coef if joint else coef[:, 0], found.bias if joint else float(found.bias[0]), coef)
        fit.split.pack(self, fit.X, [machine])
        self.import_objectives_ = found.objectives
        for name in ("certificate_", "margin_"):
            self.__dict__.pop(name, None)
        self._keep_steps([max(1, found.points.size)])
        self.fit_status_ = 0 if found.status == "optimal" else 1
        if self.fit_status_ and not fit.ask.requested:
            what = "max_iter" if found.status == "iteration_limit" else "time_limit"
            warn_user(
                f"KernelLogisticRegression stopped at {what}={getattr(self, what)} after choosing "
                f"{found.points.size} import vectors: the objective still fell",
                ConvergenceWarning,
            )
        return []  # a sparse model has no certificate

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

    def _certify(self, X: Any, y: Any, sample_weight: Any) -> Certificate:
        if hasattr(self, "import_objectives_"):
            raise ValueError(NO_CERTIFICATE)
        return super()._certify(X, y, sample_weight)

    # -- use ---------------------------------------------------------------------------------------------

    def _raw_decision(self, X: Any) -> np.ndarray:
        return self._values(X)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values of new points: logarithms of odds, or of probabilities up to a constant.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            Two classes: positive means ``classes_[1]``. More: a column for each class.
        """
        F = self._values(X)
        return F if self._joint else F.ravel()

    def predict(self, X: Any) -> np.ndarray:
        """Return the classes of new points.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        F = self._values(X)
        choice = F.argmax(axis=1) if self._joint else (F.ravel() >= 0).astype(np.intp)
        labels: np.ndarray = self.classes_[choice]
        return labels

    def slacks(self, X: Any, y: ArrayLike) -> np.ndarray:
        """Return max(0, 1 - y f(x)) of points, for two classes.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        y : array of shape (n,)
            Their classes.

        Returns
        -------
        ndarray of shape (n,)
            As for :class:`mercer.SVC`.
        """
        check_is_fitted(self)
        if self._joint:
            raise ValueError(f"slacks belong to two-class machines; {self.loss_!r} has all classes at once")
        return super().slacks(X, y)

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
