"""One margin for all classes: the optimum of a QP solver, LIBLINEAR's, invariances, limits, the contract."""

import signal
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import LinearSVC as TheirLinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import SVC, CrammerSingerSVC, KernelClassifier
from mercer._jit import simplex_blocks
from mercer.problems.joint_margin import JointMargin
from mercer.solvers import SimplexBlocks, UnsuitableSolverError
from mercer.solvers.joint.simplex_blocks import _Rounds

COSTS = np.array([[0.0, 1.0, 3.0, 0.5], [2.0, 0.0, 1.0, 1.0], [1.0, 0.25, 0.0, 1.0], [1.0, 1.0, 2.0, 0.0]])


@parametrize_with_checks([CrammerSingerSVC(tol=1e-6), SVC(multiclass="joint", tol=1e-6)])
def test_scikit_learn_checks(estimator, check):
    name = getattr(check, "func", check).__name__
    if name.startswith("check_sample_weight_equivalence"):
        estimator.set_params(tol=1e-10)
    if name == "check_class_weight_classifiers":
        # The check allows no more than 1000 steps, for prices of 1000.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            check(estimator)
        return
    check(estimator)


def four_classes(seed=0, n=48):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, size=n)
    centres = np.array([[0.0, 0.0], [1.5, 0.0], [0.0, 1.5], [1.5, 1.5]])
    return centres[y] + rng.normal(scale=0.7, size=(n, 2)), y


def optimum(K, y, C, costs, slack_rescaling):
    """Return the least primal value over the functions of all classes and the slacks, by a conic solver."""
    clarabel = pytest.importorskip("clarabel")
    n, k = y.size, costs.shape[0]
    L = np.linalg.cholesky(K + 1e-11 * np.eye(n))
    width = k * n
    rows = [(i, c) for i in range(n) for c in range(k) if c != y[i]]
    A = np.zeros((len(rows) + n, width + n))
    b = np.zeros(A.shape[0])
    for r, (i, c) in enumerate(rows):
        cost = costs[y[i], c]
        scale = cost if slack_rescaling else 1.0
        A[r, c * n : (c + 1) * n] = scale * L[i]
        A[r, y[i] * n : (y[i] + 1) * n] = -scale * L[i]
        A[r, width + i] = -1.0
        b[r] = -cost
    A[len(rows) :, width:] = -np.eye(n)
    P = sp.csc_matrix(np.diag(np.concatenate([np.ones(width), np.zeros(n)])))
    q = np.concatenate([np.zeros(width), C])
    options = clarabel.DefaultSettings()
    options.verbose = False
    cones = [clarabel.NonnegativeConeT(A.shape[0])]
    return clarabel.DefaultSolver(P, q, sp.csc_matrix(A), b, cones, options).solve().obj_val


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize(("delta", "rescaling"), [(None, "margin"), (COSTS, "margin"), (COSTS, "slack")])
def test_the_optimum_is_that_of_a_conic_solver(delta, rescaling, fit_intercept):
    X, y = four_classes()
    weight = np.linspace(0.5, 2.0, y.size)
    model = CrammerSingerSVC(
        C=2.0, gamma=0.8, delta=delta, rescaling=rescaling, fit_intercept=fit_intercept, tol=1e-8,
        class_weight={1: 2.0}, intercept_scaling=1.5,
    ).fit(X, y, sample_weight=weight)  # fmt: skip
    price = 2.0 * weight * np.where(y == 1, 2.0, 1.0)
    K = rbf_kernel(X, gamma=0.8) + (1.5**2 if fit_intercept else 0.0)
    value = optimum(K, y, price, 1.0 - np.eye(4) if delta is None else delta, rescaling == "slack")
    assert model.certificate_.status == "optimal"
    assert model.certificate_.primal == pytest.approx(value, rel=1e-6)
    assert model.certificate_.dual == pytest.approx(value, rel=1e-6)
    again = model.certify(X, y, weight)
    assert 0.0 <= again.gap <= 1e-6 * value
    by_hand = 0.5 * (model.dual_coef_ @ K[np.ix_(model.support_, model.support_)] * model.dual_coef_).sum()
    assert by_hand + price @ model.slacks(X, y) == pytest.approx(again.primal, rel=1e-9)
    np.testing.assert_allclose(model.dual_coef_.sum(axis=0), 0.0, atol=1e-12)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_the_linear_machine_is_that_of_liblinear():
    X, y = load_iris(return_X_y=True)
    ours = CrammerSingerSVC(kernel="linear", C=0.5, tol=1e-8).fit(X, y)
    theirs = TheirLinearSVC(
        multi_class="crammer_singer", fit_intercept=False, C=0.5, tol=1e-8, max_iter=10**6, random_state=0
    ).fit(X, y)
    assert (ours.predict(X) == theirs.predict(X)).all()
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


def test_two_classes_are_a_machine_of_twice_the_price():
    X, y = make_blobs(60, centers=2, cluster_std=2.5, random_state=0)
    joint = CrammerSingerSVC(C=1.0, gamma=0.3, tol=1e-8).fit(X, y)
    plain = SVC(C=2.0, gamma=0.3, fit_intercept=False, tol=1e-8).fit(X, y)
    assert 2.0 * joint.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=1e-6)
    np.testing.assert_allclose(joint.decision_function(X), plain.decision_function(X), atol=1e-5)
    assert (joint.predict(X) == plain.predict(X)).all()


def test_svc_joint_is_the_machine_with_a_regularised_bias(tmp_path):
    X, y = four_classes()
    one = SVC(multiclass="joint", gamma=0.8, tol=1e-7).fit(X, y)
    two = CrammerSingerSVC(fit_intercept=True, gamma=0.8, tol=1e-7).fit(X, y)
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(one.slacks(X, y), two.slacks(X, y), atol=1e-9)
    np.testing.assert_allclose(two.intercept_, two.dual_coef_.sum(axis=1), atol=1e-12)
    for name, value in (
        ("loss", "squared_hinge"),
        ("probability", True),
        ("C", np.inf),
        ("parametric", "linear"),
    ):
        with pytest.raises(ValueError, match=f"does not support {name}"):
            clone(one).set_params(**{name: value}).fit(X, y)
    with pytest.raises(ValueError, match="updatable=True does not support"):
        clone(one).set_params(updatable=True).fit(X, y)
    for model in (one, two):
        mercer.save(model, tmp_path / "m.mercer")
        loaded = mercer.load(tmp_path / "m.mercer")
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        assert loaded.certify(X, y).gap == pytest.approx(model.certify(X, y).gap, abs=1e-12)
    with pytest.raises(ValueError, match="multiclass='joint' cannot be given"):
        one.to_sklearn()


def test_costs_move_the_boundary_and_functions_are_matrices():
    X, y = four_classes(n=160)
    names = np.array(["a", "b", "c", "d"])[y]
    dear = {("c", other): 20.0 for other in ("a", "b", "d")}
    model = CrammerSingerSVC(delta=lambda t, k: 0.0 if t == k else dear.get((t, k), 1.0), gamma=0.5)
    model.fit(X, names)
    assert model.costs_[2].tolist() == [20.0, 20.0, 0.0, 20.0]
    plain = CrammerSingerSVC(gamma=0.5).fit(X, names)
    of_c = names == "c"
    assert (model.predict(X)[of_c] != "c").sum() < (plain.predict(X)[of_c] != "c").sum()
    given = CrammerSingerSVC(delta=model.costs_, gamma=0.5).fit(X, names)
    np.testing.assert_allclose(given.dual_coef_, model.dual_coef_)


@pytest.mark.parametrize(
    ("delta", "words"),
    [
        (np.ones((3, 3)), "has shape"),
        (np.ones((4, 4)), "right class must cost 0"),
        (-(1 - np.eye(4)), "at least 0"),
        (np.zeros((4, 4)), "zero for all pairs"),
    ],
)
def test_wrong_costs_are_refused(delta, words):
    X, y = four_classes()
    with pytest.raises(ValueError, match=words):
        CrammerSingerSVC(delta=delta).fit(X, y)


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_weights_scales_and_the_order_of_classes(rescaling):
    X, y = four_classes(3)
    asked = {"delta": COSTS, "rescaling": rescaling, "gamma": 0.7, "tol": 1e-8}
    model = CrammerSingerSVC(**asked).fit(X, y)
    twice = CrammerSingerSVC(**asked).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    weighed = CrammerSingerSVC(**asked).fit(X, y, sample_weight=np.full(y.size, 2.0))
    assert weighed.certificate_.primal == pytest.approx(twice.certificate_.primal, rel=1e-6)
    turned = CrammerSingerSVC(**{**asked, "delta": COSTS[::-1, ::-1]}).fit(X, 3 - y)
    assert turned.certificate_.primal == pytest.approx(model.certificate_.primal, rel=1e-6)
    np.testing.assert_allclose(turned.decision_function(X)[:, ::-1], model.decision_function(X), atol=1e-5)
    there = np.ones(y.size)
    there[:5] = 0.0
    without = CrammerSingerSVC(**asked).fit(X[5:], y[5:])
    ignored = CrammerSingerSVC(**asked).fit(X, y, sample_weight=there)
    assert ignored.certificate_.primal == pytest.approx(without.certificate_.primal, rel=1e-6)


def test_limits_trace_warm_start_and_working_sets():
    X, y = make_blobs(600, centers=5, cluster_std=3.0, random_state=1)
    with pytest.warns(UserWarning, match="max_iter=7"):
        early = CrammerSingerSVC(max_iter=7, trace=True).fit(X, y)
    assert early.certificate_.status == "iteration_limit"
    assert early.certificate_.gap == pytest.approx(early.certify(X, y).gap, rel=1e-6)
    assert early.n_iter_.sum() == 7
    whole = CrammerSingerSVC(tol=1e-5, trace=True).fit(X, y)
    (trace,) = whole.history_
    duals = [line["dual"] for line in trace]
    assert duals == sorted(duals)
    # A working set of a few rows at a time ends at the same value.
    small = CrammerSingerSVC(tol=1e-5, cache_size=0.15).fit(X, y)
    assert small.certificate_.primal == pytest.approx(whole.certificate_.primal, rel=1e-4)
    again = whole.set_params(warm_start=True).fit(X, y)
    assert again.n_iter_.sum() <= 5
    gap = CrammerSingerSVC(tol=1e-4, criterion="gap").fit(X, y).certificate_
    assert gap.relative_gap <= 1e-4
    grown = CrammerSingerSVC(tol=1e-3, criterion="growth").fit(X, y).certificate_
    assert grown.gap > 0


def test_ctrl_c_leaves_a_model_with_a_certificate(monkeypatch, request):
    X, y = make_blobs(300, centers=4, cluster_std=4.0, random_state=1)
    rounds, plain = [], _Rounds.working_set

    def working_set(self, violation):
        rounds.append(0)
        if len(rounds) == 2:
            signal.raise_signal(signal.SIGINT)
        return plain(self, violation)

    monkeypatch.setattr(_Rounds, "working_set", working_set)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job has none
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, handler))
    model = CrammerSingerSVC(C=10.0, tol=1e-9, on_interrupt="keep")
    model.fit(X, y)
    assert model.certificate_.status == "interrupted"
    assert model.certificate_.gap == pytest.approx(model.certify(X, y).gap, rel=1e-6)
    rounds.clear()
    with pytest.raises(KeyboardInterrupt):
        clone(model).set_params(on_interrupt="raise").fit(X, y)


def test_sparse_precomputed_and_strings():
    X, y = four_classes(2)
    dense = CrammerSingerSVC(gamma=0.5, tol=1e-7).fit(X, y)
    sparse = CrammerSingerSVC(gamma=0.5, tol=1e-7).fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(
        sparse.decision_function(sp.csr_matrix(X)), dense.decision_function(X), atol=1e-6
    )
    K = rbf_kernel(X, gamma=0.5)
    given = CrammerSingerSVC(kernel="precomputed", tol=1e-7).fit(K, y)
    np.testing.assert_allclose(given.decision_function(K), dense.decision_function(X), atol=1e-6)
    words = ["aab", "aba", "bbb", "bab", "ccc", "cac", "ccb", "aaa"]
    model = CrammerSingerSVC(kernel=mercer.kernels.Spectrum(2)).fit(words, list("aabbccca"))
    assert model.certificate_.status == "optimal"


def test_solvers_refuse_what_they_cannot_solve():
    X, y = four_classes()
    with pytest.raises(UnsuitableSolverError, match="another kind"):
        CrammerSingerSVC(solver="smo").fit(X, y)
    with pytest.raises(UnsuitableSolverError, match="all classes together"):
        SVC(solver="simplex_blocks").fit(X, y)
    assert CrammerSingerSVC(solver=SimplexBlocks()).fit(X, y).certificate_.status == "optimal"


def test_multinomial_weights_have_a_row_for_each_class(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = KernelClassifier(loss="multinomial_deviance", kernel="linear").fit(X, y)
    np.testing.assert_allclose(X @ model.coef_.T + model.intercept_, model.decision_function(X), atol=1e-9)
    mercer.save(model, tmp_path / "m.mercer")
    np.testing.assert_array_equal(mercer.load(tmp_path / "m.mercer").predict(X), model.predict(X))


# -- naive twins ---------------------------------------------------------------------------------------------


def naive_step(c, weights, price):
    """Minimise 1/2 (|u|^2 + (sum u)^2) - c'u over u >= 0, weights'u <= price, by trying all active sets."""
    k, best, at = c.size, np.inf, None
    H = np.eye(k) + 1.0
    for pattern in range(2**k):
        free = np.array([pattern >> j & 1 for j in range(k)], dtype=bool) & np.isfinite(weights)
        for tight in (False, True):
            u = np.zeros(k)
            if free.any():
                A, b = H[np.ix_(free, free)], c[free]
                if tight:
                    w = weights[free]
                    system = np.block([[A, w[:, None]], [w[None, :], np.zeros((1, 1))]])
                    u[free] = np.linalg.solve(system, np.append(b, price))[:-1]
                else:
                    u[free] = np.linalg.solve(A, b)
            used = (u * np.where(np.isfinite(weights), weights, 0.0)).sum()
            value = 0.5 * u @ H @ u - c @ u
            if (u >= -1e-12).all() and used <= price * (1 + 1e-12) and value < best:
                best, at = value, u
    return at


@pytest.mark.parametrize("seed", range(20))
def test_a_step_is_the_best_of_all_active_sets(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 5))
    c = rng.normal(size=k) * 3
    scales = np.ones(k) if seed % 2 else rng.uniform(0.2, 4.0, size=k)
    own = 0
    values, price, curvature = rng.normal(size=k), float(rng.uniform(0.1, 3.0)), float(rng.uniform(0.2, 2.0))
    costs = scales.copy() if not seed % 2 else rng.uniform(0.0, 2.0, size=k)
    costs[own], scales[own] = 0.0, 0.0
    m = rng.dirichlet(np.ones(k)) * price
    coef = -m * scales
    coef[own] = -coef[1:].sum()
    weights = np.where(scales > 0, 1.0 / np.where(scales > 0, scales, 1.0), np.inf)
    c = np.where(
        scales > 0,
        coef[own] - coef + (costs * np.where(scales > 0, weights, 0) + values - values[own]) / curvature,
        0.0,
    )
    expected = naive_step(c, weights, price)
    new, scratch = np.empty(k), np.empty(k)
    simplex_blocks.row_step(
        values, coef, curvature, own, price, costs, scales, weights, bool(seed % 2), new, scratch
    )
    np.testing.assert_allclose(-new[1:], expected[1:], atol=1e-9)
    assert new.sum() == pytest.approx(0.0, abs=1e-12)


def test_the_sweeps_do_what_a_plain_loop_does():
    X, y = four_classes(5, n=10)
    K = rbf_kernel(X)
    p = JointMargin(y, np.full(10, 1.5), COSTS, slack_rescaling=True)
    b, f = p.start(), np.zeros((4, 10))
    steps, left = simplex_blocks.sweeps(
        K, f, b, p.y, p.C, p.costs, p.scales, p.weights, False, 1e-9, 0.0, 0.5, 10**6, 1e12
    )
    assert steps > 10
    assert left <= 1e-9
    np.testing.assert_allclose(f.T, K @ b, atol=1e-9)
    plain, F = p.start(), np.zeros((10, 4))
    for _ in range(60):
        for i in range(10):
            c = np.where(
                p.scales[y[i]] > 0, plain[i, y[i]] - plain[i] + (1.0 + F[i] - F[i, y[i]]) / K[i, i], 0.0
            )
            u = naive_step_by_bisection(c, p.weights[y[i]], 1.5)
            new = -u
            new[y[i]] = u.sum()
            F += np.outer(K[i], new - plain[i])
            plain[i] = new
        if p.judged(plain, F)[2].max() < 1e-8:
            break
    assert p.objective(b, f.T) == pytest.approx(p.objective(plain, F), rel=1e-9)
    np.testing.assert_allclose(b, plain, atol=1e-5)


def naive_step_by_bisection(c, weights, price):
    """The same minimiser from its optimality conditions, by two nested bisections."""
    there = np.isfinite(weights)

    def shares(multiplier):
        low, high = 0.0, 1.0 + np.abs(c).sum()
        for _ in range(60):
            total = 0.5 * (low + high)
            u = np.where(there, np.maximum(c - total - multiplier * np.where(there, weights, 0.0), 0.0), 0.0)
            low, high = (total, high) if u.sum() > total else (low, total)
        return u

    used = lambda u: (u * np.where(there, weights, 0.0)).sum()  # noqa: E731
    if used(shares(0.0)) <= price:
        return shares(0.0)
    low, high = 0.0, 1.0 + np.abs(c).sum() / weights.min()
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if used(shares(middle)) > price else (low, middle)
    return shares(high)
