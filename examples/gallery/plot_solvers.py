"""
Comparing solvers
=================

Every training algorithm of the textbooks is a ``solver`` of the support vector machines. They differ in the
cost of a step and in the number of steps; the solution is the same. ``trace=True`` records the progress, and
:func:`mercer.plots.convergence` draws several of them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification

import mercer
from mercer.solvers import Ascent, Chunking

X, y = make_classification(400, 6, n_informative=4, flip_y=0.05, class_sep=0.8, random_state=0)
X = (X - X.mean(axis=0)) / X.std(axis=0)

# %%
# The solvers of the dual first, on a Gaussian kernel, to a tight tolerance. Steps are of different kinds: one
# variable (ascent), two (SMO and the inside of the decomposition), a chunk, a factorisation of the whole
# matrix. Seconds and kernel values can be compared.

solvers = {
    "decomposition": "decomposition",
    "SMO (Platt)": "smo",
    "chunking": Chunking(chunk=60),
    "ascent (adatron)": "ascent",
    "interior point": "interior_point",
}
for solver in solvers.values():  # what is compiled on first use is compiled before the clocks start
    mercer.SVC(solver=solver).fit(X[:50], y[:50])
models = {name: mercer.SVC(solver=solver, tol=1e-6, trace=True).fit(X, y) for name, solver in solvers.items()}
figure, axes = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained", sharey=True)
for ax, axis in zip(axes, ("iteration", "time", "evaluations"), strict=True):
    mercer.plots.convergence(models, axis=axis, ax=ax)
    if axis != "evaluations":
        ax.get_legend().remove()
axes[1].set_ylabel(None)
axes[2].set_ylabel(None)
figure.suptitle("Soft margin, Gaussian kernel")
plt.show()

# %%
# All arrive at the same objective. Ascent has a problem of its own: one variable cannot change alone while a
# sum is fixed, so its bias is the weight of an extra coordinate, and penalised.

for name, model in models.items():
    proof = model.certificate_
    print(f"{name:18} dual {proof.dual:12.6f}  gap {proof.gap:.1e}  steps {proof.n_iter}")

# %%
# An exercise of the textbooks: the margin of a hard margin machine as a function of the iterations, with
# several ways to choose the next point. The points in turn, with and without over-relaxation; the worst
# violators first; the support vectors by ascending multiplier.

rng = np.random.default_rng(0)
labels = rng.integers(0, 2, 120)
apart = rng.normal(size=(120, 2)) + np.where(labels == 1, 2.2, -2.2)[:, None]
ways = {
    "in turn": Ascent(order="cyclic"),
    "in turn, omega = 1.6": Ascent(order="cyclic", omega=1.6),
    "violators first": Ascent(order="violators"),
    "support vectors, ascending": Ascent(order="ascending"),
}
hard = {
    name: mercer.SVC(C=np.inf, kernel="linear", solver=way, trace=True, tol=1e-6).fit(apart, labels)
    for name, way in ways.items()
}
figure, axes = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
mercer.plots.convergence(hard, value="margin", ax=axes[0], title="margin")
axes[0].get_legend().remove()
mercer.plots.convergence(hard, value="kkt_violation", ax=axes[1], title="largest KKT violation")
figure.suptitle("Hard margin by ascent: the order of the points matters")
plt.show()

# %%
# The two solvers on the weights of the features need a linear kernel, and reach a gap of about 1e-2. The
# certificates say so; with a matching tolerance they converge.

linear = {
    name: mercer.SVC(kernel="linear", solver=name, criterion="gap", tol=1e-2, trace=True).fit(X, y)
    for name in ("lagrangian", "subgradient", "decomposition")
}
mercer.plots.convergence(linear, axis="time", title="Linear kernel: solvers on the features")
plt.show()
