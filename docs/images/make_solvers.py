"""Draw docs/images/solvers.png: five solvers on one problem, on three axes."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification

import mercer
from mercer.solvers import Chunking

X, y = make_classification(400, 6, n_informative=4, flip_y=0.05, class_sep=0.8, random_state=0)
X = (X - X.mean(axis=0)) / X.std(axis=0)
solvers = {
    "decomposition": "decomposition",
    "SMO (Platt)": "smo",
    "chunking": Chunking(chunk=60),
    "ascent (adatron)": "ascent",
    "interior point": "interior_point",
}
for solver in solvers.values():
    mercer.SVC(solver=solver).fit(X[:50], y[:50])  # compiled before the clocks start
models = {name: mercer.SVC(solver=s, tol=1e-6, trace=True).fit(X, y) for name, s in solvers.items()}
figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.3), layout="constrained", sharey=True)
for ax, axis in zip(axes, ("iteration", "time", "evaluations"), strict=True):
    mercer.plots.convergence(models, axis=axis, ax=ax)
    if axis != "evaluations":
        ax.get_legend().remove()
axes[1].set_ylabel(None)
axes[2].set_ylabel(None)
figure.savefig(Path(__file__).parent / "solvers.png", dpi=110)
