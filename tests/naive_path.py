"""Readable twins: the path by fresh solves of the bordered system, and banks of easy and nasty data."""

import numpy as np

from mercer.kernels import RBF


def naive_path(K, rests, slopes, a, t, t_end):
    """Follow the solution from (a, t), which must be strictly between knots; return the knots below t.

    Nothing is updated: every piece starts from a fresh solve. No ties, no singular elbow.
    """
    n = a.size
    elbow = [i for i in range(n) if not np.isclose(a[i], rests[i], atol=1e-9, rtol=0).any()]
    piece = [int(np.searchsorted(rests[i][1:-1], a[i])) for i in range(n)]
    place = [int(np.argmin(np.abs(rests[i] - a[i]))) for i in range(n)]  # of those at rest
    knots = []
    while t > t_end:
        m = len(elbow)
        M = np.zeros((m + 1, m + 1))
        M[:m, :m] = K[np.ix_(elbow, elbow)]
        M[:m, m] = M[m, :m] = 1.0
        p = np.array([slopes[i, piece[i]] for i in elbow])
        bias = -np.mean(K[elbow] @ a + t * p)
        step = np.linalg.solve(M, np.append(p, 0.0))
        da, dbias = step[:m], step[m]
        rate = K[:, elbow] @ da + dbias
        best, event = t - t_end, None
        for e, i in enumerate(elbow):
            low, high = rests[i, piece[i]], rests[i, piece[i] + 1]
            room = (high - a[i]) / da[e] if da[e] > 0 else (a[i] - low) / -da[e] if da[e] < 0 else np.inf
            if 1e-12 < room < best:
                best, event = room, ("leave", i, piece[i] + 1 if da[e] > 0 else piece[i])
        for i in set(range(n)) - set(elbow):
            for j, wanted in ((place[i], -1), (place[i] - 1, 1)):
                if 0 <= j < slopes.shape[1]:
                    cost = K[i] @ a + t * slopes[i, j] + bias
                    speed = rate[i] - slopes[i, j]
                    if speed * wanted > 0 and 1e-10 < -cost / speed < best:
                        best, event = -cost / speed, ("enter", i, j)
        a = a.copy()
        a[elbow] += best * da
        t -= best
        knots.append((t, a))
        if event is None:
            break
        kind, i, j = event
        if kind == "leave":
            elbow.remove(i)
            place[i] = j
            a[i] = rests[i, j]
        else:
            elbow.append(i)
            piece[i] = j
    return knots


def clouds(n, seed, *, balanced=False, features=3):
    """Return two overlapping classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, features))
    if balanced:
        y = np.where(np.arange(n) < n // 2, 1.0, -1.0)
        X[:, 0] += 0.7 * y
    else:
        y = np.where(X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=n) > 0.6, 1.0, -1.0)
    return X, y


def kernels(X):
    """Return a linear and a Gaussian kernel matrix."""
    return {"linear": X @ X.T, "rbf": RBF(gamma=0.5)(X)}


def nasty_sets():
    """Yield (name, X, y): ties, duplicates and near duplicates of all kinds."""
    rng = np.random.default_rng(3)
    n = 36
    grid = rng.integers(0, 3, size=(n, 2)).astype(float)
    yield "grid", grid, np.where(grid.sum(axis=1) + rng.normal(size=n) > 2, 1.0, -1.0)
    yield "grid, balanced, labels at random", grid, np.repeat([1.0, -1.0], n // 2)
    X = rng.normal(size=(n // 3, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n // 3) > 0, 1.0, -1.0)
    yield "each row three times", np.tile(X, (3, 1)), np.tile(y, 3)
    yield "each row with both labels", np.tile(X, (3, 1)), np.concatenate([y, y, -y])
    near = np.tile(X, (3, 1)) + 1e-9 * rng.normal(size=(n, 3))
    yield "near duplicates", near, np.where(near[:, 0] + 0.8 * rng.normal(size=n) > 0.3, 1.0, -1.0)
    binary = rng.integers(0, 2, size=(n, 6)).astype(float)
    yield "binary features", binary, np.where(binary[:, 0] + rng.normal(size=n) > 0.5, 1.0, -1.0)
    X = rng.normal(size=(n, 2))
    yield "separable", X, np.where(X[:, 0] > -0.5, 1.0, -1.0)
    yield "one point", np.zeros((7, 2)), np.array([1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    yield "a line with alternating labels", np.arange(12.0)[:, None], np.tile([1.0, -1.0], 6)
    yield "offset", X + 30.0, np.where(X[:, 1] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
    corners = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    yield "exclusive or", corners, np.array([1.0, 1.0, -1.0, -1.0])
    yield "two rows", np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    yield "three rows", np.array([[-1.0], [1.0], [3.0]]), np.array([-1.0, 1.0, 1.0])
