"""Leave-one-out bounds and the span rule, against leaving one out."""

import numpy as np
import pytest
from brute_force import TIGHT, errors, left_out, small_set

from clouds import blobs
from mercer import SVC, SVR, SVCSearch, SVRSearch
from mercer.bounds import report
from mercer.selection import leave_one_out
from mercer.selection.spans import constrained_span, spans

pytestmark = pytest.mark.core

SETS = range(40)


@pytest.mark.parametrize("seed", SETS)
def test_bounds_are_never_below_leave_one_out(seed):
    X, y, params = small_set(seed)
    C = params["C"]
    model = SVC(**params, **TIGHT).fit(X, y)
    found = leave_one_out(model, X, y)
    values, duals = left_out(seed)
    truth = errors(values, y).mean()
    assert found.sv_fraction >= truth
    free = [(a > 1e-7 * C) & (a < (1 - 1e-7) * C) for a in duals]
    if all(f.any() for f in free):
        assert found.xi_alpha >= truth
    K = model.kernel_(X)
    largest = (np.diag(K)[:, None] + np.diag(K)[None, :] - 2 * K).max()
    room = [
        np.where(y[f] == y[i], a[f], C - a[f]).sum() for i, (a, f) in enumerate(zip(duals, free, strict=True))
    ]
    if min(room) >= min(C, 1.0 / largest):  # what the theorem assumes
        assert found.span_bound >= truth
    assert found.span_bound <= found.sv_fraction


def test_the_assumptions_are_met_often_enough_to_test_something():
    met = 0
    for seed in SETS:
        params = small_set(seed)[2]
        _, duals = left_out(seed)
        C = params["C"]
        met += all(((a > 1e-7 * C) & (a < (1 - 1e-7) * C)).any() for a in duals)
    assert met >= 20


def unchanged(model, X, y, i, dual):
    """Return whether the free and the bounded support vectors stay what they are without point i."""
    alpha = np.zeros(len(y))
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    C = model.C
    rest = np.arange(len(y)) != i

    def sets(a):
        return np.where(a < 1e-7 * C, 0, np.where(a > (1 - 1e-7) * C, 2, 1))[rest]

    return bool((sets(alpha) == sets(dual)).all()) and (sets(alpha) == 1).any()


def test_the_span_rule_is_exact_where_the_support_vectors_stay():
    compared = 0
    for seed in SETS:
        X, y, params = small_set(seed)
        search = SVCSearch(
            estimator=SVC(**params, **TIGHT), param_grid={"C": [params["C"]]}, method="span_rule"
        )
        captured = {}

        def keep(model, X, y, captured=captured):
            captured["F"] = model.decision_function(X)
            return 0.0

        keep._response_method = "decision_function"
        search.set_params(scoring=keep, refit=False).fit(X, y)
        values, duals = left_out(seed)
        model = SVC(**params, **TIGHT).fit(X, y)
        for i in range(len(y)):
            if unchanged(model, X, y, i, duals[i]):
                compared += 1
                assert captured["F"][i] == pytest.approx(values[i], abs=1e-4 * max(1.0, abs(values[i])))
    assert compared > 300


def test_the_span_rule_of_a_regression():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 6, size=(40, 1))
    y = np.sin(X[:, 0]) + 0.2 * rng.normal(size=40)
    for machine in (
        SVR(C=1.0, epsilon=0.1, gamma=0.5, **TIGHT),
        SVR(loss="squared_epsilon_insensitive", gamma=0.5, **TIGHT),
    ):
        captured = {}

        def keep(model, X, y, captured=captured):
            captured["f"] = model.predict(X)
            return 0.0

        keep._response_method = "predict"
        SVRSearch(
            estimator=machine, param_grid={"C": [1.0]}, method="span_rule", scoring=keep, refit=False
        ).fit(X, y)
        whole = SVR(**machine.get_params()).fit(X, y)
        compared = 0
        for i in range(40):
            rest = np.arange(40) != i
            without = SVR(**machine.get_params()).fit(X[rest], y[rest])
            if (state(whole, np.arange(40))[rest] == state(without, np.flatnonzero(rest))[rest]).all():
                compared += 1
                assert captured["f"][i] == pytest.approx(without.predict(X[[i]])[0], abs=1e-4)
        assert compared >= 5


def state(model, rows):
    """Return which of 40 points are at rest, free or bounded, on which side of the tube."""
    beta = np.zeros(40)
    beta[rows[model.support_]] = model.dual_coef_[0]
    bounded = np.abs(beta) > (1 - 1e-7) * model.C if model.loss == "epsilon_insensitive" else False
    return np.sign(beta) * np.where(np.abs(beta) < 1e-7, 0, np.where(bounded, 2, 1))


def test_spans_by_their_definition():
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(7, 4))
    K = Z @ Z.T
    of_free, of_others = spans(K, np.zeros(7), np.arange(5), np.array([5, 6]), True)

    def distance(p, others):
        basis = Z[others[1:]] - Z[others[0]]
        coef = np.linalg.lstsq(basis.T, Z[p] - Z[others[0]], rcond=None)[0]
        return ((Z[p] - Z[others[0]] - basis.T @ coef) ** 2).sum()

    # K has no inverse: the ridge that is added, which depends on where rounding lets a factor exist, shows.
    for p in range(5):
        assert of_free[p] == pytest.approx(distance(p, [q for q in range(5) if q != p]), abs=2e-5)
    for k, p in enumerate((5, 6)):
        assert of_others[k] == pytest.approx(distance(p, list(range(5))), abs=2e-5)
    wide = np.full(5, 1e9)
    for p in range(5):  # a box that does not bind gives the plain span; one that binds gives more
        assert constrained_span(K[:5, :5], np.ones(5), -wide, wide, p) == pytest.approx(of_free[p], abs=1e-2)
        assert (
            constrained_span(K[:5, :5], np.ones(5), 0.5 * np.ones(5), 2 * np.ones(5), p) >= of_free[p] - 1e-9
        )
    assert constrained_span(K[:5, :5], np.ones(5), np.ones(5), np.ones(5), 0) == np.inf


def test_what_is_told_of_more_classes_and_other_losses():
    X, y = blobs(60, 3, 3, seed=0)
    found = leave_one_out(SVC(tol=1e-8).fit(X, y), X, y)
    assert found.xi_alpha is None
    assert found.span_bound is None
    truth = np.mean(
        [
            SVC(tol=1e-8)
            .set_params(gamma=SVC().fit(X, y).kernel_.gamma)
            .fit(np.delete(X, i, 0), np.delete(y, i))
            .predict(X[[i]])[0]
            != y[i]
            for i in range(60)
        ]
    )
    assert found.sv_fraction >= truth
    assert abs(found.span_rule - truth) < 0.06
    found = leave_one_out(SVC(loss="squared_hinge").fit(X, y == 0), X, y == 0)
    assert found.xi_alpha is None
    assert 0 <= found.span_rule <= found.sv_fraction


def test_a_report_can_be_handed_the_estimates():
    X, y = blobs(60, 3, 2, seed=0)
    model = SVC(gamma=0.3).fit(X, y)
    found = leave_one_out(model, X, y)
    shown = report(model, X, y, estimates=found.estimates)
    assert shown["leave-one-out, span rule"].value == found.span_rule
    assert shown["leave-one-out, support vectors"].verdict == "an estimate"


def test_weights_count_in_leave_one_out():
    X, y = blobs(60, 3, 2, seed=0)
    weight = 1.0 + (np.arange(60) % 2)
    model = SVC(gamma=0.3, tol=1e-8).fit(X, y, sample_weight=weight)
    found = leave_one_out(model, X, y, sample_weight=weight)
    assert found.sv_fraction == pytest.approx(weight[model.support_].sum() / weight.sum())


def test_refusals():
    X, y = blobs(40, 3, 2, seed=0)
    with pytest.raises(TypeError, match="about SVC, not SVR"):
        leave_one_out(SVR().fit(X, y), X, y)
    with pytest.raises(ValueError, match="finite C"):
        leave_one_out(SVC(C=np.inf, gamma=50.0).fit(X, y), X, y)
    with pytest.raises(ValueError, match="fitted on 40"):
        leave_one_out(SVC().fit(X, y), X[:30], y[:30])
