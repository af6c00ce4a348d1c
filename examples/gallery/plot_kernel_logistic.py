"""
Posterior contours of kernel logistic regression
================================================

The log-likelihood instead of the hinge, with the kernels of two support vector machines: a polynomial of
degree 4 and a Gaussian. The fitted function is the log-odds, so the contours where it is plus and minus log 3
are those of probability 3/4 and 1/4. Two classes, each a mixture of ten Gaussians; the purple curve is the
boundary of the best possible classifier, which is known here.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import logsumexp

import mercer
from mercer.kernels import RBF, Polynomial

rng = np.random.default_rng(7)
centres = np.concatenate([rng.normal([1.0, 0.0], 1.0, (10, 2)), rng.normal([0.0, 1.0], 1.0, (10, 2))])


def mixture(n, rng):
    """Return n points of each class."""
    y = np.repeat([0, 1], n)
    return centres[10 * y + rng.integers(0, 10, 2 * n)] + np.sqrt(0.2) * rng.normal(size=(2 * n, 2)), y


def true_log_odds(X):
    """Return the logarithm of the ratio of the classes' densities."""
    squares = ((X[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
    logs = -squares / (2 * 0.2)
    return logsumexp(logs[:, 10:], axis=1) - logsumexp(logs[:, :10], axis=1)


X, y = mixture(100, rng)
new, truth = mixture(5000, rng)
bayes = np.mean((true_log_odds(new) > 0) != truth)

low, high = X.min(axis=0) - 0.5, X.max(axis=0) + 0.5
across, up = np.meshgrid(np.linspace(low[0], high[0], 150), np.linspace(low[1], high[1], 150))
places = np.column_stack([across.ravel(), up.ravel()])

figure, axes = plt.subplots(1, 2, figsize=(11, 5.5), layout="constrained")
for ax, (name, kernel) in zip(
    axes,
    [
        ("polynomial of degree 4", Polynomial(degree=4, gamma=1.0, coef0=1.0)),
        ("Gaussian, gamma = 1", RBF(gamma=1.0)),
    ],
):
    model = mercer.KernelLogisticRegression(kernel=kernel, C=1.0).fit(X, y)
    p = model.predict_proba(places)[:, 1].reshape(across.shape)
    ax.contourf(across, up, p, levels=[0, 0.5, 1], colors=["#56b4e9", "#e69f00"], alpha=0.15)
    ax.contour(across, up, p, levels=[0.5], colors="black", linewidths=1.5)
    ax.contour(across, up, p, levels=[0.25, 0.75], colors="black", linestyles="dashed", linewidths=0.9)
    ax.contour(
        across, up, true_log_odds(places).reshape(across.shape), levels=[0], colors="purple",
        linestyles="dashed", linewidths=1.5,
    )  # fmt: skip
    ax.scatter(*X[y == 0].T, s=16, marker="o", facecolor="none", edgecolor="#0072b2", label="0")
    ax.scatter(*X[y == 1].T, s=16, marker="^", facecolor="none", edgecolor="#d55e00", label="1")
    for style, colour, label in (
        ("-", "black", "probability 1/2"),
        ("--", "black", "1/4 and 3/4"),
        ("--", "purple", "best possible"),
    ):
        ax.plot([], [], style, color=colour, label=label)
    train, test = 1 - model.score(X, y), 1 - model.score(new, truth)
    ax.set_title(f"{name}\nerror {train:.3f} in training, {test:.3f} after; best possible {bayes:.3f}")
    ax.set_xticks([])
    ax.set_yticks([])
figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
plt.show()

# %%
# A few import vectors, chosen one by one, give almost the same function as all two hundred points.
full = mercer.KernelLogisticRegression(kernel=RBF(gamma=1.0)).fit(X, y)
sparse = mercer.KernelLogisticRegression(kernel=RBF(gamma=1.0), import_vectors="auto").fit(X, y)
print(f"{sparse.support_.size} import vectors, error {1 - sparse.score(new, truth):.3f} after")

figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
steps = np.arange(1, sparse.import_objectives_.size + 1)
axes[0].plot(steps, sparse.import_objectives_, marker="o", label="chosen one by one")
axes[0].axhline(full.certificate_.primal, color="black", linestyle="dashed", label="all 200 points")
axes[0].legend(frameon=False)
axes[0].set_xlabel("import vectors")
axes[0].set_ylabel("penalised deviance")
p = sparse.predict_proba(places)[:, 1].reshape(across.shape)
axes[1].contour(
    across, up, p, levels=[0.25, 0.5, 0.75], colors="black", linestyles=["dashed", "solid", "dashed"]
)
axes[1].scatter(*X[y == 0].T, s=9, marker="o", color="#0072b2")
axes[1].scatter(*X[y == 1].T, s=9, marker="^", color="#d55e00")
axes[1].scatter(*sparse.support_vectors_.T, s=70, facecolor="none", edgecolor="black")
axes[1].set_title("Circles: import vectors")
plt.show()
