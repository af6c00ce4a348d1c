"""Natural cubic smoothing splines in linear time: Reinsch's algorithm, with the trace of the smoother."""

from __future__ import annotations

import math

import numpy as np

from mercer._jit.compiler import compiled

GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)


@compiled
def smooth(h: np.ndarray, w: np.ndarray, Y: np.ndarray, lam: float, G: np.ndarray, C: np.ndarray) -> float:
    """Minimise sum_i w_i (y_i - g(x_i))^2 + lam times the integral of g''^2, for each column of Y.

    h : (n - 1,) distances of the sorted points; w : (n,) weights; Y : (n, o). G receives the values, C the
    second derivatives at the points. Returns the trace of the smoother. With R the matrix of the integral of
    g''^2 in the second derivatives and Q'y the second divided differences,
    (R + lam Q' W^-1 Q) c = Q'y and g = y - lam W^-1 Q c.
    """
    n, o = Y.shape
    m = n - 2
    d, l1, l2 = np.empty(m), np.zeros(m), np.zeros(m)
    for j in range(m):  # the five bands of R + lam Q' W^-1 Q
        a, b = 1.0 / h[j], 1.0 / h[j + 1]
        d[j] = (h[j] + h[j + 1]) / 3.0 + lam * (a * a / w[j] + (a + b) ** 2 / w[j + 1] + b * b / w[j + 2])
        if j + 1 < m:
            e = 1.0 / h[j + 2]
            l1[j] = h[j + 1] / 6.0 - lam * ((a + b) * b / w[j + 1] + b * (b + e) / w[j + 2])
            if j + 2 < m:
                l2[j] = lam * b * e / w[j + 2]
    for j in range(m):  # L D L'
        if j >= 1:
            d[j] -= l1[j - 1] * l1[j - 1] * d[j - 1]
        if j >= 2:
            d[j] -= l2[j - 2] * l2[j - 2] * d[j - 2]
        if j >= 1:
            l1[j] -= l1[j - 1] * l2[j - 1] * d[j - 1]
        l1[j] /= d[j]
        l2[j] /= d[j]
    c = np.empty(m)
    for k in range(o):
        for j in range(m):
            c[j] = (Y[j + 2, k] - Y[j + 1, k]) / h[j + 1] - (Y[j + 1, k] - Y[j, k]) / h[j]
        for j in range(m):
            if j >= 1:
                c[j] -= l1[j - 1] * c[j - 1]
            if j >= 2:
                c[j] -= l2[j - 2] * c[j - 2]
        for j in range(m):
            c[j] /= d[j]
        for j in range(m - 1, -1, -1):
            if j + 1 < m:
                c[j] -= l1[j] * c[j + 1]
            if j + 2 < m:
                c[j] -= l2[j] * c[j + 2]
        C[0, k], C[n - 1, k] = 0.0, 0.0
        for j in range(m):
            C[j + 1, k] = c[j]
        for i in range(n):
            G[i, k] = Y[i, k]
        for j in range(m):
            a, b = 1.0 / h[j], 1.0 / h[j + 1]
            G[j, k] -= lam * a * c[j] / w[j]
            G[j + 1, k] += lam * (a + b) * c[j] / w[j + 1]
            G[j + 2, k] -= lam * b * c[j] / w[j + 2]
    trace: float = n - lam * _penalised(h, w, d, l1, l2)
    return trace


@compiled(inner=True)
def _penalised(h: np.ndarray, w: np.ndarray, d: np.ndarray, l1: np.ndarray, l2: np.ndarray) -> float:
    """Return the trace of W^-1 Q A^-1 Q', from the central bands of A^-1 (Hutchinson and de Hoog 1985)."""
    m = d.size
    total = 0.0
    i11, i12, i22 = 0.0, 0.0, 0.0  # of the inverse, at (j+1, j+1), (j+1, j+2), (j+2, j+2)
    for j in range(m - 1, -1, -1):
        u = l1[j] if j + 1 < m else 0.0
        v = l2[j] if j + 2 < m else 0.0
        b02 = -u * i12 - v * i22
        b01 = -u * i11 - v * i12
        b00 = 1.0 / d[j] - u * b01 - v * b02
        p, q = 1.0 / h[j], 1.0 / h[j + 1]
        s = -(p + q)
        # Row i of Q has entries in the columns i - 2, i - 1 and i: each product is met once.
        total += b00 * (p * p / w[j] + s * s / w[j + 1] + q * q / w[j + 2])
        if j + 1 < m:
            q2 = 1.0 / h[j + 2]
            total += 2.0 * b01 * (s * q / w[j + 1] + q * (-(q + q2)) / w[j + 2])
            if j + 2 < m:
                total += 2.0 * b02 * (q * q2 / w[j + 2])
        i22, i12, i11 = i11, b01, b00
    return total


@compiled(inner=True)
def _criterion(
    h: np.ndarray, w: np.ndarray, Y: np.ndarray, log_lam: float, fixed: float, n: float, charged: float,
    cost: float, most: float, G: np.ndarray, C: np.ndarray,
) -> float:  # fmt: skip
    df = smooth(h, w, Y, math.exp(log_lam), G, C) - 1.0
    if df > most:
        return math.inf
    left = 1.0 - (charged + cost * df) / n
    if left <= 0.0:
        return math.inf
    error = fixed
    for i in range(Y.shape[0]):
        for k in range(Y.shape[1]):
            error += w[i] * (Y[i, k] - G[i, k]) ** 2
    value: float = error / (n * left * left)
    return value


@compiled
def best_penalty(
    h: np.ndarray, w: np.ndarray, Y: np.ndarray, fixed: float, n: float, charged: float, cost: float,
    most: float, low: float, high: float, steps: int,
) -> tuple[float, float]:  # fmt: skip
    """Return the logarithm of the penalty of least generalised cross-validation, and that criterion.

    (fixed + sum_i w_i (y_i - g_i)^2) / (n (1 - (charged + cost df) / n)^2) with df the trace minus 1, at most
    ``most``: the best of ``steps`` penalties between the ends, refined by golden sections.
    """
    G, C = np.empty(Y.shape), np.empty(Y.shape)
    best, at, width = math.inf, high, (high - low) / (steps - 1)
    for s in range(steps):
        x = low + s * width
        value = _criterion(h, w, Y, x, fixed, n, charged, cost, most, G, C)
        if value < best:
            best, at = value, x
    a, b = max(low, at - width), min(high, at + width)
    x1, x2 = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
    f1 = _criterion(h, w, Y, x1, fixed, n, charged, cost, most, G, C)
    f2 = _criterion(h, w, Y, x2, fixed, n, charged, cost, most, G, C)
    for _ in range(25):
        if f1 <= f2:
            b, x2, f2 = x2, x1, f1
            x1 = b - GOLDEN * (b - a)
            f1 = _criterion(h, w, Y, x1, fixed, n, charged, cost, most, G, C)
        else:
            a, x1, f1 = x1, x2, f2
            x2 = a + GOLDEN * (b - a)
            f2 = _criterion(h, w, Y, x2, fixed, n, charged, cost, most, G, C)
    if f1 < best:
        best, at = f1, x1
    if f2 < best:
        best, at = f2, x2
    return at, best
