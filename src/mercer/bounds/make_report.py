"""The report: the generalisation bounds of a fitted model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from mercer.bounds.classifier_lines import classifier_facts, classifier_lines, held_out_assumptions
from mercer.bounds.detector_lines import Ball, Plane, detector_facts, detector_lines
from mercer.bounds.enclosing_ball import EnclosingRadius, enclosing_radius
from mercer.bounds.held_out import held_out_error
from mercer.bounds.machine_readers import Part, UnreadError, read, why_not
from mercer.bounds.promises import Fact, Line, Report, Reports
from mercer.bounds.regressor_lines import Regression, regressor_facts, regressor_lines
from mercer.bounds.report_setting import Options, Setting, setting, unwrap
from mercer.bounds.two_class_machine import TwoClass
from mercer.gram import Gram, Workers, gram

INDEFINITE = "the kernel is not positive semi-definite, so there is no feature space with margins and norms"
BALL_ROWS = 32  # rows of the kernel matrix that may be spent on the radius of the sample


def report(
    model: Any,
    X: Any,
    y: ArrayLike | None = None,
    delta: float = 0.05,
    *,
    radius: float | None = None,
    tau: float | None = None,
    candidates: int = 1,
    chosen_elsewhere: bool = False,
    X_test: Any = None,
    y_test: ArrayLike | None = None,
    tolerance: float | None = None,
    target_bound: float | None = None,
    rate: float = 0.1,
    estimates: Mapping[str, float] | None = None,
) -> Report | Reports:
    """Report generalisation bounds of a fitted model, and their assumptions.

    Parameters
    ----------
    model : estimator
        A fitted SVC, NuSVC, KernelClassifier, KernelLogisticRegression of two classes, SVR, NuSVR,
        KernelRidge, KernelRidgeClassifier, SVDD, SphereAndSlab, OneClassSVM, perceptron or the like; also
        inside of a pipeline or a search. Of any other the report says why no theorem is about it, and what
        held-out points promise.
    X, y : array
        The training data.
    delta : float
        Probability with which each promise may fail.
    radius : float, optional
        R, the radius of a ball around the origin of feature space that holds whatever the distribution can
        produce. Known for bounded kernels (rbf: 1). It is never taken from the sample.
    tau : float, optional
        Size of the coordinate that carries the bias, fixed before the data are seen; R (or 1) if not given.
    candidates : int
        How many settings of the parameters were compared on these rows; delta is divided among them. Known of
        a fitted search.
    chosen_elsewhere : bool
        Whether the parameters that depend on data (``gamma="scale"``, a scaler, a cross-validated C) were
        found on other data than these rows.
    X_test, y_test : array, optional
        Points that had no part in the fit.
    tolerance : float, optional
        Regressors: the size of an error that matters, fixed before the data are seen.
    target_bound : float, optional
        Regressors: the largest absolute target that can occur.
    rate : float
        Detectors: the share of false alarms for which a radius is wished.
    estimates : mapping of str to float, optional
        Estimates of the error from elsewhere (leave-one-out, span) to show beside the promises.

    Returns
    -------
    Report or Reports
        A table in the terminal and in notebooks; ``report.lines`` holds the numbers. For more than two
        classes one report per two-class machine.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.bounds import report
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = X / [1 if top == 0 else top for top in X.max(axis=0)]
    >>> model = SVC(C=10, gamma=1.0).fit(X[:400], y[:400])
    >>> found = report(model, X[:400], y[:400], X_test=X[400:], y_test=y[400:])
    >>> found["held-out points"].verdict
    'guarantee'
    """
    held_out = None if X_test is None else (X_test, y_test)
    options = Options(
        delta=delta, radius=radius, tau=tau, candidates=candidates, chosen_elsewhere=chosen_elsewhere,
        tolerance=tolerance, target_bound=target_bound, rate=rate, test=held_out,
        estimates=tuple((estimates or {}).items()),
    )  # fmt: skip
    check_is_fitted(model)
    whole = model
    model, X, options, found = unwrap(model, X, options)
    refused = why_not(model)
    if refused is not None:
        return _nothing(model, options, whole, X.shape[0] if hasattr(X, "shape") else len(X), refused)
    here = setting(model, options, found, X)
    X = here.kernel.check(X)
    _check_rows(model, X, y)
    matrix = gram(here.kernel, X)  # in single precision only where a trial shows that it is enough
    if _indefinite(model, here):
        return _nothing(model, options, whole, matrix.n, INDEFINITE)
    name = _name(model)
    with Workers(1).one_blas_thread():  # entered once: for each of many small products it would take longer
        try:
            parts = read(model, X, y, matrix)
        except UnreadError as error:
            return _nothing(model, options, whole, matrix.n, str(error))
        more = _from_elsewhere(type(parts[0].machine), options, whole)
        if len(parts) == 1:
            return _one(parts[0], here, matrix, name, more)
        title = f"Generalisation bounds for {name}: one report per two-class machine"
        return Reports(title, tuple(_one(part, here, matrix, name) for part in parts), tuple(more))


def _indefinite(model: Any, here: Setting) -> bool:
    certificate = getattr(model, "certificate_", None)
    return here.kernel.is_psd is False or (certificate is not None and math.isnan(certificate.gap))


def _nothing(model: Any, options: Options, whole: Any, n: int, why: str) -> Report:
    """Return the report on a machine that no theorem is about: only other points can tell."""
    line = Line("margins and norms", "", None, "all theorems", why=why)
    kind = Regression if hasattr(model, "predict") and not hasattr(model, "classes_") else TwoClass
    more = _from_elsewhere(Ball if hasattr(model, "offset_") else kind, options, whole)
    title = f"Generalisation bounds for {_name(model)}"
    return Report(
        title, "Error rate of new points", options.delta, n, (Fact("training points", n),), (line, *more)
    )


def _check_rows(model: Any, X: Any, y: Any) -> None:
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    known = getattr(model, "shape_fit_", None)
    known = known[0] if known else getattr(getattr(model, "X_fit_", None), "shape", (n,))[0]
    if n != known:
        raise ValueError(
            f"X has {n} rows, the machine was trained on {known}: report() needs the training data"
        )
    if y is not None and len(np.asarray(y)) != n:
        raise ValueError(f"X has {n} rows, y has {len(np.asarray(y))} entries")
    if y is None and not hasattr(model, "offset_"):
        raise ValueError(f"a report on {type(model).__name__} needs y, the targets of the training points")


def _one(part: Part, here: Setting, matrix: Gram, name: str, more: Sequence[Line] = ()) -> Report:
    rows, it = part.rows, part.machine
    whole = rows is None or rows.size == matrix.n

    def sample() -> EnclosingRadius:
        part = matrix if whole else matrix.subset(rows)  # type: ignore[arg-type]
        with Workers(1).one_blas_thread():
            return enclosing_radius(part, max_rows=BALL_ROWS)

    if isinstance(it, TwoClass):
        about = "Error rate of new points"
        facts, lines = classifier_facts(it, sample), classifier_lines(it, here)
    elif isinstance(it, Regression):
        about = "Errors on new points"
        facts, lines = regressor_facts(it, sample), regressor_lines(it, here)
    else:
        about = "False alarms on new points"
        facts, lines = detector_facts(it, sample), detector_lines(it, here)
    title = f"Generalisation bounds for {name}" + (f", {part.title}" if part.title else "")
    n = matrix.n if whole or rows is None else rows.size
    return Report(title, about, here.options.delta, n, facts, (*lines, *more))


def _from_elsewhere(kind: type, options: Options, whole: Any) -> list[Line]:
    """Return the lines that do not come from the training points."""
    lines = [] if options.test is None or not hasattr(whole, "predict") else [_held_out(kind, options, whole)]
    for name, value in options.estimates:
        lines.append(
            Line(
                name,
                "The error is estimated to be {value}.",
                float(value),
                "computed elsewhere",
                kind="estimate",
                why="an estimate has no delta: it may be wrong without warning",
            )
        )
    return lines


def _held_out(kind: type, options: Options, whole: Any) -> Line:
    assert options.test is not None
    X, y = options.test
    delta = options.delta
    if issubclass(kind, Ball | Plane):
        wrong = np.asarray(whole.predict(X)) < 0
        promise = "A new point that is not novel is called novel with probability at most {value}."
    elif y is None:
        raise ValueError("y_test is needed beside X_test")
    elif issubclass(kind, Regression):
        tolerance = options.tolerance
        if tolerance is None:
            return Line(
                "held-out points", "", None, "binomial tail inversion", kind="modern",
                why="needs tolerance=, the size of an error that matters",
            )  # fmt: skip
        wrong = np.abs(np.asarray(whole.predict(X)) - np.asarray(y)) > tolerance
        wrong = wrong if wrong.ndim == 1 else wrong.any(axis=1)
        promise = f"A new point is missed by more than {tolerance:.4g} with probability at most {{value}}."
    else:
        wrong = np.asarray(whole.predict(X)) != np.asarray(y)
        promise = "A new point is misclassified with probability at most {value}."
    k, n = int(wrong.sum()), int(wrong.size)
    why = f"{k} errors on {n} held-out points"
    return Line(
        "held-out points", promise, held_out_error(errors=k, n=n, delta=delta),
        "binomial tail inversion: Langford 2005", kind="modern", seen=k / n,
        assumptions=held_out_assumptions(), why=why,
    )  # fmt: skip


def _name(model: Any) -> str:
    """Return the model as Python that builds it; scikit-learn's printer takes as long as all bounds."""
    known = _defaults(type(model))  # type: ignore[arg-type]  # mypy holds that classes cannot be hashed
    values = ((name, getattr(model, name, default), default) for name, default in known)
    changed = [f"{name}={value!r}" for name, value, default in values if not _same(value, default)]
    text = " ".join(f"{type(model).__name__}({', '.join(changed)})".split())
    return text if len(text) <= 80 else f"{type(model).__name__}(...)"


@cache
def _defaults(cls: Any) -> tuple[tuple[str, Any], ...]:
    """Return the parameters of a class and their defaults, by name."""
    return tuple((p.name, p.default) for p in sorted(signature(cls).parameters.values(), key=str))


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and repr(value) == repr(default))
