"""
Novelty detection
=================

The smallest sphere around the data, and the same sphere in the space of a Gaussian kernel, where it bends
around the data's support. Points outside are novel.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer

rng = np.random.default_rng(2)
angle = rng.uniform(0.0, 1.5 * np.pi, 150)
X = np.column_stack([np.cos(angle), np.sin(angle)]) * rng.normal(2.0, 0.25, (150, 1))

ball = mercer.SVDD(kernel="linear", nu=0.0).fit(X)
trimmed = mercer.SVDD(kernel="linear", nu=0.1).fit(X)
bent = mercer.SVDD(kernel="rbf", gamma=0.6, nu=0.1).fit(X)

figure, axes = plt.subplots(1, 3, figsize=(13.5, 4.6), layout="constrained")
titles = ("all points inside", "a tenth may stay outside", "the same, Gaussian kernel")
for ax, model, title in zip(axes, (ball, trimmed, bent), titles):
    mercer.plots.level_sets(model, X, ax=ax, title=title)
for ax in axes[:2]:
    ax.get_legend().remove()
plt.show()

# %%
# At most a fraction nu of the points is outside, and at least a fraction nu are support vectors.
print(f"outside: {np.mean(bent.predict(X) < 0):.3f}, support vectors: {bent.support_.size / len(X):.3f}")
