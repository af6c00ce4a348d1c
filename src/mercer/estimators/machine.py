"""What all kernel machines share as scikit-learn estimators: kernel, data, threads, limits, certificate."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import LinAlgWarning
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from mercer.estimators.diagonal import check_finite_diagonal
from mercer.estimators.monitoring import CallbackSupportMixin
from mercer.estimators.notebook import CertifiedRepr
from mercer.estimators.user_warnings import warn_user
from mercer.gram import Gram, Workers, gram, resolve_threads
from mercer.gram.spectrum import spectrum
from mercer.kernels import KERNEL_NAMES, Kernel, Precomputed, as_kernel
from mercer.problems import Certificate
from mercer.solvers import SOLVER_NAMES, Solver
from mercer.solvers.auto import SOLVERS

HEAVIEST = 1e50  # sample weight: its products with other numbers must not overflow
INDEFINITE = 1e-7  # share of the largest eigenvalue below which a negative one is rounding


class IllConditionedWarning(ConvergenceWarning, LinAlgWarning):
    """Rounding has the last word: a system is singular, or nearly so, in floating-point arithmetic."""


class IndefiniteKernelWarning(UserWarning):
    """The kernel matrix is not positive semi-definite, so the fit is a stationary point without a gap."""


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Say which argument it was that holds text instead of numbers: NumPy does not."""
    try:
        yield
    except ValueError as error:
        if "could not convert" not in str(error):
            raise
        raise ValueError(f"{name} must hold numbers: {error}") from error


class KernelMachine(CallbackSupportMixin, CertifiedRepr, BaseEstimator):
    """Base of the estimators that solve a dual over a kernel matrix."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions(set(KERNEL_NAMES)), Kernel, callable],
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

    # -- data --------------------------------------------------------------------------------------------

    def _kernel(self) -> Kernel:
        """Return the kernel that the parameters name, not yet resolved."""
        return as_kernel(self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0)

    def _check_X(self, X: Any, *, kernel: Kernel, reset: bool) -> Any:  # noqa: N802
        given = X
        with naming("X"):
            X = kernel.check(given, estimator=self)
        if getattr(X, "ndim", 1) == 2:
            validate_data(self, given, reset=reset, skip_check_array=True)  # number and names of the features
        elif reset:
            for name in ("n_features_in_", "feature_names_in_"):
                self.__dict__.pop(name, None)
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
        if sample_weight is None:
            return np.ones(n)
        if isinstance(sample_weight, Real):
            sample_weight = np.full(n, float(sample_weight))
        with naming("sample_weight"):
            weight: np.ndarray = check_array(
                sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight", estimator=self
            )
        if weight.shape != (n,):
            raise ValueError(f"sample_weight has shape {weight.shape}; for {n} rows it must be ({n},)")
        if (weight < 0).any():
            raise ValueError(
                "Negative values in data passed to `sample_weight`: sample_weight has "
                f"{int((weight < 0).sum())} negative entries, weights must be at least 0"
            )
        if weight.max() > HEAVIEST:
            raise ValueError(
                f"sample_weight reaches {weight.max():.3g} (row {int(weight.argmax())}), and may be at most "
                f"{HEAVIEST:g}: divide all weights by a constant and multiply C by it"
            )
        if not (weight > 0).any():
            raise ValueError("sample_weight is zero for every row: nothing is left to fit")
        return weight

    @staticmethod
    def _length(X: Any) -> int:
        return int(X.shape[0]) if hasattr(X, "shape") else len(X)

    def _check_lengths(self, X: Any, y: Any) -> None:
        n = self._length(X)
        if n != len(y):
            raise ValueError(
                f"X and y have inconsistent numbers of samples: X has {n} rows, y has {len(y)} entries"
            )

    def _fitted_length(self, X: Any) -> int:
        """Return the number of rows, which must be that of the training data."""
        n = self._length(X)
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
        """Return whether a gap may be claimed; say so when an unknown kernel turns out indefinite."""
        self.__dict__.pop("smallest_eigenvalue_", None)
        if kernel.is_psd:
            return True
        ends = spectrum(matrix)
        self.smallest_eigenvalue_ = ends.smallest
        if kernel.is_psd is not None:
            return False
        if ends.asymmetry == 0.0 and ends.smallest >= -INDEFINITE * max(ends.largest, 1e-300):
            return True
        reason = (
            f"not symmetric: K_ij and K_ji differ by up to {ends.asymmetry:.3g}"
            if ends.asymmetry
            else f"not positive semi-definite: its smallest eigenvalue is about {ends.smallest:.3g} (largest "
            f"{ends.largest:.3g})"
        )
        warn_user(
            f"the kernel matrix is {reason}. The fit is a stationary point; no duality gap can be given.",
            IndefiniteKernelWarning,
        )
        return False

    def _conclude(self, certificate: Certificate, keep: bool = False, notes: Sequence[str] = ()) -> None:
        """Store the certificate and warn or re-raise as asked; ``keep`` overrules ``on_interrupt``."""
        self.certificate_ = certificate
        status, name = certificate.status, type(self).__name__
        self.fit_status_ = 0 if status in ("optimal", "stationary") else 1
        if status == "interrupted":
            if self.on_interrupt == "raise" and not keep:
                raise KeyboardInterrupt
            return
        if notes and status in ("optimal", "stationary", "ill_conditioned", "infeasible"):
            warn_user(f"{name}: {notes[0]}.", IllConditionedWarning)
            return
        asked_for = certificate.criterion == "growth" and status == "iteration_limit" and self.max_iter < 0
        if self.fit_status_ == 0 or asked_for:
            return
        known = (
            f"relative gap {certificate.relative_gap:.3g}"
            if math.isfinite(certificate.relative_gap)
            else "no bound on the distance to the optimum"
        )
        kind: type[Warning] = ConvergenceWarning
        if status in ("ill_conditioned", "infeasible"):
            kind = IllConditionedWarning
        warn_user(
            f"{name} stopped {self._reason(certificate)} after {certificate.n_iter} steps,"
            f" before tol={self.tol:g}: {known}, KKT violation {certificate.kkt_violation:.3g}. "
            + self._advice(certificate),
            kind,
        )

    @staticmethod
    def _advice(certificate: Certificate) -> str:
        """Return what to do about a fit that stopped early."""
        if certificate.status in ("ill_conditioned", "infeasible"):
            scale = max(abs(certificate.primal), abs(certificate.dual))
            unknown = not certificate.relative_gap < 0.5 or certificate.rounding > 0.5 * scale
            usable = "Nothing is known of this model's quality" if unknown else "The model is usable"
            return f"{usable}; scale the features, lower C, or choose another kernel."
        return "The model is usable; raise the limit, loosen tol, or scale the features."

    def _reason(self, certificate: Certificate) -> str:
        """Return what stopped a fit before its tolerance."""
        if certificate.status == "time_limit":
            return f"at time_limit={self.time_limit}"
        if certificate.status in ("ill_conditioned", "infeasible"):
            return "where rounding hides any further gain"
        solver: Any = self.solver if isinstance(self.solver, Solver) else SOLVERS.get(self.solver)
        accuracy = getattr(solver, "accuracy", 0.0)
        if certificate.relative_gap <= accuracy:
            return f"where solver={solver.name!r} does, which is accurate to a gap of {accuracy:g} only,"
        return f"at max_iter={self.max_iter}"

    def _kept(self, X: Any, support: np.ndarray) -> Any:
        """Return the support vectors: items of X, or nothing for a precomputed kernel."""
        if isinstance(self.kernel_, Precomputed):
            return np.empty((0, 0))
        return self.kernel_.take(X, support)

    def _reference(self) -> Any:
        """Return what new points are compared with: support vectors, or their columns in a given matrix."""
        check_is_fitted(self)
        return self.support_ if isinstance(self.kernel_, Precomputed) else self.support_vectors_

    @property
    def _pairwise_kernel(self) -> bool:
        return isinstance(self.kernel_, Precomputed)
