"""
Choosing C and gamma
====================

The performance of an SVM with a Gaussian kernel depends on C and on the width of the kernel. Two classes,
each a mixture of ten Gaussians, overlap; the Bayes error is about one in eight. The best C depends on gamma,
and no C makes up for a kernel that is much too narrow.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer
from mercer.selection import leave_one_out

rng = np.random.default_rng(3)
means = rng.normal(size=(20, 2)) + np.repeat([[1.0, 0.0], [0.0, 1.0]], 10, axis=0)
which = np.concatenate([rng.integers(0, 10, size=100), rng.integers(10, 20, size=100)])
X = means[which] + rng.normal(scale=np.sqrt(0.2), size=(200, 2))
y = np.repeat([0, 1], 100)

# %%
# Ten folds over a grid. The star is the best setting, the circle the simplest one within one standard error
# of it. Distances are computed once for all gammas and the kernel matrix once for all folds and all C.
grid = {"C": 10.0 ** np.arange(-2, 4.5, 0.5), "gamma": [0.02, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0]}
search = mercer.SVCSearch(param_grid=grid, cv=10).fit(X, y)
mercer.plots.search(search)
plt.show()

# %%
# The same as curves along C, one for each width: the wider the kernel, the larger the C that it needs.
mercer.plots.search(search, kind="curves")
plt.show()

# %%
# Exact paths give the accuracy for *every* C between the least and the largest: a step function, computed
# exactly.
few = {"C": [1e-2, 1e4], "gamma": [0.1, 1.0, 10.0]}
paths = mercer.SVCSearch(param_grid=few, cv=10, method="path").fit(X, y)
mercer.plots.search(paths)
plt.show()
print(f"{len(paths.cv_results_['params'])} pieces; best at C = {paths.best_params_['C']:.3g}")

# %%
# Leave-one-out estimates without refitting: upper bounds, and the span rule, an estimate that is nearly as
# good as ten folds and costs one fit.
figure, axes = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
rule = mercer.SVCSearch(param_grid=grid, method="span_rule").fit(X, y)
bound = mercer.SVCSearch(param_grid=grid, method="xi_alpha").fit(X, y)
mercer.plots.search(rule, ax=axes[0])
mercer.plots.search(bound, ax=axes[1])
plt.show()

# %%
found = leave_one_out(search.best_estimator_, X, y)
for name, value in found.estimates.items():
    print(f"{name}: {value:.3f}")
