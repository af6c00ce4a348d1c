"""The compiled loops of the solvers once more, as anyone would write them."""

import numpy as np


def ascent(K, variables, b, p, r, lo, hi, rate, max_steps):
    """Move one variable after the other; K beta is computed anew for each. Return b and the steps."""
    n = K.shape[0]
    b, steps = b.copy(), 0
    for t in variables:
        if steps == max_steps:
            break
        beta = b.reshape(-1, n).sum(axis=0)
        slope = K[t % n] @ beta + p[t] + r[t] * b[t]
        if np.isinf(rate[t]):
            new = b[t] if slope == 0 else (hi[t] if slope < 0 else lo[t])
        else:
            new = np.clip(b[t] - rate[t] * slope, lo[t], hi[t])
        if new != b[t]:
            b[t] = new
            steps += 1
    return b, steps


class Platt:
    """A sweep of sequential minimal optimisation, by its description."""

    def __init__(self, K, p, r, lo, hi, group, floor):
        self.K, self.p, self.r, self.lo, self.hi, self.group, self.floor = K, p, r, lo, hi, group, floor
        self.n = K.shape[0]
        self.copies = p.size // self.n

    def value(self, b, t):
        return -(self.f[t % self.n] + self.p[t] + self.r[t] * b[t])

    def inside(self, b, i):
        return any(self.lo[t] < b[t] < self.hi[t] for t in range(i, b.size, self.n))

    def variables(self, b, i, exclusive):
        """Return the variables of a point whose quadrant contains its value."""
        mine = list(range(i, b.size, self.n))
        if not exclusive or (b[mine] == 0).all() or (b[mine] != 0).all():
            return mine
        return [t for t in mine if b[t] != 0]

    def attempt(self, b, bias, i, j, exclusive):
        best = (0.0, None)
        for s in self.variables(b, i, exclusive):
            for t in self.variables(b, j, exclusive):
                if i == j or self.group[s] != self.group[t]:
                    continue
                slope = self.value(b, s) - self.value(b, t)
                kappa = self.K[i, i] + self.K[j, j] - 2 * self.K[i, j] + self.r[s] + self.r[t]
                kappa = max(kappa, self.floor)
                step = np.clip(
                    slope / kappa,
                    max(self.lo[s] - b[s], b[t] - self.hi[t]),
                    min(self.hi[s] - b[s], b[t] - self.lo[t]),
                )
                gain = step * (slope - 0.5 * kappa * step)
                if gain > best[0]:
                    best = (gain, (s, t, step))
        if best[1] is None:
            return False
        s, t, step = best[1]
        if abs(step) <= 1e-12 * (abs(b[s]) + abs(b[t])):
            return False
        b[s] = np.clip(b[s] + step, self.lo[s], self.hi[s])
        b[t] = np.clip(b[t] - step, self.lo[t], self.hi[t])
        self.f = self.K @ b.reshape(self.copies, self.n).sum(axis=0)
        free = [u for u in (s, t) if self.lo[u] < b[u] < self.hi[u]]
        values = [self.value(b, u) for u in (s, t)]
        bias[self.group[s]] = self.value(b, free[0]) if free else sum(values) / 2
        return True

    def sweep(self, b, f, bias, exclusive, everything, tol, max_steps, state):
        self.f = f  # not computed anew: its last bit decides ties
        steps = 0
        for i in range(self.n):
            if steps == max_steps:
                break
            if not everything and not self.inside(b, i):
                continue
            worst, s = tol, None
            for t in self.variables(b, i, exclusive):
                distance = self.value(b, t) - bias[self.group[t]]
                size = max(distance if b[t] < self.hi[t] else 0.0, -distance if b[t] > self.lo[t] else 0.0)
                if size > worst:
                    worst, s = size, t
            if s is None:
                continue
            rivals = [
                t for t in range(b.size) if self.group[t] == self.group[s] and self.lo[t] < b[t] < self.hi[t]
            ]
            far = [abs(self.value(b, s) - self.value(b, t)) for t in rivals]
            if rivals and max(far) > 0:
                j = rivals[int(np.argmax(far))] % self.n
                if self.attempt(b, bias, i, j, exclusive):
                    steps += 1
                    continue
            state = (1103515245 * state + 12345) % 2**31
            places = [(state + q) % self.n for q in range(self.n)]
            if any(self.inside(b, j) and self.attempt(b, bias, i, j, exclusive) for j in places):
                steps += 1
                continue
            state = (1103515245 * state + 12345) % 2**31
            if any(self.attempt(b, bias, i, (state + q) % self.n, exclusive) for q in range(self.n)):
                steps += 1
        return steps, state
