"""
Regularized discriminant analysis
=================================

Eleven classes in ten dimensions, as in the vowel data of the textbooks. Regularization
interpolates between one covariance for all classes and one for each; a few canonical variates show most of
the separation.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer

rng = np.random.default_rng(3)
classes, features = 11, 10
shapes = np.eye(features) + 0.22 * rng.normal(size=(classes, features, features))
centres = rng.normal(size=(classes, features)) * np.geomspace(2.6, 0.2, features)


def vowels(each, rng):
    """Return so many points of each class."""
    y = np.repeat(np.arange(classes), each)
    return centres[y] + np.einsum("nij,nj->ni", shapes[y], rng.normal(size=(y.size, features))), y


X, y = vowels(24, rng)
new, truth = vowels(200, rng)

figure, axes = plt.subplots(1, 2, figsize=(12, 4.8), layout="constrained")
shrunk = mercer.RegularizedDiscriminantAnalysis(alpha=0.5).fit(X, y)
mercer.plots.rda_error(shrunk, train=(X, y), test=(new, truth), ax=axes[0])
model = mercer.LinearDiscriminantAnalysis().fit(X, y)
mercer.plots.canonical_variates(model, X, y, ax=axes[1])
plt.show()

# %%
# Later canonical variates separate less:
figure, axes = plt.subplots(2, 2, figsize=(11, 9), layout="constrained")
for ax, pair in zip(axes.ravel(), ((0, 1), (0, 2), (1, 2), (8, 9))):
    mercer.plots.canonical_variates(model, X, y, components=pair, ax=ax)
for ax in axes[:, 0]:
    ax.get_legend().remove()
plt.show()
