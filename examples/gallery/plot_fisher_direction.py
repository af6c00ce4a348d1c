"""
Fisher's discriminant direction
===============================

Along the line through two centroids, the classes may still overlap, because of their covariance. Fisher's
direction takes the covariance into account.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer

rng = np.random.default_rng(0)
y = np.repeat([0, 1], 150)
shape = np.linalg.cholesky(np.array([[1.0, 0.85], [0.85, 1.0]]))
X = rng.normal(size=(300, 2)) @ shape.T + np.where(y[:, None] == 0, [-1.0, 0.3], [1.0, -0.3])

centroids = np.array([X[y == k].mean(axis=0) for k in (0, 1)])
between = centroids[1] - centroids[0]
fisher = mercer.LinearDiscriminantAnalysis().fit(X, y).coef_[0]

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for k, colour in enumerate(("#0072B2", "#D55E00")):
    axes[0].plot(*X[y == k].T, "o^"[k], color=colour, markersize=3, label=f"class {k}")
for direction, style, name in ((between, "-", "centroids"), (fisher, "--", "Fisher")):
    unit = 3.2 * direction / np.linalg.norm(direction)
    axes[0].plot(*np.array([-unit, unit]).T, style, color="black", label=name)
axes[0].set_aspect("equal")
axes[0].legend(fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False)
for ax, direction, name in zip(axes[1:], (between, fisher), ("the line of centroids", "Fisher's direction")):
    projected = X @ direction / np.linalg.norm(direction)
    for k, colour in enumerate(("#0072B2", "#D55E00")):
        ax.hist(projected[y == k], bins=np.linspace(-4, 4, 40), color=colour, alpha=0.6)
    ax.set(title=f"along {name}", xlabel="projection", ylabel="points", ylim=(0, 32))
plt.show()
