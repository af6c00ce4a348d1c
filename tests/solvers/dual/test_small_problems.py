"""Many small problems solved at once: each as if it were alone."""

import numpy as np
import pytest
import sklearn.svm

from mercer import SVC
from mercer.estimators.svm import svc as pairs
from mercer.gram import Workers
from mercer.gram.base import MatrixGram
from mercer.kernels import RBF
from mercer.problems import soft_margin
from mercer.problems.stacked import SolvedDual, Stacked
from mercer.solvers import Decomposition
from mercer.solvers.dual import decomposition, small_problems
from mercer.solvers.many import Many

pytestmark = pytest.mark.core


def problems_of(rng, count, n=40):
    """Return a kernel matrix and random two-class problems on a few of its points each."""
    X = rng.normal(size=(n, 3))
    rows, signs, prices = [], [], []
    for _ in range(count):
        m = int(rng.integers(2, 12))
        rows.append(rng.choice(n, m, replace=False))
        signs.append(rng.permutation(np.where(np.arange(m) % 2, 1.0, -1.0)))
        prices.append(rng.uniform(0.1, 20.0, m))
    return RBF(0.4)(X), rows, signs, prices


def stacked(rows, signs, prices):
    return Stacked(rows, soft_margin(np.concatenate(signs), np.concatenate(prices)))


class Problems(Many):
    """Soft margins over parts of one matrix, and who takes their solutions."""

    def __init__(self, rows, signs, prices):
        self.rows, self.signs, self.prices = rows, signs, prices
        self.found = [None] * len(rows)

    def state(self, k, part):
        return soft_margin(self.signs[k], self.prices[k]), None

    def solved(self, k, part, problem, solution):
        self.found[k] = solution

    def stacked(self, gram):
        return soft_margin(np.concatenate(self.signs), np.concatenate(self.prices))


def alone(K, rows, sign, price, tol):
    problem = soft_margin(sign, price)
    part = K[np.ix_(rows, rows)]
    return problem, Decomposition(tol=tol).solve(MatrixGram(part, True), problem)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("tol", [1e-3, 1e-8])
def test_each_solution_is_that_of_the_problem_alone(threads, tol, monkeypatch):
    monkeypatch.setattr(small_problems, "TOGETHER", 7)
    K, rows, signs, prices = problems_of(np.random.default_rng(0), 100)
    gram = MatrixGram(K, True)
    found = small_problems.solve_stacked(gram, Problems(rows, signs, prices), tol, Workers(threads))
    assert len(found) == 100
    assert sum(s is None for s in found) < 50  # where all are at a bound, the bias is for others to say
    for k, solution in enumerate(found):
        if solution is None:
            continue
        problem, judge = alone(K, rows[k], signs[k], prices[k], tol)
        assert solution.status == "optimal"
        assert solution.values.violation <= tol
        assert solution.values.gap >= 0
        assert abs(solution.values.dual - judge.values.dual) <= solution.values.gap + judge.values.gap + 1e-12
        np.testing.assert_allclose(solution.f, K[np.ix_(rows[k], rows[k])] @ solution.b, atol=1e-12)
        assert abs(solution.b.sum()) <= 1e-13 * np.abs(solution.b).sum()
        assert (solution.b >= problem.lo).all()
        assert (solution.b <= problem.hi).all()


def test_values_are_those_of_the_one_dual():
    rng = np.random.default_rng(1)
    K, rows, signs, prices = problems_of(rng, 60)
    many = stacked(rows, signs, prices)
    where = rng.uniform(size=many.p.size)
    where = np.where(where < 0.2, 0.0, np.where(where > 0.8, 1.0, where))  # some at their bounds
    b = many.lo + where * (many.hi - many.lo)
    f = np.concatenate(
        [
            K[np.ix_(part, part)] @ b[s:e]
            for part, s, e in zip(rows, many.ends[:-1], many.ends[1:], strict=True)
        ]
    )
    # Each point is made feasible, but for the last, whose sum is wrong: nothing is claimed of that one.
    for k in range(len(many) - 1):
        part = slice(many.ends[k], many.ends[k + 1])
        b[part] = soft_margin(signs[k], prices[k]).nearest(b[part])
        f[part] = K[np.ix_(rows[k], rows[k])] @ b[part]
    noise = rng.uniform(0.0, 1e-9, len(many))
    for k, values in enumerate(many.evaluate(b, f, noise)):
        part = slice(many.ends[k], many.ends[k + 1])
        problem = soft_margin(signs[k], prices[k])
        want = problem.evaluate(b[part], f[part], noise=float(noise[k]))
        settled = problem.settled(b[part])
        free = (settled > problem.lo) & (settled < problem.hi)
        assert (values is None) == (not free.any() or not want.feasible)
        if values is None:
            continue
        for name in ("primal", "dual", "gap", "violation", "multipliers", "rounding"):
            np.testing.assert_allclose(getattr(values, name), getattr(want, name), rtol=1e-12, atol=1e-12)
        machine, other = (p.machine(b[part], f[part]) for p in (SolvedDual(values), problem))
        np.testing.assert_allclose(machine.values, other.values, atol=1e-12)
        assert machine.margin == pytest.approx(other.margin)


def test_nothing_is_done_after_a_request_to_stop():
    K, rows, signs, prices = problems_of(np.random.default_rng(2), 5)
    gram = MatrixGram(K, True)
    many = Problems(rows, signs, prices)
    assert small_problems.solve_stacked(gram, many, 1e-3, Workers(1), lambda: True) == [None] * 5


def many_classes(classes=20, each=6, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(classes * each) % classes
    return rng.normal(size=(classes, 4))[y] * 2 + rng.normal(size=(y.size, 4)), y


@pytest.mark.parametrize("options", [{}, {"class_weight": "balanced"}, {"kernel": "linear", "C": 0.01}])
def test_a_fit_of_many_classes_is_the_same_with_and_without(options, monkeypatch):
    X, y = many_classes()
    weight = np.random.default_rng(3).integers(1, 3, y.size)
    calls = []
    solve = small_problems.solve_stacked
    monkeypatch.setattr(decomposition, "solve_stacked", lambda *a: calls.append(1) or solve(*a))
    at_once = SVC(tol=1e-6, **options).fit(X, y, sample_weight=weight)
    assert calls
    monkeypatch.setattr(small_problems, "ENOUGH", 10**9)
    one_by_one = SVC(tol=1e-6, **options).fit(X, y, sample_weight=weight)
    assert len(calls) == 1
    assert at_once.certificate_.status == one_by_one.certificate_.status == "optimal"
    assert at_once.certificate_.kkt_violation <= 1e-6
    assert at_once.certificate_.dual == pytest.approx(one_by_one.certificate_.dual, rel=1e-5)
    np.testing.assert_allclose(at_once.margin_, one_by_one.margin_, rtol=1e-3)
    for shape in ("ovo", "ovr"):
        a, b = (m.set_params(decision_function_shape=shape) for m in (at_once, one_by_one))
        np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-4)
    again = at_once.certify(X, y, sample_weight=weight)
    assert again.gap == pytest.approx(at_once.certificate_.gap, rel=1e-4, abs=1e-9)


def test_many_classes_agree_with_scikit_learn():
    X, y = many_classes(30, 5, seed=4)
    ours, theirs = SVC(tol=1e-8).fit(X, y), sklearn.svm.SVC(tol=1e-8, decision_function_shape="ovo").fit(X, y)
    np.testing.assert_allclose(
        ours.set_params(decision_function_shape="ovo").decision_function(X),
        theirs.decision_function(X),
        atol=1e-6,
    )
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("shape", ["ovo", "ovr"])
@pytest.mark.parametrize("kernel", ["rbf", "precomputed", "callable"])
def test_rows_are_decided_a_few_at_a_time(kernel, shape, monkeypatch):
    X, y = many_classes(14, 8)
    given = RBF(0.3)(X) if kernel == "precomputed" else X
    chosen = (lambda A, B: RBF(0.3)(A, B)) if kernel == "callable" else kernel
    model = SVC(kernel=chosen, gamma=0.3, decision_function_shape=shape).fit(given, y)
    whole = model.predict(given), model.decision_function(given)
    monkeypatch.setattr(pairs, "DECISIONS", 1)
    monkeypatch.setattr(pairs, "FEWEST_ROWS", 9)
    np.testing.assert_array_equal(model.predict(given), whole[0])
    np.testing.assert_allclose(model.decision_function(given), whole[1], atol=1e-10)
