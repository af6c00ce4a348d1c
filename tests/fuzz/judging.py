"""What must hold of every fit."""

import copy
import io
import math
import pickle
import tempfile
import time
import traceback
import warnings
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

import numpy as np
from sklearn.base import clone

import mercer

from . import discovery
from .claims import candidate, claims
from .data import contained
from .report import Report, frames, is_refusal, origin, short
from .true_optimum import interval

SAME = 1e-6  # relative difference of objectives that counts as none
TINY = 1e-290  # below this, numbers lose their digits
STATUSES = {
    "optimal", "stationary", "iteration_limit", "time_limit", "interrupted", "ill_conditioned", "infeasible",
    "unbounded",
}  # fmt: skip
PROMISING = {"optimal", "iteration_limit", "time_limit", "interrupted"}  # whose numbers mean something
SHIPPED = (
    "dual_coef_", "intercept_", "coef_", "offset_", "radius_", "rho_", "epsilon_", "means_", "scalings_",
    "priors_", "eigenvalues_", "eigenvectors_", "covariance_", "support_vectors_", "xbar_", "n_iter_",
)  # fmt: skip


class Refused(Exception):  # noqa: N818
    """The library refused; ``told`` if not in words, which is in the report already."""

    told = False


@contextmanager
def watched(report, name, names=()):
    """Run a step; tell refusals from failures, and warnings of ours from those that leaked."""
    with warnings.catch_warnings(record=True) as caught, redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        try:
            yield
        except Refused:
            raise
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            if frames(error) and frames(error)[-1][0].startswith("tests/"):
                raise
            why = is_refusal(error, names)
            if why:
                trace = "".join(traceback.format_exception(error)[-3:])
                where = f"{type(error).__name__} at {origin(error)}"
                report.fail(
                    f"{name}: refused without words",
                    where,
                    f"{why}: {type(error).__name__}: {error}\n{trace}",
                )
            refusal = Refused(str(error))
            refusal.told = bool(why)
            raise refusal from error
        finally:
            for warning in caught:
                kind = warning.category
                home = kind.__module__.split(".")[0]
                ours = (
                    home in ("mercer", "sklearn")
                    or kind in (UserWarning, FutureWarning)
                    or _in_our_words(warning)
                )
                if not ours:
                    line = f"{short(warning.filename)}:{warning.lineno}"
                    where = f"{kind.__name__} in {short(warning.filename)}"
                    report.fail(
                        f"{name}: a warning leaked", where, f"{line}: {kind.__name__}: {warning.message}"
                    )


def _in_our_words(warning):
    """Return whether a warning of SciPy's class was given by us."""
    text = str(warning.message)
    return warning.category.__name__ == "LinAlgWarning" and not text.startswith(
        ("Ill-conditioned", "Diagonal")
    )


def judge(fit):
    """Return the report of one fit and of all that is done with it."""
    report = Report()
    start = time.process_time()
    try:
        _judge(fit, report)
    except Refused as refusal:
        report.ending = report.ending or "refused"
        report.refusal = str(refusal)
    report.seconds = time.process_time() - start
    return report


def _fitted(fit, report, X, y, weight, what="fit", **changes):
    with watched(report, what, discovery.parameters(fit.estimator)):
        model = fit.model(**changes)
        start = time.process_time()
        arguments = {} if weight is None else {"sample_weight": weight}
        model.fit(X, y, **arguments) if y is not None else model.fit(X, **arguments)
        report.fits += 1
        limit = fit.params.get("time_limit")
        seconds = time.process_time() - start
        if limit and seconds > 1.1 * limit + 3.0:
            report.fail("a limit is kept", fit.estimator, f"time_limit={limit}: {seconds:.1f} s")
        return model


def _judge(fit, report):
    X, y, weight = fit.inputs()
    model = _fitted(fit, report, X, y, weight)
    where = fit.place
    new = _new_points(fit, X)
    for name in SHIPPED:
        _check_finite(
            report, f"{name} of {fit.estimator}", getattr(model, name, None) if name in vars(model) else None
        )
    certificate = getattr(model, "certificate_", None)
    report.ending = getattr(certificate, "status", "fitted")
    outputs = _outputs(fit, report, model, new)
    _check_outputs(fit, report, model, new, outputs, where)
    if certificate is not None:
        rounding = natural_rounding(fit, model, X, y, weight)
        _check_certificate(fit, report, model, where, rounding)
        if hasattr(model, "certify"):
            _check_certify(fit, report, model, X, y, weight, where, rounding)
        bounded = certificate.status == "ill_conditioned" and stated_rounding(certificate) > 0
        if math.isfinite(certificate.gap) and (certificate.status in PROMISING or bounded):
            _check_claims(fit, report, model, X, y, weight, where, rounding)
    _check_copies(fit, report, model, new, outputs)
    if certificate is not None and certificate.status == "optimal" and math.isfinite(certificate.gap):
        _check_equals(fit, report, certificate, X, y, weight, where, rounding)


# -- outputs ---------------------------------------------------------------------------------------------


def _new_points(fit, X):
    if fit.data.kind == "strings":
        return [*X, "", "abba"]
    if fit.data.kind == "matrix":
        return X
    points = fit.data.points()
    return contained(np.vstack([points, 0.5 * points[:2], 0.0 * points[:1]]), fit.data.container)


def _check_finite(report, name, value, property_name="nan never leaves"):
    if value is None:
        return
    try:
        array = np.asarray(value.data if hasattr(value, "toarray") else value, dtype=float)
    except (TypeError, ValueError):
        return
    if not np.isfinite(array).all():
        report.fail(
            property_name, name, f"{name}: {int((~np.isfinite(array)).sum())} of {array.size} not finite"
        )


def _outputs(fit, report, model, X):
    """Return what the model says of points, by method."""
    found = {}
    for method in ("predict", "decision_function", "predict_proba", "transform", "score_samples"):
        if not hasattr(model, method):
            continue
        try:
            with watched(report, method, discovery.parameters(fit.estimator)):
                found[method] = np.asarray(getattr(model, method)(X))
        except Refused as refusal:
            if not refusal.told and "pass it as diag=" not in str(refusal):
                report.fail(f"{method} works after fit", fit.estimator, refusal)
    for method, value in found.items():
        _check_finite(report, f"{method} of {fit.estimator}", value)
    return found


def _check_outputs(fit, report, model, X, outputs, where):
    decided, labels, chances = (outputs.get(m) for m in ("decision_function", "predict", "predict_proba"))
    if chances is not None and np.isfinite(chances).all():
        off = np.abs(chances.sum(axis=1) - 1.0).max(initial=0.0)
        if off > 1e-9 or chances.min(initial=0.0) < 0:
            report.fail(
                "probabilities sum to one", where, f"off by {off:g}, least {chances.min(initial=0.0):g}"
            )
    if decided is None or labels is None or not np.isfinite(decided).all():
        return
    if fit.role == "detector":
        expected = np.where(decided >= 0, 1, -1)
        sure = np.abs(decided) > 1e-9 * np.abs(decided).max(initial=0.0)
        _compare_labels(report, where, labels, expected, sure)
    elif fit.role == "classifier":
        number = np.searchsorted(model.classes_, labels)
        k = model.classes_.size
        scale = np.abs(decided).max(initial=0.0)
        if decided.ndim == 1:
            _compare_labels(report, where, number, (decided > 0).astype(int), np.abs(decided) > 1e-9 * scale)
        elif _votes(model):
            votes, sure = _count(_pairs(model, X), k)
            _compare_labels(report, where, votes[np.arange(len(number)), number], votes.max(axis=1), sure)
        elif decided.shape[1] == k:
            top = np.sort(decided, axis=1)
            _compare_labels(
                report, where, number, decided.argmax(axis=1), top[:, -1] - top[:, -2] > 1e-9 * scale
            )


def _votes(model):
    """Return whether the class is that of most pairs."""
    shaped = hasattr(model, "decision_function_shape") and not getattr(model, "break_ties", False)
    return (
        shaped
        and getattr(model, "multiclass", "ovr") == "ovo"
        and len(np.shape(model.intercept_)) == 1
        and (
            model.classes_.size > 2
            and np.size(model.intercept_) == model.classes_.size * (model.classes_.size - 1) // 2
        )
    )


def _pairs(model, X):
    other = copy.copy(model)
    other.decision_function_shape = "ovo"
    return np.asarray(other.decision_function(X))


def _count(decided, k):
    """Return the votes of the pairs, and whether each pair is sure of its own."""
    votes = np.zeros((len(decided), k))
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    for column, (i, j) in enumerate(pairs):
        votes[:, i] += decided[:, column] > 0
        votes[:, j] += decided[:, column] <= 0
    return votes, (np.abs(decided) > 1e-9 * np.abs(decided).max(initial=0.0)).all(axis=1)


def _compare_labels(report, where, found, expected, sure):
    wrong = sure & (found != expected)
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        report.fail(
            "predict agrees with decisions",
            where,
            f"{int(wrong.sum())} rows, first {first}: {found[first]} against {expected[first]}",
        )


def _check_copies(fit, report, model, X, outputs):
    """A copy by pickle, by a file, or by ``copy`` says the same."""
    copies = {
        "copy.deepcopy": copy.deepcopy,
        "pickle": lambda m: pickle.loads(pickle.dumps(m)),
        "save and load": _saved,
    }
    for name, made in copies.items():
        try:
            with watched(report, name, ["save", "model"]):
                other = made(model)
        except Refused as refusal:
            if not refusal.told and (name != "save and load" or fit.data.kind == "vectors"):
                report.fail(f"{name} works after fit", fit.estimator, refusal)
            continue
        for method, value in outputs.items():
            try:
                with watched(report, f"{method} of a copy"):
                    same = np.asarray(getattr(other, method)(X))
            except Refused as refusal:
                if not refusal.told:
                    report.fail(f"{name} gives the same", f"{fit.estimator}.{method}", refusal)
                continue
            if not _close(same, value):
                report.fail(f"{name} gives the same", f"{fit.estimator}.{method}", f"{same} against {value}")


def _saved(model):
    with tempfile.TemporaryDirectory() as folder:
        return mercer.load(mercer.save(model, Path(folder) / "m.mercer"))


def _close(a, b):
    if a.shape != b.shape or a.dtype.kind not in "fc":
        return a.shape == b.shape and bool((a == b).all())
    with np.errstate(all="ignore"):
        scale = np.abs(b[np.isfinite(b)]).max(initial=0.0)
        return np.allclose(a, b, rtol=1e-12, atol=1e-13 * scale, equal_nan=True)


# -- certificates ----------------------------------------------------------------------------------------


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
            diagonal = np.diagonal(X) if fit.data.kind == "matrix" else model.kernel_.diag(X)
            total = np.float64(1.0 if fit.estimator in ("SVDD", "SphereAndSlab") else model.nu * w.sum())
            rounding = 1e-13 * n * np.abs(diagonal).max() * max(total**2, total)
        elif fit.role == "regressor":
            C = max(1.0, float(getattr(model, "C", 1.0)))
            largest = np.abs(np.asarray(y, dtype=float)).max()
            rounding = 1e-12 * C * w.sum() * max(largest, largest**2)
        else:
            rounding = 0.0
    return float(rounding) if math.isfinite(rounding) else 0.0


def _check_certificate(fit, report, model, where, natural):
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


def _check_certify(fit, report, model, X, y, weight, where, rounding):
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


def _check_claims(fit, report, model, X, y, weight, where, rounding):
    """Weak duality against a solver and definitions of our own."""
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


def _check_equals(fit, report, certificate, X, y, weight, where, rounding):
    """Rows in another order, rows repeated for weights, labels swapped: the same optimum."""
    if fit.params.get("max_iter", -1) != -1 or fit.params.get("time_limit") or fit.params.get("budget"):
        return
    if fit.params.get("probability") or discovery.is_search(fit.estimator):
        return
    rng = np.random.default_rng(fit.data.seed)
    order = rng.permutation(fit.data.n)
    online = "shuffle" in discovery.parameters(fit.estimator)
    cases = {} if online else {"permutation": _taken(fit, X, y, weight, order)}
    if weight is not None and fit.data.weight == "integers" and fit.data.kind != "matrix":
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
            other = _fitted(fit, report, A, b, w, name).certificate_
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
