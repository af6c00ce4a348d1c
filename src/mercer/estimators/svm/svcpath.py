"""The support vector classifier for every C."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.interrupts import stoppable
from mercer.estimators.svm.classifier import BaseSVC
from mercer.estimators.svm.path_base import PathMixin
from mercer.estimators.svm.svc import SVC
from mercer.gram import Gram
from mercer.problems import Dual, soft_margin
from mercer.problems.multiclass import one_versus_one, one_versus_rest
from mercer.problems.parametric_family import soft_margin_family

SHARED = (
    "kernel", "degree", "gamma", "coef0", "cache_size", "class_weight", "decision_function_shape",
    "break_ties", "n_jobs", "multiclass", "fit_intercept", "tol",
)  # fmt: skip
FITTED = (
    "classes_",
    "class_weight_",
    "kernel_",
    "shape_fit_",
    "_gamma",
    "n_features_in_",
    "feature_names_in_",
)


class SVCPath(PathMixin, BaseSVC):
    r"""The exact solution of C-support vector classification for every C.

    .. math::
        \min_{w, b} \tfrac12 \|w\|^2 + C \sum_i w_i \max(0, 1 - y_i (\langle w, \phi(x_i) \rangle + b)),
        \qquad C_{\min} \le C \le C_{\max}

    With lambda = 1 / C the multipliers are C alpha(lambda), where alpha is piecewise linear in lambda;
    ``fit`` finds all its knots. :meth:`at` gives the fitted :class:`mercer.SVC` of any C, with its
    certificate, at the price of a look-up. The estimator itself predicts with the parameter ``C``.

    Parameters
    ----------
    C : float, default=1.0
        The value that ``predict`` and ``decision_function`` use when they are given none.
    C_min : float, default=0.0
        Where the path begins; 0 for the very beginning.
    C_max : float, default=1e4
        Where it ends.
    kernel : str, Kernel or callable, default="rbf"
        As in :class:`mercer.SVC`; it must be positive semi-definite.
    degree, gamma, coef0
        Parameters of the kernels given by name.
    tol : float, default=1e-8
        The KKT violation that no knot may exceed without a warning (unless rounding alone explains it). The
        walk itself is as exact as float64 allows.
    cache_size : float, default=200
        Memory for the kernel matrix, in MB. It is kept whole: 8 n^2 bytes.
    class_weight : dict or "balanced", optional
        Factors of C per class.
    verbose : bool, default=False
        Print a line per slice of the walk.
    max_iter : int, default=-1
        Most events per path; -1 for no limit.
    decision_function_shape, break_ties, multiclass
        As in :class:`mercer.SVC`: more than two classes have a path for each of their two-class problems.
    time_limit : float, optional
        Seconds after which to stop; the path is exact as far as it has come.
    n_jobs : int, optional
        Threads for kernel values.
    fit_intercept : bool, default=True
        Whether the function has an unpenalised bias.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C during ``fit`` does: raise, or keep the path so far.

    Attributes
    ----------
    lambdas_, Cs_ : arrays of shape (n_knots,)
        1 / C (falling) and C (rising) at the knots. For more than two classes these and the next three are
        lists, one entry per two-class problem, in the order of ``intercept_``.
    alphas_ : array of shape (n_knots, n_samples)
        alpha at the knots, in [0, w_i]. Below the first knot alpha stays as it is there.
    intercepts_ : array of shape (n_knots,)
        The bias at the knots.
    events_ : structured array with the fields C, kind and index
        Which row entered or left the elbow, and when.
    C_range_ : tuple of float
        The values of C that the path knows.
    kkt_violation_ : float
        The largest at any knot.
    paths_ : list of Path
        The paths with all they know.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, classes_, n_iter_, fit_status_,
    class_weight_, shape_fit_, certificate_, margin_, kernel_
        Those of the machine at ``C``, as in :class:`mercer.SVC`.

    References
    ----------
    Hastie, Rosset, Tibshirani and Zhu (2004), The entire regularization path for the support vector machine,
    Journal of Machine Learning Research 5. Hastie, Tibshirani and Friedman (2009), The Elements of
    Statistical Learning, section 12.3.5.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from mercer import SVCPath
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = SVCPath(C_max=100.0).fit(X, y)
    >>> path.at(3.0).certificate_.status
    'optimal'
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        name: rule
        for name, rule in {**BaseSVC._parameter_constraints, **PathMixin._range_constraints}.items()
        if name
        not in ("shrinking", "solver", "criterion", "precision", "warm_start", "trace", "random_state")
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        C_min: float = 0.0,
        C_max: float = 1e4,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-8,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: Any = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        multiclass: str = "ovo",
        fit_intercept: bool = True,
        on_interrupt: str = "raise",
    ) -> None:
        self.C = C
        self.C_min = C_min
        self.C_max = C_max
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.multiclass = multiclass
        self.fit_intercept = fit_intercept
        self.on_interrupt = on_interrupt

    def _problem(self, sign: np.ndarray, weight: np.ndarray, matrix: Gram) -> Dual:
        return soft_margin(sign, self._nearest() * weight, fit_intercept=self.fit_intercept)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> SVCPath:
        """Find the path.

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
        limits = self._limits()
        self._check_shape()
        self._check_range()
        kernel = self._kernel()
        X = self._check_X(X, kernel=kernel, reset=True)
        classes, labels = self._check_y(X, y)
        base = self._check_weight(sample_weight, X, labels.size)
        weight, class_weight = self._weigh(classes, labels, base)
        kernel.validate()
        resolved = kernel.resolve_on(X, None if sample_weight is None else base)  # X and weights are checked
        split = one_versus_one if self.multiclass == "ovo" else one_versus_rest
        tasks = split(labels, classes.size, weight > 0)
        self.classes_, self.class_weight_, self.kernel_ = classes, class_weight, resolved
        self.shape_fit_ = tuple(X.shape) if hasattr(X, "shape") else (labels.size,)
        self._gamma = getattr(resolved, "gamma", 0.0)
        with stoppable(limits, self.on_interrupt == "keep") as stop:
            matrix = self._gram(resolved, X, self._workers())
            self._check_kernel(resolved, matrix)
            every = np.arange(labels.size)
            K = matrix.exact_block(every, every)
            self.paths_ = []
            for number, task in enumerate(tasks):
                part = K if task.rows.size == labels.size else K[np.ix_(task.rows, task.rows)]
                family = soft_margin_family(task.sign, weight[task.rows], fit_intercept=self.fit_intercept)
                self.paths_.append(self._follow(part, family, stop, number, len(tasks)))
        self._data, self._labels, self._tasks = X, labels, tasks
        self._judge()
        duals, solutions = self._solutions(self.paths_, self._nearest())
        self._store(X, labels, tasks, solutions, duals, psd=True)
        self.fit_status_ = int(any(path.status != "optimal" for path in self.paths_))
        return self

    # -- along the path ----------------------------------------------------------------------------------

    def at(self, C: float) -> SVC:
        """Return the fitted machine of a value of C.

        Parameters
        ----------
        C : float
            Within ``C_range_``.

        Returns
        -------
        SVC
            With everything that its own ``fit`` would have given it, ``certificate_`` included.
        """
        check_is_fitted(self, "paths_")
        C = self._check_C(C)
        model = SVC(C=C, **{name: getattr(self, name) for name in SHARED})
        model.__dict__.update({name: value for name, value in vars(self).items() if name in FITTED})
        duals, solutions = self._solutions(self.paths_, C)
        model._store(self._data, self._labels, self._tasks, solutions, duals, psd=True)
        model.fit_status_ = 0
        return model

    def decision_function(self, X: Any, C: Any = None) -> np.ndarray:
        """Return the decision values of new points.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        C : float or sequence of float, optional
            One value of C, or several; the parameter ``C`` when not given.

        Returns
        -------
        ndarray of shape (n,), (n, n_classes) or (n, n_pairs)
            As in :class:`mercer.SVC`; with several values of C one more axis, the last, of that length.
        """
        check_is_fitted(self, "paths_")
        if C is None:
            return super().decision_function(X)
        if np.ndim(C) == 0:
            return self.at(C).decision_function(X)
        if self.classes_.size == 2:
            return self._values_at(X, C)
        return np.stack([self.at(float(value)).decision_function(X) for value in C], axis=-1)

    def predict(self, X: Any, C: Any = None) -> np.ndarray:
        """Return the classes of new points.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        C : float or sequence of float, optional
            One value of C, or several; the parameter ``C`` when not given.

        Returns
        -------
        ndarray of shape (n,) or (n, number of values of C)
            Labels.
        """
        check_is_fitted(self, "paths_")
        if C is None:
            return super().predict(X)
        if np.ndim(C) == 0:
            return self.at(C).predict(X)
        if self.classes_.size == 2:
            F = self._values_at(X, C)
            return np.asarray(self.classes_[(F >= 0).astype(np.intp)])
        return np.stack([self.at(float(value)).predict(X) for value in C], axis=-1)

    def training_error(self, C: Any, number: int = 0) -> np.ndarray:
        """Return the share of the training rows' weight on the wrong side, at some values of C.

        Parameters
        ----------
        C : sequence of float
            Values within ``C_range_``.
        number : int, default=0
            Which two-class problem, for more than two classes.

        Returns
        -------
        ndarray of shape (number of values of C,)
            Shares.
        """
        check_is_fitted(self, "paths_")
        task = self._tasks[number]
        weight = np.abs(self.paths_[number].family.rests).max(axis=1)
        wrong = (self.curves(C, number)["values"] >= 0) != (task.sign > 0)
        return np.asarray(wrong @ weight / weight.sum())

    def _rows(self) -> list[np.ndarray]:
        return [task.rows for task in self._tasks]

    @property
    def alphas_(self) -> Any:
        """The multipliers divided by C, at the knots."""
        check_is_fitted(self, "paths_")
        tables = []
        for path, task in zip(self.paths_, self._tasks, strict=True):
            table = np.zeros((path.t.size, self._labels.size))
            table[:, task.rows] = np.abs(path.a)
            tables.append(table)
        return self._one_or_all(tables)
