"""Pictures of discriminants: canonical variates, and the error of regularized ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.plots._canvas import colour, draw_classes, finish, new_axes, symbol

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def canonical_variates(
    model: Any,
    X: Any,
    y: Any,
    *,
    components: tuple[int, int] = (0, 1),
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw data in two canonical variates of a discriminant, with the class centroids.

    Parameters
    ----------
    model : discriminant
        Fitted; with ``transform``, ``classes_`` and at least two components.
    X : array of shape (n, n_features)
        Data to project.
    y : array of shape (n,)
        Their classes.
    components : pair of int, default=(0, 1)
        Which variates, counted from 0.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when not given.
    title : str, optional
        Title.

    Returns
    -------
    matplotlib Axes

    References
    ----------
    .. [1] T. Hastie, R. Tibshirani and J. Friedman (2009). *The Elements of Statistical Learning*, 2nd
       edition, Figures 4.4 and 4.8. Springer.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mercer import LinearDiscriminantAnalysis, plots
    >>> X, y = load_wine(return_X_y=True)
    >>> ax = plots.canonical_variates(LinearDiscriminantAnalysis().fit(X, y), X, y)  # doctest: +SKIP
    """
    labels = np.asarray(y)
    Z = np.asarray(model.transform(X), dtype=np.float64)
    if labels.shape != (len(Z),):
        raise ValueError(f"y has shape {labels.shape}; for {len(Z)} rows of X it must be ({len(Z)},)")
    i, j = components
    if not (0 <= i < Z.shape[1] and 0 <= j < Z.shape[1]):
        raise ValueError(
            f"components={components!r}: this model has {Z.shape[1]} canonical variate(s), numbered from 0"
        )
    ax = new_axes(ax, (6.4, 4.6))
    classes = np.asarray(model.classes_)
    draw_classes(ax, Z[:, [i, j]], labels, classes, size=20.0)
    for k, name in enumerate(classes):
        mine = Z[labels == name]
        if len(mine):
            centre = mine.mean(axis=0)
            at = ([centre[i]], [centre[j]])
            ax.scatter(*at, s=170, c="white", marker=symbol(k), edgecolors="white", linewidths=4.5, zorder=4)
            ax.scatter(
                *at, s=170, c=colour(k), marker=symbol(k), edgecolors="black", linewidths=1.6, zorder=5
            )
    ax.scatter([], [], s=90, c="white", marker="o", edgecolors="black", linewidths=1.6, label="centroid")
    ax.set_aspect("equal", adjustable="datalim")  # distances are what classifies
    return finish(ax, f"canonical variate {i + 1}", f"canonical variate {j + 1}", title)


def rda_error(
    model: Any,
    *,
    train: tuple[Any, Any] | None = None,
    test: tuple[Any, Any] | None = None,
    alphas: Any = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the error of a regularized discriminant against alpha.

    The cross-validated error is drawn where the model was fitted with ``alpha="cv"``, at the chosen gamma,
    with a band of one standard error; errors on data that are given come from a fit for each alpha.

    Parameters
    ----------
    model : RegularizedDiscriminantAnalysis
        Fitted.
    train : pair (X, y), optional
        The training data: the fits for each alpha need them, and their own error is drawn.
    test : pair (X, y), optional
        Test data, whose error is drawn as well; needs ``train``.
    alphas : array-like, optional
        Where to fit; None for 0, 0.02, ..., 1.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when not given.
    title : str, optional
        Title.

    Returns
    -------
    matplotlib Axes

    References
    ----------
    .. [1] T. Hastie, R. Tibshirani and J. Friedman (2009). *The Elements of Statistical Learning*, 2nd
       edition, Figure 4.7. Springer.
    """
    results = getattr(model, "cv_results_", None)
    known = results is not None and len(results["alphas"]) > 1
    if not known and train is None:
        raise ValueError(
            "there is nothing to draw: fit the model with alpha='cv', or give the training data, train=(X, y)"
        )
    if test is not None and train is None:
        raise ValueError("test=(X, y) needs train=(X, y): there is a fit for each alpha")
    if known and model.scoring != "accuracy":
        raise ValueError(f"the model was chosen by scoring={model.scoring!r}, which is no error rate")
    ax = new_axes(ax)
    if train is not None:
        grid = np.linspace(0.0, 1.0, 51) if alphas is None else np.unique(np.asarray(alphas, dtype=float))
        errors = _errors(model, grid, train, test)
        styles = (("test", 1, "-", "s"), ("training", 0, "--", "o"))
        for column, (name, k, style, mark) in enumerate(styles[-len(errors) :]):
            ax.plot(
                grid, errors[column], style, color=colour(k), marker=mark, markersize=3, label=f"{name} error"
            )
    if known:
        _cross_validated(ax, model, results)
    ax.set_ylim(bottom=0.0)
    return finish(ax, r"$\alpha$", "misclassification rate", title)


def _errors(model: Any, alphas: Any, train: Any, test: Any) -> list[Any]:
    """Return the test errors, if there are test data, and the training errors; nan where alpha has no fit."""
    from sklearn.base import clone

    gamma = float(model.gamma_)
    sets = [train] if test is None else [test, train]
    out = np.full((len(sets), len(alphas)), np.nan)
    for a, alpha in enumerate(alphas):
        fresh = clone(model).set_params(alpha=float(alpha), gamma=gamma, alphas=None, gammas=None)
        try:
            fresh.fit(*train)
        except ValueError:  # alpha = 1 asks more of a class than it has rows
            if alpha < 1.0:
                raise
            continue
        out[:, a] = [1.0 - fresh.score(*data) for data in sets]
    return list(out)


def _cross_validated(ax: Axes, model: Any, results: Any) -> None:
    j = int(np.argmin(np.abs(results["gammas"] - model.gamma_)))
    alphas, scores = results["alphas"], results["split_test_scores"][:, :, j]
    error = 1.0 - scores.mean(axis=0)
    band = scores.std(axis=0, ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else np.zeros_like(error)
    ax.fill_between(alphas, error - band, error + band, color=colour(2), alpha=0.2, linewidth=0)
    ax.plot(alphas, error, "-.", color=colour(2), marker="D", markersize=3, label="cross-validated error")
    ax.axvline(
        model.alpha_,
        color="black",
        linestyle=":",
        linewidth=1.0,
        label=rf"chosen $\alpha$ = {model.alpha_:g}",
    )
