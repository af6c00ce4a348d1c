"""Draw regions.png: the decision regions of an RBF machine on two moons, with margins and support vectors.

Run from anywhere: ``python docs/images/make_regions.py`` (needs matplotlib).
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from PIL import Image

import mercer

# Colours of Okabe and Ito, which are told apart by everybody; the classes also differ in shape.
BLUE, ORANGE, VERMILION, INK = "#0072B2", "#E69F00", "#D55E00", "#222222"
TARGET = Path(__file__).with_name("regions.png")


def two_moons(n: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two interleaved half circles with noise, classes 0 (upper) and 1 (lower)."""
    rng = np.random.default_rng(seed)
    t = np.pi * rng.uniform(size=n)
    y = np.arange(n) % 2
    upper = np.column_stack([np.cos(t), np.sin(t)])
    lower = np.column_stack([1.0 - np.cos(t), 0.5 - np.sin(t)])
    return np.where(y[:, None] == 0, upper, lower) + noise * rng.normal(size=(n, 2)), y


def draw() -> plt.Figure:
    X, y = two_moons(240, noise=0.2, seed=3)
    model = mercer.SVC(C=10.0, gamma=0.7, criterion="gap", tol=1e-4).fit(X, y)

    left, bottom = X.min(axis=0) - 0.25
    right, top = X.max(axis=0) + 0.25
    U, V = np.meshgrid(np.linspace(left, right, 480), np.linspace(bottom, top, 300))
    F = model.decision_function(np.column_stack([U.ravel(), V.ravel()])).reshape(U.shape)

    figure, axes = plt.subplots(figsize=(7.2, 4.5), dpi=150, layout="constrained")
    shades = LinearSegmentedColormap.from_list("regions", [BLUE, "#FFFFFF", ORANGE])
    levels = np.linspace(-2.4, 2.4, 13)
    axes.contourf(U, V, F, levels=levels, cmap=shades, alpha=0.45, extend="both", antialiased=True)
    axes.contour(U, V, F, levels=[0.0], colors=INK, linewidths=2.0)
    axes.contour(U, V, F, levels=[-1.0, 1.0], colors=INK, linewidths=1.0, linestyles="--")

    inside = np.ones(len(y), dtype=bool)
    inside[model.support_] = False
    for label, colour, marker in ((0, BLUE, "o"), (1, VERMILION, "^")):
        plain = (y == label) & inside
        held = (y == label) & ~inside
        axes.scatter(*X[plain].T, s=26, marker=marker, c=colour, edgecolors="white", linewidths=0.5)
        axes.scatter(*X[held].T, s=46, marker=marker, c=colour, edgecolors=INK, linewidths=1.3, zorder=3)

    legend = [
        plt.Line2D([], [], color=INK, lw=2.0, label="decision boundary"),
        plt.Line2D([], [], color=INK, lw=1.0, ls="--", label="margins"),
        plt.Line2D([], [], ls="", marker="o", mfc="white", mec=INK, mew=1.3, ms=7, label="support vectors"),
    ]
    axes.legend(handles=legend, loc="lower right", framealpha=0.85, edgecolor="none")
    axes.set(xticks=[], yticks=[], xlim=(left, right), ylim=(bottom, top))
    words = f"{model.support_.size} of {len(y)} points are support vectors"
    proof = f"{100 * model.certificate_.relative_gap:.1g} %"
    axes.set_title(f"{words}, proved within {proof} of the optimum", fontsize=11, loc="left", color=INK)
    for spine in axes.spines.values():
        spine.set_color("#BBBBBB")
    return figure


def save(figure: plt.Figure) -> None:
    """Write the picture with a palette: a third of the bytes, and nothing to be seen of it."""
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3]
    Image.fromarray(pixels).quantize(160, dither=Image.Dither.NONE).save(TARGET, optimize=True)


if __name__ == "__main__":
    save(draw())
