"""Kernels between time series, word by word from their definitions."""

import itertools
import math

import numpy as np


def alignments(n, m):
    """Return all alignments of n and m points, each a list of pairs of times."""
    if n == 0 or m == 0:
        return [[]] if n == m else []
    return [
        [*before, (n - 1, m - 1)]
        for a, b in ((n - 1, m), (n, m - 1), (n - 1, m - 1))
        for before in alignments(a, b)
        if before or (a, b) == (0, 0)
    ]


def local(x, z, s, t, sigma, band):
    weight = 1.0 if band == 0 else max(0.0, 1.0 - abs(s - t) / band)
    g = weight * math.exp(-float(((x[s] - z[t]) ** 2).sum()) / (2 * sigma**2))
    return g / (2 - g)


def alignment_sum(x, z, sigma, band=0):
    """Return the sum over all alignments."""
    terms = (
        math.prod(local(x, z, s, t, sigma, band) for s, t in pairs) for pairs in alignments(len(x), len(z))
    )
    return math.fsum(terms)


def global_alignment(x, z, sigma, band=0):
    own = alignment_sum(x, x, sigma, band) * alignment_sum(z, z, sigma, band)
    return alignment_sum(x, z, sigma, band) / math.sqrt(own)


def log_alignment_sum(x, z, sigma, band=0):
    """Return the logarithm of the same sum by recursion, for series whose alignments nobody can list."""
    M = np.full((len(x) + 1, len(z) + 1), -np.inf)
    M[0, 0] = 0.0
    for s in range(len(x)):
        for t in range(len(z)):
            if band and abs(s - t) >= band:
                continue
            g = -float(((x[s] - z[t]) ** 2).sum()) / (2 * sigma**2)
            if band:
                g += math.log(1 - abs(s - t) / band)
            g -= math.log(2 - math.exp(g))
            M[s + 1, t + 1] = g + np.logaddexp.reduce([M[s, t], M[s, t + 1], M[s + 1, t]])
    return M[-1, -1]


def long_global_alignment(x, z, sigma, band=0):
    own = log_alignment_sum(x, x, sigma, band) + log_alignment_sum(z, z, sigma, band)
    return math.exp(log_alignment_sum(x, z, sigma, band) - 0.5 * own)


def warping_cost(x, z, window=None):
    """Return the least cost of all alignments."""
    low, high = min(0, len(z) - len(x)), max(0, len(z) - len(x))
    costs = [0.0 if len(x) == len(z) == 0 else math.inf]
    for pairs in alignments(len(x), len(z)):
        if window is not None and any(not low - window <= t - s <= high + window for s, t in pairs):
            continue
        costs.append(math.fsum(float(((x[s] - z[t]) ** 2).sum()) for s, t in pairs))
    return min(costs)


def path(x, lead_lag, time, scale):
    points = [list(map(float, row)) for row in scale * x]
    if lead_lag:
        moved = []
        for k, point in enumerate(points):
            if k:
                moved.append([*point, *points[k - 1]])
            moved.append([*point, *point])
        points = moved
    if time:
        points = [[*p, k / max(1, len(points) - 1)] for k, p in enumerate(points)]
    return np.array(points)


def signature(points, level):
    """Return all entries, from sums over sequences of pieces that never go back."""
    d = points.shape[1] if points.ndim == 2 else 1
    steps = np.diff(points, axis=0) if len(points) else np.empty((0, d))
    entries = [1.0]
    for length in range(1, level + 1):
        total = np.zeros((d,) * length)
        for pieces in itertools.combinations_with_replacement(range(len(steps)), length):
            term = np.array(1.0)
            for piece in pieces:
                term = np.multiply.outer(term, steps[piece])
            total += term / math.prod(math.factorial(pieces.count(piece)) for piece in set(pieces))
        entries += total.ravel().tolist()
    return np.array(entries)
