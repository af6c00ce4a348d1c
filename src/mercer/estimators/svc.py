"""The support vector classifier."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from mercer.estimators.machine import KernelMachine
from mercer.estimators.margins import MarginMixin
from mercer.gram import Gram, Segment, Workers, cross_products
from mercer.kernels import Kernel, Linear
from mercer.problems import (
    Certificate,
    Dual,
    HardMargin,
    HardMarginThroughOrigin,
    Machine,
    Values,
    combine,
    soft_margin,
    squared_hinge,
)
from mercer.problems.multiclass import (
    Task,
    one_versus_one,
    one_versus_rest,
    pack_pairs,
    pack_rest,
    pair_number,
    unpack,
    votes,
    votes_with_ties_broken,
)
from mercer.solvers import Limits, Solution

PARALLEL_TASK = 4096  # two-class problems up to this many rows are solved side by side, one thread each


class BaseSVC(MarginMixin, ClassifierMixin, KernelMachine):
    """What classifiers over pairs of classes share."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "multiclass": [StrOptions({"ovo", "ovr"})],
        "random_state": ["random_state"],
    }

    # What a subclass says: the problem of one task.
    def _problem(self, sign: np.ndarray, weight: np.ndarray, matrix: Gram) -> Dual:
        raise NotImplementedError

    def _check_tasks(self, tasks: list[Task], weight: np.ndarray) -> None:
        """Refuse what no kernel could make feasible; called before any kernel value is computed."""

    def _keep(self, machines: list[Any]) -> None:
        """Store what the machines know beside their coefficients."""
        self.margin_ = self._per_machine([m.margin for m in machines])

    @staticmethod
    def _per_machine(values: list[float]) -> Any:
        """Return a number for one machine, an array for several."""
        return float(values[0]) if len(values) == 1 else np.array(values)

    def _certified(self, dual: Any, coef: np.ndarray, number: int, f: np.ndarray) -> Values:
        """Return the values of the shipped machine ``number``."""
        values: Values = dual.certify(coef, float(self.intercept_[number]), f)
        return values

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Any:
        """Fit the machine.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features), (n_samples, n_samples) or a sequence
            Training data: whatever the kernel takes; the kernel matrix for ``kernel="precomputed"``.
        y : array of shape (n_samples,)
            Class labels.
        sample_weight : array of shape (n_samples,), optional
            Non-negative factors of C; a weight of 2 equals the row twice.

        Returns
        -------
        self
        """
        if self.multiclass == "ovr" and self.decision_function_shape == "ovo":
            raise ValueError("decision_function_shape='ovo' needs multiclass='ovo': there are no pairs in 'ovr'")
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        kernel = self._kernel()
        X = self._check_X(X, kernel=kernel, reset=True)
        y = column_or_1d(y, warn=True)
        self._check_lengths(X, y)
        check_classification_targets(y)
        n = self._length(X)
        base = self._check_weight(sample_weight, X, n)
        classes, labels = np.unique(y, return_inverse=True)
        weight, self.class_weight_ = self._class_weights(classes, labels, base)
        if classes.size < 2:
            raise ValueError(
                f"The number of classes has to be greater than one; got {classes.size} class in y ({classes[:1]})"
            )
        lost = [c for c in range(classes.size) if not (weight[labels == c] > 0).any()]
        if lost:
            raise ValueError(f"sample_weight is zero for every row of class {classes[lost[0]]!r}: it cannot be learned")
        previous = self._previous(n) if self.warm_start else None
        self.classes_ = classes
        self.shape_fit_ = tuple(X.shape) if hasattr(X, "shape") else (n,)
        self.kernel_ = kernel.resolve(X, None if sample_weight is None else base)
        self._gamma = getattr(self.kernel_, "gamma", 0.0)
        split = one_versus_one if self.multiclass == "ovo" else one_versus_rest
        tasks = split(labels, classes.size, weight > 0)
        self._check_tasks(tasks, weight)
        workers = self._workers()
        matrix = self._gram(self.kernel_, X, workers)
        starts = None
        if previous is not None and previous[0].shape[0] == len(tasks) and len(tasks) == 1:
            starts = [previous[0][0][tasks[0].rows]]
        solutions, duals, history = self._solve_all(tasks, weight, matrix, workers, starts)
        psd = self._psd(self.kernel_, matrix)
        self._store(X, labels, tasks, solutions, duals, psd)
        if self.trace:
            self.history_ = history
        self._conclude(self.certificate_)
        return self

    def _class_weights(
        self, classes: np.ndarray, labels: np.ndarray, base: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        if isinstance(self.class_weight, dict):
            factors = compute_class_weight(self.class_weight, classes=classes, y=classes[labels])
        else:
            factors = compute_class_weight(
                self.class_weight, classes=np.arange(classes.size), y=labels, sample_weight=base
            )
        return base * factors[labels], factors

    def _previous(self, n: int) -> tuple[np.ndarray] | None:
        if not hasattr(self, "dual_coef_") or self.shape_fit_[0] != n:
            return None
        whole = np.zeros((self.dual_coef_.shape[0], n))
        whole[:, self.support_] = self.dual_coef_
        return (whole,)

    def _solve_all(
        self, tasks: list[Task], weight: np.ndarray, matrix: Gram, workers: Workers, starts: list[np.ndarray] | None
    ) -> tuple[list[Solution], list[Dual], list[list[dict[str, float]]]]:
        limits = self._limits()
        history: list[list[dict[str, float]]] = [[] for _ in tasks]
        solutions: list[Any] = [None] * len(tasks)
        duals: list[Any] = [None] * len(tasks)

        together = (
            len(tasks) > 1 and matrix.independent_subsets and max(t.rows.size for t in tasks) <= PARALLEL_TASK
        )

        def solve(k: int) -> None:
            task = tasks[k]
            whole = task.rows.size == matrix.n
            part = matrix if whole else matrix.subset(task.rows, Workers(1) if together else None)
            duals[k] = self._problem(task.sign, weight[task.rows], part)
            start = None if starts is None else duals[k].recover(starts[k])
            solutions[k] = self._solve(part, duals[k], limits, history[k], start)

        if together:
            workers.each(len(tasks), solve)
        else:
            for k in range(len(tasks)):
                solve(k)
        return solutions, duals, history

    def _store(
        self, X: Any, labels: np.ndarray, tasks: list[Task], solutions: list[Solution], duals: list[Dual], psd: bool
    ) -> None:
        machines: list[Machine] = [d.machine(s.b, s.f) for d, s in zip(duals, solutions, strict=True)]
        self._keep(machines)
        pack = pack_pairs if self.multiclass == "ovo" else pack_rest
        support, dual_coef, n_support = pack(
            [m.coef for m in machines], tasks, labels, self.classes_.size, labels.size
        )
        self.support_ = support.astype(np.int32)
        self.dual_coef_ = dual_coef
        self._n_support = n_support
        self.intercept_ = np.array([m.intercept for m in machines])
        self.support_vectors_ = self._kept(X, support)
        self.certificate_ = combine(
            [s.certificate(self.criterion, psd) for s in solutions]
        )
        self.n_iter_ = (
            np.array([s.n_iter for s in solutions], dtype=np.int32)
        )

    # -- prediction --------------------------------------------------------------------------------------------

    @property
    def n_support_(self) -> np.ndarray:
        """Number of support vectors of each class."""
        check_is_fitted(self)
        counts: np.ndarray = self._n_support
        return counts

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the features, for the linear kernel."""
        check_is_fitted(self)
        if not isinstance(self.kernel_, Linear):
            raise AttributeError("coef_ is only available when using a linear kernel")
        k = self.classes_.size
        V = self.support_vectors_
        if self.multiclass == "ovr" or k == 2:
            coef = self.dual_coef_ @ V
        else:
            rows = []
            ends = np.concatenate([[0], np.cumsum(self._n_support)])
            for i in range(k):
                for j in range(i + 1, k):
                    one, two = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
                    rows.append(self.dual_coef_[j - 1, one] @ V[one] + self.dual_coef_[i, two] @ V[two])
            coef = np.vstack([np.asarray(r).reshape(1, -1) for r in rows])
        return np.asarray(coef)

    def _segments(self) -> tuple[list[Segment], int]:
        k = self.classes_.size
        m = self.dual_coef_.shape[1]
        if k == 2 or self.multiclass == "ovr":
            outputs = self.dual_coef_.shape[0]
            return [Segment(0, m, self.dual_coef_.T, np.arange(outputs))], outputs
        ends = np.concatenate([[0], np.cumsum(self._n_support)])
        segments = []
        for c in range(k):
            others = [o for o in range(k) if o != c]
            outputs_of_c = np.array([pair_number(min(c, o), max(c, o), k) for o in others])
            part = slice(ends[c], ends[c + 1])
            segments.append(Segment(int(ends[c]), int(ends[c + 1]), self.dual_coef_[:, part].T, outputs_of_c))
        return segments, k * (k - 1) // 2

    def _raw_decision(self, X: Any) -> np.ndarray:
        """Return the decisions of all two-class machines, one column each."""
        reference = self._reference()
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        segments, outputs = self._segments()
        F = cross_products(self.kernel_, X, reference, segments, outputs, self._workers())
        F += self.intercept_
        return F

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values of new points.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,), (n, n_classes) or (n, n_pairs)
            Two classes: positive means ``classes_[1]``. More: votes with confidences
            (``decision_function_shape="ovr"``) or the pairs' values (``"ovo"``).
        """
        check_is_fitted(self)
        F = self._raw_decision(X)
        if self.classes_.size == 2:
            return F.ravel()
        if self.multiclass == "ovr" or self.decision_function_shape == "ovo":
            return F
        return votes_with_ties_broken(F, self.classes_.size)

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
        check_is_fitted(self)
        F = self._raw_decision(X)
        k = self.classes_.size
        if k == 2:
            choice = (F.ravel() > 0).astype(np.intp)
        elif self.multiclass == "ovr":
            choice = F.argmax(axis=1)
        elif self.break_ties:
            choice = votes_with_ties_broken(F, k).argmax(axis=1)
        else:
            choice = votes(F, k)[0].argmax(axis=1)
        labels: np.ndarray = self.classes_[choice]
        return labels

    # -- proof -------------------------------------------------------------------------------------------------

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
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        n = self._length(X)
        if n != self.shape_fit_[0]:
            raise ValueError(f"X has {n} rows; this model was fitted on {self.shape_fit_[0]}")
        labels = self._known_labels(y)
        self._check_lengths(X, labels)
        weight = self._check_weight(sample_weight, X, n) * self.class_weight_[labels]
        split = one_versus_one if self.multiclass == "ovo" else one_versus_rest
        segments, outputs = self._segments()
        F = cross_products(self.kernel_, X, self._reference(), segments, outputs, self._workers())
        parts = []
        matrix = self._gram(self.kernel_, X, self._workers())
        psd = self.certificate_.gap == self.certificate_.gap
        for k, task in enumerate(split(labels, self.classes_.size, weight > 0)):
            coef = unpack(
                task, k, self.support_, self.dual_coef_, labels[self.support_], n, self.multiclass == "ovo"
            )
            part = matrix if task.rows.size == n else matrix.subset(task.rows)
            dual = self._problem(task.sign, weight[task.rows], part)
            values = self._certified(dual, coef, k, F[task.rows, k])
            known = self.certificate_.parts[k]
            solution = Solution(coef, F[task.rows, k], values, known.n_iter, known.status)  # type: ignore[arg-type]
            parts.append(solution.certificate(self.criterion, psd))
        return combine(parts)


class SVC(BaseSVC):
    r"""C-support vector classification.

    .. math::
        \min_{w, b} \tfrac12 \|w\|^2 + C \sum_i w_i \, L(y_i (\langle w, \phi(x_i) \rangle + b))

    with L(u) = max(0, 1 - u) (``loss="hinge"``) or its square (``"squared_hinge"``), solved through its dual with a
    proof of the distance to the optimum (``certificate_``). ``C=np.inf`` is the hard margin.

    Parameters
    ----------
    C : float, default=1.0
        Price of a unit of loss; ``np.inf`` for the hard margin.
    kernel : str, Kernel or callable, default="rbf"
        A name, a :class:`mercer.kernels.Kernel`, a function of two data sets that returns the kernel matrix, or
        "precomputed".
    degree, gamma, coef0
        Parameters of the kernels given by name, as in scikit-learn. ``gamma="scale"`` uses the weighted variance
        when sample weights are given.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The loss.
    shrinking : bool, default=True
        Accepted for compatibility; working sets make a separate shrinking step needless.
    probability : bool, default=False
        Whether ``predict_proba`` will be available.
    tol : float, default=1e-3
        Largest KKT violation (``criterion="kkt"``) or relative gap (``"gap"``) at which to stop.
    cache_size : float, default=200
        Memory for kernel values, in MB.
    class_weight : dict or "balanced", optional
        Factors of C per class.
    verbose : bool, default=False
        Print a line per round.
    max_iter : int, default=-1
        Most steps of the solver; -1 for no limit.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Shape of ``decision_function`` for more than two classes.
    break_ties : bool, default=False
        Break ties between classes by confidence instead of class order.
    random_state : int, RandomState or None
        Used for the folds of ``probability=True`` only.
    solver : {"auto", "decomposition"}, default="auto"
        How the dual is solved.
    criterion : {"kkt", "gap"}, default="kkt"
        What ``tol`` measures.
    time_limit : float, optional
        Seconds after which to stop with the best machine so far.
    n_jobs : int, optional
        Threads; None for all cores (one inside joblib workers).
    precision : {"auto", "single", "double"}, default="auto"
        Precision of kernel values. Sums, gradients and the certificate are always float64.
    multiclass : {"ovo", "ovr"}, default="ovo"
        One machine per pair of classes, or one per class.
    fit_intercept : bool, default=True
        Whether the function has an unpenalised bias.
    warm_start : bool, default=False
        Start from the previous fit on the same rows.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C during ``fit`` does: raise, or keep the machine so far.
    trace : bool, default=False
        Record ``history_``.

    Attributes
    ----------
    certificate_ : Certificate
        Primal, dual, gap, KKT violation.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, classes_, n_iter_, fit_status_,
    class_weight_, shape_fit_
        As in scikit-learn.
    margin_ : float or array of shape (n_machines,)
        The geometric margin 1 / ||w||: a number for two classes, one per two-class machine, in the order of
        ``intercept_``, for more.
    kernel_ : Kernel
        The kernel with its data-dependent parameters fixed.
    history_ : list of list of dict
        One trace per two-class problem, with ``trace=True``.

    References
    ----------
    Cortes and Vapnik (1995), Support-vector networks, Machine Learning 20. Cristianini and Shawe-Taylor (2000), An
    Introduction to Support Vector Machines.

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
        solver: str = "auto",
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

    def _problem(self, sign: np.ndarray, weight: np.ndarray, matrix: Gram) -> Dual:
        if np.isinf(self.C):
            hard = HardMargin if self.fit_intercept else HardMarginThroughOrigin
            return hard(sign, weight, float(matrix.diag().max(initial=0.0)))
        make = soft_margin if self.loss == "hinge" else squared_hinge
        return make(sign, self.C * weight, fit_intercept=self.fit_intercept)
