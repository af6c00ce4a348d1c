"""Every machine on every case of the bank: feasibility, stationarity, complementarity, gap, and two judges.

The duals are the shipped coefficients, the primal variables the shipped intercept, margin, tube or radius;
objectives and conditions are written out here from the problems' definitions.
"""

import numpy as np
import pytest
import sklearn.svm
from oracle import bank, coefficients, fenchel, libsvm, named, solve_qp

from mercer import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM

pytest.importorskip("clarabel")

TOL = 1e-6
SAME = 1e-6  # relative difference of objectives
BANK = bank()
on_the_bank = pytest.mark.parametrize("case", BANK, ids=named)
may_collapse = pytest.mark.filterwarnings("ignore::mercer.estimators.degenerate.DegenerateFitWarning")


def judge(model, *, primal, dual, gap, violation, scale):
    """Hold a certificate against values computed from scratch; ``scale`` is that of the sums behind them."""
    certificate = model.certificate_
    rounding = 1e-13 * scale
    assert certificate.status == "optimal"
    assert certificate.kkt_violation <= TOL
    assert certificate.primal == pytest.approx(primal, rel=1e-9, abs=rounding)
    assert certificate.dual == pytest.approx(dual, rel=1e-9, abs=rounding)
    # primal - dual cancels; the sum of complementarity terms does not, and the two agree.
    assert primal - dual == pytest.approx(gap, abs=1e-9 * abs(dual) + rounding)
    assert certificate.gap == pytest.approx(gap, rel=1e-3, abs=1e-9 * abs(dual) + rounding)
    assert certificate.gap >= 0
    assert violation <= certificate.kkt_violation + 1e-9 * (1 + TOL) + rounding
    assert gap <= 1e-4 * abs(dual) + rounding


def same_objective(ours, value, allowed):
    assert ours == pytest.approx(value, rel=SAME, abs=allowed)


def spread_of(costs, b, lo, hi):
    """Return the most that moving mass between two variables of a group would gain per unit."""
    grow, shrink = -costs[b < hi], -costs[b > lo]
    return max(0.0, float(grow.max(initial=-np.inf) - shrink.min(initial=np.inf)))


def boxed(b, hi):
    """Return b, which is in [0, hi], with what is within rounding of the bound put on it."""
    assert (b >= 0).all()
    assert (b <= hi * (1 + 1e-12)).all()
    return np.where(b >= hi * (1 - 1e-12), hi, b)


# -- classification --------------------------------------------------------------------------------------


@may_collapse
@on_the_bank
def test_nusvc(case):
    y, w, K = case.sign, case.weight, case.K
    total = w.sum()
    nu = (0.2 + 0.8 * case.rank) * 2 * min(w[y > 0].sum(), w[y < 0].sum()) / total
    model = NuSVC(nu=nu, tol=TOL, **case.kernel_params).fit(case.X, y, sample_weight=case.given_weight)
    half = 0.5 * nu * total
    best = solve_qp(
        np.outer(y, y) * K,
        np.zeros(case.n),
        np.zeros(case.n),
        w,
        [((y > 0) * 1.0, half), ((y < 0) * 1.0, half)],
    )
    if model.rho_ == 0:  # the reduced hulls meet
        assert best.value <= 1e-8 * best.scale
        return
    rho = model.rho_
    alpha = y * coefficients(model, case.n) * rho
    alpha = boxed(alpha, w)
    assert alpha[y > 0].sum() == pytest.approx(half, rel=1e-12)
    assert alpha[y < 0].sum() == pytest.approx(half, rel=1e-12)
    f = K @ (y * alpha)
    margin = y * (f + rho * model.intercept_[0])
    norm = float((y * alpha) @ f)
    violation = max(spread_of(y[y == s] * f[y == s], alpha[y == s], 0.0, w[y == s]) for s in (1, -1))
    judge(
        model,
        primal=0.5 * norm - nu * total * rho + w @ np.maximum(0, rho - margin),
        dual=-0.5 * norm,
        gap=fenchel(alpha, 0.0, w, margin - rho).sum(),
        violation=violation,
        scale=float(alpha @ np.abs(K) @ alpha) + total * rho,
    )
    same_objective(0.5 * norm, best.value, best.doubt)
    other = libsvm(sklearn.svm.NuSVC, case, K, tol=TOL * min(1.0, norm / (nu * total)), nu=nu)
    if other is not None and case.rank < 0.94:
        beta = other[1] * half / other[1][y > 0].sum()
        same_objective(0.5 * norm, 0.5 * beta @ K @ beta, 0.0)


@on_the_bank
def test_svc_with_squared_slacks(case):
    y, w, K = case.sign, case.weight, case.K
    C = 10 ** (4 * case.rank - 2) / np.diagonal(K).max()
    model = SVC(C=C, loss="squared_hinge", tol=TOL, **case.kernel_params)
    model.fit(case.X, y, sample_weight=case.given_weight)
    alpha = y * coefficients(model, case.n)
    assert (alpha >= 0).all()
    assert (alpha[w == 0] == 0).all()
    assert abs((y * alpha).sum()) <= 1e-12 * alpha.sum()
    f = K @ (y * alpha)
    there = w > 0
    r = np.zeros(case.n)
    r[there] = 1 / (2 * C * w[there])
    norm = float((y * alpha) @ f)
    slack = np.maximum(0, 1 - y * (f + model.intercept_[0]))
    dual = alpha.sum() - 0.5 * norm - 0.5 * r @ alpha**2
    primal = 0.5 * norm + C * w @ slack**2
    gradient = (f + r * y * alpha - y)[there]
    beta, low, high = (
        (y * alpha)[there],
        np.where(y > 0, 0, -np.inf)[there],
        np.where(y > 0, np.inf, 0)[there],
    )
    judge(
        model,
        primal=primal,
        dual=dual,
        gap=primal - dual,
        violation=spread_of(gradient, beta, low, high),
        scale=float(alpha @ np.abs(K) @ alpha) + alpha.sum(),
    )
    P = np.outer(y, y) * K + np.diag(r)
    high = np.where(there, np.inf, 0.0)
    best = solve_qp(P, -np.ones(case.n), np.zeros(case.n), high, [(y, 0.0)])
    same_objective(dual, -best.value, best.doubt)


# -- regression ------------------------------------------------------------------------------------------


def tube_qp(K, target, box, epsilon, sums, r=None):
    """Solve  min 1/2 beta'(K + diag r) beta - y'beta + epsilon |beta|_1  in the two parts of beta."""
    n = target.size
    M = K if r is None else K + np.diag(r)
    P = np.block([[M, -M], [-M, M]])
    q = np.concatenate([epsilon - target, epsilon + target])
    high = np.concatenate([box, box])
    plus, minus = np.repeat([1.0, 0.0], n), np.repeat([0.0, 1.0], n)
    pairs = [(plus - minus, 0.0)] if sums is None else [(plus, sums), (minus, sums)]
    return solve_qp(P, q, np.zeros(2 * n), high, pairs)


def price_of(case, K):
    """Return a C between too small to fit anything and large enough to fit nearly everything."""
    return 10 ** (3 * case.rank - 1.5) * case.target.std() / np.diagonal(K).max()


@on_the_bank
def test_svr(case):
    t, w, K = case.target, case.weight, case.K
    C, epsilon = price_of(case, K), 0.1 * case.target.std()
    model = SVR(C=C, epsilon=epsilon, tol=TOL, **case.kernel_params)
    model.fit(case.X, t, sample_weight=case.given_weight)
    beta, box = coefficients(model, case.n), C * w
    boxed(np.abs(beta), box)
    assert abs(beta.sum()) <= 1e-12 * box.sum()
    f = K @ beta
    norm = float(beta @ f)
    error = np.abs(t - f - model.intercept_[0])
    dual = t @ beta - epsilon * np.abs(beta).sum() - 0.5 * norm
    primal = 0.5 * norm + box @ np.maximum(0, error - epsilon)
    up, down = f - t + epsilon, f - t - epsilon
    parts = np.maximum(beta, 0), np.minimum(beta, 0)
    gap = sum(
        fenchel(part, low, high, cost + model.intercept_[0]).sum()
        for part, low, high, cost in ((parts[0], 0.0, box, up), (parts[1], -box, 0.0, down))
    )
    violation = spread_of(
        np.concatenate([up, down]),
        np.concatenate(parts),
        np.concatenate([0 * box, -box]),
        np.concatenate([box, 0 * box]),
    )
    scale = float(np.abs(beta) @ np.abs(K) @ np.abs(beta)) + box @ np.abs(t)
    judge(model, primal=primal, dual=dual, gap=gap, violation=violation, scale=scale)
    best = tube_qp(K, t, box, epsilon, None)
    same_objective(dual, -best.value, best.doubt)
    other = libsvm(sklearn.svm.SVR, case, K, tol=TOL, C=C, epsilon=epsilon)
    if other is not None:
        b = other[1]
        same_objective(dual, t @ b - epsilon * np.abs(b).sum() - 0.5 * b @ K @ b, 0.0)


@on_the_bank
def test_svr_with_squared_slacks(case):
    t, w, K = case.target, case.weight, case.K
    C, epsilon = 1 / np.diagonal(K).max() * 10 ** (3 * case.rank - 1), 0.1 * case.target.std()
    model = SVR(C=C, epsilon=epsilon, loss="squared_epsilon_insensitive", tol=TOL, **case.kernel_params)
    model.fit(case.X, t, sample_weight=case.given_weight)
    beta = coefficients(model, case.n)
    there = w > 0
    assert (beta[~there] == 0).all()
    assert abs(beta.sum()) <= 1e-12 * np.abs(beta).sum()
    f = K @ beta
    norm = float(beta @ f)
    r = np.zeros(case.n)
    r[there] = 1 / (2 * C * w[there])
    excess = np.maximum(0, np.abs(t - f - model.intercept_[0]) - epsilon)
    dual = t @ beta - epsilon * np.abs(beta).sum() - 0.5 * norm - 0.5 * r @ beta**2
    primal = 0.5 * norm + C * w @ excess**2
    residual = (t - f - model.intercept_[0] - r * beta)[there]
    # Stationarity: what the tube does not hold is beta's share.
    on_edge = np.where(
        beta[there] != 0, np.abs(np.abs(residual) - epsilon), np.maximum(0, np.abs(residual) - epsilon)
    )
    judge(
        model,
        primal=primal,
        dual=dual,
        gap=primal - dual,
        violation=0.5 * float(on_edge.max()),
        scale=float(np.abs(beta) @ np.abs(K) @ np.abs(beta)) + np.abs(beta) @ np.abs(t),
    )
    best = tube_qp(K, t, np.where(there, np.inf, 0.0), epsilon, None, r)
    same_objective(dual, -best.value, best.doubt)


@on_the_bank
def test_nusvr(case):
    t, w, K = case.target, case.weight, case.K
    C, nu = price_of(case, K), case.rank
    model = NuSVR(C=C, nu=nu, tol=TOL, **case.kernel_params)
    model.fit(case.X, t, sample_weight=case.given_weight)
    beta, box, epsilon = coefficients(model, case.n), C * w, model.epsilon_
    half = 0.5 * nu * box.sum()
    assert epsilon >= 0
    boxed(np.abs(beta), box)
    assert abs(beta.sum()) <= 1e-12 * box.sum()
    # What cancels between the parts does not show in beta; only epsilon = 0 allows any.
    cancelled = half - np.maximum(beta, 0).sum()
    assert cancelled >= -1e-12 * box.sum()
    assert cancelled * epsilon <= TOL * box.sum()
    f = K @ beta
    norm = float(beta @ f)
    error = np.abs(t - f - model.intercept_[0])
    dual = t @ beta - 0.5 * norm
    primal = 0.5 * norm + 2 * half * epsilon + box @ np.maximum(0, error - epsilon)
    gap = primal - dual
    cost = f - t + model.intercept_[0]
    violation = max(
        float(np.maximum(0, -cost - epsilon)[beta < box].max(initial=0)),
        float(np.maximum(0, cost - epsilon)[beta > -box].max(initial=0)),
    )
    scale = float(np.abs(beta) @ np.abs(K) @ np.abs(beta)) + box @ np.abs(t)
    judge(model, primal=primal, dual=dual, gap=gap, violation=violation, scale=scale)
    best = tube_qp(K, t, box, 0.0, half)
    same_objective(dual, -best.value, best.doubt)
    other = libsvm(sklearn.svm.NuSVR, case, K, tol=TOL * min(1.0, np.ptp(t) / 2), C=C, nu=nu)
    if other is not None:
        same_objective(dual, t @ other[1] - 0.5 * other[1] @ K @ other[1], 0.0)


# -- novelty ---------------------------------------------------------------------------------------------


@may_collapse
@on_the_bank
def test_one_class(case):
    w, K, nu = case.weight, case.K, case.rank
    model = OneClassSVM(nu=nu, tol=TOL, **case.kernel_params).fit(case.X, sample_weight=case.given_weight)
    alpha, total = coefficients(model, case.n), nu * w.sum()
    best = solve_qp(K, np.zeros(case.n), np.zeros(case.n), w, [(np.ones(case.n), total)])
    alpha = boxed(alpha, w)
    assert alpha.sum() == pytest.approx(total, rel=1e-12)
    f = K @ alpha
    norm, rho = float(alpha @ f), float(model.offset_[0])
    if rho == 0:  # the origin lies among the points
        assert best.value <= 1e-8 * best.scale
        return
    judge(
        model,
        primal=0.5 * norm - total * rho + w @ np.maximum(0, rho - f),
        dual=-0.5 * norm,
        gap=fenchel(alpha, 0.0, w, f - rho).sum(),
        violation=spread_of(f[w > 0], alpha[w > 0], 0.0, w[w > 0]),
        scale=float(alpha @ np.abs(K) @ alpha) + total * abs(rho),
    )
    same_objective(0.5 * norm, best.value, best.doubt)
    other = libsvm(sklearn.svm.OneClassSVM, case, K, tol=TOL * min(1.0, norm / total), nu=nu)
    if other is not None:
        same_objective(0.5 * norm, 0.5 * other[1] @ K @ other[1], 0.0)


@pytest.mark.parametrize("how", ["nu", "C", "hard"])
@on_the_bank
def test_svdd(case, how):
    w, K = case.weight, case.K
    diag = np.diagonal(K)
    there = w > 0
    nu = case.rank
    if how == "hard":
        params, price = {"nu": 0.0}, np.where(there, 1.0, 0.0)
    elif how == "C":
        params, price = {"C": 1 / (nu * w.sum())}, w / (nu * w.sum())
    else:
        params, price = {"nu": nu}, w / (nu * w.sum())
    model = SVDD(**params, tol=TOL, **case.kernel_params).fit(case.X, sample_weight=case.given_weight)
    alpha = coefficients(model, case.n)
    alpha = boxed(alpha, price)
    assert alpha.sum() == pytest.approx(1.0, rel=1e-12)
    f = K @ alpha
    norm = float(alpha @ f)
    squares, squared_radius = diag - 2 * f + norm, model.radius_**2
    slack = np.maximum(0, squares - squared_radius)
    if how == "hard":
        assert slack[there].max() <= 1e-12 * diag.max()
    dual = float(alpha @ diag) - norm
    judge(
        model,
        primal=squared_radius + price @ slack,
        dual=dual,
        gap=fenchel(alpha, 0.0, price, squared_radius - squares)[there].sum(),
        violation=0.5 * spread_of(-squares[there], alpha[there], 0.0, price[there]),
        scale=float(np.abs(diag).max()),
    )
    best = solve_qp(2 * K, -diag, np.zeros(case.n), price, [(np.ones(case.n), 1.0)])
    same_objective(dual, -best.value, best.doubt)


# -- the bank itself -------------------------------------------------------------------------------------


def test_the_bank_is_large():
    assert len(BANK) >= 100
    assert len({case.name for case in BANK}) == len(BANK)


@may_collapse
def test_the_comparisons_are_not_empty():
    """Few planes collapse, and LIBSVM nearly always finishes."""
    collapsed = finished = 0
    for case in BANK[::5]:
        model = OneClassSVM(nu=case.rank, tol=TOL, **case.kernel_params).fit(
            case.X, sample_weight=case.weight
        )
        collapsed += model.offset_[0] == 0
        K = case.K
        C = price_of(case, K)
        finished += (
            libsvm(sklearn.svm.SVR, case, K, tol=TOL, C=C, epsilon=0.1 * case.target.std()) is not None
        )
    assert collapsed <= 0.3 * len(BANK[::5])
    assert finished >= 0.8 * len(BANK[::5])
