"""
Kernels that are learned: which columns matter
==============================================

A kernel for each column of a table, with weights that are learned together with the classifier: the columns
that do not help get none. The table has 30 measurements of breast tumours, and 60 columns of noise.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import mercer
from mercer.kernels import RBF, MultipleKernel

data = load_breast_cancer()
useful, useless = data.data.shape[1], 60
noise = np.random.default_rng(0).normal(size=(len(data.data), useless))
X = StandardScaler().fit_transform(np.hstack([data.data, noise]))
X, X_test, y, y_test = train_test_split(X, data.target, test_size=0.4, random_state=0)

# %%
# The weights are at least 0 and sum to 1 (``norm=1``): most of them are 0. The larger the norm, the more they
# are alike; at infinity it is the plain sum of the kernels.
kernels = [RBF(0.2).on([column]) for column in range(useful + useless)]
fits = {}
for norm in (1.0, 1.5, np.inf):
    fits[norm] = mercer.SVC(kernel=MultipleKernel(kernels, norm=norm), C=0.3).fit(X, y)
for norm, model in fits.items():
    used = int(np.sum(model.kernel_weights_ > 0))
    print(f"norm {norm:3}: {used} kernels in use, accuracy {model.score(X_test, y_test):.3f}")
print(f"one RBF over all columns: accuracy {mercer.SVC(C=0.3).fit(X, y).score(X_test, y_test):.3f}")
print(fits[1.0].certificate_)

# %%
# What the weights of norm 1 are, and of which columns. The certificate is the duality gap of the joint
# problem: no other weights, and no other boundary, have a much smaller objective.
figure, axes = plt.subplots(1, 2, figsize=(11.5, 4.4), layout="constrained", width_ratios=(3, 2))
columns = np.arange(useful + useless)
sparse, spread = (fits[norm].kernel_weights_ / fits[norm].kernel_weights_.sum() for norm in (1.0, 1.5))
axes[0].bar(columns, sparse, width=0.9, color="#0072B2", label="norm 1")
axes[0].plot(columns, spread, "o", markersize=3, color="#E69F00", label="norm 1.5")
axes[0].axvline(useful - 0.5, color="#555555", linewidth=0.8, linestyle=":")
top = 1.15 * sparse.max()
axes[0].set_ylim(0.0, top)
axes[0].text(useful - 1.5, 0.94 * top, "measurements", ha="right", fontsize=8, color="#555555")
axes[0].text(useful + 0.5, 0.94 * top, "noise", fontsize=8, color="#555555")
axes[0].set(xlabel="column", ylabel="share of the weights")
axes[0].legend(fontsize=8, frameon=False, loc="center right")
axes[0].set_title("A weight for each column", fontsize=10)

theta = fits[1.0].kernel_weights_
best = np.argsort(theta)[::-1][: int(np.sum(theta > 0))][::-1]
names = [*data.feature_names, *(f"noise {k}" for k in range(useless))]
axes[1].barh([names[k] for k in best], theta[best], color="#0072B2")
axes[1].tick_params(labelsize=8)
axes[1].set_xlabel("weight")
axes[1].set_title("Those in use, norm 1", fontsize=10)
plt.show()
