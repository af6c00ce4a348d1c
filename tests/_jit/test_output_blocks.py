"""Steps on the multipliers of outputs, against dense arithmetic."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import _jit

pytestmark = pytest.mark.core


def problem(seed=0, n=4, m=11, width=6):
    rng = np.random.default_rng(seed)
    D = rng.normal(size=(m, width)) * (rng.random((m, width)) < 0.6)
    owners = np.sort(rng.integers(0, n, m))
    C = rng.uniform(0.5, 2.0, n)
    alpha = rng.random(m) * (rng.random(m) < 0.7)
    alpha *= 0.8 * (C / np.maximum(np.bincount(owners, alpha, minlength=n), 1e-12))[owners]
    starts = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=n))])
    return D, rng.uniform(0.5, 3.0, m), owners, C, alpha, starts.astype(np.int64), np.arange(m)


def dual(D, losses, alpha):
    return alpha @ losses - 0.5 * np.sum((D.T @ alpha) ** 2)


def test_a_step_towards_a_corner():
    D, losses, owners, C, alpha, starts, members = problem()
    table, w, width = sp.csr_array(D), D.T @ alpha, D.shape[1]
    rows, corners = np.arange(4), np.array([starts[0], -1, starts[3] - 1, starts[3]])
    expected = alpha.copy()
    for i, corner in zip(rows, corners, strict=True):
        here = np.where(owners == i, expected, 0.0)
        target = np.zeros_like(here)
        if corner >= 0:
            target[corner] = C[i]
        step = target - here
        slope = step @ (losses - D @ (D.T @ expected))
        size = np.clip(slope / max(np.sum((D.T @ step) ** 2), 1e-300), 0.0, 1.0)
        expected += size * step
    scratch, marked = np.zeros(width), np.zeros(width, dtype=bool)
    arrays = table.indptr.astype(np.int64), table.indices.astype(np.int32), table.data
    _jit.output_blocks.toward(*arrays, losses, starts, members, C, rows, corners, alpha, w, scratch, marked)
    np.testing.assert_allclose(alpha, expected, atol=1e-12)
    np.testing.assert_allclose(w, D.T @ alpha, atol=1e-12)
    assert not scratch.any()
    assert not marked.any()


@pytest.mark.parametrize("seed", range(5))
def test_pairwise_steps(seed):
    D, losses, owners, C, alpha, starts, members = problem(seed)
    table, w, width = sp.csr_array(D), D.T @ alpha, D.shape[1]
    expected, n = alpha.copy(), C.size
    for i in range(n):  # one step on each row: from its worst output to its best, the true one among them
        here = np.flatnonzero(owners == i)
        scores = np.append((losses - D @ (D.T @ expected))[here], 0.0)
        held = np.append(expected[here], C[i] - expected[here].sum())
        if not here.size:
            continue
        best, worst = scores.argmax(), np.where(held > 0, scores, np.inf).argmin()
        features = np.vstack([D[here], np.zeros(width)])
        along = features[best] - features[worst]
        if best != worst and scores[best] > scores[worst]:
            size = min(held[worst], (scores[best] - scores[worst]) / max(along @ along, 1e-300))
            held[best] += size
            held[worst] -= size
        expected[here] = held[:-1]
    arrays = table.indptr.astype(np.int64), table.indices.astype(np.int32), table.data
    squares, scratch, gaps = np.sum(D**2, axis=1), np.zeros(width), np.zeros(n)
    rest = starts, members, C, np.arange(n)
    before = dual(D, losses, alpha)
    again = alpha.copy(), w.copy()
    _jit.output_blocks.pairwise(
        *arrays, losses, squares, *rest, 1, alpha, w, scratch, np.empty(members.size), gaps
    )
    np.testing.assert_allclose(alpha, expected, atol=1e-12)
    np.testing.assert_allclose(w, D.T @ alpha, atol=1e-12)
    assert (gaps >= -1e-12).all()
    for _ in range(2000):
        _jit.output_blocks.pairwise(
            *arrays, losses, squares, *rest, 4, *again, scratch, np.empty(members.size), gaps
        )
    assert gaps.sum() <= 1e-6
    assert (again[0] >= 0).all()
    assert (np.bincount(owners, again[0], minlength=n) <= C * (1 + 1e-9)).all()
    assert dual(D, losses, again[0]) >= before
