"""What kernel ridge regression and its classifier share: the penalty, the solvers, the proof."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.diagonal import check_finite_diagonal
from mercer.estimators.interrupts import stoppable
from mercer.estimators.machine import KernelMachine
from mercer.gram import Gram, Segment, Workers, cross_products, gram
from mercer.gram.products import whole
from mercer.kernels import KERNEL_NAMES, Kernel, Precomputed, as_kernel
from mercer.problems import Certificate
from mercer.problems.ridge import Ridge
from mercer.solvers.base import Limits
from mercer.solvers.linear_algebra.tridiagonal import Tridiagonal
from mercer.solvers.ridge.direct import (
    RidgePath,
    RidgeSolution,
    Spectrum,
    by_cholesky,
    by_eigenvectors,
    by_form,
    path,
    reduced,
)
from mercer.solvers.ridge.iterative import IterativeRidge, Step

Float64 = NDArray[np.float64]


class IllConditionedWarning(LinAlgWarning):
    """The linear system of a fit is singular, or nearly so, in floating-point arithmetic."""


class BaseKernelRidge(KernelMachine):
    """Base of the estimators that minimise squared error plus a penalty on the norm."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0.0, None, closed="left"), "array-like", StrOptions({"loo"})],
        "alphas": ["array-like", None],
        "kernel": [StrOptions(set(KERNEL_NAMES)), Kernel, callable],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left"), None],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "solver": [StrOptions({"auto", "cholesky", "eigen", "cg"})],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
        "preconditioner_rank": [Interval(Integral, 0, None, closed="left"), None],
        "precision": [StrOptions({"auto", "single", "double"})],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "on_interrupt": [StrOptions({"raise", "keep"})],
        "trace": ["boolean"],
        "verbose": ["verbose"],
    }

    _several_penalties: ClassVar[bool] = True  # whether each output may have its own

    def _kernel(self) -> Kernel:
        # Beside a Kernel the other parameters must be left alone, and scikit-learn's coef0 is 1 here.
        default = isinstance(self.kernel, Kernel) and self.coef0 == 1 and self.gamma in (None, "scale")
        gamma = self.gamma if self.gamma is not None else 1.0 if self.kernel == "chi2" else "auto"
        return as_kernel(
            self.kernel,
            gamma="scale" if default else gamma,
            degree=self.degree,
            coef0=0.0 if default else self.coef0,
        )

    # -- parameters ------------------------------------------------------------------------------------------

    def _penalties(self, outputs: int) -> Float64 | None:
        """Return the penalty of each output; None where they are to be found by leaving one out."""
        if isinstance(self.alpha, str):
            return None
        alpha = np.asarray(self.alpha, dtype=np.float64)
        if alpha.ndim == 0:
            return np.full(outputs, float(alpha))
        if not self._several_penalties or alpha.shape != (outputs,):
            allowed = f"one, or one for each of {outputs} outputs" if self._several_penalties else "one"
            raise ValueError(
                f"alpha has shape {alpha.shape}; it must be {allowed}. A grid to choose from is alphas=..., "
                "with alpha='loo'"
            )
        if not (np.isfinite(alpha).all() and (alpha >= 0).all()):
            raise ValueError(f"alpha={self.alpha!r} must be numbers >= 0")
        return alpha

    def _grid(self, alphas: Any) -> Float64 | None:
        if alphas is None:
            return None
        grid: Float64 = check_array(alphas, ensure_2d=False, dtype=np.float64, input_name="alphas")
        if grid.ndim != 1 or not (grid > 0).all():
            raise ValueError(f"alphas={alphas!r} must be a list of numbers > 0")
        return grid

    def _chosen_solver(self, n: int) -> str:
        """Return "direct" or "cg"."""
        if self.solver != "auto":
            return "cg" if self.solver == "cg" else "direct"
        return "direct" if 8 * n * n <= self._cache_bytes() else "cg"

    # -- fit -------------------------------------------------------------------------------------------------

    def _prepare(self, X: Any, sample_weight: Any) -> tuple[Any, Float64]:
        """Check the data and the weights, resolve the kernel."""
        kernel = self._kernel()
        X = self._check_X(X, kernel=kernel, reset=True)
        n = self._length(X)
        weight = self._check_weight(sample_weight, X, n)
        kernel.validate()
        self.kernel_ = kernel.resolve_on(X, None if sample_weight is None else weight)
        self.shape_fit_ = tuple(X.shape) if hasattr(X, "shape") else (n,)
        return X, weight

    def _matrix(self, X: Any, rows: NDArray[np.intp], precision: Any, workers: Workers) -> Gram:
        """Return the kernel matrix of some rows, refusing values that are no numbers."""
        if rows.size < self._length(X):
            X = X[np.ix_(rows, rows)] if self._pairwise_kernel else self.kernel_.take(X, rows)
        matrix = gram(self.kernel_, X, precision=precision, tol=self.tol**0.5, workers=workers, cache_bytes=0)
        check_finite_diagonal(self.kernel_, matrix.diag(), rows)
        return matrix

    def _fit_ridge(self, X: Any, Y: Float64, weight: Float64) -> None:
        """Solve for the outputs Y of checked data, and keep the answer."""
        n, outputs = Y.shape
        rows = np.flatnonzero(weight > 0)  # a weight of 0 means absent
        direct = self._chosen_solver(rows.size) == "direct"
        alpha = self._penalties(outputs)
        if alpha is None and not direct:
            raise ValueError(
                f"alpha='loo' needs all eigenvectors of the kernel matrix, {8e-6 * rows.size**2:.0f} MB for "
                f"{rows.size} rows: raise cache_size (now {self.cache_size:g} MB) or choose alpha otherwise"
            )
        workers, limits = self._workers(), Limits(self.max_iter, self.time_limit)
        history: list[dict[str, float]] = []
        with stoppable(limits, self.on_interrupt == "keep") as stop:
            if direct:
                precision = "single" if self.precision == "single" else "double"
                matrix = self._matrix(X, rows, precision, workers)
                psd = self._psd(self.kernel_, matrix)
                K = whole(matrix)
                problem = Ridge(Y[rows], weight[rows], np.ones(outputs), self.fit_intercept)
                if alpha is None:
                    alpha = self._choose(K, problem, rows, n)
                problem = replace(problem, alpha=alpha)
                solution = self._directly(K, problem)
            else:
                matrix = self._matrix(X, rows, self.precision, Workers(1))
                psd = self._psd(self.kernel_, matrix)
                assert alpha is not None
                if not psd:
                    raise ValueError(
                        f"solver='cg' needs a positive semi-definite kernel; kernel={self.kernel_!r} is "
                        "none on these data: use solver='eigen', with a cache_size that holds the matrix"
                    )
                problem = Ridge(Y[rows], weight[rows], alpha, self.fit_intercept)
                solution = self._iteratively(matrix, problem, workers, limits, history)
            if stop.requested and solution.status == "time_limit":
                solution = replace(solution, status="interrupted")
        self._store(X, rows, n, solution, alpha)
        if self.trace:
            self.history_ = history
        if solution.note:
            warnings.warn(f"{type(self).__name__}: {solution.note}.", IllConditionedWarning, stacklevel=4)
        self._conclude(
            problem.certificate(
                solution.A, solution.intercept, solution.F, solution.n_iter, solution.status, psd
            )
        )

    def _directly(self, K: Float64, problem: Ridge) -> RidgeSolution:
        same = bool((problem.alpha == problem.alpha[0]).all())
        if same and self._known is None and self.solver != "eigen":
            return by_cholesky(K, problem)
        known, self._known = self._known, None
        if known is not None:
            return by_form(known, K, problem)
        return by_eigenvectors(Spectrum.of(K, problem), K, problem)

    _known: Spectrum | Tridiagonal | None = None  # found while alpha was chosen
    _flat: bool = True  # whether there is one output, not a table of them

    def _choose(self, K: Float64, problem: Ridge, rows: NDArray[np.intp], n: int) -> Float64:
        """Return the penalties of smallest leave-one-out error, and keep what was seen on the way."""
        self._known, self.alphas_ = reduced(K, problem, self._grid(self.alphas))
        found = path(self._known, problem, self.alphas_, keep=False, workers=self._workers())
        self.loo_errors_ = found.errors
        best = self._best(found.errors)
        return np.broadcast_to(self.alphas_[best], problem.alpha.shape).copy()

    def _best(self, errors: Float64) -> Any:
        """Return the place of the best penalty: each output has its own, unless a subclass says otherwise."""
        return errors.argmin(axis=0)

    def _iteratively(
        self, matrix: Gram, problem: Ridge, workers: Workers, limits: Limits, history: list[dict[str, float]]
    ) -> RidgeSolution:
        seed = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        solver = IterativeRidge(
            tol=self.tol, memory=self._cache_bytes(), rank=self.preconditioner_rank, limits=limits,
            listener=self._hear(history), seed=seed,
        )  # fmt: skip
        return solver.solve(matrix, problem, workers)

    def _hear(self, history: list[dict[str, float]]) -> Callable[[Step], None] | None:
        if not self.trace and not self.verbose:
            return None

        def listen(step: Step) -> None:
            if self.trace:
                history.append(step._asdict())
            if self.verbose:
                sys.stdout.write(
                    f"[{type(self).__name__}] {step.seconds:8.2f} s  step {step.n_iter:>6}  "
                    f"gap {step.gap:.3e}  dual {step.dual:.6e}\n"
                )

        return listen

    def _store(self, X: Any, rows: NDArray[np.intp], n: int, solution: RidgeSolution, alpha: Float64) -> None:
        coef = np.zeros((n, solution.A.shape[1]))
        coef[rows] = solution.A
        self.dual_coef_ = coef[:, 0] if self._flat else coef
        self.X_fit_ = X
        self.intercept_: Any = float(solution.intercept[0]) if self._flat else solution.intercept
        self.alpha_: Any = float(alpha[0]) if (alpha == alpha[0]).all() else alpha
        self.n_iter_ = solution.n_iter
        self.solver_ = solution.method
        self.condition_ = solution.condition

    # -- use -------------------------------------------------------------------------------------------------

    @property
    def _coef(self) -> Float64:
        """``dual_coef_`` as a table."""
        return np.ascontiguousarray(np.reshape(self.dual_coef_, (self.shape_fit_[0], -1)), dtype=np.float64)

    def _values(self, X: Any) -> Float64:
        """Return f(X), a column for each output."""
        check_is_fitted(self)
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        return np.asarray(self._products(X) + self.intercept_)

    def _products(self, X: Any) -> Float64:
        """Return K(X, training data) coef for checked data."""
        coef = self._coef
        outputs = np.arange(coef.shape[1])
        pairwise = isinstance(self.kernel_, Precomputed)
        Z = np.arange(self.shape_fit_[0]) if pairwise else self.X_fit_
        segment = Segment(0, coef.shape[0], coef, outputs)
        return cross_products(self.kernel_, X, Z, [segment], outputs.size, self._workers())

    def _certify_ridge(self, X: Any, Y: Float64, weight: Float64) -> Certificate:
        self._fitted_length(X)
        rows = np.flatnonzero(weight > 0)
        if self._coef[weight == 0].any():
            raise ValueError("sample_weight is 0 for rows that the model was fitted on with a larger weight")
        alpha = np.broadcast_to(np.asarray(self.alpha_, dtype=np.float64), (Y.shape[1],))
        problem = Ridge(Y[rows], weight[rows], alpha, self.fit_intercept)
        F = self._products(X)[rows]
        intercept = np.atleast_1d(np.asarray(self.intercept_, dtype=np.float64))
        known = self.certificate_
        psd = not np.isnan(known.gap)
        return problem.certificate(self._coef[rows], intercept, F, known.n_iter, known.status, psd)

    def _path(self, X: Any, Y: Float64, weight: Float64, alphas: Any) -> RidgePath:
        """Return the solutions of a grid on checked data, with a place for every row."""
        n, outputs = Y.shape
        rows = np.flatnonzero(weight > 0)
        K = whole(self._matrix(X, rows, "double", self._workers()))
        problem = Ridge(Y[rows], weight[rows], np.ones(outputs), self.fit_intercept)
        form, grid = reduced(K, problem, self._grid(alphas))
        found = path(form, problem, grid, workers=self._workers())
        if rows.size == n:
            return found
        coef, left = (
            np.zeros((found.alphas.size, n, outputs)),
            np.full((found.alphas.size, n, outputs), np.nan),
        )
        coef[:, rows], left[:, rows] = found.dual_coef, found.left_out
        return RidgePath(found.alphas, coef, found.intercept, left, found.errors)
