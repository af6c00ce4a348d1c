"""
Time series, aligned
====================

The global alignment kernel sums over all alignments of two series, each weighted by how well it pairs the
points. The weight of all alignments that pair two given points, divided by the weight of all alignments, is a
probability: a picture of what the kernel sees. Dynamic time warping knows only the best alignment.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer
from mercer.kernels import GlobalAlignment

rng = np.random.default_rng(0)


def gesture(kind, length):
    """Return a movement that rises, stays and falls, at a pace of its own; one kind dips before it rises."""
    t = np.linspace(0, 1, length)
    pace = np.sort(rng.uniform(0.1, 0.9, size=2))
    up, down = 0.15 + 0.3 * pace[0], 0.55 + 0.3 * pace[1]
    shape = 1 / (1 + np.exp(-40 * (t - up))) - 1 / (1 + np.exp(-40 * (t - down)))
    if kind:
        shape -= 0.3 * np.exp(-(((t - up + 0.1) / 0.04) ** 2))
    return shape + 0.03 * rng.normal(size=length)


y = np.arange(80) % 2
X = [gesture(kind, int(rng.integers(60, 90))) for kind in y]
sigma = 0.25

# %%
# Sums over the alignments before a pair of points, and after it, give the probability of the pair.


def local(x, z):
    """Return how well each pair of points matches."""
    g = np.exp(-(np.subtract.outer(x, z) ** 2) / (2 * sigma**2))
    return g / (2 - g)


def sums(near):
    """Return, for each pair of points, the sum over all alignments that end there."""
    total = np.zeros((near.shape[0] + 1, near.shape[1] + 1))
    total[0, 0] = 1.0
    for s in range(near.shape[0]):
        for t in range(near.shape[1]):
            total[s + 1, t + 1] = near[s, t] * (total[s, t] + total[s, t + 1] + total[s + 1, t])
    return total[1:, 1:]


def best(near):
    """Return the alignment of the largest product."""
    cost = -np.log(near)
    least = np.full((cost.shape[0] + 1, cost.shape[1] + 1), np.inf)
    least[0, 0] = 0.0
    for s in range(cost.shape[0]):
        for t in range(cost.shape[1]):
            least[s + 1, t + 1] = cost[s, t] + min(least[s, t], least[s, t + 1], least[s + 1, t])
    s, t = cost.shape
    path = []
    while s and t:
        path.append((s - 1, t - 1))
        s, t = min(((s - 1, t - 1), (s - 1, t), (s, t - 1)), key=lambda cell: least[cell])
    return np.array(path)


one, two = X[0], X[4]
near = local(one, two)
before, after = sums(near), sums(near[::-1, ::-1])[::-1, ::-1]
probability = np.minimum(before * after / near / before[-1, -1], 1.0)
path = best(near)

own = [sums(local(x, x))[-1, -1] for x in (one, two)]
print(f"the sum, normalised: {before[-1, -1] / np.sqrt(own[0] * own[1]):.6f}")
print(f"the kernel:          {GlobalAlignment(sigma)([one], [two])[0, 0]:.6f}")

figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
picture = axes[0].imshow(probability, origin="lower", cmap="Blues", vmin=0, aspect="auto")
axes[0].plot(path[:, 1], path[:, 0], color="tab:red", lw=1.2, label="best alignment (DTW)")
axes[0].set(xlabel="time in the second series", ylabel="time in the first", title="Which times are paired")
axes[0].legend(loc="upper left")
figure.colorbar(picture, ax=axes[0], label="probability of a pair")

shift = 1.8
for s, t in zip(*np.nonzero(probability > 0.15), strict=True):
    axes[1].plot([s, t], [one[s] + shift, two[t]], color="tab:blue", alpha=float(probability[s, t]), lw=0.8)
axes[1].plot(one + shift, color="0.15")
axes[1].plot(two, color="0.15")
axes[1].set(xlabel="time", yticks=[], title="The same two series, one above the other")
plt.show()

# %%
# Kernel principal components of all series. The first one separates the two kinds, whatever their pace.
kernel = GlobalAlignment(sigma)
Z = mercer.KernelPCA(n_components=2, kernel=kernel).fit_transform(X)
model = mercer.SVC(kernel=kernel, C=10.0).fit(X[:40], y[:40])
print(f"accuracy on the other half: {model.score(X[40:], y[40:]):.2f}")

figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
for kind, name in enumerate(("without a dip", "with a dip")):
    for k, x in enumerate([x for x, of in zip(X, y, strict=True) if of == kind][:6]):
        axes[0].plot(x, color=f"C{kind}", alpha=0.7, lw=1, label=name if k == 0 else None)
    axes[1].scatter(*Z[y == kind].T, color=f"C{kind}", alpha=0.8, label=name)
axes[0].set(xlabel="time", title="Some of the series")
axes[0].legend()
axes[1].set(xlabel="first component", ylabel="second component", title="Kernel PCA, global alignment")
axes[1].legend()
plt.show()
