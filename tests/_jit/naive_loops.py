"""The compiled loops once more, as anyone would write them: slow, short, by the definition."""

import math

import numpy as np

from mercer._jit import fused_codes as codes


def kernel_value(s, code, a, b, c):
    """Return the kernel value of an inner product or a squared distance."""
    if code == codes.LINEAR:
        return a * s
    if code == codes.POLYNOMIAL:
        return (a * s + b) ** int(c)
    if code == codes.SIGMOID:
        return math.tanh(a * s + b)
    if code == codes.RBF:
        return math.exp(-a * s)
    d = a * math.sqrt(s)
    if code == codes.MATERN32:
        return (1 + d) * math.exp(-d)
    return (1 + d + d * d / 3) * math.exp(-d)


def panel(X, Z, squared, code, a, b, c):
    """Return k(z_i, x_j) in row i, column j."""
    out = np.empty((len(Z), len(X)))
    for i, z in enumerate(Z):
        for j, x in enumerate(X):
            s = sum((p - q) ** 2 for p, q in zip(x, z, strict=True)) if squared else float(np.dot(x, z))
            out[i, j] = kernel_value(s, code, a, b, c)
    return out


def pair_violation(b, v, lo, hi, groups):
    """Return the most that an exchange between two variables of one group gains per unit."""
    worst = 0.0
    for group in groups:
        grow = [v[t] for t in group if b[t] < hi[t]]
        shrink = [v[t] for t in group if b[t] > lo[t]]
        if grow and shrink:
            worst = max(worst, max(grow) - min(shrink))
    return worst


def pairs(K, b, v, lo, hi, r, groups, tol, max_steps, floor):
    """Sequential minimal optimisation by second-order pairs; changes b and v, returns steps and violation."""
    w = K.shape[0]

    def entry(s, t):
        return K[s % w, t % w] + (r[s] if s == t else 0.0)

    steps = 0
    while True:
        violation = pair_violation(b, v, lo, hi, groups)
        if violation <= tol or steps == max_steps:
            return steps, violation
        best = (0.0, None, None)
        for group in groups:
            grow = [t for t in group if b[t] < hi[t]]
            if not grow:
                continue
            i = max(grow, key=lambda t: v[t])
            for j in group:
                if b[j] > lo[j] and v[j] < v[i]:
                    curvature = max(entry(i, i) + entry(j, j) - 2 * K[i % w, j % w], floor)
                    gain = (v[i] - v[j]) ** 2 / curvature
                    if gain > best[0]:
                        best = (gain, i, j)
        _, i, j = best
        curvature = max(entry(i, i) + entry(j, j) - 2 * K[i % w, j % w], floor)
        step = min((v[i] - v[j]) / curvature, hi[i] - b[i], b[j] - lo[j])
        b[i] += step
        b[j] -= step
        for t in range(b.size):
            v[t] -= step * (K[i % w, t % w] - K[j % w, t % w])
        v[i] -= step * r[i]
        v[j] += step * r[j]
        steps += 1


def singles(K, b, v, lo, hi, r, tol, max_steps, floor):
    """Coordinate descent with the largest gain first; changes b and v, returns steps and violation."""
    w = K.shape[0]
    steps = 0
    while True:
        gains = [0.0] * b.size
        violation = 0.0
        for t in range(b.size):
            size = max(v[t] if b[t] < hi[t] else 0.0, -v[t] if b[t] > lo[t] else 0.0, 0.0)
            violation = max(violation, size)
            gains[t] = size**2 / max(K[t % w, t % w] + r[t], floor)
        if violation <= tol or steps == max_steps:
            return steps, violation
        i = int(np.argmax(gains))
        step = v[i] / max(K[i % w, i % w] + r[i], floor)
        step = min(max(step, lo[i] - b[i]), hi[i] - b[i])
        b[i] += step
        for t in range(b.size):
            v[t] -= step * K[i % w, t % w]
        v[i] -= step * r[i]
        steps += 1
