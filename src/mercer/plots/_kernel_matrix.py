"""The kernel matrix as a picture, which shows whether the kernel sees the classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.kernels import Kernel, as_kernel
from mercer.plots._canvas import FONT, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def kernel_matrix(
    kernel: Any,
    X: Any,
    y: Any = None,
    *,
    ax: Axes | None = None,
    rows: int = 600,
    title: str | None = None,
) -> Axes:
    """Draw the kernel matrix with its rows ordered by class: a good kernel shows blocks on the diagonal.

    Parameters
    ----------
    kernel : fitted machine, Kernel or str
        A machine stands for its ``kernel_``; the name of a kernel for its default parameters.
    X : array, CSR or sequence
        Items that the kernel compares; the matrix itself for a precomputed kernel.
    y : array of shape (n,), optional
        Classes; without them, or with more than 30 values, rows are sorted by y or kept as they are.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when not given.
    rows : int, default=600
        Most rows to draw; of more, evenly spaced ones of each class are taken.
    title : str, optional
        Title.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import plots
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plots.kernel_matrix("rbf", X, y)  # doctest: +SKIP
    """
    if rows < 2:
        raise ValueError(f"rows={rows} must be at least 2")
    k = _resolved(kernel, X)
    n = int(X.shape[0]) if hasattr(X, "shape") else len(X)
    labels = None if y is None else np.asarray(y)
    if labels is not None and labels.shape != (n,):
        raise ValueError(f"y has shape {labels.shape}; for {n} rows of X it must be ({n},)")
    order = np.arange(n) if labels is None else np.argsort(labels, kind="stable")
    chosen = order[np.unique(np.linspace(0, n - 1, min(rows, n)).round().astype(int))]
    K = _values(k, X, chosen)
    ax = new_axes(ax, (5.6, 4.6))
    signed = float(K.min()) < -1e-12 * float(np.abs(K).max())
    top = float(np.abs(K).max()) or 1.0
    # A diverging map where values may be negative, so that zero is neutral; cividis reads well for any eye.
    limits = {"cmap": "PuOr", "vmin": -top, "vmax": top} if signed else {"cmap": "cividis", "vmin": 0.0}
    picture = ax.imshow(K, interpolation="nearest", **limits)  # type: ignore[arg-type]
    bar = ax.figure.colorbar(picture, ax=ax, shrink=0.85)
    bar.ax.tick_params(labelsize=FONT - 1)
    bar.set_label("k(x, z)", fontsize=FONT)
    _mark_classes(ax, None if labels is None else labels[chosen])
    words = f"{len(chosen)} of {n} rows" if len(chosen) < n else f"{n} rows"
    ax.set_title(title if title is not None else f"{k!r}, {words}", fontsize=FONT + 1)
    return ax


def _resolved(kernel: Any, X: Any) -> Kernel:
    if hasattr(kernel, "kernel_"):
        return as_kernel(kernel.kernel_)
    if hasattr(kernel, "fit"):
        raise ValueError(f"{type(kernel).__name__} is not fitted: call fit first, or give its kernel")
    return as_kernel(kernel).resolve(X)


def _values(kernel: Kernel, X: Any, chosen: np.ndarray) -> np.ndarray:
    if kernel.pairwise:
        K = np.asarray(X, dtype=np.float64)
        if K.ndim != 2 or K.shape[0] != K.shape[1]:
            raise ValueError(f"a precomputed kernel needs its square matrix as X, the shape is {K.shape}")
        square: np.ndarray = K[np.ix_(chosen, chosen)]
        return square
    part = kernel.take(kernel.check(X), chosen)
    return np.asarray(kernel(part), dtype=np.float64)


def _mark_classes(ax: Axes, labels: np.ndarray | None) -> None:
    """Draw the borders between classes and name them."""
    names, starts = (None, None) if labels is None else np.unique(labels, return_index=True)
    if names is None or starts is None or len(names) > 30:
        ax.set_xlabel("row" if labels is None else "row, ordered by y", fontsize=FONT)
        ax.tick_params(labelsize=FONT - 1)
        return
    assert labels is not None
    ends = np.append(starts[1:], len(labels))
    for border in starts[1:]:
        ax.axhline(border - 0.5, color="white", linewidth=1.0)
        ax.axvline(border - 0.5, color="white", linewidth=1.0)
    middles = (starts + ends - 1) / 2
    words = [str(name) for name in names]
    turned = 90 if max(map(len, words)) * len(words) > 40 else 0
    ax.set_xticks(middles, words, rotation=turned, fontsize=FONT - 1)
    ax.set_yticks(middles, words, fontsize=FONT - 1)
