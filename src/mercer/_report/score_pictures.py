"""Pictures of scores: what is taken for what, thresholds, errors, intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import metrics

from mercer._report.scores import Coverage, Scores, interval_half
from mercer.plots._prediction_intervals import ROWS, draw_bars

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#808080"
MOST_ROWS = 3000  # drawn in scatter plots
MOST_LETTERS = 14  # of a class's name


def confusion(ax: Any, scores: Scores) -> None:
    """Draw which class is taken for which: the share of each row, with its count."""
    assert scores.truth is not None
    names = np.unique(np.concatenate([scores.truth, scores.predicted]))
    counts = metrics.confusion_matrix(scores.truth, scores.predicted, labels=names)
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    ax.imshow(share, cmap="Blues", vmin=0.0, vmax=1.0)
    shown = [_short(name) for name in names]
    ax.set_xticks(range(names.size), shown, rotation=0 if names.size < 5 else 60)
    ax.set_yticks(range(names.size), shown)
    ax.set(xlabel="predicted", ylabel="true")
    for i, j in np.ndindex(counts.shape) if names.size <= 12 else ():
        ink = "white" if share[i, j] > 0.55 else "black"
        ax.text(j, i, f"{counts[i, j]}", ha="center", va="center", color=ink)


def receiver(ax: Any, scores: Scores) -> None:
    """Draw the share found against the share of false alarms, for every threshold."""
    novel, towards = _ranked(scores)
    alarms, found, _ = metrics.roc_curve(novel, towards)
    area = metrics.roc_auc_score(novel, towards)
    ax.plot(alarms, found, color=BLUE, label=f"model: AUC {area:.3f}")
    ax.plot([0, 1], [0, 1], "--", color=GREY, linewidth=1.0, label="guessing: AUC 0.5")
    if scores.kind == "classifier":
        here = scores.predicted == scores.positive
        ax.plot(here[~novel].mean(), here[novel].mean(), "o", color=ORANGE, label="decision threshold")
    ax.set(xlabel="false positive rate", ylabel=f"recall{_of(scores)}")
    ax.legend(frameon=False, fontsize=8, loc="lower right")


def precision_recall(ax: Any, scores: Scores) -> None:
    """Draw precision against recall, for every threshold."""
    novel, towards = _ranked(scores)
    precision, recall, _ = metrics.precision_recall_curve(novel, towards)
    average = metrics.average_precision_score(novel, towards)
    ax.step(recall, precision, where="post", color=BLUE, label=f"model: average precision {average:.3f}")
    share = float(novel.mean())
    ax.axhline(share, linestyle="--", color=GREY, linewidth=1.0, label=f"guessing: {share:.3f}")
    if scores.kind == "classifier":
        here = scores.predicted == scores.positive
        if here.any():
            ax.plot(here[novel].mean(), novel[here].mean(), "o", color=ORANGE, label="decision threshold")
    ax.set(xlabel=f"recall{_of(scores)}", ylabel="precision", ylim=(0.0, 1.04))
    ax.legend(frameon=False, fontsize=8, loc="best")


def agreement(ax: Any, scores: Scores) -> None:
    """Draw predicted against true values."""
    truth, predicted, step = _numbers(scores)
    low, high = min(truth.min(), predicted.min()), max(truth.max(), predicted.max())
    ax.plot([low, high], [low, high], "--", color=GREY, linewidth=1.0, label="equal")
    ax.scatter(
        truth[::step], predicted[::step], s=14, c=BLUE, edgecolors="white", linewidths=0.3, label="row"
    )
    ax.set(xlabel="true value", ylabel="predicted value")
    ax.legend(frameon=False, fontsize=8, loc="upper left")


def residuals(ax: Any, scores: Scores) -> None:
    """Draw what is left of the truth, against the prediction."""
    truth, predicted, step = _numbers(scores)
    ax.axhline(0.0, linestyle="--", color=GREY, linewidth=1.0)
    left = truth - predicted
    ax.scatter(predicted[::step], left[::step], s=14, c=BLUE, edgecolors="white", linewidths=0.3)
    ax.set(xlabel="predicted value", ylabel="true minus predicted")


def interval_bars(ax: Any, scores: Scores) -> None:
    """Draw the 90 % interval of each row, and its true value."""
    truth, predicted, step = _numbers(scores)
    half = interval_half(scores.outputs, 0.9)
    draw_bars(ax, predicted[::step], half[::step], truth[::step], 0.9)
    ax.set(xlabel=ROWS, ylabel="value")
    ax.legend(frameon=False, fontsize=8, loc="upper left")


def covered(ax: Any, coverage: Coverage) -> None:
    """Draw how often intervals held what came, against what they claim."""
    levels = list(coverage.shares)
    ax.plot([0, 1], [0, 1], "--", color=GREY, linewidth=1.0, label="nominal")
    ax.plot(levels, [coverage.shares[level] for level in levels], "o-", color=BLUE, label="observed")
    ax.set(xlabel="nominal coverage", ylabel="observed coverage", xlim=(0.4, 1.02), ylim=(0.0, 1.04))
    ax.legend(frameon=False, fontsize=8, loc="lower right")


def has_curves(scores: Scores) -> bool:
    """Return whether rows can be ranked, and there is something to find among them."""
    if scores.truth is None or scores.outputs.decision is None:
        return False
    if scores.kind == "classifier" and scores.positive is None:
        return False
    return bool(np.unique(scores.truth).size == 2)


def _ranked(scores: Scores) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows are to be found, and decisions that are large for them."""
    assert scores.truth is not None
    assert scores.outputs.decision is not None
    if scores.kind == "detector":
        return scores.truth, -scores.outputs.decision
    wanted = scores.truth == scores.positive
    second = np.unique(np.concatenate([scores.truth, scores.predicted]))[-1]
    return wanted, scores.outputs.decision if scores.positive == second else -scores.outputs.decision


def _of(scores: Scores) -> str:
    return " of novelties" if scores.kind == "detector" else f" of {_short(scores.positive)}"


def _numbers(scores: Scores) -> tuple[np.ndarray, np.ndarray, int]:
    truth, predicted = np.asarray(scores.truth, dtype=float), np.asarray(scores.predicted, dtype=float)
    return truth, predicted, max(1, len(truth) // MOST_ROWS)


def _short(name: Any) -> str:
    text = str(name).replace("$", r"\$")
    return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 1] + "…"
