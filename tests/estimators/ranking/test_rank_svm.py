"""Ranking: the optimum of an independent solver over all pairs, naive sums, invariances, the contract."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import RankSVM
from mercer.gram.base import MatrixGram
from mercer.problems.pair_ranking import PairRanking, QueryPairs
from mercer.solvers import UnsuitableSolverError
from mercer.threads import Workers

LOSSES = ["squared_hinge", "hinge"]
KERNELS = ["linear", "rbf"]


@parametrize_with_checks([RankSVM(tol=1e-9), RankSVM(kernel="rbf", loss="hinge", tol=1e-6)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def search(seed=0, n=40, queries=5, d=3):
    """Return items, grades with ties, and queries of unequal sizes in any order."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    query = rng.integers(queries, size=n)
    y = np.round(X @ np.linspace(1.0, -1.0, d) + rng.normal(size=n)) + 3.0 * query
    return X, y, query


def all_pairs(y, query):
    return [(i, j) for i in range(y.size) for j in range(y.size) if query[i] == query[j] and y[i] > y[j]]


def optimum(K, y, query, C, weight, squared):
    """Return the least value over coefficients and slacks, a constraint for each pair."""
    clarabel = pytest.importorskip("clarabel")
    n, pairs = y.size, all_pairs(y, query)
    m = len(pairs)
    L = np.linalg.cholesky(K + 1e-11 * np.eye(n))  # f = L u, with ||u|| the norm of w
    price = C * np.array([weight[i] * weight[j] for i, j in pairs])
    P = np.concatenate([np.ones(n), 2 * price if squared else np.zeros(m)])
    q = np.concatenate([np.zeros(n), np.zeros(m) if squared else price])
    D = np.array([L[i] - L[j] for i, j in pairs])
    A = np.block([[-D, -np.eye(m)], [np.zeros((m, n)), -np.eye(m)]])
    b = np.concatenate([-np.ones(m), np.zeros(m)])
    options = clarabel.DefaultSettings()
    options.verbose = False
    cones = [clarabel.NonnegativeConeT(2 * m)]
    found = clarabel.DefaultSolver(sp.csc_matrix(np.diag(P)), q, sp.csc_matrix(A), b, cones, options).solve()
    return found.obj_val


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_optimum_is_that_of_a_conic_solver(kernel, loss):
    X, y, query = search()
    weight = np.random.default_rng(1).uniform(0.2, 2.0, size=y.size)
    model = RankSVM(C=0.7, kernel=kernel, gamma=0.5, loss=loss, tol=1e-7)
    model.fit(X, y, group=query, sample_weight=weight)
    K = X @ X.T if kernel == "linear" else rbf_kernel(X, gamma=0.5)
    value = optimum(K, y, query, 0.7, weight, loss == "squared_hinge")
    assert model.certificate_.status == "optimal"
    assert model.certificate_.primal == pytest.approx(value, rel=1e-6)
    assert model.certificate_.dual == pytest.approx(value, rel=1e-6)
    again = model.certify(X, y, weight, group=query)
    assert again.primal == pytest.approx(model.certificate_.primal, rel=1e-12)
    assert 0.0 <= again.relative_gap <= 1e-7


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("width", [1.0, 0.1])
@pytest.mark.parametrize("threads", [1, 3])
def test_sums_over_sorted_values_are_those_over_all_pairs(squared, width, threads):
    X, y, query = search(seed=2, n=60)
    rng = np.random.default_rng(3)
    weight, f = rng.uniform(0.0, 2.0, size=60), np.round(rng.normal(size=60), 1)  # with ties
    problem = PairRanking(
        MatrixGram(X @ X.T), QueryPairs(y, query), 1.3, weight, squared=squared, workers=Workers(threads)
    )
    found = problem.slopes(f, width)
    direction = rng.normal(size=60)
    loss, excess, b, curved = 0.0, 0.0, np.zeros(60), np.zeros(60)
    for i, j in all_pairs(y, query):
        price, miss = 1.3 * weight[i] * weight[j], max(0.0, 1.0 - found.f[i] + found.f[j])
        slope = price * (2.0 * miss if squared else min(1.0, miss / width))
        loss += price * (miss**2 if squared else miss)
        excess += 0.0 if squared else price * miss - slope * miss
        b[i] += slope
        b[j] -= slope
        bent = miss > 0 if squared else found.f[i] - found.f[j] >= 1.0 - width and miss > 0
        if bent:
            turn = price * (2.0 if squared else 1.0 / width) * (direction[i] - direction[j])
            curved[i] += turn
            curved[j] -= turn
    assert found.loss == pytest.approx(loss)
    assert found.excess == pytest.approx(excess, abs=1e-10)
    assert found.b == pytest.approx(b, abs=1e-10)
    assert problem.curved(found, direction) == pytest.approx(curved, abs=1e-8)


def test_values_that_no_solver_reached_are_bounded_by_the_dual():
    X, y, query = search(seed=4)
    K = X @ X.T
    best = RankSVM(C=1.0, loss="hinge", tol=1e-8).fit(X, y, query).certificate_
    problem = PairRanking(MatrixGram(K), QueryPairs(y, query), 1.0, np.ones(y.size))
    rng = np.random.default_rng(5)
    for width in (1.0, 0.3, 0.01):
        beta = 0.1 * rng.normal(size=y.size)
        values = problem.evaluate(np.append(beta, width), K @ beta)
        assert values.dual <= best.primal + 1e-9
        assert values.primal >= best.dual - 1e-9
        assert values.gap >= 0.0


@pytest.mark.parametrize("loss", LOSSES)
def test_order_of_rows_names_of_queries_and_shifts_of_grades_do_not_matter(loss):
    X, y, query = search(seed=6)
    model = RankSVM(loss=loss, tol=1e-8).fit(X, y, group=query)
    order = np.random.default_rng(0).permutation(y.size)
    names = np.array(["delta", "alpha", "echo", "bravo", "charlie"])
    shifted = 2.0 * y - 100.0 * query
    again = clone(model).fit(X[order], shifted[order], group=names[query][order])
    assert again.coef_ == pytest.approx(model.coef_, abs=1e-4)
    assert again.certificate_.primal == pytest.approx(model.certificate_.primal, rel=1e-7)


def test_a_weight_of_two_equals_the_item_twice_and_of_zero_its_absence():
    X, y, query = search(seed=7)
    weight = np.random.default_rng(1).integers(0, 3, size=y.size)
    rows = np.repeat(np.arange(y.size), weight)
    model = RankSVM(tol=1e-9).fit(X, y, group=query, sample_weight=weight)
    again = RankSVM(tol=1e-9).fit(X[rows], y[rows], group=query[rows])
    assert model.coef_ == pytest.approx(again.coef_, abs=1e-6)
    assert model.score(X, y, query, weight) == pytest.approx(again.score(X[rows], y[rows], query[rows]))


def test_kernel_machine_of_the_linear_kernel_is_the_linear_one():
    X, y, query = search(seed=8)
    model = RankSVM(tol=1e-8).fit(X, y, query)
    given = RankSVM(kernel="precomputed", tol=1e-8).fit(X @ X.T, y, query)
    sparse = RankSVM(tol=1e-8).fit(sp.csr_array(X), y, query)
    for other in (given.predict(X @ X.T), sparse.predict(sp.csr_array(X))):
        assert other == pytest.approx(model.predict(X), abs=1e-5)


def test_two_classes_in_one_query_are_ranked_by_the_area_under_the_curve():
    from sklearn.metrics import roc_auc_score

    X, y, _ = search(seed=9)
    y = (y > np.median(y)).astype(int)
    model = RankSVM(loss="hinge").fit(X, y)
    assert model.score(X, y) == pytest.approx(roc_auc_score(y, model.predict(X)))


@pytest.mark.parametrize("loss", LOSSES)
def test_a_file_keeps_function_and_proof(loss, tmp_path):
    X, y, query = search(seed=10)
    model = RankSVM(kernel="rbf", loss=loss).fit(X, y, query)
    mercer.save(model, tmp_path / "rank.mercer")
    again = mercer.load(tmp_path / "rank.mercer")
    assert again.predict(X) == pytest.approx(model.predict(X))
    assert again.certify(X, y, group=query).gap == pytest.approx(model.certificate_.gap, rel=1e-6)


def test_a_warm_start_begins_where_the_last_fit_ended():
    X, y, query = search(seed=11)
    model = RankSVM(kernel="rbf", warm_start=True, loss="hinge").fit(X, y, query)
    cold = model.n_iter_
    assert model.fit(X, y, query).n_iter_ < cold
    assert model.certificate_.status == "optimal"


def test_limits_leave_a_machine_with_an_honest_certificate():
    X, y, query = search(seed=12, n=200)
    with pytest.warns(ConvergenceWarning):
        model = RankSVM(kernel="rbf", loss="hinge", tol=1e-9, max_iter=2).fit(X, y, query)
    assert model.certificate_.status == "iteration_limit"
    assert model.certificate_.gap > 0
    with pytest.warns(ConvergenceWarning):
        model = RankSVM(kernel="rbf", loss="hinge", tol=1e-9, time_limit=1e-9).fit(X, y, query)
    assert model.certificate_.status == "time_limit"


def test_ctrl_c_keeps_what_was_reached_or_raises(monkeypatch):
    X, y, query = search(seed=13)
    ask = PairRanking.curved
    calls = []

    def interrupted(self, at, v):
        calls.append(0)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return ask(self, at, v)

    monkeypatch.setattr(PairRanking, "curved", interrupted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = RankSVM(on_interrupt="keep", tol=1e-9).fit(X, y, query)
    assert model.certificate_.status == "interrupted"
    assert model.predict(X).shape == y.shape
    calls.clear()
    with pytest.raises(KeyboardInterrupt):
        RankSVM(tol=1e-9).fit(X, y, query)


def test_a_trace_records_a_falling_gap():
    X, y, query = search(seed=14)
    model = RankSVM(trace=True, tol=1e-8).fit(X, y, query)
    gaps = [line["gap"] for line in model.history_[0]]
    assert len(gaps) >= 2
    assert gaps[-1] < gaps[0]


def test_what_cannot_be_ordered_is_refused_in_words():
    X, y, query = search(seed=15)
    with pytest.raises(ValueError, match="nothing to order"):
        RankSVM().fit(X, query.astype(float), group=query)
    with pytest.raises(ValueError, match="names the query of each row"):
        RankSVM().fit(X, y, group=[20, 20])
    with pytest.raises(ValueError, match="no numbers"):
        RankSVM().fit(X, np.array(["good", "bad"] * 20), group=query)
    with pytest.raises(UnsuitableSolverError, match="another kind"):
        RankSVM(solver="smo").fit(X, y, group=query)
    with pytest.raises(UnsuitableSolverError, match="within queries"):
        mercer.SVR(solver="pair_newton").fit(X, y)
