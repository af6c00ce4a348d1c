r"""Is a fitted model what it should be? Recomputed in float64 from its attributes alone.

With signed duals b (b_i = y_i alpha_i for classification), f = K b and the gradient g of the dual objective,

    violation = max_{b_i may grow} (-g_i)  -  min_{b_i may shrink} (-g_i)

which is LIBSVM's stopping rule: the most that an exchange between two points could gain per unit. For
regression the gradient has a right and a left value where b_i = 0. With the shipped bias c the violation is
max(max(-g_i) - c, c - min(-g_i)); if c is the mean of -g_i over free points, that is at most the first.

References
----------
Keerthi, Shevade, Bhattacharyya and Murthy (2001), Improvements to Platt's SMO algorithm for SVM classifier
design, Neural Computation 13.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.problem import Fitted, Problem

VERSION = 1  # raise when a number below changes its meaning: kept results are then dropped
AT_BOUND = 1e-8  # a dual within this fraction of C of a bound is at the bound
TILE_BYTES = 128 * 2**20
DENSE_COLUMNS = 4096  # sparse rows are unpacked, tile by tile, up to this many columns
# Our own violation may exceed tol by rounding only. Peers stop on a gradient that they update rather than
# recompute, so theirs drifts.
ALLOWANCE_OURS = 1.001
ALLOWANCE_PEERS = 1.05


@dataclass(frozen=True)
class Check:
    """What was found.

    Attributes
    ----------
    violation, bias_violation : float
        The largest over the pairs of classes, without and with the shipped bias.
    dual, primal, gap : float
        Summed over the pairs.
    infeasible : float
        How far the box or the sum constraint is broken, in units of C.
    pairs : int
        Two-class problems that were checked: all of them.
    """

    violation: float
    bias_violation: float
    dual: float
    primal: float
    gap: float
    infeasible: float
    pairs: int


def rbf_sums(problem: Problem, rows: np.ndarray, support: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """Return K(rows, support) @ coef in float64, a tile of kernel values at a time."""
    if support.size == 0:
        return np.zeros((rows.size, coef.shape[1]))
    X, V = problem.X, problem.X[support]
    unpack = problem.sparse and problem.d <= DENSE_COLUMNS
    V = V.toarray() if unpack else V
    v2 = _squares(V)
    out = np.empty((rows.size, coef.shape[1]))
    step = max(1, TILE_BYTES // (8 * support.size))
    for start in range(0, rows.size, step):
        A = X[rows[start : start + step]]
        A = A.toarray() if unpack else A
        K = A @ V.T
        K = K.toarray() if sp.issparse(K) else K
        K *= -2.0
        K += _squares(A)[:, None]
        K += v2
        np.maximum(K, 0.0, out=K)
        K *= -problem.gamma
        np.exp(K, out=K)
        out[start : start + step] = K @ coef
    return out


def _squares(A: Any) -> np.ndarray:
    if sp.issparse(A):
        return np.asarray(A.multiply(A).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", A, A)


@dataclass(frozen=True)
class _Binary:
    """One two-class problem: signs, duals, f without bias, bias."""

    sign: np.ndarray
    beta: np.ndarray
    f: np.ndarray
    bias: float


def _pairs(problem: Problem, fitted: Fitted) -> Iterator[_Binary]:
    k = fitted.order.size
    members = [np.flatnonzero(problem.y == c) for c in fitted.order]
    position = np.empty(k, dtype=np.int64)
    position[fitted.order] = np.arange(k)
    owner = position[problem.y[fitted.support]]
    own = np.zeros((max(k - 1, 1), problem.n))
    own[:, fitted.support] = fitted.dual_coef

    def row(p: int, q: int) -> int:  # where class p keeps its coefficients against class q
        return q - 1 if q > p else q

    sums: list[np.ndarray] = []
    for p in range(k):
        others = [q for q in range(k) if q != p]
        B = np.zeros((fitted.support.size, k - 1))
        for column, q in enumerate(others):
            B[owner == p, column] = fitted.dual_coef[row(p, q), owner == p]
            B[owner == q, column] = fitted.dual_coef[row(q, p), owner == q]
        sums.append(rbf_sums(problem, members[p], fitted.support, B))
    for number, (p, q) in enumerate(combinations(range(k), 2)):
        beta_p, beta_q = own[row(p, q), members[p]], own[row(q, p), members[q]]
        # Which of the two classes counts as +1 differs between libraries and shows in the signs of the duals.
        side = 1.0 if beta_p.sum() >= beta_q.sum() else -1.0
        sign = np.concatenate([np.full(beta_p.size, side), np.full(beta_q.size, -side)])
        f = np.concatenate([sums[p][:, row(p, q)], sums[q][:, row(q, p)]])
        yield _Binary(sign, np.concatenate([beta_p, beta_q]), f, float(fitted.intercept[number]))


def _spread(up: np.ndarray, down: np.ndarray, bias: float) -> tuple[float, float]:
    top, bottom = up.max(initial=-math.inf), down.min(initial=math.inf)
    return max(0.0, float(top - bottom)), max(0.0, float(top - bias), float(bias - bottom))


def check_classification(problem: Problem, fitted: Fitted) -> Check:
    """Return the check of all pairs of classes."""
    C = problem.C
    worst = worst_bias = infeasible = dual = primal = 0.0
    pairs = 0
    for part in _pairs(problem, fitted):
        alpha = part.sign * part.beta
        v = part.sign - part.f  # minus the gradient
        can_grow = np.where(part.sign > 0, alpha < C * (1 - AT_BOUND), alpha > C * AT_BOUND)
        can_shrink = np.where(part.sign > 0, alpha > C * AT_BOUND, alpha < C * (1 - AT_BOUND))
        violation, with_bias = _spread(v[can_grow], v[can_shrink], part.bias)
        worst, worst_bias = max(worst, violation), max(worst_bias, with_bias)
        norm = float(part.beta @ part.f)
        dual += float(alpha.sum()) - 0.5 * norm
        primal += 0.5 * norm + C * float(np.maximum(0.0, 1.0 - part.sign * (part.f + part.bias)).sum())
        outside = max(0.0, -float(alpha.min()), float(alpha.max()) - C)
        infeasible = max(infeasible, outside / C, abs(float(part.beta.sum())) / C)
        pairs += 1
    return Check(worst, worst_bias, dual, primal, primal - dual, infeasible, pairs)


def check_regression(problem: Problem, fitted: Fitted) -> Check:
    """Return the check of an epsilon-tube."""
    assert problem.epsilon is not None
    C, eps = problem.C, problem.epsilon
    beta = np.zeros(problem.n)
    beta[fitted.support] = fitted.dual_coef[0]
    f = rbf_sums(problem, np.arange(problem.n), fitted.support, fitted.dual_coef[0][:, None])[:, 0]
    small = C * AT_BOUND
    v = problem.y - f
    up = (v - np.where(beta >= -small, eps, -eps))[beta < C - small]
    down = (v - np.where(beta > small, eps, -eps))[beta > -C + small]
    bias = float(fitted.intercept[0])
    violation, with_bias = _spread(up, down, bias)
    norm = float(beta @ f)
    dual = float(problem.y @ beta) - eps * float(np.abs(beta).sum()) - 0.5 * norm
    primal = 0.5 * norm + C * float(np.maximum(0.0, np.abs(v - bias) - eps).sum())
    infeasible = max(0.0, float(np.abs(beta).max()) - C, abs(float(beta.sum()))) / C
    return Check(violation, with_bias, dual, primal, primal - dual, infeasible, 1)


class MalformedModelError(ValueError):
    """The arrays cannot belong to a model of this problem."""


def check(problem: Problem, fitted: Fitted) -> Check:
    """Return what the model is worth on its training problem."""
    k = problem.classes or 2
    expected = {"dual_coef": (k - 1, fitted.support.size), "intercept": (k * (k - 1) // 2,)}
    for name, shape in expected.items():
        if getattr(fitted, name).shape != shape:
            raise MalformedModelError(f"{name} has shape {getattr(fitted, name).shape}, expected {shape}")
    if fitted.support.size and not 0 <= fitted.support.min() <= fitted.support.max() < problem.n:
        raise MalformedModelError(
            f"support vectors {fitted.support.min()} to {fitted.support.max()} of {problem.n}"
        )
    return check_regression(problem, fitted) if problem.regression else check_classification(problem, fitted)


class Checker:
    """``check`` with a memory: a model that was seen before, bit for bit, is not recomputed.

    Parameters
    ----------
    path : Path or None
        File that keeps the results between runs.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._known: dict[str, dict[str, Any]] = {}
        if path is not None and path.exists():
            stored = json.loads(path.read_text())
            if stored.get("version") == VERSION:
                self._known = stored["checks"]

    def __call__(self, problem: Problem, fitted: Fitted) -> Check:
        """Return the check of a model."""
        key = f"{problem.digest[:32]}-{fitted.digest()[:32]}"
        if key not in self._known:
            self._known[key] = asdict(check(problem, fitted))
            if self._path is not None:
                self._path.write_text(json.dumps({"version": VERSION, "checks": self._known}))
        return Check(**self._known[key])


@dataclass(frozen=True)
class Verdict:
    """Whether a time may be believed.

    ``kind`` is "ok", "early" (the right problem, stopped before the tolerance: the time is too short) or
    "wrong" (another problem, or no solution: the time means nothing).
    """

    kind: str
    why: str = ""


def judge(found: Check, best_dual: float, tol: float, *, ours: bool) -> Verdict:
    """Return the verdict on a model, given the best dual value any library reached.

    The dual may fall short of the best by ``tol`` relative: with all violations at most tol, it does by about
    that much at worst.
    """
    if not all(map(math.isfinite, (found.violation, found.dual, found.primal))):
        return Verdict("wrong", "not finite")
    if found.infeasible > 1e-4:
        return Verdict("wrong", f"constraints broken by {found.infeasible:.1g} C")
    short = (best_dual - found.dual) / max(abs(best_dual), 1e-300)
    if abs(short) > tol:
        return Verdict("wrong", f"dual objective {short:.1e} below the best")
    allowance = ALLOWANCE_OURS if ours else ALLOWANCE_PEERS
    if found.bias_violation > allowance * max(tol, found.violation):
        return Verdict("wrong", f"bias off by {found.bias_violation:.1e}")
    if found.violation > allowance * tol:
        return Verdict("early", f"KKT violation {found.violation:.2e}, tol {tol:g}")
    return Verdict("ok")
