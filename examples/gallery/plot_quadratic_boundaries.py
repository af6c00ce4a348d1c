"""
Quadratic boundaries: two methods
=================================

Linear discriminant analysis in the space of all products of two features, and quadratic discriminant
analysis in the space of the features themselves. The boundaries differ only a little.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import mercer

rng = np.random.default_rng(5)
y = np.repeat([0, 1, 2], 150)
centres = np.array([[[-2.0, 0.0], [-1.0, 2.2]], [[2.0, 0.6], [1.0, 2.8]], [[0.0, -1.8], [0.6, -0.4]]])
X = centres[y, rng.integers(0, 2, y.size)] + rng.normal(0.0, 0.8, (y.size, 2))

products = PolynomialFeatures(2, include_bias=False)
linear = make_pipeline(products, mercer.LinearDiscriminantAnalysis()).fit(X, y)
quadratic = mercer.QuadraticDiscriminantAnalysis().fit(X, y)

figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
for ax, model, name in zip(axes, (linear, quadratic), ("linear, on products of features", "quadratic")):
    mercer.plots.decision_regions(model, X, y, ax=ax, title=f"{name}: error {1 - model.score(X, y):.3f}")
axes[0].get_legend().remove()
plt.show()

# %%
same = np.mean(linear.predict(X) == quadratic.predict(X))
print(f"the two agree on {same:.1%} of the points")
