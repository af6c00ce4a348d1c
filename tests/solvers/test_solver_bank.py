"""Every solver on every problem of the bank: the same optimum, or a readable refusal."""

import numpy as np
import pytest
from solver_bank import CASES, seen

from mercer.problems import relative
from mercer.solvers import Ascent, Chunking, InteriorPoint, Limits, UnsuitableSolverError, as_solver
from mercer.solvers.needs import A_DUAL, SOLVERS

pytestmark = pytest.mark.core

TIGHT = 1e-7
SAME = 1e-6
PRIMAL = ("dual_newton", "lagrangian", "subgradient")
DUAL = [name for name, solver in SOLVERS.items() if A_DUAL in solver.needs and name not in PRIMAL]
on_the_bank = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def refused_by(kind):
    """Return which dual solvers cannot take a problem as it stands, from the nature of the problem."""
    if kind == "hard margin, no bias":
        return {"ascent"}  # as a hull it has a fixed sum; `Ascent.restate` gives the form it takes
    return {"smo"} if "no bias" in kind else {"ascent"}


def judge(case):
    """Return the optimum by the interior-point method, which proves it by its gap."""
    solution = InteriorPoint(tol=TIGHT).solve(seen(case), case.problem)
    values = solution.values
    if case.problem.hopeless(solution.b, solution.f):  # the plane through the data: w = 0
        return solution, None
    assert relative(values.gap, values.primal, values.dual) <= 1e-9
    assert values.violation <= 1e-8 * max(1.0, float(np.abs(solution.f).max()))
    assert solution.status == "optimal"
    return solution, values.dual


def feasible(problem, b):
    assert (b >= problem.lo).all()
    assert (b <= problem.hi).all()
    if problem.group is not None:
        sums = np.bincount(problem.group, weights=b, minlength=problem.sums.size)
        np.testing.assert_allclose(sums, problem.sums, atol=1e-12 * max(1.0, np.abs(b).sum()))


@on_the_bank
def test_all_dual_solvers_reach_the_same_objective(case):
    first, optimum = judge(case)
    feasible(case.problem, first.b)
    refusals = set()
    for name in DUAL:
        solver = Chunking(chunk=8) if name == "chunking" else as_solver(name)
        try:
            solution = solver.controlled(tol=TIGHT).solve(seen(case), case.problem)
        except UnsuitableSolverError:
            refusals.add(name)
            continue
        feasible(case.problem, solution.b)
        if optimum is None:
            assert case.problem.hopeless(solution.b, solution.f)
            continue
        assert solution.status == "optimal", name
        assert solution.values.dual == pytest.approx(optimum, rel=SAME), name
        assert solution.values.gap >= 0
        assert solution.values.violation <= TIGHT * max(1.0, float(np.abs(solution.f).max()))
        np.testing.assert_allclose(
            solution.f, seen(case).matvec(case.problem.beta(solution.b)), atol=1e-9 * np.abs(first.f).max()
        )
    assert refusals == refused_by(case.kind)


@pytest.mark.parametrize(
    ("order", "omega"),
    [
        ("cyclic", 1.0),
        ("random", 1.0),
        ("violators", 1.0),
        ("nonbound", 1.0),
        ("ascending", 1.0),
        ("cyclic", 0.6),
        ("cyclic", 1.7),
        ("ascending", 1.4),
    ],
)
@pytest.mark.parametrize(
    "case",
    [c for c in CASES if c.name.startswith("duplicates") and "no bias" in c.kind],
    ids=lambda case: case.name,
)
def test_ascent_in_every_order_and_relaxation(case, order, omega):
    _, optimum = judge(case)
    solution = Ascent(omega=omega, order=order, tol=TIGHT).solve(case.gram, case.problem)
    assert solution.status == "optimal"
    assert solution.values.dual == pytest.approx(optimum, rel=SAME)


@pytest.mark.parametrize("case", [c for c in CASES if "hard" in c.kind], ids=lambda case: case.name)
@pytest.mark.parametrize("order", ["cyclic", "violators", "nonbound", "ascending"])
def test_ascent_on_the_hard_margin(case, order):
    """Without a bias it is the hull problem; with one, that of the kernel K + tau^2."""
    solver = Ascent(order=order, tol=1e-6)
    problem = solver.restate(case.problem, np.diagonal(case.K))
    K = case.K
    if case.problem.has_bias:
        assert problem.tau == pytest.approx(np.sqrt(np.diagonal(K).max()))
        K = K + problem.tau**2
    hull = next(
        c for c in CASES if c.kind == "hard margin, no bias" and c.name[:12] == case.name[:12]
    ).problem
    best = InteriorPoint().solve(hull.view(type(case.gram)(K, True)), hull)
    solution = solver.solve(problem.view(case.gram), problem)
    assert solution.status == "optimal"
    assert solution.values.dual == pytest.approx(best.values.dual, rel=SAME)
    assert solution.values.gap <= 1e-4 * solution.values.primal
    machine = problem.machine(solution.b, solution.f)
    margins = hull.y * (case.K @ machine.coef + machine.intercept)
    assert margins.min() == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("name", [n for n in DUAL if n != "interior_point"])
@pytest.mark.parametrize("criterion", ["kkt", "gap", "growth"])
@pytest.mark.parametrize("kind", ["soft margin", "squared hinge", "tube", "hard margin"])
def test_each_criterion_stops_each_solver(name, criterion, kind):
    case = next(c for c in CASES if c.kind == kind and "rbf" in c.name)
    _, optimum = judge(case)
    solver = as_solver(name)
    problem = solver.restate(case.problem, np.diagonal(case.K))
    if problem is not case.problem:  # a bias that is penalised is another optimum
        optimum = InteriorPoint().solve(*_bare(problem, case.gram)).values.dual
    tol = {"kkt": 1e-4, "gap": 1e-5, "growth": 1e-9}[criterion]
    solution = solver.controlled(tol=tol, criterion=criterion).solve(problem.view(case.gram), problem)
    values = solution.values
    if criterion == "growth":  # a dual that has stopped growing proves nothing: the numbers decide
        assert solution.status in ("optimal", "iteration_limit")
    else:
        assert solution.status == "optimal"
    gap = relative(values.gap, values.primal, values.dual)
    if criterion == "gap":
        assert gap <= tol
    if criterion == "kkt":
        assert values.violation <= 1.01 * tol
    # The certificate tells the truth whatever stopped the solver.
    assert optimum - 1e-9 * abs(optimum) <= values.primal
    assert values.dual <= optimum + 1e-9 * abs(optimum)
    assert values.dual == pytest.approx(optimum, rel=1e-2)


def _bare(problem, gram):
    """Return the matrix and the problem of a fixed bias in a form that the interior-point method takes."""
    inner = problem.bare
    hull = getattr(inner, "hull", None)
    if hull is None:
        return problem.view(gram), inner
    K = gram.block(np.arange(gram.n), np.arange(gram.n)) + problem.tau**2
    return hull.view(type(gram)(K, True)), hull


@pytest.mark.parametrize("name", DUAL)
def test_limits_leave_a_feasible_point(name):
    case = next(c for c in CASES if c.name == "clouds, rbf, soft margin")
    solver = as_solver(name)
    problem = solver.restate(case.problem, np.diagonal(case.K))
    for limits, status in ((Limits(max_iter=1), "iteration_limit"), (Limits(time_limit=0.0), "time_limit")):
        solution = solver.controlled(tol=1e-12, limits=limits).solve(problem.view(case.gram), problem)
        feasible(problem, solution.b)
        assert solution.status == status or solution.values.violation <= 1e-11
        assert solution.n_iter <= 1
        assert np.isfinite(solution.values.gap)


@pytest.mark.parametrize("name", ["smo", "chunking", "ascent", "decomposition"])
def test_a_start_at_the_solution_ends_at_once(name):
    case = next(c for c in CASES if c.name == "clouds, rbf, soft margin")
    solver = as_solver(name)
    problem = solver.restate(case.problem, np.diagonal(case.K))
    gram = problem.view(case.gram)
    first = solver.controlled(tol=1e-6).solve(gram, problem)
    again = solver.controlled(tol=2e-6).solve(gram, problem, first.b)
    assert again.n_iter <= max(1, first.n_iter // 10)
    assert again.values.dual == pytest.approx(first.values.dual, rel=1e-9)


@pytest.mark.parametrize("name", DUAL)
def test_ctrl_c_leaves_a_feasible_point(name):
    case = next(c for c in CASES if c.name == "clouds, rbf, soft margin")
    solver = as_solver(name)
    problem = solver.restate(case.problem, np.diagonal(case.K))
    calls = []

    def listener(progress):
        calls.append(progress.n_iter)
        if len(calls) == 2:
            raise KeyboardInterrupt

    solution = solver.controlled(tol=1e-12, listener=listener).solve(problem.view(case.gram), problem)
    assert solution.status == "interrupted" or len(calls) < 2
    assert len(calls) >= 2 or solution.values.violation <= 1e-11
    feasible(problem, solution.b)
    assert np.isfinite(solution.values.gap)


@pytest.mark.parametrize("name", [n for n in SOLVERS if n not in (*DUAL, *PRIMAL)])
def test_solvers_of_other_problems_say_so(name):
    case = CASES[0]
    with pytest.raises(UnsuitableSolverError, match=f"solver='{name}' .* use "):
        as_solver(name).solve(case.gram, case.problem)
