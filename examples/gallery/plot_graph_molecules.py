"""
Which atoms matter
==================

Made-up molecules with a nitro group or without. The Weisfeiler-Lehman kernel counts nodes by what is around
them. These counts have names, so a linear machine's weights can be given back to the atoms. Kernel PCA of the
same kernel shows the two classes apart.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer
from mercer.kernels import WeisfeilerLehman

rng = np.random.default_rng(3)


def molecule(group):
    """Return a random tree of carbon with a group on it: edges and labels."""
    n = int(rng.integers(6, 11))
    edges = [(k, int(rng.integers(max(0, k - 2), k))) for k in range(1, n)]
    place = int(rng.integers(0, n))
    return [*edges, (place, n), (n, n + 1), (n, n + 2)], ["C"] * n + group


X = [molecule(["N", "O", "O"]) for _ in range(50)] + [molecule(["N", "C", "O"]) for _ in range(50)]
y = np.repeat(["nitro", "other"], 50)
kernel = WeisfeilerLehman(1)
features = kernel.feature_map(X)
model = mercer.LinearSVC(C=0.1).fit(features.transform(X), y)
weight = dict(zip(features.names, -model.coef_.ravel(), strict=True))  # of "nitro"
order = {label: features.names.index(label) for label in "CNO"}


def scores(graph):
    """Return what each atom adds to the decision: its label, and its label with its neighbours."""
    edges, labels = graph
    around = [[] for _ in labels]
    for u, v in edges:
        around[u].append(labels[v])
        around[v].append(labels[u])
    names = [f"{a}({','.join(sorted(near, key=order.get))})" for a, near in zip(labels, around, strict=True)]
    return np.array([weight[a] + weight[name] for a, name in zip(labels, names, strict=True)])


def layout(graph, steps=400):
    """Place the atoms: bonds of length 1, all others apart."""
    edges, labels = graph
    place = np.random.default_rng(0).normal(size=(len(labels), 2))
    bond = np.zeros((len(labels), len(labels), 1))
    for u, v in edges:
        bond[u, v] = bond[v, u] = 1.0
    for step in range(steps):
        gap = place[:, None] - place[None, :]
        far = np.sqrt((gap**2).sum(axis=2, keepdims=True)) + 1e-9
        force = gap / far * (0.8 / far**2 - bond * (far - 1.0) * 3.0)
        place += np.clip(force.sum(axis=1), -1, 1) * 0.1 * (1 - step / steps)
    return place


figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
limit = max(np.abs(scores(graph)).max() for graph in (X[0], X[60]))
for ax, graph, title in zip(axes, (X[0], X[60]), ("nitro", "other"), strict=False):
    place = layout(graph)
    for u, v in graph[0]:
        ax.plot(*place[[u, v]].T, color="0.6", lw=2, zorder=1)
    dots = ax.scatter(
        *place.T, c=scores(graph), cmap="RdBu_r", vmin=-limit, vmax=limit, s=330, ec="0.4", zorder=2
    )
    for where, label, score in zip(place, graph[1], scores(graph), strict=True):
        color = "white" if abs(score) > 0.6 * limit else "black"
        ax.text(*where, label, ha="center", va="center", color=color, zorder=3)
    ax.set(title=title, aspect="equal")
    ax.margins(0.12)
    ax.axis("off")
figure.colorbar(dots, ax=axes[:2], label="adds to the decision for nitro", shrink=0.8)
Z = mercer.KernelPCA(n_components=2, kernel=WeisfeilerLehman(2).normalized()).fit_transform(X)
for name in ("nitro", "other"):
    axes[2].scatter(*Z[y == name].T, label=name, alpha=0.7)
axes[2].set(title="kernel PCA of all molecules", xlabel="first component", ylabel="second component")
axes[2].legend()
plt.show()
