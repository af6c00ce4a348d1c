"""
Clusters in feature space
=========================

K-means divides two rings by a straight line. With a Gaussian kernel it finds the rings, if it is told that
there are two. Support vector clustering finds their number as well: the ball in feature space encloses a
region whose connected parts are the clusters, and leaves some points outside as noise.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles

from mercer import KernelKMeans, SupportVectorClustering

X, _ = make_circles(300, factor=0.35, noise=0.07, random_state=0)
models = {
    "k-means": KernelKMeans(2, kernel="linear", random_state=0),
    "kernel k-means": KernelKMeans(2, gamma=2.0, n_init=20, random_state=0),
    "support vector clustering": SupportVectorClustering(nu=0.05, gamma=8.0),
}

figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.4), layout="constrained", sharex=True, sharey=True)
for axis, (name, model) in zip(axes, models.items()):
    labels = model.fit_predict(X)
    colours = np.array(["tab:blue", "tab:orange", "tab:green", "0.6"])
    axis.scatter(*X.T, s=12, c=colours[np.where(labels < 0, 3, labels % 3)])
    axis.set(title=name, aspect="equal", xticks=[], yticks=[])
side = np.linspace(-1.35, 1.35, 150)
grid = np.stack(np.meshgrid(side, side), axis=-1)
ball = models["support vector clustering"]
values = ball.decision_function(grid.reshape(-1, 2)).reshape(150, 150)
axes[2].contour(side, side, values, levels=[0.0], colors="black", linewidths=0.8)
plt.show()

# %%
# What is known of the two partitions: no other one into two clusters can be better by more than the gap.

for name in ("k-means", "kernel k-means"):
    print(name, models[name].certificate_)
print(ball.n_clusters_, "clusters, found by", type(ball).__name__)
