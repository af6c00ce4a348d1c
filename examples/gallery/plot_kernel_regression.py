"""
Kernel regression, narrow and wide
==================================

Ridge regression in the space of a Gaussian kernel. A narrow kernel can follow every point, a wide one bends
slowly. Leave-one-out errors in closed form choose the penalty alpha for each.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer

rng = np.random.default_rng(1)
x = np.sort(rng.uniform(-3.0, 3.0, (60, 1)), axis=0)
y = np.tanh(2.0 * x[:, 0]) + 0.2 * rng.normal(size=60)
line = np.linspace(-3.3, 3.3, 400)[:, None]

figure, axes = plt.subplots(1, 3, figsize=(13.5, 3.8), sharey=True, layout="constrained")
for ax, gamma in zip(axes, (50.0, 1.0, 0.02)):
    model = mercer.KernelRidge(kernel="rbf", gamma=gamma, alpha="loo", fit_intercept=True).fit(x, y)
    ax.plot(x, y, "o", color="#0072B2", markersize=4, label="points")
    ax.plot(line, model.predict(line), color="#D55E00", label="prediction")
    ax.set(title=f"gamma = {gamma:g}, alpha = {model.alpha_:.1g}", xlabel="x")
axes[0].set_ylabel("y")
axes[0].legend()
plt.show()
