"""One call that does what a careful person would do with a new table."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold, StratifiedShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import column_or_1d

from mercer.estimators import SVC, SVR, GaussianProcessRegressor
from mercer.gram import Workers, resolve_threads
from mercer.selection.base_search import InterruptedSearchWarning
from mercer.selection.recommendation import Recommendation, Tried
from mercer.selection.scoring import chosen_scoring, scorer_of
from mercer.selection.searches import SVCSearch, SVRSearch
from mercer.selection.table_survey import TableSurvey, survey_table

MOST_ROWS = 3000  # rows on which settings are compared
LEAST_ROWS = 300
MOST_PROCESS = 600  # rows for which a Gaussian process is worth a try
FEW_COLUMNS = 40  # up to which products of two columns are worth a try
C_POWERS = np.arange(-3, 12, 2)  # of two
GAMMA_POWERS = np.arange(-4, 3)  # of four, times "scale"


def recommend(
    X: Any,
    y: Any,
    *,
    task: str = "auto",
    scoring: Any = None,
    cv: int = 5,
    time_budget: float = 60.0,
    n_jobs: int | None = None,
    random_state: Any = 0,
    verbose: bool = False,
) -> Recommendation:
    r"""Recommend preprocessing, a kernel and its parameters, with reasons.

    It looks at the table (units, outliers, words, rare classes), compares linear, Gaussian and, for few
    columns, quadratic kernels by cross-validation over grids of C, gamma and epsilon (and, for a few hundred
    numbers to be predicted, a Gaussian process that finds its widths and its noise by itself),

    .. math::
        \hat\theta = \arg\max_\theta \tfrac1k \sum_j \text{score}(f_\theta^{(-j)}, \text{fold } j),

    and takes the simplest kernel whose best score is within one standard error of the best.

    Parameters
    ----------
    X : array, CSR or data frame of shape (n_samples, n_features)
        The table; a data frame may hold words, dates and gaps, which :func:`mercer.prepare` takes care of.
    y : array of shape (n_samples,)
        Classes or numbers.
    task : {"auto", "classification", "regression"}
        What y is; "auto" takes many different numbers for a regression.
    scoring : str or callable, optional
        A scorer of scikit-learn. If not given: accuracy, balanced accuracy where a class is rare, R^2.
    cv : int
        Number of folds.
    time_budget : float
        Seconds. When they are over, the best so far is recommended and the reasons say so.
    n_jobs : int, optional
        Threads; None for all cores.
    random_state : int, RandomState or None
        Of the folds, and of the rows where there are more than the budget allows.
    verbose : bool
        Show progress bars.

    Returns
    -------
    Recommendation
        Prints as a page of text; ``pipeline`` is ready to fit.

    References
    ----------
    Hsu, Chang and Lin (2003), A practical guide to support vector classification. Hastie, Tibshirani and
    Friedman (2009), The Elements of Statistical Learning, section 7.10.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import mercer
    >>> X, y = load_wine(return_X_y=True)
    >>> advice = mercer.recommend(X, y)
    >>> advice.score > 0.95
    True
    >>> bool(advice.fit(X, y).score(X, y) > 0.95)
    True
    """
    if task not in ("auto", "classification", "regression"):
        raise ValueError(f"task={task!r} must be 'auto', 'classification' or 'regression'")
    if not time_budget > 0:
        raise ValueError(f"time_budget={time_budget!r} must be a number of seconds above 0")
    if isinstance(cv, bool) or not isinstance(cv, int | np.integer) or cv < 2:
        raise ValueError(f"cv={cv!r} must be a number of folds of at least 2")
    started = time.perf_counter()
    survey = survey_table(X, y, task)
    study = _Study(X, column_or_1d(y), survey, scoring, int(cv), time_budget, n_jobs, random_state, verbose)
    study.run(started)
    return study.recommendation(time.perf_counter() - started)


class _Study:
    """The comparison of a few kinds of machines."""

    def __init__(
        self, X: Any, y: Any, survey: TableSurvey, scoring: Any, cv: int, budget: float, n_jobs: Any,
        seed: Any, verbose: bool,
    ) -> None:  # fmt: skip
        self.survey, self.budget, self.n_jobs, self.verbose = survey, budget, n_jobs, verbose
        self.classes = survey.task == "classification"
        self.reasons = list(survey.reasons)
        self.random = check_random_state(seed)
        self.scoring = chosen_scoring(y, self.classes)[0] if scoring is None else scoring
        self.X, self.y = self._sample(X, y)
        self.splits = self._folds(cv)
        self.tried: list[Tried] = []
        self.models: list[Any] = []
        self.tops: list[float] = []  # the best score of each kind; its choice may be a simpler tie
        self.cut = False
        dummy = DummyClassifier(strategy="most_frequent") if self.classes else DummyRegressor()
        zeros = np.zeros((len(self.y), 1))
        self.baseline = float(
            cross_val_score(dummy, zeros, self.y, cv=self.splits, scoring=self._scorer(dummy)).mean()
        )

    def _scorer(self, model: Any) -> Any:
        return scorer_of(model, self.scoring, self.y)

    def _sample(self, X: Any, y: Any) -> tuple[Any, Any]:
        # Half of the budget must do for the Gaussian's grid; a fold's fit grows with the square of its rows.
        cores = Workers(resolve_threads(self.n_jobs)).threads
        most = int(np.clip(1000 * np.sqrt(self.budget * cores / 10.0), LEAST_ROWS, MOST_ROWS))
        if len(y) <= 1.25 * most:
            return X, y
        if self.classes:
            split = StratifiedShuffleSplit(1, train_size=most, random_state=self.random)
            rows = np.sort(next(split.split(np.zeros((len(y), 1)), y))[0])
        else:
            rows = np.sort(self.random.permutation(len(y))[:most])
        self.reasons.append(
            f"settings are compared on {most} of {len(y)} rows, drawn at random, to keep within "
            f"time_budget={self.budget:g} seconds; fit the pipeline on all of them"
        )
        return _safe_indexing(X, rows), y[rows]

    def _folds(self, cv: int) -> list[Any]:
        zeros = np.zeros((len(self.y), 1))
        if not self.classes:
            return list(KFold(min(cv, len(self.y)), shuffle=True, random_state=self.random).split(zeros))
        names, counts = np.unique(self.y, return_counts=True)
        if counts.min() < 2:
            raise ValueError(
                f"class {names[counts.argmin()]!r} has one row: cross-validation needs two of each class"
            )
        folds = min(cv, int(counts.min()))
        if folds < cv:
            self.reasons.append(
                f"class {names[counts.argmin()]} has {counts.min()} rows: {folds} folds instead of {cv}"
            )
        split = StratifiedKFold(folds, shuffle=True, random_state=self.random)
        return list(split.split(zeros, self.y))

    # -- what is tried -----------------------------------------------------------------------------------

    def _machine(self, **params: Any) -> Any:
        if not self.classes:
            return SVR(**params)
        return SVC(class_weight="balanced" if self.survey.imbalanced else None, **params)

    def _pipeline(self, machine: Any, scaled: bool) -> Any:
        steps = [clone(self.survey.scaler)] if scaled and self.survey.scaler is not None else []
        return make_pipeline(*steps, machine)

    def _grid(self, pipeline: Any, *, gamma: bool) -> dict[str, Any]:
        machine = pipeline.steps[-1]
        unit = 1.0 if self.classes else float(np.std(self.y)) or 1.0
        grid = {"C": [float(unit * 2.0**k) for k in C_POWERS]}
        if not self.classes:
            grid["epsilon"] = [float(unit * e) for e in (0.02, 0.1, 0.3)]
        if gamma:
            first = clone(pipeline[:-1]) if len(pipeline) > 1 else None
            Z = self.X if first is None else first.fit_transform(self.X, self.y)
            kernel = machine[1]._kernel()
            base = kernel.resolve_on(kernel.check(Z), None).gamma
            grid["gamma"] = [float(base * 4.0**k) for k in GAMMA_POWERS]
        return {f"{machine[0]}__{name}": values for name, values in grid.items()}

    def run(self, started: float) -> None:
        """Try the kinds of machines, the most promising first."""
        scaled = self.survey.scaler is not None
        wide = self.survey.d > 2 * len(self.y)
        plans: list[tuple[str, Any, bool, float]] = []
        linear = ("linear", self._pipeline(self._machine(kernel="linear"), scaled), False, 0.3)
        gaussian = ("Gaussian", self._pipeline(self._machine(kernel="rbf"), scaled), True, 0.6)
        plans += [linear, gaussian] if wide else [gaussian, linear]
        if wide:
            self.reasons.append(
                f"{self.survey.d} columns for {len(self.y)} rows: a linear machine is flexible enough as a "
                "rule"
            )
        if self.survey.d <= FEW_COLUMNS:
            quadratic = self._machine(kernel="poly", degree=2, coef0=1.0)
            plans.append(("quadratic", self._pipeline(quadratic, scaled), False, 0.5))
        if scaled and not self.survey.must_scale:
            plain = self._pipeline(self._machine(kernel="rbf"), False)
            plans.append(("Gaussian, columns as they are", plain, True, 1.0))
        for name, pipeline, gamma, share in plans:
            left = self.budget - (time.perf_counter() - started)
            if left <= 0.02 * self.budget and self.tried:
                self.cut = True
                break
            self._try(name, pipeline, gamma, max(share * left, 1e-3))
        if not self.classes and len(self.y) <= MOST_PROCESS and not wide:
            self._try_process(started)

    def _try_process(self, started: float) -> None:
        """Try a Gaussian process, which chooses its widths and its noise by itself."""
        pipeline = self._pipeline(GaussianProcessRegressor(noise="auto"), self.survey.scaler is not None)
        scorer, scores = self._scorer(pipeline), list[float]()
        for train, test in self.splits:
            spent = time.perf_counter() - started
            if spent * (1 + 1 / max(len(scores), 1)) > self.budget:  # one more fold may take too long
                self.cut = True
                return
            model = clone(pipeline)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(_safe_indexing(self.X, train), self.y[train])
            scores.append(float(scorer(model, _safe_indexing(self.X, test), self.y[test])))
        error = float(np.std(scores, ddof=1) / np.sqrt(len(scores)))
        self.tried.append(Tried("Gaussian process", float(np.mean(scores)), error, {}, 1))
        self.tops.append(float(np.mean(scores)))
        self.models.append(pipeline)

    def _try(self, name: str, pipeline: Any, gamma: bool, seconds: float) -> None:
        Search = SVCSearch if self.classes else SVRSearch
        search = Search(
            estimator=pipeline, param_grid=self._grid(pipeline, gamma=gamma), cv=self.splits,
            scoring=self.scoring, refit=False, n_jobs=self.n_jobs, time_limit=seconds, verbose=self.verbose,
        )  # fmt: skip
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", InterruptedSearchWarning)
                warnings.simplefilter("ignore", ConvergenceWarning)  # a comparison, not a result
                search.fit(self.X, self.y)
        except ValueError as error:
            if "ended the search before" not in str(error):
                raise
            self.cut = True
            return
        self.cut |= search.status_ != "complete"
        table = search.cv_results_
        best = search.best_index_
        done = int(np.isfinite(table["mean_test_score"]).sum())
        self.tried.append(
            Tried(name, search.best_score_, float(table["standard_error"][best]), search.best_params_, done)
        )
        self.tops.append(float(table["mean_test_score"][search.best_candidate_index_]))
        self.models.append(clone(pipeline).set_params(**search.best_params_))

    # -- the verdict -------------------------------------------------------------------------------------

    def recommendation(self, seconds: float) -> Recommendation:
        """Return the simplest kind whose score is within one standard error of the best."""
        if not self.tried:
            pipeline = self._pipeline(self._machine(), True)
            scorer = self._scorer(pipeline)
            scores = cross_val_score(pipeline, self.X, self.y, cv=self.splits, scoring=scorer)
            self.reasons.append(
                f"time_budget={self.budget:g} seconds ended before anything could be compared: the defaults, "
                "with their score"
            )
            error = float(scores.std(ddof=1) / np.sqrt(scores.size))
            return Recommendation(
                pipeline, float(scores.mean()), error, str(self.scoring), self.baseline,
                tuple(self.reasons), (), seconds,
            )  # fmt: skip
        order = ("linear", "quadratic", "Gaussian", "Gaussian, columns as they are", "Gaussian process")
        best = int(np.argmax(self.tops))
        top = self.tried[best]
        least = self.tops[best] - float(np.nan_to_num(top.standard_error))
        within = [k for k, score in enumerate(self.tops) if score >= least]
        chosen = min(within, key=lambda k: order.index(self.tried[k].name))
        self._explain(self.tried[chosen], top, chosen)
        found = self.tried[chosen]
        ranked = tuple(sorted(self.tried, key=lambda t: -t.score))
        return Recommendation(
            self.models[chosen], found.score, found.standard_error, str(self.scoring), self.baseline,
            tuple(self.reasons), ranked, seconds,
        )  # fmt: skip

    def _explain(self, found: Tried, top: Tried, chosen: int) -> None:
        if found is top and len(self.tried) > 1:
            rest = [t for t in self.tried if t is not top]
            second = max(rest, key=lambda t: t.score)
            self.reasons.append(
                f"the {found.name} kernel scores best, {found.score:.4f}; next is {second.name} with "
                f"{second.score:.4f}"
            )
        elif found is not top:
            self.reasons.append(
                f"the {found.name} kernel ({found.score:.4f}) is within one standard error "
                f"({top.standard_error:.4f}) of the best, {top.name} ({top.score:.4f}), and simpler"
            )
        values = {k.rpartition("__")[2]: v for k, v in found.params.items()}
        unit = 1.0 if self.classes else float(np.std(self.y)) or 1.0
        # The least C is the simplest one that ties: it may well be right.
        if values.get("C", 0.0) >= unit * 2.0 ** C_POWERS[-1] * 0.999:
            self.reasons.append(
                f"C={values['C']:.4g} lies at the end of the range that was tried: a finer search "
                "beyond it may help"
            )
        if found.score <= self.baseline + np.nan_to_num(found.standard_error):
            self.reasons.append(
                "no machine does clearly better than guessing: the columns may say nothing about y, or there "
                "are too few rows"
            )
        if self.cut:
            self.reasons.append(
                f"time_budget={self.budget:g} seconds did not suffice for all settings: a larger one may "
                "find better"
            )
