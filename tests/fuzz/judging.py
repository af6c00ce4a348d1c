"""What must hold of every fit."""

import copy
import math
import pickle
import tempfile
import time
from pathlib import Path

import numpy as np

import mercer

from . import discovery
from .certificate_checks import (
    PROMISING,
    check_certificate,
    check_certify,
    check_claims,
    check_equals,
    natural_rounding,
    stated_rounding,
)
from .data import contained
from .report import Report
from .watching import Refused, fitted, watched

SHIPPED = (
    "dual_coef_", "intercept_", "coef_", "offset_", "radius_", "rho_", "epsilon_", "means_", "scalings_",
    "priors_", "eigenvalues_", "eigenvectors_", "covariance_", "support_vectors_", "xbar_", "n_iter_",
)  # fmt: skip


# What only ``predict`` can refuse: it lacks something, or scikit-learn refuses it there.
LATE = (
    "beyond what float32 can hold",
    "pass it as diag=",
    "break_ties must be False when decision_function_shape is 'ovo'",
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


def _judge(fit, report):
    X, y, weight = fit.inputs()
    model = fitted(fit, report, X, y, weight)
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
        check_certificate(fit, report, model, where, rounding)
        if hasattr(model, "certify"):
            check_certify(fit, report, model, X, y, weight, where, rounding)
        bounded = certificate.status == "ill_conditioned" and stated_rounding(certificate) > 0
        if math.isfinite(certificate.gap) and (certificate.status in PROMISING or bounded):
            check_claims(fit, report, model, X, y, weight, where, rounding)
    _check_copies(fit, report, model, new, outputs)
    if certificate is not None and certificate.status == "optimal" and math.isfinite(certificate.gap):
        check_equals(fit, report, certificate, X, y, weight, where, rounding)


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
            if not refusal.told and not any(words in str(refusal) for words in LATE):
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
    if fit.params.get("threshold") is not None:
        return  # labels are not the signs of decisions then
    if fit.role == "detector":
        expected = np.where(decided >= 0, 1, -1)
        sure = np.abs(decided) > 1e-9 * np.abs(decided).max(initial=0.0)
        _compare_labels(report, where, labels, expected, sure)
    elif fit.role == "classifier":
        model = getattr(model, "best_estimator_", getattr(model, "estimator_", model))
        number = np.searchsorted(model.classes_, labels)
        k = model.classes_.size
        scale = np.abs(decided).max(initial=0.0)
        if decided.ndim == 1:
            _compare_labels(report, where, number, (decided > 0).astype(int), np.abs(decided) > 1e-9 * scale)
        elif votes_of_pairs(model):
            votes, sure = count_votes(pair_decisions(model, X), k)
            _compare_labels(report, where, votes[np.arange(len(number)), number], votes.max(axis=1), sure)
        elif decided.shape[1] == k:
            top = np.sort(decided, axis=1)
            _compare_labels(
                report, where, number, decided.argmax(axis=1), top[:, -1] - top[:, -2] > 1e-9 * scale
            )


def votes_of_pairs(model):
    """Return whether the class is that of most pairs."""
    shaped = hasattr(model, "decision_function_shape") and not getattr(model, "break_ties", False)
    return (
        shaped
        and not getattr(model, "_joint", False)  # one function for each class
        and getattr(model, "multiclass", "ovr") == "ovo"
        and len(np.shape(model.intercept_)) == 1
        and (
            model.classes_.size > 2
            and np.size(model.intercept_) == model.classes_.size * (model.classes_.size - 1) // 2
        )
    )


def pair_decisions(model, X):
    other = copy.copy(model)
    other.decision_function_shape = "ovo"
    return np.asarray(other.decision_function(X))


def count_votes(decided, k, floor=0.0):
    """Return the votes of the pairs, and whether each pair is sure of its own."""
    votes = np.zeros((len(decided), k))
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    for column, (i, j) in enumerate(pairs):
        votes[:, i] += decided[:, column] > 0
        votes[:, j] += decided[:, column] <= 0
    return votes, (np.abs(decided) > max(floor, 1e-9 * np.abs(decided).max(initial=0.0))).all(axis=1)


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
    if fit.data.seed % 4:  # the two that take no code of ours on one example in four
        del copies["copy.deepcopy"], copies["pickle"]
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
