"""
Kernels and feature maps
========================

No line separates points inside an ellipse from those outside. After a map to squares and products a plane
does, and a polynomial kernel of degree 2 computes inner products there without the map.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer

rng = np.random.default_rng(0)
X = rng.uniform(-2.0, 2.0, (160, 2))
y = (X[:, 0] ** 2 / 2.6 + X[:, 1] ** 2 / 1.2 > 1.0).astype(int)


def squares(X):
    """Return the squares of both features."""
    return X**2


figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
curved = mercer.SVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0, C=100.0).fit(X, y)
straight = mercer.SVC(kernel="linear", C=100.0).fit(squares(X), y)
mercer.plots.decision_regions(curved, X, y, ax=axes[0], title="features: a curve, from the kernel")
mercer.plots.decision_regions(straight, squares(X), y, ax=axes[1], title="their squares: a line")
axes[0].get_legend().remove()
axes[1].set(xlabel="$x_1^2$", ylabel="$x_2^2$")
plt.show()

# %%
# The kernel's value is the inner product of the mapped points, products weighted by the square root of 2:
Z = np.column_stack([X**2, np.sqrt(2) * X[:, :1] * X[:, 1:]])
np.testing.assert_allclose(mercer.kernels.Polynomial(degree=2, gamma=1.0, coef0=0.0)(X), Z @ Z.T)
