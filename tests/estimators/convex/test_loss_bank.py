"""Certificates on a bank of small problems, recomputed from the definitions."""

import numpy as np
import pytest
from loss_bank import bank, expansion

from loss_examples import EITHER, NUMBERS, OWN, SIGNS
from mercer import SVC, SVR, KernelClassifier, KernelLogisticRegression, KernelRegressor, losses

pytestmark = pytest.mark.core

BANK = bank()


def names(value):
    return value.name if hasattr(value, "name") else type(value).__name__


def check(model, case, y, loss, outputs=1):
    """Compare the certificate with values that are computed here, and hold it to 1e-6."""
    beta, K = expansion(model, case.weight.size), case.K
    F = beta @ K + model.intercept_[:, None]
    price = case.C * case.weight
    f = F[0] if outputs == 1 else F.T
    primal = 0.5 * float((beta @ K * beta).sum()) + float(price @ loss.value(y, f))
    certificate = model.certificate_
    np.testing.assert_allclose(certificate.primal, primal, rtol=1e-7, atol=1e-12)
    assert certificate.status == "optimal"
    assert certificate.gap >= 0.0
    assert certificate.relative_gap <= 1e-6
    # The dual value, from the conjugate's definition, and a feasible point of the dual.
    there = price > 0
    s = -(beta[:, there] / price[there])
    s = s[0] if outputs == 1 else s.T
    dual = -0.5 * float((beta @ K * beta).sum()) - float(price[there] @ loss.conjugate(y[there], s))
    np.testing.assert_allclose(certificate.dual, dual, rtol=1e-7, atol=1e-7 * abs(primal))
    assert np.abs(beta.sum(axis=1)).max() <= 1e-9 * np.abs(beta).sum()
    assert not beta[:, ~there].any()


@pytest.mark.parametrize("case", BANK, ids=names)
def test_two_classes(case):
    for loss in [*SIGNS, *EITHER]:
        model = KernelClassifier(loss=loss, **case.params).fit(case.X, case.sign, sample_weight=case.weight)
        check(model, case, case.sign, loss)
        again = model.certify(case.X, case.sign, sample_weight=case.weight)
        np.testing.assert_allclose(again.primal, model.certificate_.primal, rtol=1e-7)
        assert again.relative_gap <= 2e-6


@pytest.mark.parametrize("case", BANK, ids=names)
def test_numbers(case):
    own = [OWN[0], OWN[2]] if case.C == 1.0 else [OWN[0]]  # one with a kink
    for loss in [*NUMBERS, *own]:
        model = KernelRegressor(loss=loss, **case.params).fit(case.X, case.target, sample_weight=case.weight)
        check(model, case, case.target, loss)
        again = model.certify(case.X, case.target, sample_weight=case.weight)
        np.testing.assert_allclose(again.primal, model.certificate_.primal, rtol=1e-7)
        assert again.relative_gap <= 2e-6


@pytest.mark.parametrize("case", BANK, ids=names)
def test_several_classes(case):
    model = KernelLogisticRegression(**case.params).fit(case.X, case.label, sample_weight=case.weight)
    check(model, case, case.label.astype(float), losses.MultinomialDeviance(), outputs=3)
    again = model.certify(case.X, case.label, sample_weight=case.weight)
    assert again.relative_gap <= 2e-6
    assert abs(model.intercept_.sum()) < 1e-9 * (1 + np.abs(model.intercept_).max())


@pytest.mark.parametrize("case", BANK[::2], ids=names)
def test_the_losses_of_support_vector_machines_agree_with_them(case):
    tight = {**case.params, "tol": 1e-10, "criterion": "gap"}
    weight = case.weight
    for loss in ("hinge", "squared_hinge"):
        ours = KernelClassifier(loss=loss, **tight).fit(case.X, case.sign, weight)
        svc = SVC(loss=loss, **tight).fit(case.X, case.sign, weight)
        np.testing.assert_allclose(ours.certificate_.primal, svc.certificate_.primal, rtol=1e-8)
        f = svc.decision_function(case.X)
        np.testing.assert_allclose(ours.decision_function(case.X), f, atol=1e-4 * np.abs(f).max())
    for loss in ("epsilon_insensitive", "squared_epsilon_insensitive"):
        ours = KernelRegressor(loss=loss, **tight).fit(case.X, case.target, weight)
        svr = SVR(loss=loss, **tight).fit(case.X, case.target, weight)
        np.testing.assert_allclose(ours.certificate_.primal, svr.certificate_.primal, rtol=1e-8)
        f = svr.predict(case.X)
        np.testing.assert_allclose(ours.predict(case.X), f, atol=1e-4 * np.abs(f).max())
