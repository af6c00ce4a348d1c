"""Every problem of the bank against LIBSVM, a generic QP solver and the optimality conditions."""

import math

import numpy as np
import pytest

from mercer import SVC
from svc_bank import (
    beta_of,
    dual_objective,
    kernel_matrix,
    kkt_violation,
    problems,
    solve_by_libsvm,
    solve_by_qp,
)

pytest.importorskip("clarabel")

TOL = 1e-6
BANK = problems()
DEFINITE = [p for p in BANK if p.kernel != "sigmoid"]
INDEFINITE = [p for p in BANK if p.kernel == "sigmoid"]


def named(problem):
    return problem.name


def fit(problem, **options):
    model = SVC(**problem.params, **options)
    return model.fit(problem.X, problem.y, sample_weight=problem.weight)


def test_the_bank_is_large():
    assert len(BANK) >= 300
    assert len({p.name for p in BANK}) == len(BANK)


@pytest.mark.parametrize("problem", DEFINITE, ids=named)
def test_same_optimum_as_libsvm_and_qp(problem):
    model = fit(problem, tol=TOL)
    K, sign, upper = kernel_matrix(problem), problem.sign, problem.C * problem.weights
    beta = beta_of(model, sign.size)
    certificate = model.certificate_
    assert certificate.status == "optimal"
    assert certificate.kkt_violation <= TOL
    # The point is feasible, and the certificate tells the truth about it.
    assert (sign * beta >= 0).all()
    assert (sign * beta <= upper).all()
    assert abs(beta.sum()) <= 1e-12 * upper.sum()
    rounding = 1e-14 * float((np.abs(K) @ np.abs(beta)).max())  # of a sum in another order
    violation = kkt_violation(K, sign, upper, beta)
    assert violation == pytest.approx(certificate.kkt_violation, abs=1e-9 + 10 * rounding)
    objective = dual_objective(K, sign, beta)
    allowed = 1e-9 * abs(objective) + rounding * upper.sum()
    assert certificate.dual == pytest.approx(objective, abs=allowed)
    slack = np.maximum(0.0, 1.0 - sign * (K @ beta + model.intercept_[0]))
    assert certificate.primal == pytest.approx(0.5 * beta @ K @ beta + upper @ slack, abs=allowed)
    # It is proved to be near the optimum, and it is.
    assert 0 <= certificate.gap <= certificate.kkt_violation * upper.sum() * (1 + 1e-12)
    assert certificate.primal - certificate.dual == pytest.approx(
        certificate.gap, abs=1e-9 * certificate.primal
    )
    value, beta_qp = solve_by_qp(K, sign, upper)
    assert objective == pytest.approx(value, rel=1e-6)
    libsvm, beta_libsvm, finished = solve_by_libsvm(problem, tol=TOL)
    if finished:
        assert objective == pytest.approx(dual_objective(K, sign, beta_libsvm), rel=1e-6)
        np.testing.assert_allclose(
            model.decision_function(problem.X), libsvm.decision_function(problem.X), atol=1e-3, rtol=0
        )
    else:
        np.testing.assert_allclose(K @ beta, K @ beta_qp, atol=1e-3, rtol=0)


def test_libsvm_finishes_nearly_always():
    """The comparison above must not be an empty one."""
    sample = DEFINITE[::10]
    assert sum(solve_by_libsvm(p, tol=TOL)[2] for p in sample) >= 0.95 * len(sample)


@pytest.mark.parametrize("problem", INDEFINITE, ids=named)
@pytest.mark.filterwarnings("ignore::mercer.estimators.machine.IndefiniteKernelWarning")
def test_indefinite_kernels_reach_a_stationary_point(problem):
    model = fit(problem, tol=TOL)
    certificate = model.certificate_
    assert certificate.status == "stationary"
    assert math.isnan(certificate.gap)
    assert math.isnan(certificate.relative_gap)
    assert certificate.kkt_violation <= TOL
    K, upper = kernel_matrix(problem), problem.C * problem.weights
    beta = beta_of(model, upper.size)
    assert kkt_violation(K, problem.sign, upper, beta) <= TOL + 1e-8
    assert abs(beta.sum()) <= 1e-12 * upper.sum()
    assert model.smallest_eigenvalue_ == pytest.approx(
        np.linalg.eigvalsh(K)[0], abs=1e-9 * np.abs(np.linalg.eigvalsh(K)).max()
    )


@pytest.mark.parametrize("problem", DEFINITE, ids=named)
def test_certify_agrees_with_the_certificate(problem):
    model = fit(problem)
    known, again = model.certificate_, model.certify(problem.X, problem.y, problem.weight)
    assert again.primal == pytest.approx(known.primal, abs=1e-4 * abs(known.primal))
    assert again.dual == pytest.approx(known.dual, abs=1e-4 * abs(known.primal))
    assert again.kkt_violation == pytest.approx(known.kkt_violation, abs=1e-6)
    assert (again.status, again.n_iter, again.criterion) == (known.status, known.n_iter, known.criterion)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_gap_criterion_proves_what_it_promises(loss):
    for problem in DEFINITE:
        certificate = fit(problem, criterion="gap", tol=1e-3, loss=loss).certificate_
        assert certificate.status == "optimal", problem.name
        assert 0 <= certificate.relative_gap <= 1e-3, problem.name


def test_kkt_criterion_alone_does_not_promise_a_gap():
    """At large C a small violation leaves a large gap: that is what the certificate is for."""
    gaps = [fit(p, tol=1e-3).certificate_.relative_gap for p in DEFINITE]
    assert max(gaps) > 1e-3
