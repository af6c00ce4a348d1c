"""The check that decides whether a time is believed must accept solutions and nothing else."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

pytest.importorskip("psutil")

from benchmarks.peers import LIBRARIES
from benchmarks.problem import Problem, Settings

from benchmarks import checks, synthetic

TIGHT = Settings(tol=1e-6)


def fit(problem, library="sklearn", settings=TIGHT):
    peer = LIBRARIES[library]()
    if not peer.available():
        pytest.skip(f"{library} is not installed")
    peer.start()
    return peer.export(peer.fit(peer.prepare(problem), problem, settings), problem)


PROBLEMS = {
    "two classes": synthetic.classification(150, d=4, C=3.0),
    "four classes": synthetic.classification(200, d=4, classes=4, C=3.0),
    "sparse": synthetic.sparse_classification(150, d=40),
    "regression": synthetic.regression(150, d=4),
}


@pytest.mark.parametrize("library", ["mercer", "sklearn", "libsvm"])
@pytest.mark.parametrize("kind", PROBLEMS)
def test_a_solution_passes(library, kind):
    problem = PROBLEMS[kind]
    ours = library == "mercer"
    # LIBSVM keeps kernel values in float32: a much smaller tolerance is beyond it.
    tol = 1e-6 if ours else 1e-3
    found = checks.check(problem, fit(problem, library, Settings(tol=tol)))
    assert found.violation <= 1.05 * tol
    assert found.bias_violation <= 1.05 * tol
    assert 0 <= found.gap <= 10 * tol * found.primal
    assert found.infeasible <= 1e-9
    assert found.pairs == {"four classes": 6}.get(kind, 1)
    assert checks.judge(found, found.dual, tol, ours=ours).kind == "ok"


def test_values_agree_with_the_formulas_written_out():
    problem = PROBLEMS["two classes"]
    fitted = fit(problem, settings=Settings(tol=0.3))
    K = rbf_kernel(problem.X, gamma=problem.gamma)
    beta = np.zeros(problem.n)
    beta[fitted.support] = fitted.dual_coef[0]
    sign = np.where(problem.y == 1, 1.0, -1.0)
    margin = sign * (K @ beta + fitted.intercept[0])
    found = checks.check(problem, fitted)
    assert found.dual == pytest.approx(np.abs(beta).sum() - 0.5 * beta @ K @ beta, rel=1e-12)
    assert found.primal == pytest.approx(
        0.5 * beta @ K @ beta + problem.C * np.maximum(0, 1 - margin).sum(), rel=1e-12
    )
    # The worst exchange, tried one pair at a time.
    gain = sign - K @ beta
    alpha = sign * beta
    up = [i for i in range(problem.n) if (alpha[i] < problem.C if sign[i] > 0 else alpha[i] > 0)]
    down = [i for i in range(problem.n) if (alpha[i] > 0 if sign[i] > 0 else alpha[i] < problem.C)]
    worst = max(gain[i] - gain[j] for i in up for j in down)
    assert 1e-3 < worst <= 0.3
    assert found.violation == pytest.approx(worst, rel=1e-9)


def test_an_early_stop_is_seen():
    problem = PROBLEMS["two classes"]
    best = checks.check(problem, fit(problem)).dual
    found = checks.check(problem, fit(problem, settings=Settings(tol=0.03)))
    assert checks.judge(found, best, 0.03, ours=False).kind == "ok"
    assert checks.judge(found, best, 0.005, ours=False).kind == "early"


@pytest.mark.parametrize("kind", ["two classes", "four classes", "regression"])
def test_a_wrong_model_is_refused(kind):
    problem = PROBLEMS[kind]
    right = fit(problem)
    best = checks.check(problem, right).dual
    other = fit(replace(problem, C=problem.C / 3))
    shifted = replace(right, intercept=right.intercept + 0.1)
    permuted = replace(right, dual_coef=right.dual_coef[:, ::-1])
    unbalanced = replace(right, dual_coef=right.dual_coef * np.where(right.dual_coef > 0, 0.9, 1.0))
    for wrong in (other, shifted, permuted, unbalanced):
        verdict = checks.judge(checks.check(problem, wrong), best, 1e-3, ours=False)
        assert verdict.kind == "wrong", verdict


def test_nan_is_refused():
    problem = PROBLEMS["two classes"]
    right = fit(problem)
    found = checks.check(problem, replace(right, intercept=np.array([np.nan])))
    assert checks.judge(found, found.dual, 1e-3, ours=False).kind == "wrong"


def test_a_model_of_another_shape_is_refused():
    problem = PROBLEMS["four classes"]
    right = fit(problem)
    for wrong in (
        replace(right, dual_coef=right.dual_coef[:2]),
        replace(right, intercept=right.intercept[:1]),
        replace(right, support=right.support + problem.n),
    ):
        with pytest.raises(checks.MalformedModelError):
            checks.check(problem, wrong)


def test_tiles_and_layouts_agree(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) * (rng.random((60, 5)) < 0.5)
    rows, support = np.arange(60), np.arange(0, 60, 3)
    coef = rng.normal(size=(support.size, 2))
    expected = rbf_kernel(X, X[support], gamma=0.3) @ coef
    y = np.zeros(60)
    dense = Problem("dense", X, y, 1.0, 0.3)
    packed = Problem("sparse", sp.csr_matrix(X), y, 1.0, 0.3)
    monkeypatch.setattr(checks, "TILE_BYTES", 8 * support.size * 7)
    np.testing.assert_allclose(checks.rbf_sums(dense, rows, support, coef), expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(checks.rbf_sums(packed, rows, support, coef), expected, rtol=1e-12, atol=1e-13)
    monkeypatch.setattr(checks, "DENSE_COLUMNS", 1)
    np.testing.assert_allclose(checks.rbf_sums(packed, rows, support, coef), expected, rtol=1e-12, atol=1e-13)


def test_known_models_are_not_recomputed(tmp_path, monkeypatch):
    problem = PROBLEMS["two classes"]
    fitted = fit(problem)
    first = checks.Checker(tmp_path / "checks.json")(problem, fitted)
    monkeypatch.setattr(checks, "check", lambda *_: pytest.fail("recomputed"))
    assert checks.Checker(tmp_path / "checks.json")(problem, fitted) == first
