"""How Gaussian processes are fitted to classes: one latent function for each two-class problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import column_or_1d

from mercer.arrays import Float64, Index
from mercer.estimators.fitting import Fit, Solved
from mercer.estimators.gaussian._base import BaseGaussianProcess
from mercer.estimators.splits import Classes, Labels, Part
from mercer.gram import Gram
from mercer.gram.kernel_family import Family, Member
from mercer.gram.sklearn_family import family_of
from mercer.kernels import Kernel
from mercer.kernels.sklearn_kernels import as_our_kernel
from mercer.problems import Certificate, Machine, certified, combine
from mercer.problems.evidence import Evidence
from mercer.problems.losses import BinomialDeviance
from mercer.problems.risk import Risk
from mercer.solvers.base import Limits
from mercer.solvers.gaussian.laplace import LaplaceApproximation, LaplaceMode

TILE_VALUES = 1 << 22  # kernel values between new and training points in memory at a time


@dataclass(frozen=True)
class BinaryProcess:
    """One latent function that tells two classes, or a class and the rest, apart.

    Attributes
    ----------
    kernel_ : Kernel, or scikit-learn's
        With the parameters found.
    theta_ : ndarray
        The logarithms of those that were free.
    rows_ : ndarray of int
        The training rows that take part.
    signs_ : ndarray
        1 for the second class, -1 for the first, or the rest.
    mode_ : LaplaceMode
        The latent values, and the curvature there.
    log_marginal_likelihood_value_ : float
        The logarithm of the evidence.
    """

    kernel_: Any
    theta_: Float64
    rows_: Index
    signs_: Float64
    mode_: LaplaceMode
    log_marginal_likelihood_value_: float

    @property
    def smooth(self) -> Kernel:
        """The kernel between two sets of points, as one of ours."""
        return self.kernel_ if isinstance(self.kernel_, Kernel) else as_our_kernel(self.kernel_)

    def at(self, kernel: Any) -> BinaryProcess:
        """Return the same with another kernel in its place."""
        return replace(self, kernel_=kernel)

    @property
    def y_train_(self) -> Float64:
        """1 for the second class, 0 for the first."""
        return 0.5 * (self.signs_ + 1.0)

    @property
    def pi_(self) -> Float64:
        """The probabilities of the second class at the mode."""
        return self.mode_.pi

    @property
    def W_sr_(self) -> Float64:  # noqa: N802
        """The square roots of the likelihood's curvature at the mode."""
        return self.mode_.root

    @property
    def L_(self) -> Float64:  # noqa: N802
        """Cholesky's factor of I + W^1/2 K W^1/2."""
        return np.tril(self.mode_.L)

    @property
    def f_cached(self) -> Float64:
        """The latent values at the mode."""
        return self.mode_.f


@dataclass(frozen=True)
class SeveralProcesses:
    """The latent functions of several two-class problems."""

    estimators_: list[BinaryProcess]


class ProcessClasses(Classes):
    """Two-class problems whose second class counts as 1."""

    def __init__(self, labels: Labels, pairs: bool) -> None:
        super().__init__(labels, np.ones(labels.numbers.size))
        numbers, k = labels.numbers, labels.classes.size
        everything = np.arange(numbers.size)
        if k == 2:
            self.tasks = [Part(everything, np.where(numbers == 1, 1.0, -1.0))]
        elif pairs:
            self.tasks = []
            for i, j in combinations(range(k), 2):
                rows = np.flatnonzero((numbers == i) | (numbers == j))
                self.tasks.append(Part(rows, np.where(numbers[rows] == j, 1.0, -1.0)))
        else:
            self.tasks = [Part(everything, np.where(numbers == c, 1.0, -1.0)) for c in range(k)]

    def keep(self, model: Any) -> None:
        """Store the classes."""
        model.classes_, model.n_classes_ = self.labels.classes, int(self.labels.classes.size)

    def starts(self, model: Any) -> list[Any] | None:
        """Return nothing: the modes of the last fit are kept by the model itself."""
        return None

    def pack(self, model: Any, X: Any, machines: list[Machine]) -> None:
        """Store the data; the processes store the rest."""
        copied = model.copy_X_train and hasattr(X, "copy")
        model.X_fit_ = X.copy() if copied else X

    def unpack(self, model: Any, k: int) -> Float64:
        """Return the coefficients of problem k."""
        return np.asarray(model._processes[k].mode_.a)


class BaseClassification(BaseGaussianProcess):
    """The parts of the classifier that are not its interface."""

    criterion, solver, precision = "gap", "auto", "double"
    fit_intercept = False
    _processes: list[BinaryProcess]

    def _default_kernel(self) -> Any:
        """Return scikit-learn's default, which is not tuned."""
        from sklearn.gaussian_process.kernels import RBF, ConstantKernel

        return ConstantKernel(1.0, constant_value_bounds="fixed") * RBF(1.0, length_scale_bounds="fixed")

    @property
    def kernel_(self) -> Any:
        """The kernel with the parameters found; of several problems scikit-learn's compound, or a tuple."""
        found = [process.kernel_ for process in self._processes]
        if len(found) == 1:
            return found[0]
        if isinstance(found[0], Kernel):
            return tuple(found)
        from sklearn.gaussian_process.kernels import CompoundKernel

        return CompoundKernel(found)

    @kernel_.setter
    def kernel_(self, kernel: Any) -> None:
        self._resolved = kernel  # what the one fit has made of the parameter; the processes keep their own

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.kernel == "precomputed":
            raise ValueError(
                "kernel='precomputed' has no k(x, x) for new points, which probabilities need: pass the "
                "kernel, or use KernelLogisticRegression"
            )

    def _check_feasible(self, split: Any) -> None:
        largest = max(task.rows.size for task in split.tasks)
        need = 2 * 8 * largest**2
        if need > self._cache_bytes():
            raise ValueError(
                f"{type(self).__name__} needs two matrices of {largest} rows, {need / 1e6:.0f} MB: raise "
                f"cache_size (now {self.cache_size:g} MB), or use KernelLogisticRegression"
            )

    # -- fit -------------------------------------------------------------------------------------------------

    def _approximation(self, signs: Float64, limits: Limits) -> LaplaceApproximation:
        return LaplaceApproximation(signs, self.max_iter_predict, limits)

    def _solve(self, fit: Fit, matrix: Gram) -> list[Solved]:
        resolved = self.__dict__.pop("_resolved")
        self._require_definite(fit.psd, resolved)
        before = self.__dict__.get("_processes", []) if self.warm_start else []
        self._cut_short, self.n_iter_ = "optimal", 0
        given, self._tuned = self._beginning(resolved, dict(self.bounds or {}))
        found: list[BinaryProcess] = []
        solved = []
        for k, task in enumerate(fit.split.tasks):
            X = fit.X if task.rows.size == matrix.n else resolved.take(fit.X, task.rows)
            family = family_of(given, self._tuned, X, fit.workers)
            laplace = self._approximation(task.target, fit.ask.limits)
            if k < len(before) and before[k].mode_.a.size == task.rows.size:
                laplace.last = before[k].mode_.a
            theta, evaluations = family.theta, 1
            if self.optimizer is not None and theta.size:
                rng = check_random_state(self.random_state)
                evidence = partial(_evidence, laplace, family)
                best = self._search(evidence, [theta], family.bounds, fit.ask.limits, rng)
                theta, evaluations = best.theta, best.evaluations
                self._cut_short = best.status if self._cut_short == "optimal" else self._cut_short
                self._warn_of_bounds(theta, family.bounds, family.labels, family.at(theta).shown)
            member = family.at(theta)
            mode = laplace.mode(laplace.matrix(member))
            found.append(
                BinaryProcess(member.shown, theta, task.rows, task.target, mode, float(laplace.value(mode)))
            )
            self.n_iter_ += evaluations
            self.hyperparameters_ = family.labels
            solved.append(self._machine(member, task.target, mode))
        self._processes = found
        self.theta_ = np.concatenate([p.theta_ for p in found])
        self.log_marginal_likelihood_value_ = float(
            np.mean([p.log_marginal_likelihood_value_ for p in found])
        )
        if fit.ask.requested:
            self._cut_short = "interrupted"
        return solved

    def _machine(self, member: Member, signs: Float64, mode: LaplaceMode) -> Solved:
        noise = member.gram("double").noise(mode.a)
        return Solved(
            _logistic(signs), Machine(mode.a, 0.0, mode.f), mode.n_iter, mode.status, np.asarray(noise)
        )

    def _keep_steps(self, steps: list[int]) -> None:
        """Keep the number of evaluations of the evidence, which is known already."""

    def _conclude(self, certificate: Certificate, keep: bool = False, notes: Sequence[str] = ()) -> None:
        if self._cut_short != "optimal":
            certificate = replace(certificate, status=self._cut_short)
        del self._cut_short
        super()._conclude(certificate, keep, notes)

    # -- use -------------------------------------------------------------------------------------------------

    def _data(self, process: BinaryProcess) -> Any:
        """Return the training data of one problem."""
        whole = process.rows_.size == self.shape_fit_[0]
        return self.X_fit_ if whole else process.smooth.take(self.X_fit_, process.rows_)

    def _member_of(self, process: BinaryProcess) -> Member:
        family = family_of(process.kernel_, self._tuned, self._data(process), self._workers())
        return family.at(process.theta_)

    def _latent(self, process: BinaryProcess, X: Any, variance: bool = True) -> tuple[Float64, Float64]:
        """Return mean and variance of the latent function at checked points."""
        n, member = self._length(X), self._member_of(process)
        mean, spread = np.empty(n), np.zeros(n)
        step = max(1, TILE_VALUES // process.rows_.size)
        for start in range(0, n, step):
            rows = np.arange(start, min(n, start + step))
            part = member.kernel.take(X, rows)
            K = member.cross(part)
            mean[rows] = K @ process.mode_.a
            if variance:
                spread[rows] = np.maximum(member.prior_variances(part) - process.mode_.explained(K), 0.0)
        return mean, spread

    def _kernel_at(self, process: BinaryProcess, theta: Float64) -> Any:
        """Return the kernel with other parameters."""
        return family_of(process.kernel_, self._tuned, self._data(process), self._workers()).at(theta).shown

    def _evidence_at(self, process: BinaryProcess, theta: Float64, gradient: bool) -> Evidence:
        family = family_of(process.kernel_, self._tuned, self._data(process), self._workers())
        laplace = self._approximation(process.signs_, Limits())
        laplace.last = process.mode_.a
        return laplace.evidence(family.at(theta), gradient=gradient)

    def _certify(self, X: Any, y: Any, sample_weight: Any) -> Certificate:
        X = self._check_X(X, kernel=self._processes[0].smooth, reset=False)
        self._fitted_length(X)
        labels = column_or_1d(y, warn=True)
        if np.setdiff1d(labels, self.classes_).size:
            raise ValueError(f"y holds classes that this model does not know: {self.classes_}")
        self._check_lengths(X, labels)
        split = self._classes(self.classes_, np.searchsorted(self.classes_, labels))
        parts = []
        for process, task, known in zip(self._processes, split.tasks, self.certificate_.parts, strict=True):
            part = process.smooth.take(X, task.rows)
            family = family_of(process.kernel_, self._tuned, part, self._workers())
            member = family.at(process.theta_)
            a, matrix = process.mode_.a, member.gram("double")
            f = matrix.matvec(a) + member.white * a
            parts.append(
                certified(
                    _logistic(task.target),
                    Machine(a, 0.0, f),
                    tol=self.tol,
                    criterion="gap",
                    n_iter=known.n_iter,
                    stopped=known.status,
                    noise=matrix.noise(a),
                )
            )
        return combine(parts)

    def _classes(self, classes: Any, numbers: Index) -> ProcessClasses:
        labels = Labels(classes, numbers, np.ones(classes.size))
        return ProcessClasses(labels, self.multi_class == "one_vs_one")


def _evidence(laplace: LaplaceApproximation, family: Family, theta: Float64) -> Evidence:
    return laplace.evidence(family.at(theta), gradient=True)


def _logistic(signs: Float64) -> Risk:
    """Return the problem whose solution the mode is."""
    return Risk(BinomialDeviance(), signs, np.ones(signs.size), fit_intercept=False)
