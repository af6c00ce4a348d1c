"""Draw the picture of docs/paths.md: ``python docs/images/make_path.py``."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np

import mercer

rng = np.random.default_rng(29)
centres = np.concatenate([rng.normal([1.0, 0.0], 1.0, (10, 2)), rng.normal([0.0, 1.0], 1.0, (10, 2))])


def mixture(n):
    y = np.repeat([0, 1], n)
    return centres[10 * y + rng.integers(0, 10, 2 * n)] + np.sqrt(0.2) * rng.normal(size=(2 * n, 2)), y


X, y = mixture(25)
new, truth = mixture(1000)
path = mercer.SVCPath(gamma=1.0, C_max=1000.0).fit(X, y)
axes = mercer.plots.path(path, new, truth)
axes[0].figure.savefig(Path(__file__).with_name("path.png"), dpi=120)
