"""Are probabilities true? The reliability diagram."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.plots._canvas import colour, finish, new_axes, symbol

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Z = 1.96  # of the intervals: 95 %


def calibration(
    model: Any,
    X: Any,
    y: Any,
    *,
    bins: int = 10,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the reliability diagram of a classifier's probabilities.

    Predicted probabilities are cut into bins of equally many points; each is drawn at its mean probability
    and the share of points that were of the class, with Wilson's 95 % interval. On the diagonal the
    probabilities are true. Two classes give one curve, more give one for each class against the others.

    Parameters
    ----------
    model : classifier
        Fitted, with ``predict_proba`` (``probability=True``).
    X, y : array
        Points that the model was not fitted on, and their classes.
    bins : int, default=10
        How many bins.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when not given.
    title : str, optional
        Title.

    Returns
    -------
    matplotlib Axes

    References
    ----------
    .. [1] A. Niculescu-Mizil and R. Caruana (2005). Predicting good probabilities with supervised learning.
       *Proceedings of the 22nd International Conference on Machine Learning*.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import SVC, plots
    >>> X, y = make_moons(400, noise=0.4, random_state=0)
    >>> model = SVC(probability=True).fit(X[:200], y[:200])
    >>> ax = plots.calibration(model, X[200:], y[200:])  # doctest: +SKIP
    """
    if not hasattr(model, "predict_proba"):
        raise ValueError(f"{type(model).__name__} gives no probabilities: fit it with probability=True")
    if bins < 2:
        raise ValueError(f"bins={bins} must be at least 2")
    labels = np.asarray(y)
    P = np.asarray(model.predict_proba(X))
    if labels.shape != (len(P),):
        raise ValueError(f"y has shape {labels.shape}; for {len(P)} rows of X it must be ({len(P)},)")
    classes = np.asarray(model.classes_)
    ax = new_axes(ax, (6.0, 4.6))
    ax.plot([0.0, 1.0], [0.0, 1.0], "--", color="#808080", linewidth=1.0, label="true probabilities")
    for k in [1] if len(classes) == 2 else range(len(classes)):
        happened = (labels == classes[k]).astype(float)
        mean, share, low, high = _reliability(P[:, k], happened, bins)
        brier = float(np.mean((P[:, k] - happened) ** 2))
        ax.errorbar(
            mean, share, yerr=np.maximum([share - low, high - share], 0.0), fmt="-", color=colour(k),
            marker=symbol(k), markersize=4, linewidth=1.2, elinewidth=0.7, capsize=2,
            label=f"{classes[k]} (Brier score {brier:.3g})",
        )  # fmt: skip
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_aspect("equal", adjustable="box")
    return finish(ax, "predicted probability", "share that was of the class", title)


def _reliability(p: np.ndarray, happened: np.ndarray, bins: int) -> tuple[np.ndarray, ...]:
    """Return mean probability, share, and the ends of Wilson's interval for bins of equally many points."""
    order = np.argsort(p, kind="stable")
    parts = [part for part in np.array_split(order, bins) if part.size]
    size = np.array([part.size for part in parts], dtype=float)
    mean = np.array([p[part].mean() for part in parts])
    share = np.array([happened[part].mean() for part in parts])
    centre = (share + Z**2 / (2 * size)) / (1 + Z**2 / size)
    half = Z / (1 + Z**2 / size) * np.sqrt(share * (1 - share) / size + Z**2 / (4 * size**2))
    return mean, share, centre - half, centre + half
