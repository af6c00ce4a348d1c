"""The support vector classifier for every C."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.splits import Labels, TwoClassTasks
from mercer.estimators.svm.path_base import PathMixin
from mercer.estimators.svm.svc import SVC, BaseSVC
from mercer.gram import Gram
from mercer.problems import Dual, soft_margin
from mercer.problems.parametric_family import ParametricFamily, soft_margin_family
from mercer.values import keep_parameters

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
    kernel : str, Kernel or callable, default="rbf"
        As in :class:`mercer.SVC`; it must be positive semi-definite.
    class_weight : dict or "balanced", optional
        Factors of C per class.
    max_iter : int, default=-1
        Most events per path; -1 for no limit.
    decision_function_shape, break_ties, multiclass
        As in :class:`mercer.SVC`: more than two classes have a path for each of their two-class problems.

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
        keep_parameters(self, locals())

    def _problem(self, sign: np.ndarray, weight: np.ndarray, matrix: Gram) -> Dual:
        return soft_margin(sign, self._nearest() * weight, fit_intercept=self.fit_intercept)

    def _family(self, target: np.ndarray, weight: np.ndarray) -> ParametricFamily:
        return soft_margin_family(target, weight, fit_intercept=self.fit_intercept)

    def _remember(self, X: Any, split: Any) -> None:
        self._data, self._labels, self._tasks = X, split.labels.numbers, split.tasks

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
        labels = Labels(self.classes_, self._labels, self.class_weight_)
        split = TwoClassTasks(labels, np.ones(self._labels.size), self.multiclass == "ovo", self._tasks)
        found: SVC = self._give(model, C, split)
        return found

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

    def _predictions_at(self, X: Any, C: Any) -> np.ndarray:
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

    def _slack_sums(self, C: Any, number: int) -> np.ndarray:
        task = self._tasks[number]
        weight = np.abs(self.paths_[number].family.rests).max(axis=1)
        return np.asarray(np.maximum(1.0 - task.sign * self.curves(C, number)["values"], 0.0) @ weight)

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
