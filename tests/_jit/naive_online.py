"""On-line learning as it is written in books: no slots, no buffers, one kernel value at a time."""

import math


class NaiveLearner:
    """Keeps a list of [number of the example, step at which it came, coefficients]; K: all kernel values."""

    def __init__(self, K, rule, outputs=1, budget=None, removal="weakest"):
        self.K, self.rule, self.budget, self.removal = K, rule, budget, removal
        self.kept, self.bias, self.steps = [], [0.0] * outputs, 0
        self.losses, self.mistakes, self.updates = [], [], [0] * outputs

    def outputs(self, i):
        out = list(self.bias)
        for j, _, coef in self.kept:
            for o, c in enumerate(coef):
                out[o] += c * self.K[j, i]
        return out

    def loss(self, f, y):
        if self.rule.name == "perceptron":
            return float(y * f <= 0)
        if self.rule.name == "adatron":
            short = max(0.0, 1 - y * f)
            return short**2 if self.rule.shift else short
        if self.rule.name == "tube":
            short = max(0.0, abs(y - f) - self.rule.epsilon)
            return short**2 if self.rule.shift else short
        return (y - f) ** 2

    def renewed(self, beta, f, y, own):
        r = self.rule
        if r.name == "perceptron":
            return beta + (y if y * f <= 0 else 0.0)
        if r.name == "adatron":
            alpha = y * beta
            alpha += r.rate * (1 - y * f - r.shift * alpha) / (own + r.shift)
            return y * min(max(alpha, 0.0), r.most)
        if r.name == "widrow_hoff":
            return beta + r.rate * (y - f - r.shift * beta) / (own + r.shift)
        residual = y - f - r.shift * beta
        if not beta and abs(residual) <= r.epsilon:  # the sign of zero is whatever moves it least: not at all
            return 0.0
        sign = math.copysign(1, beta if beta else residual)
        new = beta + r.rate * (residual - r.epsilon * sign) / (own + r.shift)
        if beta * new < 0:
            return 0.0
        return min(max(new, -r.most), r.most)

    def learn(self, i, targets, truth=None):
        F = self.outputs(i)
        mine = next((entry for entry in self.kept if entry[0] == i), None)
        old = mine[2] if mine else [0.0] * len(F)
        new = [self.renewed(b, f, y, self.K[i, i]) for b, f, y in zip(old, F, targets, strict=True)]
        self.losses.append(sum(self.loss(f, y) for f, y in zip(F, targets, strict=True)))
        if truth is not None:
            self.mistakes.append(any(f >= F[truth] for o, f in enumerate(F) if o != truth))
        elif self.rule.name in ("perceptron", "adatron"):
            self.mistakes.append(targets[0] * F[0] <= 0)
        else:
            self.mistakes.append(self.losses[-1] > 0)
        for o, (a, b) in enumerate(zip(old, new, strict=True)):
            if a != b:
                self.updates[o] += 1
                self.bias[o] += self.rule.bias_step * targets[o]
        if new != old:
            if mine is None:
                if self.budget is not None and len(self.kept) == self.budget:
                    self.kept.remove(self.victim())
                mine = [i, self.steps, new]
                self.kept.append(mine)
            mine[2] = new
        self.steps += 1

    def victim(self):
        if self.removal == "oldest":
            return min(self.kept, key=lambda entry: entry[1])
        weight = {j: sum(c * c for c in coef) * self.K[j, j] for j, _, coef in self.kept}
        return min(self.kept, key=lambda entry: (weight[entry[0]], entry[1]))
