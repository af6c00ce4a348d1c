"""What Gaussian processes share: the kernel, ours or scikit-learn's, and the search for its parameters."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from mercer.arrays import Float64
from mercer.estimators.machine import ProblemMachine
from mercer.estimators.user_warnings import warn_user
from mercer.estimators.verdict import check_finite_diagonal
from mercer.gram import Gram, Workers, gram
from mercer.kernels import KERNEL_OPTIONS, Kernel, as_kernel
from mercer.kernels.sklearn_kernels import is_sklearn_kernel
from mercer.kernels.tuning import Tuning
from mercer.solvers.base import Limits
from mercer.solvers.gaussian.hyperparameters import Found, maximise, stay

OPTIMIZERS = {"fmin_l_bfgs_b", "lbfgs"}
NEAR = 1e-3  # distance to a bound, in logarithms, from which on it is the bound that decides


class BaseGaussianProcess(ProblemMachine):
    """A process with a kernel whose parameters maximise the evidence."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions(set(KERNEL_OPTIONS)), Kernel, callable, None],
        "optimizer": [StrOptions(OPTIMIZERS), callable, None],
        "n_restarts_optimizer": [Interval(Integral, 0, None, closed="left")],
        "copy_X_train": ["boolean"],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "bounds": [dict, None],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
        "on_interrupt": [StrOptions({"raise", "keep"})],
        "verbose": ["verbose"],
    }

    trace = False
    _definite_first = True
    _tuned: Tuning | None  # None for a kernel of scikit-learn's, which brings its own

    # -- the kernel ------------------------------------------------------------------------------------------

    def _default_kernel(self) -> Any:
        """Return scikit-learn's default."""
        from sklearn.gaussian_process.kernels import RBF, ConstantKernel

        return ConstantKernel() * RBF()

    def _given_kernel(self) -> Any:
        """Return the kernel as it was given: ours, or scikit-learn's."""
        kernel = self._default_kernel() if self.kernel is None else self.kernel
        return kernel if is_sklearn_kernel(kernel) else as_kernel(kernel)

    def _kernel(self) -> Kernel:
        return as_kernel(self._given_kernel())

    def _check_parameters(self) -> None:
        if self.bounds is not None and not isinstance(self.bounds, Mapping):
            raise TypeError(
                f"bounds={self.bounds!r} must be None or a dict of (low, high) or 'fixed' by name"
            )

    def _beginning(self, resolved: Kernel, bounds: Mapping[str, Any]) -> tuple[Any, Tuning | None]:
        """Return the kernel to start with, as it was given, and the free parameters of one of ours."""
        given = self._given_kernel()
        if not is_sklearn_kernel(given):
            return resolved, Tuning(resolved, bounds)
        if bounds:
            raise ValueError(
                f"bounds={dict(bounds)!r} are for kernels of mercer: {given!r} has its own, such as "
                "length_scale_bounds"
            )
        return clone(given), None

    def _matrix(self, kernel: Kernel, X: Any, split: Any, workers: Workers) -> Gram:
        matrix = gram(kernel, X, precision="double", workers=workers, cache_bytes=0)
        check_finite_diagonal(kernel, matrix.diag())
        return matrix

    def _psd(self, kernel: Kernel, matrix: Gram) -> bool:
        self._require_definite(kernel.is_psd is not False, kernel)
        return super()._psd(kernel, matrix)

    @staticmethod
    def _require_definite(definite: bool, kernel: Any) -> None:
        if not definite:
            raise ValueError(
                f"kernel={kernel!r} is not positive semi-definite: there is no Gaussian process with it"
            )

    # -- the search ------------------------------------------------------------------------------------------

    def _starts(self, split: Any, kernel: Kernel) -> list[Any] | None:
        return None

    def _search(
        self,
        evidence: Callable[[Float64], Any],
        starts: list[Float64],
        bounds: Float64,
        limits: Limits,
        rng: Any,
        settled: bool = False,
    ) -> Found:
        """Maximise the evidence from given starts (``settled``: the first is a maximum) and random ones."""
        if self.n_restarts_optimizer > 0:
            if not np.isfinite(bounds).all():
                raise ValueError(
                    "Multiple optimizer restarts (n_restarts_optimizer>0) requires that all bounds are "
                    "finite."
                )
            starts = [*starts, *(rng.uniform(*bounds.T) for _ in range(self.n_restarts_optimizer))]
        listener: Callable[[int, float], None] | None = None
        if self.verbose:

            def listener(count: int, value: float) -> None:
                sys.stdout.write(f"[{type(self).__name__}] evaluation {count:>4}  log evidence {value:.6f}\n")

        optimizer = stay if settled and len(starts) == 1 else self.optimizer
        return maximise(evidence, starts, bounds, limits=limits, optimizer=optimizer, listener=listener)

    @staticmethod
    def _warn_of_bounds(theta: Float64, bounds: Float64, labels: list[str], kernel: Any) -> None:
        """Say which parameters, of the kernel that was found and of the noise, their bounds have decided."""
        if is_sklearn_kernel(kernel):
            size = kernel.theta.size
            warn_of_their_bounds(kernel)
            theta, bounds, labels = theta[size:], bounds[size:], labels[size:]
        near = (np.abs(theta[:, None] - bounds) <= NEAR).any(axis=1)
        if near.any():
            named = [
                f"{labels[j]} ({math.exp(theta[j]):.3g} in [{math.exp(bounds[j, 0]):.3g}, "
                f"{math.exp(bounds[j, 1]):.3g}])"
                for j in np.flatnonzero(near)
            ]
            warn_user(
                f"the best value of {', '.join(named)} lies at a bound: widen bounds, or fix what the data "
                "do not determine",
                ConvergenceWarning,
            )


def warn_of_their_bounds(kernel: Any) -> None:
    """Say in scikit-learn's words which parameters of its kernel lie at a bound."""
    place = 0
    for h in kernel.hyperparameters:
        if h.fixed:
            continue
        for j in range(h.n_elements):
            low, high = kernel.bounds[place]
            for bound, side, change in ((low, "lower", "Decreasing"), (high, "upper", "Increasing")):
                if np.isclose(bound, kernel.theta[place]):
                    edge = h.bounds[j][0 if side == "lower" else 1]
                    warn_user(
                        f"The optimal value found for dimension {j} of parameter {h.name} is close to the "
                        f"specified {side} bound {edge}. {change} the bound and calling fit again may find a "
                        "better value.",
                        ConvergenceWarning,
                    )
            place += 1
