"""StructuredSVM: the optimum, its proof, and all that a fit can do."""

import itertools
import signal
import warnings

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import StructuredSVM
from mercer.io import ModelFileError
from mercer.solvers import BlockFrankWolfe, StochasticSubgradient
from mercer.structured import Chain, CostSensitive, MultiLabel, Structure
from structured.exhaustive import chains, label_sets, words

SOLVERS = [BlockFrankWolfe(), "cutting_planes", BlockFrankWolfe(pairwise=False)]


class Matching(Structure):
    """Permutations: a score for each pair, the assignment by SciPy."""

    exact = True

    def joint_feature(self, x, y):
        return x[np.arange(len(y)), y].sum(axis=0)

    def loss(self, y, other):
        return float(np.sum(np.asarray(y) != np.asarray(other)))

    def argmax(self, x, w, y=None):
        scores = x @ w
        if y is not None:
            scores = scores + 1.0
            scores[np.arange(len(y)), y] -= 1.0
        return linear_sum_assignment(scores, maximize=True)[1]


class Guess(Matching):
    """The same with an argmax that looks at some permutations only."""

    exact = False

    def argmax(self, x, w, y=None):
        few = list(itertools.permutations(range(len(x))))[::2]
        scores = [
            self.joint_feature(x, np.array(z)) @ w + (0.0 if y is None else self.loss(y, np.array(z)))
            for z in few
        ]
        return np.array(few[int(np.argmax(scores))])


class Bounded(Guess):
    """The same with a bound from above: every row by itself."""

    def bound(self, x, w, y):
        scores = x @ w + 1.0
        scores[np.arange(len(y)), y] -= 1.0
        return float(scores.max(axis=1).sum())


def matchings(rng, n=15, k=4, d=3):
    X = [rng.normal(size=(k, k, d)) for _ in range(n)]
    w = np.array([2.0, -1.0, 0.5])
    return X, [linear_sum_assignment(x @ w + rng.normal(size=(k, k)), maximize=True)[1] for x in X]


def problems():
    rng = np.random.default_rng(0)
    X, Y = words(rng, n=10, longest=4)
    yield "chain", Chain(), X, Y, lambda y: chains(3, len(y))
    X, Y = words(rng, n=8, edges=1, longest=4)
    yield "edges", Chain(edge_features=True), X, Y, lambda y: chains(3, len(y))
    X = rng.normal(size=(20, 2))
    Y = (X @ rng.normal(size=(2, 3)) + rng.normal(size=(20, 3)) > 0).astype(int)
    yield "labels", MultiLabel([(0, 1), (1, 2)]), X, Y, lambda y: label_sets(3)
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + rng.normal(size=20), [-0.5, 0.5])]
    yield "classes", CostSensitive(1.0 - np.eye(3) + np.diag([1.0, 1.0], 1)), X, y, lambda y: ["a", "b", "c"]
    X, Y = matchings(rng)
    yield "matching", Matching(), X, Y, lambda y: [np.array(z) for z in itertools.permutations(range(4))]


PROBLEMS = list(problems())
IDS = [problem[0] for problem in PROBLEMS]


def optimum(structure, X, Y, C, outputs):
    """Return the best value, by a general solver that sees every output of every row."""
    truth = [np.asarray(structure.joint_feature(x, y)) for x, y in zip(X, Y, strict=True)]
    w, slack = cp.Variable(truth[0].size), cp.Variable(len(truth), nonneg=True)
    rules = []
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        others = outputs(y)
        table = np.array([truth[i] - structure.joint_feature(x, z) for z in others])
        rules.append(table @ w + slack[i] >= np.array([structure.loss(y, z) for z in others]))
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * cp.sum(slack)), rules)
    return problem.solve(solver=cp.CLARABEL)


@pytest.mark.parametrize(("name", "structure", "X", "Y", "outputs"), PROBLEMS, ids=IDS)
@pytest.mark.parametrize("solver", SOLVERS, ids=["pairwise", "planes", "toward"])
def test_the_optimum_of_a_general_solver(name, structure, X, Y, outputs, solver):
    tol = 1e-6 if isinstance(solver, str) else 1e-4 if solver.pairwise else 1e-2
    model = StructuredSVM(structure, C=0.7, tol=tol, solver=solver).fit(X, Y)
    best = optimum(model.model_, X, Y, 0.7, outputs)
    proof = model.certificate_
    assert proof.status == "optimal"
    assert proof.dual <= best * (1 + 1e-7)
    assert proof.primal >= best * (1 - 1e-7)
    assert 0 <= proof.gap <= tol * proof.primal
    assert proof.gap == pytest.approx(proof.primal - proof.dual, abs=1e-12 * proof.primal)
    again = model.certify(X, Y)
    assert again.primal == pytest.approx(proof.primal)
    assert again.gap == pytest.approx(proof.gap, abs=1e-12 * proof.primal)
    # The weights are those of the multipliers, up to what the gap allows.
    features = sum(
        a
        * (
            np.asarray(model.model_.joint_feature(X[i], Y[i]))
            - model.model_.joint_feature(X[i], plain(model, z))
        )
        for i, z, a in zip(model.support_, model.support_outputs_, model.dual_coef_, strict=True)
    )
    assert np.linalg.norm(model.coef_ - features) ** 2 <= 2.1 * proof.gap + 1e-12


def plain(model, output):
    return model.model_.classes[output] if isinstance(model.model_, CostSensitive) else output


def test_stochastic_subgradient_approaches_the_optimum():
    _, structure, X, Y, outputs = PROBLEMS[0]
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = StructuredSVM(structure, C=0.3, solver=StochasticSubgradient(rows=2), max_iter=100).fit(X, Y)
    best = optimum(model.model_, X, Y, 0.3, outputs)
    assert model.certificate_.dual <= best <= model.certificate_.primal * (1 + 1e-9)
    assert model.certificate_.relative_gap < 0.05


def test_classes_are_the_joint_machine():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 3))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=80), [-0.5, 0.5])
    mine = StructuredSVM(CostSensitive(bias=False), C=0.5, tol=1e-8).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = LinearSVC(
            multi_class="crammer_singer", fit_intercept=False, C=0.5, tol=1e-8, max_iter=100_000
        )
        theirs.fit(X, y)
    np.testing.assert_allclose(mine.coef_.reshape(3, 3), theirs.coef_, atol=2e-4)
    ranked = np.sort(theirs.decision_function(X), axis=1)
    clear = ranked[:, -1] - ranked[:, -2] > 1e-2  # a tie may go either way
    assert clear.sum() > 70
    np.testing.assert_array_equal(mine.predict(X)[clear], theirs.predict(X)[clear])


def test_score_is_one_minus_the_mean_loss():
    _, _, X, Y, _ = PROBLEMS[0]
    model = StructuredSVM(Chain(), C=0.5).fit(X, Y)
    wrong = sum(np.count_nonzero(a != b) for a, b in zip(model.predict(X), Y, strict=True))
    assert model.score(X, Y) == pytest.approx(1 - wrong / sum(map(len, Y)))
    weight = np.arange(len(X), dtype=float)
    heavy = sum(w * np.count_nonzero(a != b) for w, a, b in zip(weight, model.predict(X), Y, strict=True))
    assert model.score(X, Y, weight) == pytest.approx(
        1 - heavy / sum(w * len(y) for w, y in zip(weight, Y, strict=True))
    )
    with pytest.raises(ValueError, match="inconsistent"):
        model.score(X, Y[:-1])


# -- what is proved ------------------------------------------------------------------------------------------


def test_an_argmax_that_is_not_exact_proves_nothing():
    _, _, X, Y, outputs = PROBLEMS[4]
    model = StructuredSVM(Guess(), C=0.7, tol=1e-4).fit(X, Y)
    proof = model.certificate_
    assert proof.status == "stationary"
    assert proof.gap == np.inf
    assert "nothing proved" in str(proof)
    assert proof.dual <= optimum(Matching(), X, Y, 0.7, outputs) * (1 + 1e-7)  # a lower bound all the same
    assert str(model.certify(X, Y)) == str(proof)


def test_a_bound_from_above_proves_something():
    _, _, X, Y, outputs = PROBLEMS[4]
    model = StructuredSVM(Bounded(), C=0.7, tol=1e-4).fit(X, Y)
    best, proof = optimum(Matching(), X, Y, 0.7, outputs), model.certificate_
    assert proof.status == "stationary"
    assert np.isfinite(proof.gap)
    assert proof.dual <= best * (1 + 1e-7)
    assert proof.primal >= best * (1 - 1e-7)
    assert proof.gap == pytest.approx(proof.primal - proof.dual)


class Liar(Guess):
    exact = True


def test_a_wrong_claim_of_exactness_is_found():
    _, _, X, Y, _ = PROBLEMS[4]
    with pytest.raises(ValueError, match="missed the maximum"):
        StructuredSVM(Liar(), C=5.0, tol=1e-6).fit(X, Y)


def test_certify_believes_nothing():
    _, structure, X, Y, _ = PROBLEMS[0]
    model = StructuredSVM(structure, C=0.7, tol=1e-5).fit(X, Y)
    good = model.certify(X, Y)
    model.coef_ = 1.5 * model.coef_
    assert model.certify(X, Y).gap > 10 * good.gap
    model.coef_ = model.coef_ / 1.5
    model.dual_coef_ = 2.0 * model.dual_coef_
    assert model.certify(X, Y).status == "infeasible"
    model.dual_coef_ = -model.dual_coef_
    assert model.certify(X, Y).dual == -np.inf
    model.coef_ = model.coef_[:-1]
    with pytest.raises(ValueError, match="weights"):
        model.certify(X, Y)


# -- the fit -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["block_frank_wolfe", "cutting_planes"])
def test_weights_are_repeated_rows(solver):
    _, structure, X, Y, _ = PROBLEMS[0]
    tol = 1e-8 if solver == "cutting_planes" else 1e-5
    weight = np.array([2, 1, 0, 1, 3, 1, 1, 1, 1, 1])
    rows = np.repeat(np.arange(10), weight)
    one = StructuredSVM(structure, C=0.5, tol=tol, solver=solver).fit(X, Y, sample_weight=weight)
    two = StructuredSVM(structure, C=0.5, tol=tol, solver=solver).fit(
        [X[i] for i in rows], [Y[i] for i in rows]
    )
    # Two points within a gap of the optimum are that near each other.
    gaps = one.certificate_.gap + two.certificate_.gap
    assert np.linalg.norm(one.coef_ - two.coef_) <= 2.0 * np.sqrt(2.0 * gaps) + 1e-9
    assert one.certificate_.primal == pytest.approx(two.certificate_.primal, rel=2 * tol)


@pytest.mark.parametrize("solver", ["block_frank_wolfe", "cutting_planes", "stochastic_subgradient"])
def test_limits_leave_a_usable_model(solver):
    _, structure, X, Y, _ = PROBLEMS[0]
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model = StructuredSVM(structure, C=0.5, tol=1e-12, max_iter=2, solver=solver).fit(X, Y)
    assert model.certificate_.status == "iteration_limit"
    assert model.n_iter_ == 2
    assert np.isfinite(model.certificate_.gap)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = StructuredSVM(structure, C=0.5, tol=1e-15, time_limit=1e-9, solver=solver).fit(X, Y)
    assert model.certificate_.status == "time_limit"
    assert len(model.predict(X)) == len(X)


class Interrupting(Matching):
    """Presses Ctrl-C in the middle of the second pass."""

    def __init__(self):
        self.__dict__["calls"] = [0]

    def argmax(self, x, w, y=None):
        self.__dict__["calls"][0] += 1
        if self.__dict__["calls"][0] == 40:
            signal.raise_signal(signal.SIGINT)
        return super().argmax(x, w, y)


def test_ctrl_c():
    _, _, X, Y, _ = PROBLEMS[4]
    kept = StructuredSVM(Interrupting(), C=5.0, tol=1e-12, on_interrupt="keep").fit(X, Y)
    assert kept.certificate_.status == "interrupted"
    assert np.isfinite(kept.certificate_.gap)
    with pytest.raises(KeyboardInterrupt):
        StructuredSVM(Interrupting(), C=5.0, tol=1e-12).fit(X, Y)


@pytest.mark.parametrize("solver", ["block_frank_wolfe", "cutting_planes", "stochastic_subgradient"])
def test_trace(solver, capsys):
    _, structure, X, Y, _ = PROBLEMS[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = StructuredSVM(structure, C=0.5, solver=solver, trace=True, verbose=2, max_iter=40).fit(X, Y)
    assert len(model.history_) == model.n_iter_
    duals = [line["dual"] for line in model.history_]
    primals = [line["primal"] for line in model.history_]
    assert all(b <= a for a, b in itertools.pairwise(primals))
    assert max(duals) <= min(primals)
    if solver != "stochastic_subgradient":
        assert all(b >= a - 1e-9 * abs(a) for a, b in itertools.pairwise(duals))
    assert model.history_[-1]["gap"] == pytest.approx(model.certificate_.gap, rel=1e-6, abs=1e-9)
    assert str(model.certificate_) in capsys.readouterr().out


@pytest.mark.parametrize("solver", ["block_frank_wolfe", "cutting_planes"])
def test_warm_start(solver):
    _, structure, X, Y, _ = PROBLEMS[0]
    model = StructuredSVM(structure, C=0.5, tol=1e-5, solver=solver, warm_start=True).fit(X, Y)
    cold = model.n_iter_
    assert model.fit(X, Y).n_iter_ <= 2 < cold
    model.set_params(C=0.55, trace=True).fit(X, Y)
    fresh = clone(model).set_params(warm_start=False).fit(X, Y)
    assert model.n_iter_ <= fresh.n_iter_
    assert model.history_[0]["dual"] > fresh.history_[0]["dual"]
    assert model.certificate_.primal == pytest.approx(fresh.certificate_.primal, rel=1e-4)
    assert model.fit(X[:5], Y[:5]).certificate_.status == "optimal"


def test_rows_without_errors_have_zero_weights():
    X, Y = [np.zeros((2, 1)), np.zeros((3, 1))], [np.array([0, 1]), np.array([0, 1, 0])]
    model = StructuredSVM(Chain(bias=False), C=1e-6, tol=1e-9).fit(X, Y)
    assert model.certificate_.status == "optimal"
    assert np.abs(model.coef_).max() < 1e-4


def test_search_and_clone():
    rng = np.random.default_rng(3)
    X, Y = words(rng, n=24)
    search = GridSearchCV(
        StructuredSVM(Chain(n_labels=3)), {"C": [0.01, 1.0], "model__bias": [True, False]}, cv=3
    )
    search.fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.model_.n_labels == 3


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (StructuredSVM("chain"), "model"),
        (StructuredSVM(Chain(), C=0.0), "C"),
        (StructuredSVM(Chain(), solver="smo"), "solver"),
    ],
)
def test_bad_parameters_are_refused(model, match):
    _, _, X, Y, _ = PROBLEMS[0]
    with pytest.raises(ValueError, match=match):
        model.fit(X, Y)


def test_bad_data_are_refused():
    _, _, X, Y, _ = PROBLEMS[0]
    with pytest.raises(ValueError, match="inconsistent"):
        StructuredSVM(Chain()).fit(X, Y[:-1])
    with pytest.raises(ValueError, match="requires y"):
        StructuredSVM(Chain()).fit(X, None)
    with pytest.raises(TypeError, match="sequence"):
        StructuredSVM(Chain()).fit("words", Y)
    model = StructuredSVM(Chain()).fit(X, Y)
    with pytest.raises(ValueError, match="features"):
        model.predict([np.zeros((2, 5))])
    with pytest.raises(ValueError, match="fitted on 10"):
        model.certify(X[:5], Y[:5])


@parametrize_with_checks([StructuredSVM(CostSensitive(), tol=1e-7)])
def test_scikit_learn(estimator, check):
    check(estimator)


# -- files ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "structure", "X", "Y", "outputs"), PROBLEMS[:4], ids=IDS[:4])
def test_model_files(name, structure, X, Y, outputs, tmp_path):
    model = StructuredSVM(structure, C=0.7).fit(X, Y)
    path = mercer.save(model, tmp_path / "model.mercer")
    same = mercer.load(path)
    assert same.model_ == model.model_
    for a, b in zip(model.predict(X), same.predict(X), strict=True):
        assert np.array_equal(a, b)
    assert same.certify(X, Y).gap == pytest.approx(model.certificate_.gap)


def test_files_hold_no_code(tmp_path):
    _, structure, X, Y, _ = PROBLEMS[4]
    model = StructuredSVM(structure, C=0.7).fit(X, Y)
    path = mercer.save(model, tmp_path / "model.mercer")
    with pytest.raises(ModelFileError, match="Matching"):
        mercer.load(path)
    same = mercer.load(path, kernels={"Matching": Matching})
    for a, b in zip(model.predict(X), same.predict(X), strict=True):
        assert np.array_equal(a, b)
