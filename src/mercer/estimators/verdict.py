"""The verdict on a fit: may a gap be claimed, is all that is shipped finite, what is said of an early end."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import LinAlgWarning
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from mercer.arrays import Float64
from mercer.estimators.user_warnings import warn_user
from mercer.gram import Features, Gram
from mercer.gram.spectrum import spectrum
from mercer.kernels import Kernel, Precomputed
from mercer.problems import Certificate
from mercer.problems.design import Design
from mercer.solvers import SOLVERS, Solver

INDEFINITE = 1e-7  # share of the largest eigenvalue below which a negative one is rounding
# Infinite or undefined by their meaning: unknown gaps, margins of w = 0, scores of splits that have none,
# an evidence that there was no time to estimate.
MEANT = frozenset(
    {"certificate_", "certificates_", "condition_", "history_", "margin_", "trace_", "cv_results_"}
    | {"log_marginal_likelihood_value_", "log_marginal_likelihood_error_"}
)
SQUARABLE = 1e145  # numbers up to here can be squared, and millions of the squares added
UNSET = "deprecated"  # scikit-learn's default of ``probability`` since 1.9, which means False
REMEDY = (
    "The data or the parameters are beyond what float64 can hold: scale the features (StandardScaler), or "
    "choose less extreme parameters"
)


class IndefiniteKernelWarning(UserWarning):
    """The kernel matrix is not positive semi-definite, so the fit is a stationary point without a gap."""


class IllConditionedWarning(ConvergenceWarning, LinAlgWarning):
    """Rounding has the last word: a system is singular, or nearly so, in floating-point arithmetic."""


# -- definiteness --------------------------------------------------------------------------------------------


def definite(model: Any, kernel: Kernel, matrix: Gram, free: Any, weight: Float64) -> bool:
    """Return whether a gap may be claimed: columns that cost nothing spare the kernel some directions."""
    if free is None:
        return bool(model._psd(kernel, matrix))
    if free.definite:
        model.__dict__.pop("smallest_eigenvalue_", None)
        return True
    design = Design.of(free.values, weight > 0, constant=free.constant, names=free.names)
    # What is known of the kernel does not hold there: the matrix is looked at as one that is given.
    return bool(model._psd(Precomputed(), design.projected(matrix)))


def claims_gap(model: Any, kernel: Kernel, matrix: Gram) -> bool:
    """Return whether a gap may be claimed; say so when the kernel matrix is indefinite."""
    model.__dict__.pop("smallest_eigenvalue_", None)
    if kernel.is_psd:
        return True
    ends = spectrum(matrix)
    model.smallest_eigenvalue_ = ends.smallest
    if ends.asymmetry == 0.0 and ends.smallest >= -INDEFINITE * max(ends.largest, 1e-300):
        return kernel.is_psd is None  # of a kernel known to be indefinite, some other rows would tell
    reason = (
        f"not symmetric: K_ij and K_ji differ by up to {ends.asymmetry:.3g}"
        if ends.asymmetry
        else f"not positive semi-definite: its smallest eigenvalue is about {ends.smallest:.3g} (largest "
        f"{ends.largest:.3g})"
    )
    remedy = "" if kernel.pairwise else " kernel.clipped(), .flipped() or .shifted() would mend that."
    warn_user(
        f"the kernel matrix is {reason}. The fit is a stationary point; no duality gap can be given."
        + remedy,
        IndefiniteKernelWarning,
    )
    return False


def noise_of(matrix: Gram, rows: np.ndarray, coef: Float64, problem: Any = None) -> Float64:
    """Return a bound on the rounding error of products with some rows' part of a matrix."""
    seen = getattr(problem, "seen", None)
    if seen is not None:  # a kernel that is definite beside columns only: its diagonal bounds nothing
        known: Float64 = seen.noise(coef)
        return known
    if isinstance(matrix, Features):  # of machines on features, whose coefficients are weights
        return np.asarray(matrix.weight_noise(coef)[rows])
    if rows.size == matrix.n:
        return matrix.noise(coef)
    whole = np.zeros((matrix.n, *coef.shape[1:]))
    whole[rows] = coef
    noise: Float64 = matrix.noise(whole)[rows]
    return noise


# -- numbers that are none -----------------------------------------------------------------------------------


def check_finite_diagonal(
    kernel: Kernel, diagonal: NDArray[Any], rows: NDArray[np.intp] | None = None, name: str = "X"
) -> None:
    """Refuse a kernel that overflows or fails; ``rows`` are the numbers of the entries among the user's."""
    bad = np.flatnonzero(~np.isfinite(diagonal))
    if bad.size:
        first = bad[0] if rows is None else rows[bad[0]]
        raise ValueError(
            f"kernel={kernel!r} is not finite at {bad.size} of {diagonal.size} rows of {name}, first at row "
            f"{first}: scale the features, or fix the kernel"
        )


def check_squares(Y: NDArray[Any]) -> None:
    """Refuse targets whose squares, which objectives add up, are beyond float64."""
    largest = float(np.abs(Y).max(initial=0.0))
    if largest > SQUARABLE:
        row = int(np.unravel_index(int(np.abs(Y).argmax()), Y.shape)[0])
        raise ValueError(
            f"y reaches {largest:.3g} (row {row}), and sums of its squares overflow: divide y by its "
            "standard deviation, or check its units"
        )


def check_finite_model(
    estimator: BaseEstimator, *, infinite: Collection[str] = (), remedy: str = REMEDY
) -> None:
    """Refuse a fitted estimator that holds nan or infinity; afterwards it counts as not fitted.

    Parameters
    ----------
    estimator : BaseEstimator
        At the end of its ``fit``. What counts is everything that is no parameter: arrays, sparse matrices,
        numbers, and lists, tuples, dictionaries and records of them. Nested estimators are passed over: they
        end their own fits.
    infinite : collection of str
        Attributes that may be infinite, though not nan, by their meaning.
    remedy : str
        What the message tells the user to do.

    Raises
    ------
    ValueError
        With the attribute, how many of its numbers are not finite, the first of them and the remedy.
    """
    # A parameter's name neither begins nor ends with an underscore; asking for them all would take longer.
    held = {
        name: value
        for name, value in vars(estimator).items()
        if (name.endswith("_") or name.startswith("_")) and name not in MEANT
    }
    for name, value in held.items():
        if _is_plainly_finite(value):
            continue
        for where, numbers in _arrays(value, name):
            bad = _first_bad(numbers, nan_only=name in infinite)
            if bad is not None:
                count, place, first = bad
                for fitted in held:
                    if fitted.endswith("_"):
                        delattr(estimator, fitted)
                at = f"at {place}, " if place else ""
                raise ValueError(
                    f"{type(estimator).__name__}: {count} of the {numbers.size} numbers of {where} "
                    f"came out as no finite number ({at}{first}). {remedy}"
                )


def _is_plainly_finite(value: Any) -> bool:
    """Return whether a thorough look at a value is needless: an array or a number without any doubt."""
    if type(value) is np.ndarray:
        if value.dtype.kind not in "fc":
            return bool(value.dtype.kind != "O")
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isfinite(value.sum()))  # needs no memory, and settles nearly every case
    return type(value) in (bool, int, str)


def _arrays(value: Any, where: str) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the arrays of floats inside a value, with where they stand."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "fc":
            yield where, value
        elif value.dtype.kind == "O":
            for k, item in enumerate(value.flat):
                yield from _arrays(item, f"{where}[{k}]")
    elif sp.issparse(value):
        yield from _arrays(getattr(value, "data", None), where)
    elif isinstance(value, float | np.floating):
        yield where, np.asarray(value, dtype=np.float64)
    elif isinstance(value, list | tuple):
        for k, item in enumerate(value):
            yield from _arrays(item, f"{where}[{k}]")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _arrays(item, f"{where}[{key!r}]")
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _arrays(getattr(value, field.name), f"{where}.{field.name}")


def _first_bad(numbers: np.ndarray, *, nan_only: bool) -> tuple[int, str, Any] | None:
    """Return how many numbers are bad, the index of the first and its value; None if all are good."""
    wrong = np.isnan(numbers) if nan_only else ~np.isfinite(numbers)
    count = int(np.count_nonzero(wrong))
    if count == 0:
        return None
    place = np.unravel_index(int(np.argmax(wrong)), numbers.shape)
    return count, ", ".join(str(int(i)) for i in place), numbers[place]


# -- a fit that stopped before its tolerance -----------------------------------------------------------------


def conclude(model: Any, certificate: Certificate, keep: bool, notes: Sequence[str]) -> None:
    """Warn of what a certificate says, or re-raise Ctrl-C as asked.

    Parameters
    ----------
    model : KernelMachine
        The estimator; its ``fit_status_`` is set.
    certificate : Certificate
        What was reached.
    keep : bool
        Overrules ``on_interrupt``.
    notes : sequence of str
        What solvers want the user to know.
    """
    status = certificate.status
    model.fit_status_ = 0 if status in ("optimal", "stationary") else 1
    if status == "interrupted":
        if model.on_interrupt == "raise" and not keep:
            raise KeyboardInterrupt
        return
    if notes and status in ("optimal", "stationary", "ill_conditioned", "infeasible"):
        warn_user(f"{type(model).__name__}: {notes[0]}.", IllConditionedWarning)
        return
    asked_for = certificate.criterion == "growth" and status == "iteration_limit" and model.max_iter < 0
    if model.fit_status_ == 1 and not asked_for:
        warn_user(*early_end(model, certificate))


def early_end(model: Any, certificate: Certificate) -> tuple[str, type[Warning]]:
    """Return the warning, and its kind.

    Parameters
    ----------
    model : KernelMachine
        The estimator.
    certificate : Certificate
        What was reached.
    """
    rounding = certificate.status in ("ill_conditioned", "infeasible")
    known = (
        f"relative gap {certificate.relative_gap:.3g}"
        if math.isfinite(certificate.relative_gap)
        else "no bound on the distance to the optimum"
    )
    message = (
        f"{type(model).__name__} stopped {_reason(model, certificate)} after {certificate.n_iter} steps,"
        f" before tol={model.tol:g}: {known}, KKT violation {certificate.kkt_violation:.3g}. "
        + _advice(certificate)
    )
    return message, IllConditionedWarning if rounding else ConvergenceWarning


def _advice(certificate: Certificate) -> str:
    """Return what to do about a fit that stopped early."""
    if certificate.status in ("ill_conditioned", "infeasible"):
        scale = max(abs(certificate.primal), abs(certificate.dual))
        unknown = not certificate.relative_gap < 0.5 or certificate.rounding > 0.5 * scale
        usable = "Nothing is known of this model's quality" if unknown else "The model is usable"
        return f"{usable}; scale the features, lower C, or choose another kernel."
    return "The model is usable; raise the limit, loosen tol, or scale the features."


def _reason(model: Any, certificate: Certificate) -> str:
    """Return what stopped a fit before its tolerance."""
    if certificate.status == "time_limit":
        return f"at time_limit={model.time_limit}"
    if certificate.status in ("ill_conditioned", "infeasible"):
        return "where rounding hides any further gain"
    solver: Any = model.solver if isinstance(model.solver, Solver) else SOLVERS.get(model.solver)
    accuracy = getattr(solver, "accuracy", 0.0)
    if certificate.relative_gap <= accuracy:
        return f"where solver={solver.name!r} does, which is accurate to a gap of {accuracy:g} only,"
    return f"at max_iter={model.max_iter}"


def wants_probabilities(estimator: Any) -> bool:
    """Return whether an estimator's ``probability`` is set: scikit-learn's default says that it is not.

    Parameters
    ----------
    estimator : estimator
        With or without such a parameter.
    """
    wanted = getattr(estimator, "probability", False)
    return bool(wanted) and wanted != UNSET
