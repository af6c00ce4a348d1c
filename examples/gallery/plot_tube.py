"""
Support vector regression
=========================

Errors smaller than epsilon cost nothing, so points inside the tube do not support the function. With nu
instead of epsilon, the width is chosen so that at most a fraction nu of the points lies outside.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0.0, 6.0, (120, 1)), axis=0)
y = np.sin(x[:, 0]) + 0.25 * rng.normal(size=120)

given = mercer.SVR(C=5.0, gamma=0.5, epsilon=0.4).fit(x, y)
found = mercer.NuSVR(C=5.0, gamma=0.5, nu=0.3).fit(x, y)

figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
mercer.plots.tube(given, x, y, ax=axes[0], title="epsilon = 0.4")
mercer.plots.tube(found, x, y, ax=axes[1], title=f"nu = 0.3 found epsilon = {found.epsilon_:.2f}")
plt.show()
