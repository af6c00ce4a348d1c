"""What must hold of every certificate: by itself, against ``certify``, against the truth, in other words."""

import math

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from . import discovery
from .claims import candidate, claims
from .data import contained
from .true_optimum import interval
from .watching import Refused, fitted, watched

SAME = 1e-6  # relative difference of objectives that counts as none
TINY = 1e-290  # below this, numbers lose their digits
STATUSES = {
    "optimal", "stationary", "iteration_limit", "time_limit", "interrupted", "ill_conditioned", "infeasible",
    "unbounded",
}  # fmt: skip
PROMISING = {"optimal", "iteration_limit", "time_limit", "interrupted"}  # whose numbers mean something


def _words(certificate):
    return (
        f"{certificate.status}: primal {certificate.primal!r}, dual {certificate.dual!r}, "
        f"gap {certificate.gap!r}, relative {certificate.relative_gap!r}, "
        f"violation {certificate.kkt_violation!r}"
    )


def stated_rounding(certificate):
    """Return what the certificate itself says that rounding may hide."""
    return float(getattr(certificate, "rounding", 0.0) or 0.0)


def _scale(certificate):
    return max(abs(certificate.primal), abs(certificate.dual), TINY)


def natural_rounding(fit, model, X, y, weight):
    """Return the rounding of an objective that may come out as zero although its terms do not.

    The multipliers of balls, planes and nu-machines have fixed sums, so that the terms are of the size of the
    kernel's diagonal; those of regressions are of the size of what the zero function costs.
    """
    n = fit.data.n
    w = np.ones(n) if weight is None else weight
    with np.errstate(all="ignore"):
        if fit.role == "detector" or fit.estimator == "NuSVC":
            if not hasattr(model, "kernel_"):
                return 0.0
            # Of an indefinite kernel, the diagonal may be zero and the rest not.
            values = np.asarray(X) if fit.data.kind == "matrix" and not sp.issparse(X) else model.kernel_(X)
            total = np.float64(1.0 if fit.estimator in ("SVDD", "SphereAndSlab") else model.nu * w.sum())
            rounding = 1e-13 * n * np.abs(values).max() * max(total**2, total)
        elif fit.role == "regressor":
            C = max(1.0, float(getattr(model, "C", 1.0)))
            largest = np.abs(np.asarray(y, dtype=float)).max()
            rounding = 1e-12 * C * w.sum() * max(largest, largest**2)
        else:
            rounding = 0.0
    return float(rounding) if math.isfinite(rounding) else 0.0


def check_certificate(fit, report, model, where, natural):
    """The status follows from the numbers."""
    c = model.certificate_
    words = _words(c)
    if c.status not in STATUSES:
        report.fail("a known status", where, words)
    if math.isnan(c.gap):
        if c.status == "optimal":
            report.fail('"optimal" has a gap', where, words)
        if c.status == "stationary" and not math.isfinite(c.kkt_violation):
            report.fail('"stationary" has a finite violation', where, words)
        if c.status == "stationary" and not (math.isfinite(c.primal) and math.isfinite(c.dual)):
            report.fail('"stationary" has finite values', where, words)
        return
    if c.gap < 0:
        report.fail("gap >= 0", where, words)
    if c.status != "optimal":
        return
    if not all(map(math.isfinite, (c.primal, c.dual, c.gap, c.relative_gap, c.kkt_violation))):
        report.fail('"optimal" has finite values', where, words)
        return
    tol = float(getattr(model, "tol", 0.0))
    rounding = stated_rounding(c) or 1e-9 * _scale(c) + natural
    met = c.kkt_violation <= tol * (1 + 1e-9) or c.relative_gap <= tol * (1 + 1e-9) or c.gap <= rounding
    if not met and hasattr(model, "tol"):
        report.fail('"optimal" meets tol', where, f"tol={tol:g}: {words}")
    if abs(c.primal - c.dual - c.gap) > SAME * _scale(c) + stated_rounding(c) + natural:
        report.fail("gap = primal - dual", where, words)


def check_certify(fit, report, model, X, y, weight, where, rounding):
    c = model.certificate_
    arguments = [X] if y is None else [X, y]
    if weight is not None:
        arguments = [X, y, weight]
    try:
        with watched(report, "certify", discovery.parameters(fit.estimator)):
            again = model.certify(*arguments)
    except Refused as refusal:
        if not refusal.told:
            report.fail("certify works after fit", where, refusal)
        return
    if c.status not in PROMISING | {"stationary"}:
        return
    if fit.data.kind == "matrix" and fit.data.container == "csc":
        return  # not symmetric: no kernel, and rows and columns give different sums
    allowed = SAME * max(_scale(c), _scale(again)) + stated_rounding(c) + stated_rounding(again) + rounding
    if math.isfinite(c.gap) and math.isfinite(again.gap):
        allowed += min(c.gap, again.gap)
    for name in ("primal", "dual"):
        a, b = getattr(c, name), getattr(again, name)
        if math.isnan(a) and math.isnan(b):
            continue
        if not (a == b or abs(a - b) <= allowed):
            report.fail("certify agrees", where, f"{name}: {_words(c)}\nagain: {_words(again)}")
            return


def check_claims(fit, report, model, X, y, weight, where, rounding):
    """Weak duality against a solver and definitions of our own."""
    if fit.params.get("parametric") is not None or fit.params.get("gap"):
        return  # columns that cost nothing, and gaps beside a ball, are not in these definitions
    for claim in claims(fit.estimator, model, X, y, weight):
        c = claim.certificate
        if not (math.isfinite(c.primal) and math.isfinite(c.dual)):
            continue
        lower, upper = interval(claim.statement, [candidate(claim)])
        allowed = SAME * _scale(c) + stated_rounding(c) + rounding
        words = (
            f"{_words(c)}\nthe optimum lies in [{lower!r}, {upper!r}]; the own decisions cost {claim.own!r}"
        )
        if c.dual > upper + allowed:
            report.fail("a false lower bound", where, words)
        if c.primal < lower - allowed:
            report.fail("a false upper bound", where, words)
        if c.status == "optimal" and abs(claim.own - c.primal) > allowed + SAME * abs(claim.own) + c.gap:
            report.fail("decisions cost what is certified", where, words)


# -- the same problem in other words ---------------------------------------------------------------------


def check_equals(fit, report, certificate, X, y, weight, where, rounding):
    """Rows in another order, rows repeated for weights, labels swapped: the same optimum."""
    if fit.params.get("max_iter", -1) != -1 or fit.params.get("time_limit") or fit.params.get("budget"):
        return
    if fit.params.get("probability") or discovery.is_search(fit.estimator):
        return
    if fit.params.get("approximation") is not None:
        return  # landmarks and frequencies are drawn, and other rows give others
    if fit.estimator.startswith("GaussianProcess") and fit.params.get("optimizer", "") is not None:
        return  # the evidence has several maxima, and which one is found is no property of the data
    rng = np.random.default_rng(fit.data.seed)
    order = rng.permutation(fit.data.n)
    online = "shuffle" in discovery.parameters(fit.estimator)
    cases = {} if online else {"permutation": _taken(fit, X, y, weight, order)}
    left_out = fit.params.get("alpha") == "loo"  # of a repeated row, the others stay
    if weight is not None and fit.data.weight == "integers" and fit.data.kind != "matrix" and not left_out:
        repeated = np.repeat(np.arange(fit.data.n), weight.astype(int))
        cases["repetition"] = (*_taken(fit, X, y, weight, repeated)[:2], None)
    if (
        fit.role == "classifier"
        and len(set(np.asarray(y).tolist())) == 2
        and not isinstance(fit.params.get("class_weight"), dict)
    ):
        first, second = np.unique(y)
        cases["label swap"] = (X, np.where(np.asarray(y) == first, second, first), weight)
    for name, (A, b, w) in cases.items():
        try:
            other = fitted(fit, report, A, b, w, name).certificate_
        except Refused as refusal:
            if not refusal.told:
                report.fail(f"equal under {name}", where, f"{_words(certificate)}\nthen refused: {refusal}")
            continue
        if other.status != "optimal":
            continue  # where rounding has the last word, it may have it in one order only
        allowed = SAME * max(_scale(certificate), _scale(other)) + rounding
        allowed += stated_rounding(certificate) + stated_rounding(other)
        if max(certificate.dual, other.dual) > min(certificate.primal, other.primal) + allowed:
            report.fail(f"equal under {name}", where, f"{_words(certificate)}\nagainst {_words(other)}")
    try:
        again = clone(fit.model())
        if _params(again) != _params(fit.model()):
            report.fail("clone keeps the parameters", where, f"{_params(again)}")
    except (TypeError, ValueError, RuntimeError) as error:
        report.fail("clone works", where, error)


def _params(model):
    return {key: repr(value) for key, value in model.get_params(deep=False).items()}


def _taken(fit, X, y, weight, rows):
    y = None if y is None else np.asarray(y)[rows]
    w = None if weight is None else weight[rows]
    if fit.data.kind == "strings":
        return [X[i] for i in rows], y, w
    if fit.data.kind == "matrix":
        return X[np.ix_(rows, rows)], y, w
    return contained(_dense_points(fit, X)[rows], fit.data.container), y, w


def _dense_points(fit, X):
    if hasattr(X, "toarray"):
        return X.toarray()
    return np.asarray(X)
