"""What kernel machines share as estimators: all of them, those that solve problems, classifiers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer.estimators.approximation._values import OF_FEATURES, has_features
from mercer.estimators.certifying import certify_machine
from mercer.estimators.expansion import ClassExpansionMixin
from mercer.estimators.fitting import Fit, Fitted, Solved, fit_machine
from mercer.estimators.forecast import FORESEEN, foresee
from mercer.estimators.margin_distribution import MarginMixin
from mercer.estimators.monitoring import CallbackSupportMixin
from mercer.estimators.notebook import CertifiedRepr
from mercer.estimators.parameter_docs import KernelParameters
from mercer.estimators.sample_weights import checked_weights
from mercer.estimators.splits import Classes, Labels, Split, check_labels, weighed_labels
from mercer.estimators.verdict import IndefiniteKernelWarning as IndefiniteKernelWarning
from mercer.estimators.verdict import check_finite_diagonal, claims_gap, conclude
from mercer.gram import AmongAll, Gram, Workers, gram, resolve_threads
from mercer.kernels import Kernel, Precomputed, as_kernel
from mercer.kernels.data import is_sparse, naming, size
from mercer.problems import Certificate, Machine
from mercer.solvers import SOLVER_NAMES, Solver, as_solver
from mercer.values import parameter_defaults, parameter_names

UNKNOWN = object()  # the default of a parameter that has none


class KernelMachine(KernelParameters, CallbackSupportMixin, CertifiedRepr, BaseEstimator):
    """Base of the estimators that solve a dual over a kernel matrix."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [str, Kernel, callable],
        "degree": [Interval(Real, 0, None, closed="left")],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
        "shrinking": ["boolean"],
        "verbose": ["verbose"],
        "solver": [StrOptions(set(SOLVER_NAMES)), Solver],
        "criterion": [StrOptions({"kkt", "gap", "growth"})],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "n_jobs": [Integral, None],
        "precision": [StrOptions({"auto", "single", "double"})],
        "fit_intercept": ["boolean"],
        "warm_start": ["boolean"],
        "on_interrupt": [StrOptions({"raise", "keep"})],
        "trace": ["boolean"],
    }

    _stays_dense: ClassVar[bool] = False  # whether dense training data mean that new points are dense

    # -- parameters --------------------------------------------------------------------------------------

    @classmethod
    def _get_param_names(cls) -> list[str]:
        # scikit-learn reads the signature anew each time, which takes a tenth of a small fit.
        return sorted(parameter_names(cls))

    def _validate_params(self) -> None:
        # Defaults are allowed; there is no need to look at twenty of them in each of many small fits.
        defaults = parameter_defaults(type(self))
        given = {name: getattr(self, name) for name in parameter_names(type(self))}
        changed = {name: value for name, value in given.items() if value is not defaults.get(name, UNKNOWN)}
        validate_parameter_constraints(self._parameter_constraints, changed, type(self).__name__)

    # -- data --------------------------------------------------------------------------------------------

    def _kernel(self) -> Kernel:
        """Return the kernel that the parameters name, not yet resolved."""
        return as_kernel(self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0)

    def _check_X(self, X: Any, *, kernel: Kernel, reset: bool) -> Any:  # noqa: N802
        given = X
        if kernel.pairwise and is_sparse(X):
            raise TypeError("Sparse precomputed kernels are not supported: pass X.toarray()")
        with naming("X", X):
            X = kernel.check(given, estimator=self)
        has_features = getattr(X, "ndim", 1) == 2
        if reset and has_features and type(given) is np.ndarray:  # no names, as most often
            self.__dict__.pop("feature_names_in_", None)
            self.n_features_in_ = given.shape[1]
        elif has_features:
            validate_data(self, given, reset=reset, skip_check_array=True)  # number and names of the features
        elif reset:
            for name in ("n_features_in_", "feature_names_in_"):
                self.__dict__.pop(name, None)
        if (
            not reset
            and self._stays_dense
            and is_sparse(X)
            and not is_sparse(getattr(self, "support_vectors_", X))
        ):
            raise ValueError(
                f"{type(self).__name__} was fitted on dense data and is given sparse data: pass X.toarray()"
            )
        if kernel.pairwise and reset and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"kernel='precomputed' needs a square kernel matrix in fit, X has shape {X.shape}: rows and "
                "columns are the training points"
            )
        if kernel.pairwise and not reset and X.shape[1] != self.shape_fit_[0]:
            raise ValueError(
                f"X has {X.shape[1]} columns, but a precomputed kernel needs one for each of the "
                f"{self.shape_fit_[0]} training points"
            )
        return X

    def _check_weight(self, sample_weight: Any, X: Any, n: int) -> np.ndarray:
        return np.ones(n) if sample_weight is None else checked_weights(sample_weight, n, self)

    _length = staticmethod(size)

    def _check_lengths(self, X: Any, y: Any) -> None:
        n = size(X)
        if n != len(y):
            raise ValueError(
                f"X and y have inconsistent numbers of samples: X has {n} rows, y has {len(y)} entries"
            )

    def _fitted_length(self, X: Any) -> int:
        """Return the number of rows, which must be that of the training data."""
        n = size(X)
        if n != self.shape_fit_[0]:
            raise ValueError(f"X has {n} rows; this model was fitted on {self.shape_fit_[0]}")
        return n

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            kernel = self._kernel()
        except (ValueError, TypeError):  # wrong parameters are refused by fit, not by looking at tags
            return tags
        tags.input_tags.sparse = kernel.accepts_sparse
        tags.input_tags.pairwise = kernel.pairwise
        tags.input_tags.positive_only = bool(kernel.requires_positive)
        tags.input_tags.two_d_array = kernel.is_vector or kernel.pairwise
        tags.input_tags.string = not (kernel.is_vector or kernel.pairwise)
        return tags

    # -- work --------------------------------------------------------------------------------------------

    def _workers(self) -> Workers:
        return Workers(resolve_threads(self.n_jobs))

    def _precision(self) -> Any:
        return self.precision

    def _cache_bytes(self) -> int:
        return int(self.cache_size * 1e6)

    def _gram(self, kernel: Kernel, X: Any, workers: Workers, double: bool = False) -> Gram:
        # Half of the budget is for kept kernel values, half for the working set's block.
        matrix = gram(
            kernel,
            X,
            precision="double" if double else self._precision(),
            tol=self.tol,
            cache_bytes=self._cache_bytes() // 2,
            workers=workers,
        )
        check_finite_diagonal(kernel, matrix.diag())
        return matrix

    # -- the verdict -------------------------------------------------------------------------------------

    def _psd(self, kernel: Kernel, matrix: Gram) -> bool:
        """Return whether a gap may be claimed; say so when the kernel matrix is indefinite."""
        return claims_gap(self, kernel, matrix)

    def _conclude(self, certificate: Certificate, keep: bool = False, notes: Sequence[str] = ()) -> None:
        """Store the certificate and warn or re-raise as asked; ``keep`` overrules ``on_interrupt``."""
        self.certificate_ = certificate
        conclude(self, certificate, keep, notes)

    def _kept(self, X: Any, support: np.ndarray) -> Any:
        """Return the support vectors: items of X, or nothing for a precomputed kernel."""
        self.__dict__.pop("_items_fit", None)  # of an earlier fit
        if isinstance(self.kernel_, Precomputed):
            return np.empty((0, 0))
        if callable(self.kernel) and not isinstance(self.kernel, Kernel):
            self._items_fit = self.kernel_.take(X, np.arange(size(X)))
        return self.kernel_.take(X, support)

    def _reference(self) -> Any:
        """Return what new points are compared with: support vectors, or their columns in a given matrix."""
        check_is_fitted(self)
        if isinstance(self.kernel_, Precomputed):
            return self.support_
        items = getattr(self, "_items_fit", None)
        return self.support_vectors_ if items is None else AmongAll(items, self.support_)

    @property
    def _pairwise_kernel(self) -> bool:
        return isinstance(self.kernel_, Precomputed)


class ProblemMachine(KernelMachine):
    """Base of the estimators whose fit is: split the target, state the problems, solve, pack.

    A subclass says what its target is made of (``_split``) and what is minimised (``_problem``). The rest has
    defaults.
    """

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Fitted:
        """Run the one fit; return what a subclass may go on with."""
        if getattr(self, "approximation", None) is not None and not getattr(self, "updatable", False):
            from mercer.estimators.approximation._fitting import fit_on_features

            return fit_on_features(self, X, y, sample_weight)
        if "feature_map_" in self.__dict__:
            for name in OF_FEATURES:
                self.__dict__.pop(name, None)
        this: Any = self
        if getattr(self, "updatable", False) or getattr(self, "window", None) is not None:
            on_rows: Fitted = this._fit_rows(X, y, sample_weight)
            return on_rows
        if "sample_weight_fit_" in self.__dict__:
            this._drop_rows()
        return fit_machine(self, X, y, sample_weight)

    def certify(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Certificate:
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
        if has_features(self):
            from mercer.estimators.approximation._fitting import certify_on_features

            return certify_on_features(self, X, y, sample_weight)
        return self._certify(X, y, sample_weight)

    def _certify(self, X: Any, y: Any, sample_weight: Any) -> Certificate:
        return certify_machine(self, X, y, sample_weight)

    # -- what an estimator says --------------------------------------------------------------------------

    def _split(self, X: Any, y: Any, sample_weight: Any) -> Split:
        """Return the checked target and weights, in parts."""
        raise NotImplementedError

    def _split_again(self, X: Any, y: Any, sample_weight: Any) -> Split:
        """Return the target that a fitted machine was given, in the same parts."""
        return self._split(X, y, sample_weight)

    def _problem(self, target: Any, weight: Any, matrix: Any) -> Any:
        """Return what is minimised, for one part of the target."""
        raise NotImplementedError

    def _check_parameters(self) -> None:
        """Refuse parameters that contradict each other; called before the data are looked at."""

    def _check_feasible(self, split: Any) -> None:
        """Refuse what no kernel could make feasible; called before any kernel value is computed."""

    def _starts(self, split: Any, kernel: Kernel) -> list[Any] | None:
        """Return the coefficients of the previous fit, a start for each problem, where they match."""
        starts: list[Any] | None = split.starts(self)
        return starts

    def _begin(self, split: Any) -> None:
        """Store what is known before anything is solved."""
        split.keep(self)

    def _free_columns(self, kernel: Kernel, X: Any) -> Any:
        """Return the columns of checked data beside the kernel that cost nothing, if there are any."""
        return None

    def _keep_parametric(self, free: Any, machines: list[Any]) -> None:
        """Store the coefficients of these columns."""

    def _with_parametric(self, machine: Machine, number: int, free: Any) -> Machine:
        """Return a shipped machine with the coefficients of its columns."""
        return machine

    def _trend_values(self, X: Any) -> Any:
        """Return what these columns add to the functions at checked data."""
        return 0.0

    def _keep(self, machines: list[Any], split: Any) -> None:
        """Store what the machines know beside their coefficients and intercepts."""

    def _keep_steps(self, steps: list[int]) -> None:
        """Store the number of steps of each problem's solver."""
        self.n_iter_: Any = max(1, sum(steps))

    def _keep_history(self, history: list[Any]) -> None:
        """Store the traces, if they were asked for."""
        if self.trace:
            self.history_ = history

    def _shipped(self, number: int, coef: Any, products: Any) -> Machine:
        """Return machine ``number`` as it was shipped, given its coefficients and K coef."""
        return Machine(coef, float(self.intercept_[number]), products)

    _tells_of_itself = False  # whether its solver tells those who wait how far it has come
    _definite_first = False  # whether the way to solve a problem depends on the kernel's definiteness
    _can_be_looked_at = True  # whether a solver's round already makes an estimator that predicts

    def _matrix(self, kernel: Kernel, X: Any, split: Any, workers: Workers) -> Gram:
        """Return the kernel matrix that the problems are solved on."""
        named = as_solver(self.solver)
        return self._gram(kernel, X, workers, named is not None and not named.single_precision)

    def _stated(
        self, target: Any, weight: Any, matrix: Gram, beside: Callable[[Any], Any] | None = None
    ) -> Any:
        """Return a problem, with what stands beside its kernel, in the form that the solver takes."""
        problem, named = self._problem(target, weight, matrix), as_solver(self.solver)
        problem = problem if beside is None else beside(problem)
        return problem if named is None else named.restate(problem, matrix.diag())

    def _solve(self, fit: Fit, matrix: Gram) -> list[Solved]:
        """Solve all problems of a fit."""
        if fit.split.n >= FORESEEN:
            foresee(fit, matrix)
        return fit.solve(matrix)


class ClassMachine(MarginMixin, ClassifierMixin, ClassExpansionMixin, ProblemMachine):
    """What all classifiers share: labels, weights of classes, ``fit`` and ``certify``."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    # -- fit ---------------------------------------------------------------------------------------------

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
        self._fit(X, y, sample_weight)
        return self

    def _split(self, X: Any, y: Any, sample_weight: Any) -> Classes:
        classes, numbers = check_labels(y, type(self).__name__)
        threshold = getattr(self, "threshold", 0.0)
        if threshold and classes.size != 2:
            raise ValueError(f"threshold={threshold!r} is between two classes; y has {classes.size}")
        self._check_lengths(X, numbers)
        base = self._check_weight(sample_weight, X, numbers.size)
        return self._tasks_of(weighed_labels(classes, numbers, self.class_weight, base), base)

    def _split_again(self, X: Any, y: Any, sample_weight: Any) -> Classes:
        numbers = self._known_labels(y)
        self._check_lengths(X, numbers)
        base = self._check_weight(sample_weight, X, numbers.size)
        return self._tasks_of(Labels(self.classes_, numbers, self.class_weight_), base)

    def _tasks_of(self, labels: Labels, base: np.ndarray) -> Classes:
        """Return the problems that labels stand for."""
        raise NotImplementedError

    def _keep(self, machines: list[Any], split: Any) -> None:
        self.margin_ = self._per_machine([m.margin for m in machines])

    def _keep_steps(self, steps: list[int]) -> None:
        self.n_iter_ = np.array(steps, dtype=np.int32)

    @staticmethod
    def _per_machine(values: list[float]) -> Any:
        """Return a number for one machine, an array for several."""
        return float(values[0]) if len(values) == 1 else np.array(values)
