"""How good: scores of rows that the machine has not seen, beside the best constant guess."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import beta, norm
from sklearn import metrics
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from mercer._report.outputs import (
    LEVELS,
    Outputs,
    RememberedClassifier,
    RememberedRegressor,
    joined,
    outputs_of,
)
from mercer._report.subject import Kind, Subject, Unseen, take
from mercer.selection.scoring import chosen_scoring, class_shares, positive_class, score_words, scorer_of

SEED = 0
DRAWS = 300  # of the bootstrap, where no formula gives an interval
MOST_GUESSES = 20  # classes that are tried as the constant guess, the most frequent first


@dataclass(frozen=True)
class Scores:
    """Measures with the words that say of which rows they are.

    Attributes
    ----------
    kind : {"classifier", "regressor", "detector"}
        What the machine does.
    rows : str
        Which rows.
    unseen : bool
        Whether the machine had not seen them.
    headline : tuple of str and float
        The measure that counts most.
    values : dict of str to float
        All measures.
    truth : ndarray or None
        What the rows are; of a detector whether they are novel, if that is known.
    outputs : Outputs
        What the machine said.
    guess : tuple of str and float, or None
        The best constant guess, in words, and the same measure of it.
    interval : pair of float or None
        Where that measure of new rows lies, with probability ``sure``.
    sure : float
        That probability.
    lower : bool
        Whether less is better.
    positive : Any
        Which of two classes precision and recall are about.
    """

    kind: Kind
    rows: str
    unseen: bool
    headline: tuple[str, float]
    values: dict[str, float]
    truth: np.ndarray | None
    outputs: Outputs
    guess: tuple[str, float] | None = None
    interval: tuple[float, float] | None = None
    sure: float = 0.95
    lower: bool = False
    positive: Any = None

    @property
    def predicted(self) -> np.ndarray:
        """What was predicted."""
        return self.outputs.predicted


@dataclass(frozen=True)
class Measuring:
    """How rows are to be measured.

    Attributes
    ----------
    kind : {"classifier", "regressor", "detector"}
        What the machine does.
    y : ndarray or None
        The targets it learned from, which say what is rare and what to guess.
    scoring : str or None
        scikit-learn's name of the measure that counts; None to choose by the target.
    delta : float
        Probability with which the interval may miss.
    """

    kind: Kind
    y: np.ndarray | None = None
    scoring: str | None = None
    delta: float = 0.05

    def __call__(
        self,
        truth: np.ndarray | None,
        found: Outputs,
        rows: str,
        unseen: bool,
        weight: np.ndarray | None = None,
        brief: bool = False,
    ) -> Scores:
        """Return the measures of some predictions; with weights, a row of weight 2 counts as two rows.

        Briefly: without the best guess and the interval.
        """
        if self.kind == "detector":
            return _detection(truth, found, rows, unseen, weight, self.delta)
        assert truth is not None
        y = truth if self.y is None else self.y
        classes = self.kind == "classifier"
        name = self.scoring or chosen_scoring(y, classes)[0]
        names = np.unique(y) if classes else None
        make: Any = RememberedClassifier if classes else RememberedRegressor
        scorer = scorer_of(make(found, names), name, y)

        def score(outputs: Outputs, of: np.ndarray) -> float:
            counted = {} if weight is None else {"sample_weight": weight[of]}
            if name == "balanced_accuracy":  # without warnings of classes that are not among these rows
                return _balanced(truth[of], outputs.predicted[of], None if weight is None else weight[of])
            return float(scorer(make(outputs, names), of, truth[of], **counted))

        every = np.arange(truth.size)
        lower = name.startswith("neg_")
        sign, shown = (-1.0, name[4:]) if lower else (1.0, name)
        words = score_words(shown)
        value = score(found, every)
        if brief:
            return Scores(self.kind, rows, unseen, (words, sign * value), {}, truth, found)
        values = _classification(truth, found, y, weight) if classes else _regression(truth, found, weight)
        values = {words: sign * value} | values if words not in values else values
        guesses = _guesses(truth, y, classes)
        guess = max(((said, score(o, every)) for said, o in guesses), key=lambda pair: pair[1])
        ends = None
        if truth.size > 1:
            ends = self._interval(name, truth, found, lambda of: score(found, of), weight)
        return Scores(
            self.kind, rows, unseen, (words, sign * value), values, truth, found,
            guess=(guess[0], sign * guess[1]),
            interval=None if ends is None else (ends[0], ends[1]) if not lower else (-ends[1], -ends[0]),
            sure=1.0 - self.delta, lower=lower,
            positive=positive_class(y) if classes and names is not None and names.size == 2 else None,
        )  # fmt: skip

    def _interval(
        self,
        name: str,
        truth: np.ndarray,
        found: Outputs,
        score: Callable[[np.ndarray], float],
        weight: np.ndarray | None,
    ) -> tuple[float, float]:
        right = found.predicted == truth
        if weight is None and name == "accuracy":
            return share_interval(int(right.sum()), truth.size, self.delta)
        if weight is None and name == "balanced_accuracy":  # of each class; together they miss no more often
            there = np.unique(truth)
            ends = [
                share_interval(int(right[truth == c].sum()), int((truth == c).sum()), self.delta / there.size)
                for c in there
            ]
            low, high = np.mean(ends, axis=0)
            return float(low), float(high)
        return drawn_interval(score, truth, self.delta)


BEYOND = 1e-100  # probabilities below which quantiles are not computed: everything is possible


def drawn_interval(
    score: Callable[[np.ndarray], float], truth: np.ndarray, delta: float
) -> tuple[float, float]:
    """Return the interval of a score by the bootstrap: as it varies over rows drawn from these."""
    random = np.random.default_rng(SEED)
    found = []
    for _ in range(DRAWS):
        of = random.integers(0, truth.size, truth.size)
        if np.unique(truth[of]).size > 1:
            found.append(score(of))
    low, high = np.quantile(found or [score(np.arange(truth.size))], [delta / 2, 1 - delta / 2])
    counts = np.unique(truth, return_counts=True)[1]
    if high - low < 1e-12 and counts.size == 2 and high <= 1.0:
        # A perfect ranking has no spread. As good as if each row of the rarer class had been a trial.
        rare = int(counts.min())
        return share_interval(round(max(low, 0.0) * rare), rare, delta)
    return float(low), float(high)


def share_interval(count: int, n: int, delta: float) -> tuple[float, float]:
    """Return Clopper and Pearson's interval of a share of which ``count`` of ``n`` rows were seen."""
    if delta < BEYOND:
        return 0.0, 1.0
    low = float(beta.ppf(delta / 2, count, n - count + 1)) if count else 0.0
    high = float(beta.ppf(1 - delta / 2, count + 1, n - count)) if count < n else 1.0
    return low, high


def _guesses(truth: np.ndarray, y: np.ndarray, classes: bool) -> list[tuple[str, Outputs]]:
    """Return what one could say without looking at the features."""
    n = truth.size
    if not classes:
        found = {"mean": float(np.mean(y)), "median": float(np.median(y))}
        return [(f"always the {k}, {v:.4g}", Outputs(np.full(n, v))) for k, v in found.items()]
    names, shares = class_shares(y)
    proba = np.tile(shares, (n, 1))
    return [
        (f"always {str(names[k])!r}", Outputs(np.full(n, names[k]), np.zeros(n), proba))
        for k in np.argsort(-shares, kind="stable")[:MOST_GUESSES]
    ]


def _classification(
    truth: np.ndarray, found: Outputs, y: np.ndarray, weight: np.ndarray | None
) -> dict[str, float]:
    counted: dict[str, Any] = {"sample_weight": weight}
    values = {"accuracy": float(metrics.accuracy_score(truth, found.predicted, **counted))}
    values["balanced accuracy"] = _balanced(truth, found.predicted, weight)
    names = np.unique(y)
    if names.size != 2:
        return values
    positive = positive_class(y)
    options: dict[str, Any] = {"pos_label": positive, "zero_division": 0.0, **counted}
    values["precision"] = float(metrics.precision_score(truth, found.predicted, **options))
    values["recall"] = float(metrics.recall_score(truth, found.predicted, **options))
    if found.decision is not None and np.unique(truth).size == 2:
        towards = found.decision if positive == names[1] else -found.decision
        values["ROC AUC"] = float(metrics.roc_auc_score(truth == positive, towards, **counted))
        values["average precision"] = float(
            metrics.average_precision_score(truth == positive, towards, **counted)
        )
    return values


def _regression(truth: np.ndarray, found: Outputs, weight: np.ndarray | None) -> dict[str, float]:
    predicted, counted = found.predicted, {"sample_weight": weight}
    return {
        "R²": float(metrics.r2_score(truth, predicted, **counted)),
        "mean absolute error": float(metrics.mean_absolute_error(truth, predicted, **counted)),
        "root mean squared error": float(np.sqrt(metrics.mean_squared_error(truth, predicted, **counted))),
    }


def _detection(
    truth: np.ndarray | None, found: Outputs, rows: str, unseen: bool, weight: np.ndarray | None, delta: float
) -> Scores:
    """Return the measures of a detector, whose truth, if known, is which rows are novel."""
    values = {"fraction called novel": float(np.average(found.predicted < 0, weights=weight))}
    if truth is None or found.decision is None or not 0 < truth.sum() < truth.size:
        return Scores("detector", rows, unseen, next(iter(values.items())), values, truth, found)
    unlike = -found.decision

    def area(of: np.ndarray) -> float:
        counted = None if weight is None else weight[of]
        return float(metrics.roc_auc_score(truth[of], unlike[of], sample_weight=counted))

    values["ROC AUC"] = area(np.arange(truth.size))
    values["average precision"] = float(metrics.average_precision_score(truth, unlike, sample_weight=weight))
    return Scores(
        "detector", rows, unseen, ("ROC AUC", values["ROC AUC"]), values, truth, found,
        guess=("random ranking", 0.5), interval=drawn_interval(area, truth, delta), sure=1.0 - delta,
    )  # fmt: skip


def _balanced(truth: np.ndarray, predicted: np.ndarray, weight: np.ndarray | None) -> float:
    """Return the mean recall over the classes that are there."""
    w = np.ones(truth.size) if weight is None else weight
    there = np.unique(truth[w > 0])
    return float(np.mean([np.average(predicted[truth == c] == c, weights=w[truth == c]) for c in there]))


# -- all rows of a subject --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Coverage:
    """How often intervals of a regression held what came.

    Attributes
    ----------
    shares : dict of float to float
        Share of rows inside, by the level that the intervals claim.
    half : float
        Half the width of a 90 % interval, the median over the rows.
    words : str
        Where the intervals come from, and of which rows the shares are.
    """

    shares: dict[float, float]
    half: float
    words: str

    def document(self) -> dict[str, Any]:
        """Return the coverage for JSON."""
        shares = {f"{level:g}": share for level, share in self.shares.items()}
        return {"coverage": shares, "half_width_90": self.half, "from": self.words}


def interval_half(outputs: Outputs, level: float) -> Any:
    """Return half the widths of intervals of a coverage; None for a machine without deviations."""
    if outputs.deviation is None:
        return None
    return norm.ppf(0.5 + level / 2) * outputs.deviation


def coverage_of(scores: Scores, errors: np.ndarray | None = None) -> Coverage | None:
    """Return the coverage on some rows of intervals from deviations, else from the errors of other rows."""
    assert scores.truth is not None
    ends = scores.outputs.ends
    if ends is not None:
        inside = (ends[:, 0] <= scores.truth[:, None]) & (scores.truth[:, None] <= ends[:, 1])
        shares = dict(zip(LEVELS, inside.mean(axis=0).tolist(), strict=True))
        width = float(np.median(ends[:, 1, LEVELS.index(0.9)] - ends[:, 0, LEVELS.index(0.9)]))
        return Coverage(shares, 0.5 * width, f"conformal intervals; coverage on {scores.rows}")
    size = np.abs(scores.truth - scores.predicted)
    if scores.outputs.deviation is not None:
        halves = {level: interval_half(scores.outputs, level) for level in LEVELS}
        words = f"posterior standard deviation, noise included; coverage on {scores.rows}"
    elif errors is not None and errors.size >= 20:
        halves = {level: np.quantile(np.abs(errors), level, method="higher") for level in LEVELS}
        words = f"quantiles of the cross-validation errors; coverage on {scores.rows}"
    else:
        return None
    shares = {level: float(np.mean(size <= half)) for level, half in halves.items()}
    return Coverage(shares, float(np.median(halves[0.9])), words)


def all_scores(subject: Subject, cv: int, measuring: Measuring) -> tuple[list[Scores], Coverage | None]:
    """Return the scores of held-out rows or folds first, of the training rows last, and the coverage."""
    found, coverage = [], None
    if subject.X_test is not None:
        said = outputs_of(subject.model, subject.X_test)
        found.append(measuring(subject.y_test, said, f"{len(said.predicted)} held-out rows", True))
    folds = _folds(subject, cv)
    if folds is not None:
        pairs = list(folds.split(np.zeros(subject.n_rows), subject.y))
        parts = [_of_fold(subject, train, test) for train, test in pairs]
        back = np.argsort(np.concatenate([test for _, test in pairs]))
        words = f"{folds.n_splits}-fold cross-validation"
        found.append(measuring(subject.y, joined(parts)[back], words, True))
    if found and subject.kind == "regressor":
        coverage = coverage_of(found[0])
        if coverage is None and folds is not None and found[0].truth is subject.y:
            coverage = _crossed(found[0], [test for _, test in pairs])
    said = outputs_of(subject.model, subject.X)
    found.append(measuring(subject.y, said, f"the {len(said.predicted)} training rows themselves", False))
    return found, coverage


def _of_fold(subject: Subject, train: np.ndarray, test: np.ndarray) -> Outputs:
    y = () if subject.y is None else (subject.y[train],)
    model, rows = clone(subject.whole).fit(take(subject.X, train), *y), take(subject.X, test)
    if subject.unseen is None:
        truth = None if subject.y is None else subject.y[test]
        subject.unseen = Unseen(model, rows, truth, f"{test.size} rows by a model fitted on the others")
    return outputs_of(model, rows)


def _crossed(scores: Scores, tests: list[np.ndarray]) -> Coverage | None:
    """Return the coverage of each fold by intervals from the errors of the others."""
    assert scores.truth is not None
    errors = scores.truth - scores.predicted
    parts = []
    for test in tests:
        fold = replace(scores, truth=scores.truth[test], outputs=scores.outputs[test])
        part = coverage_of(fold, np.delete(errors, test))
        if part is None:
            return None
        parts.append((part, test.size / errors.size))
    shares = {level: sum(share * part.shares[level] for part, share in parts) for level in LEVELS}
    half = float(np.median([part.half for part, _ in parts]))
    return Coverage(shares, half, f"quantiles of the errors of the other folds; coverage on {scores.rows}")


def _folds(subject: Subject, cv: int) -> Any:
    """Return the splitter, with no more folds than the data allow; None for none."""
    most = subject.n_rows
    if subject.kind == "classifier":
        assert subject.y is not None
        most = int(np.unique(subject.y, return_counts=True)[1].min())
    count = min(cv, most)
    if count < 2:
        return None
    split = StratifiedKFold if subject.kind == "classifier" else KFold
    return split(count, shuffle=True, random_state=SEED)
