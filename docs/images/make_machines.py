"""Draw one picture for each support vector machine: margin, tube, ball, level sets.

Run from anywhere: ``python docs/images/make_machines.py`` (needs matplotlib).
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import mercer
from mercer import plots

FOLDER = Path(__file__).parent


def clouds(n: int, apart: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two round clouds, classes 0 and 1."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + apart * np.where(y[:, None] == 1, 1.0, -1.0) * [1.0, 0.6], y


def wave(n: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a noisy sine of one variable."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0.0, 6.0, n))
    return x[:, None], np.sin(x) + noise * rng.normal(size=n)


def banana(n: int, seed: int) -> np.ndarray:
    """Return points along an arc."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(0.2 * np.pi, 0.8 * np.pi, n)
    return np.column_stack([2.5 * np.cos(t), 2.0 * np.sin(t)]) + 0.15 * rng.normal(size=(n, 2))


def disc(n: int, seed: int) -> np.ndarray:
    """Return points in a disc."""
    rng = np.random.default_rng(seed)
    t, r = rng.uniform(0.0, 2.0 * np.pi, n), np.sqrt(rng.uniform(size=n))
    return np.column_stack([r * np.cos(t), r * np.sin(t)])


def save(name: str) -> None:
    """Write the current figure as a small PNG."""
    figure = plt.gcf()
    path = FOLDER / f"{name}.png"
    figure.savefig(path, dpi=110)
    plt.close(figure)
    Image.open(path).convert("RGB").quantize(96, dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> None:
    """Draw them all."""
    X, y = clouds(80, 2.0, seed=1)
    plots.decision_regions(mercer.SVC(kernel="linear", C=np.inf).fit(X, y), X, y, title="SVC, hard margin")
    save("machine_hard_margin")
    X, y = clouds(160, 0.9, seed=2)
    plots.decision_regions(mercer.SVC(C=1.0, gamma=0.3).fit(X, y), X, y, title="SVC, soft margin")
    save("machine_svc")
    plots.decision_regions(mercer.NuSVC(nu=0.4, gamma=0.3).fit(X, y), X, y, title="NuSVC, nu = 0.4")
    save("machine_nusvc")
    X, y = wave(90, 0.15, seed=0)
    plots.tube(mercer.SVR(C=10.0, epsilon=0.25, gamma=0.5).fit(X, y), X, y, title="SVR, epsilon = 0.25")
    save("machine_svr")
    plots.tube(mercer.NuSVR(C=10.0, nu=0.3, gamma=0.5).fit(X, y), X, y, title="NuSVR, nu = 0.3")
    save("machine_nusvr")
    X = banana(200, seed=3)
    D = disc(120, seed=0)
    ax = plots.level_sets(
        mercer.SVDD(nu=0.0, kernel="linear").fit(D), D, title="SVDD, smallest enclosing ball"
    )
    ax.set_aspect("equal")
    save("machine_ball")
    plots.level_sets(mercer.SVDD(nu=0.1, gamma=0.6).fit(X), X, title="SVDD, nu = 0.1")
    save("machine_svdd")
    plots.level_sets(mercer.OneClassSVM(nu=0.1, gamma=0.6).fit(X), X, title="OneClassSVM, nu = 0.1")
    save("machine_oneclass")
    plots.level_sets(
        mercer.SphereAndSlab(nu=0.1, gamma=0.6, n_components=3).fit(X), X, title="SphereAndSlab, nu = 0.1"
    )
    save("machine_sphereslab")


if __name__ == "__main__":
    main()
