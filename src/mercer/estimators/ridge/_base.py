"""What kernel ridge regression and its classifier share: the penalty, the solvers, the proof."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Float64
from mercer.estimators.approximation._values import feature_products, has_features
from mercer.estimators.fitting import Fit, Solved, proof
from mercer.estimators.kernel_weights import certified_jointly
from mercer.estimators.machine import ProblemMachine
from mercer.estimators.splits import Outputs
from mercer.estimators.verdict import check_finite_diagonal, noise_of
from mercer.gram import Gram, Segment, Workers, cross_products, gram
from mercer.gram.base import whole
from mercer.gram.projected import ProjectedGram
from mercer.kernels import Kernel, Precomputed, as_kernel
from mercer.kernels.data import size, take
from mercer.problems import Certificate, Machine
from mercer.problems.design import Design
from mercer.problems.parametric_ridge import ParametricRidge
from mercer.problems.ridge import Ridge
from mercer.solvers.base import Limits
from mercer.solvers.linear_algebra.tridiagonal import Tridiagonal
from mercer.solvers.ridge.direct import (
    RidgePath,
    RidgeSolution,
    Spectrum,
    best_penalties,
    by_cholesky,
    by_eigenvectors,
    by_form,
    path,
    reduced,
    with_columns,
)
from mercer.solvers.ridge.iterative import IterativeRidge, Step

FACTORED = 1e9  # multiplications of a factorisation in a second, on a slow processor


class RidgeOutputs(Outputs):
    """The outputs of a ridge regression: every row keeps its coefficient, and all data are kept."""

    def __init__(self, Y: Float64, base: Float64, flat: bool) -> None:
        super().__init__(Y, base, weighted_only=True)
        self.flat = flat

    def pack(self, model: Any, X: Any, machines: list[Machine]) -> None:
        """Store the coefficients of all rows."""
        coef = np.zeros((self.n, len(machines)))
        coef[self.tasks[0].rows] = np.stack([m.coef for m in machines], axis=1)
        intercept = np.array([m.intercept for m in machines])
        model.X_fit_, model._flat = X, self.flat
        model.dual_coef_ = coef[:, 0] if self.flat else coef
        model.intercept_ = float(intercept[0]) if self.flat else intercept


class BaseKernelRidge(ProblemMachine):
    """Base of the estimators that minimise squared error plus a penalty on the norm."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0.0, None, closed="left"), "array-like", StrOptions({"loo"})],
        "alphas": ["array-like", None],
        "kernel": [str, Kernel, callable],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left"), None],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "kernel_params": [dict, None],
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

    kernel_params: Any = None
    _several_penalties: ClassVar[bool] = True  # whether each output may have its own
    criterion, warm_start = "gap", False
    _definite_first = True

    def _kernel(self) -> Kernel:
        # Beside a Kernel the other parameters must be left alone, and scikit-learn's coef0 is 1 here.
        default = isinstance(self.kernel, Kernel) and self.coef0 == 1 and self.gamma in (None, "scale")
        gamma = self.gamma if self.gamma is not None else 1.0 if self.kernel == "chi2" else "auto"
        return as_kernel(
            self.kernel,
            gamma="scale" if default else gamma,
            degree=self.degree,
            coef0=0.0 if default else self.coef0,
            params=self.kernel_params,
            pairs=True,
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
        if 8 * n * n > self._cache_bytes():
            return "cg"
        # A factorisation cannot be stopped on its way: where it may take too long, steps are taken instead.
        hurry = self.time_limit is not None and n**3 > 3.0 * FACTORED * self.time_limit
        return "cg" if hurry and not isinstance(self.alpha, str) and self._kernel().is_psd else "direct"

    # -- fit -------------------------------------------------------------------------------------------------

    def _rows_matrix(self, X: Any, rows: NDArray[np.intp], precision: Any, workers: Workers) -> Gram:
        """Return the kernel matrix of some rows, refusing values that are no numbers."""
        matrix = gram(self.kernel_, X, precision=precision, tol=self.tol**0.5, workers=workers, cache_bytes=0)
        check_finite_diagonal(self.kernel_, matrix.diag()[rows], rows)
        return matrix

    def _matrix(self, kernel: Kernel, X: Any, split: Any, workers: Workers) -> Gram:
        rows = split.tasks[0].rows
        if self._chosen_solver(rows.size) == "cg":
            return self._rows_matrix(X, rows, self.precision, Workers(1))
        return self._rows_matrix(X, rows, "single" if self.precision == "single" else "double", workers)

    def _check_feasible(self, split: Any) -> None:
        rows = split.tasks[0].rows
        if self._penalties(len(split.tasks)) is None and self._chosen_solver(rows.size) == "cg":
            raise ValueError(
                f"alpha='loo' needs all eigenvectors of the kernel matrix, {8e-6 * rows.size**2:.0f} MB for "
                f"{rows.size} rows: raise cache_size (now {self.cache_size:g} MB) or choose alpha otherwise"
            )

    def _ridge(self, split: Any, alpha: Float64, design: Design | None = None) -> Ridge:
        """Return the problem of all outputs, with what stands beside the kernel."""
        Y = np.stack([task.target for task in split.tasks], axis=1)
        problem = Ridge(Y, split.weight[split.tasks[0].rows], alpha, self.fit_intercept)
        return problem if design is None else ParametricRidge.of(problem, design)

    def _solve(self, fit: Fit, matrix: Gram) -> list[Solved]:
        rows, outputs = fit.rows[0], len(fit.rows)
        part = matrix if rows.size == matrix.n else matrix.subset(rows)
        design = None if fit.free is None else fit.free.design(rows, fit.split.weight)
        if design is not None:
            part = design.projected(part)
        alpha = self._penalties(outputs)
        if self._chosen_solver(rows.size) == "direct":
            K = whole(part)
            if alpha is None:
                alpha = self._choose(K, self._ridge(fit.split, np.ones(outputs), design))
            problem = self._ridge(fit.split, alpha, design)
            solution = self._directly(K, problem)
        else:
            assert alpha is not None
            if not fit.psd:
                raise ValueError(
                    f"solver='cg' needs a positive semi-definite kernel; kernel={self.kernel_!r} is "
                    "none on these data: use solver='eigen', with a cache_size that holds the matrix"
                )
            problem = self._ridge(fit.split, alpha, design)
            solution = self._iteratively(part, problem, fit.workers, fit.ask.limits, fit.history[0])
        self.alpha_: Any = float(alpha[0]) if (alpha == alpha[0]).all() else alpha
        self.solver_, self.condition_ = solution.method, solution.condition
        if isinstance(problem, ParametricRidge):
            assert isinstance(part, ProjectedGram)
            machines: Sequence[Machine] = problem.machines(solution.A, solution.F, part)
            noises = [part.noise(m.coef) for m in machines]
        else:
            pairs = zip(solution.A.T, solution.intercept, solution.F.T, strict=True)
            machines = [Machine(a, float(b), f) for a, b, f in pairs]
            noises = [noise_of(matrix, rows, m.coef) for m in machines]
        if design is not None or self.precision == "single":
            # What is shipped is evaluated with the kernel, which the solver has seen projected or rounded.
            F = self._shipped_products(fit, rows, np.stack([m.coef for m in machines], axis=1))
            machines = [replace(m, products=F[:, t]) for t, m in enumerate(machines)]
        return [
            Solved(one, machines[t], solution.n_iter, solution.status, noises[t], solution.note)
            for t, one in enumerate(problem.outputs())
        ]

    def _shipped_products(self, fit: Fit, rows: NDArray[np.intp], coef: Float64) -> Float64:
        """Return K coef of the training rows, as predictions compute it."""
        X = fit.X if rows.size == size(fit.X) else take(fit.X, rows)
        Z = rows if isinstance(self.kernel_, Precomputed) else X
        segment = Segment(0, coef.shape[0], np.ascontiguousarray(coef), np.arange(coef.shape[1]))
        return cross_products(self.kernel_, X, Z, [segment], coef.shape[1], fit.workers)

    def _keep_steps(self, steps: list[int]) -> None:
        self.n_iter_ = steps[0]  # all outputs are solved together

    def _keep_history(self, history: list[Any]) -> None:
        super()._keep_history(history[0])

    def _conclude(self, certificate: Certificate, keep: bool = False, notes: Sequence[str] = ()) -> None:
        super()._conclude(replace(certificate, n_iter=self.n_iter_), keep, notes)

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

    def _choose(self, K: Float64, problem: Ridge) -> Float64:
        """Return the penalties of smallest leave-one-out error, and keep what was seen on the way."""
        self._known, self.alphas_ = reduced(K, problem, self._grid(self.alphas))
        found = path(self._known, problem, self.alphas_, keep=False, workers=self._workers())
        self.loo_errors_ = found.errors
        best = self._best(found.errors)
        return np.broadcast_to(self.alphas_[best], problem.alpha.shape).copy()

    def _best(self, errors: Float64) -> Any:
        """Return the place of the best penalty: each output has its own, unless a subclass says otherwise."""
        return best_penalties(errors, self.alphas_)

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

    # -- use -------------------------------------------------------------------------------------------------

    @property
    def _coef(self) -> Float64:
        """``dual_coef_`` as a table."""
        return np.ascontiguousarray(np.reshape(self.dual_coef_, (self.shape_fit_[0], -1)), dtype=np.float64)

    def _values(self, X: Any) -> Float64:
        """Return f(X), a column for each output."""
        check_is_fitted(self)
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        return np.asarray(self._products(X) + self.intercept_ + self._trend_values(X))

    def _products(self, X: Any) -> Float64:
        """Return K(X, training data) coef for checked data."""
        if has_features(self):
            return feature_products(self, X, self._workers())
        coef = self._coef
        outputs = np.arange(coef.shape[1])
        pairwise = isinstance(self.kernel_, Precomputed)
        Z = np.arange(self.shape_fit_[0]) if pairwise else self.X_fit_
        segment = Segment(0, coef.shape[0], coef, outputs)
        return cross_products(self.kernel_, X, Z, [segment], outputs.size, self._workers())

    def _certify(self, X: Any, y: Any, sample_weight: Any) -> Certificate:
        given = X
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        self._fitted_length(X)
        split = self._split_again(X, y, sample_weight)
        rows = split.tasks[0].rows
        coef = self._coef
        if coef[split.weight == 0].any():
            raise ValueError("sample_weight is 0 for rows that the model was fitted on with a larger weight")
        alpha = np.broadcast_to(np.asarray(self.alpha_, dtype=np.float64), (len(split.tasks),))
        F, intercept = self._products(X)[rows], np.atleast_1d(np.asarray(self.intercept_, dtype=np.float64))
        matrix = self._rows_matrix(X, rows, "double", self._workers())
        known = self.certificate_
        free = self._free_columns(self.kernel_, X)
        design = None if free is None else free.design(rows, split.weight)
        part = matrix if rows.size == matrix.n else matrix.subset(rows)
        part = part if design is None else design.projected(part)
        found = [
            Solved(
                problem,
                self._with_parametric(Machine(coef[rows, t], float(intercept[t]), F[:, t]), t, free),
                known.n_iter,
                known.status,
                part.noise(coef[rows, t]),
            )
            for t, problem in enumerate(self._ridge(split, alpha, design).outputs())
        ]
        certificate = proof(self, found, not np.isnan(known.gap))
        certificate = certified_jointly(self, given, split, sample_weight, certificate, found)
        return replace(certificate, n_iter=known.n_iter)

    def _path(self, X: Any, Y: Float64, weight: Float64, alphas: Any) -> RidgePath:
        """Return the solutions of a grid on checked data, with a place for every row."""
        n, outputs = Y.shape
        rows = np.flatnonzero(weight > 0)
        matrix = self._rows_matrix(X, rows, "double", self._workers())
        part = matrix if rows.size == n else matrix.subset(rows)
        problem = Ridge(Y[rows], weight[rows], np.ones(outputs), self.fit_intercept)
        free = self._free_columns(self.kernel_, X)
        if free is not None:
            design = free.design(rows, weight)
            part, problem = design.projected(part), ParametricRidge.of(problem, design)
        form, grid = reduced(whole(part), problem, self._grid(alphas))
        found = path(form, problem, grid, workers=self._workers())
        if isinstance(problem, ParametricRidge):
            assert isinstance(part, ProjectedGram)
            found = with_columns(found, problem, part)
        if rows.size == n:
            return found
        coef, left = (
            np.zeros((found.alphas.size, n, outputs)),
            np.full((found.alphas.size, n, outputs), np.nan),
        )
        coef[:, rows], left[:, rows] = found.dual_coef, found.left_out
        return replace(found, dual_coef=coef, left_out=left)
