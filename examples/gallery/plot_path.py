"""
The regularisation path
=======================

The multipliers of a support vector machine, divided by C, are piecewise linear in 1 / C.
:class:`mercer.SVCPath` follows them from knot to knot and so knows the solution for every C: the multipliers,
the margin and the error.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer

# %%
# A small set first, so that each row's path can be seen. Each line is one row: at 1 it lies inside its
# margin, at 0 outside; on the way it sits on the margin.

rng = np.random.default_rng(4)
X = np.concatenate([rng.normal([0.0, 0.0], 1.0, (7, 2)), rng.normal([2.0, 1.2], 1.0, (5, 2))])
y = np.repeat([0, 1], [7, 5])
small = mercer.SVCPath(kernel="linear", C_max=50.0).fit(X, y)
mercer.plots.path(small)
plt.show()

# %%
# The model at any C is a look-up, here at C = 2, with its certificate.

machine = small.at(2.0)
print(machine.certificate_)
mercer.plots.decision_regions(machine, X, y, title="C = 2")
plt.show()

# %%
# Two classes that overlap, each a mixture of ten Gaussians, and a Gaussian kernel. The error on the training
# rows falls with C; on new rows it has its minimum in between.

centres = np.concatenate([rng.normal([1.0, 0.0], 1.0, (10, 2)), rng.normal([0.0, 1.0], 1.0, (10, 2))])


def mixture(n):
    y = np.repeat([0, 1], n)
    return centres[10 * y + rng.integers(0, 10, 2 * n)] + np.sqrt(0.2) * rng.normal(size=(2 * n, 2)), y


X, y = mixture(100)
new, truth = mixture(1000)
path = mercer.SVCPath(gamma=1.0).fit(X, y)
print(f"{path.Cs_.size} knots; largest KKT violation {path.kkt_violation_:.1e}")
mercer.plots.path(path, new, truth)
plt.show()

# %%
# The same for a regression, at a fixed width of the tube.

x = np.sort(rng.uniform(0.0, 6.0, (60, 1)), axis=0)
target = np.sin(x[:, 0]) + 0.2 * rng.normal(size=60)
regression = mercer.SVRPath(epsilon=0.2, gamma=1.0).fit(x, target)
mercer.plots.path(regression)
plt.show()
