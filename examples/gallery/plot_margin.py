"""
Hard and soft margins
=====================

A separating hyperplane with the widest margin, and what happens when the classes overlap: some points are
allowed inside the margin, at a cost of C per unit. Dashed lines are at decision values -1 and +1; rings mark
the support vectors.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer

rng = np.random.default_rng(4)
n = 40
y = np.repeat([0, 1], n // 2)
centre = np.where(y[:, None] == 0, [-1.6, -1.0], [1.6, 1.0])
apart = centre + 0.75 * rng.normal(size=(n, 2))
overlapping = 0.55 * centre + 0.75 * rng.normal(size=(n, 2))

# %%
# With ``C=np.inf`` no point may enter the margin. The certificate bounds the distance from the optimum.
hard = mercer.SVC(kernel="linear", C=np.inf).fit(apart, y)
soft = mercer.SVC(kernel="linear", C=1.0).fit(overlapping, y)

figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
mercer.plots.decision_regions(hard, apart, y, ax=axes[0], title=f"Separable: margin {hard.margin_:.2f}")
title = f"Overlapping, C = 1: margin {soft.margin_:.2f}"
mercer.plots.decision_regions(soft, overlapping, y, ax=axes[1], title=title)
axes[0].get_legend().remove()
plt.show()

# %%
print(hard.certificate_)
print(soft.certificate_)
