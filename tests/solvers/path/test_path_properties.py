"""Random small sets, most of them full of ties: the optimality conditions hold all along every path."""

import numpy as np
import pytest

from mercer.kernels import RBF
from mercer.problems.parametric_family import soft_margin_family, tube_family
from mercer.solvers.path.follow import PathSolver

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies

NOISE = 1e-12  # share of the summands that rounding may leave in a marginal cost


def points(rng, kind, n, d):
    if kind == "grid":
        return rng.integers(0, int(rng.integers(2, 5)), size=(n, d)).astype(float)
    X = rng.normal(size=(n, d))
    if kind == "plain":
        return X
    tripled = np.repeat(X, 3, axis=0)
    return tripled if kind == "duplicates" else tripled + 1e-8 * rng.normal(size=tripled.shape)


@hypothesis.given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(["plain", "grid", "duplicates", "near"]),
    kernel=st.sampled_from(["linear", "wide", "narrow", "polynomial"]),
    regression=st.booleans(),
    bias=st.booleans(),
    n=st.integers(2, 30),
    d=st.integers(1, 4),
)
def test_optimal_all_along(seed, kind, kernel, regression, bias, n, d):
    rng = np.random.default_rng(seed)
    X = points(rng, kind, n, d)
    n = len(X)
    S = X @ X.T
    K = {
        "linear": S,
        "wide": RBF(gamma=0.01)(X),
        "narrow": RBF(gamma=2.0)(X),
        "polynomial": (1 + S) ** 2,
    }[kernel]
    weight = [np.ones(n), rng.integers(1, 4, n).astype(float), rng.uniform(0.1, 2.0, n)][seed % 3]
    if regression:
        y = np.round(X.sum(axis=1) + rng.normal(size=n))
        family = tube_family(y, weight, float(rng.choice([0.0, 0.1, 0.5, 1.0])), fit_intercept=bias)
    else:
        y = np.where(X[:, 0] + rng.normal(size=n) > np.median(X[:, 0]), 1.0, -1.0)
        y[0] = -y[-1]
        family = soft_margin_family(y, weight, fit_intercept=bias)
    path = PathSolver().solve(K, family, 1e-3)
    assert path.status == "optimal"
    middles = 0.5 * (path.t[1:] + path.t[:-1])
    for t in np.concatenate([path.t, middles, [2.0 * path.t[0]]]):
        dual, solution = path.solution(1.0 / float(t))
        beta = dual.beta(solution.b)
        size = np.abs(K).max() * np.linalg.norm(beta)
        assert dual.violation(solution.b, dual.gradient(solution.b, K @ beta)) <= max(1e-8, NOISE * size)
        assert (solution.b >= dual.lo).all()
        assert (solution.b <= dual.hi).all()
        assert not bias or abs(beta.sum()) <= 1e-10 * np.abs(beta).sum()
