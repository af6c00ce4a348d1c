"""What all searches share as scikit-learn meta-estimators."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, _fit_context, clone, is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch, get_tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import assert_all_finite, check_is_fitted, column_or_1d, indexable

from mercer.selection.evaluator import Evaluator
from mercer.selection.limited_fits import REFIT_SHARE
from mercer.selection.parameter_grids import default_grid, final_machine, prefix, settings
from mercer.selection.preparation import needs_preparation, prepare
from mercer.selection.progress import Progress
from mercer.selection.score_table import ScoreTable
from mercer.selection.scoring import chosen_scoring, scorer_of, takes_weights
from mercer.selection.search_methods import KERNEL_ONLY, METHODS, search_method
from mercer.solvers import Limits
from mercer.values import keep_parameters


class InterruptedSearchWarning(UserWarning):
    """A search ended early and keeps the best setting so far."""


def _has(name: str) -> Any:
    def check(search: BaseSearch) -> bool:
        if hasattr(search, "best_estimator_"):
            getattr(search.best_estimator_, name)
        elif hasattr(search, "cv_results_"):
            raise AttributeError(f"{name} needs refit=True")
        else:
            getattr(search._template(), name)
        return True

    return available_if(check)


class BaseSearch(MetaEstimatorMixin, BaseEstimator):
    """Base of the searches."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [type(None), BaseEstimator],
        "param_grid": [dict, list, None],
        "method": [StrOptions(set(METHODS))],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "select": [StrOptions({"best", "one_standard_error"})],
        "refit": ["boolean"],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "n_jobs": [Integral, None],
        "on_interrupt": [StrOptions({"raise", "keep"})],
        "verbose": ["verbose"],
        "delta": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        *,
        estimator: Any = None,
        param_grid: Any = None,
        method: str = "kfold",
        cv: Any = None,
        scoring: Any = None,
        select: str = "one_standard_error",
        refit: bool = True,
        cache_size: float = 1000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        on_interrupt: str = "keep",
        delta: float = 0.05,
        verbose: Any = False,
    ) -> None:
        keep_parameters(self, locals())

    def _default(self) -> Any:
        """Return the machine that is tuned when none is given."""
        raise NotImplementedError

    def _template(self) -> Any:
        return self._default() if self.estimator is None else self.estimator

    def _methods(self) -> tuple[str, ...]:
        """Return the methods that make sense for these machines."""
        return tuple(method for method in METHODS if method != "consistency")

    # -- the search --------------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Evaluate all settings, choose, and fit the chosen machine on all rows.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features), (n_samples, n_samples) or a sequence
            Training data: whatever the estimator takes.
        y : array of shape (n_samples,)
            Targets.
        **params
            ``sample_weight`` for the machines and the scorer, ``groups`` for the splitter; with
            scikit-learn's metadata routing switched on, whatever was requested, by whom it was requested.

        Returns
        -------
        self
        """
        if self.method not in self._methods():
            raise ValueError(
                f"method={self.method!r} does not exist for {type(self).__name__}; it must be one of "
                f"{', '.join(map(repr, self._methods()))}"
            )
        template = clone(self._template())
        X, y = indexable(X, y)
        template, param_grid = self._prepared(template, X)
        y = self._check_y(template, X, y)
        whole = Limits(time_limit=self.time_limit)
        limits = replace(whole)
        if self.refit and limits.time_limit is not None:
            limits.time_limit *= 1.0 - REFIT_SHARE
        self.scoring_ = self._chosen_scoring(template, y, params.get("sample_weight"))
        scorer = self._scorer(template, y)
        routed = self._routed(params, template, scorer)
        kernel_only = self.method in KERNEL_ONLY
        evaluator = Evaluator(self, template, X, y, routed, scorer, limits)
        grid = param_grid
        if grid is None:
            grid = default_grid(template, evaluator.prepared_sample(), y, kernel_only=kernel_only)
        candidates = settings(grid)
        method = search_method(self.method, evaluator, candidates)
        table = method.table()
        with Progress(method.pieces, type(self).__name__, bool(self.verbose)) as bar, self._interrupts():
            method.run(table, bar)
        self._conclude(table, method, scorer, evaluator)
        if self.refit:
            self._refit(evaluator, whole)
        return self

    def _prepared(self, template: Any, X: Any) -> tuple[Any, Any]:
        """Return what is tuned and its grid: behind a preparation where a frame has text, dates or gaps.

        The machine is then the step ``machine`` of a pipeline, and so are its parameters called.
        """
        if final_machine(template) is not template or not needs_preparation(X):
            return template, self.param_grid
        grids = [self.param_grid] if isinstance(self.param_grid, dict) else self.param_grid
        if grids is not None:
            grids = [{f"machine__{name}": values for name, values in grid.items()} for grid in grids]
        return prepare(X).pipeline(template), grids

    def _check_y(self, template: Any, X: Any, y: Any) -> Any:
        if y is None and get_tags(template).target_tags.required:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        if y is None:
            return None
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, estimator_name=type(self).__name__, input_name="y")
        return y

    @contextmanager
    def _interrupts(self) -> Iterator[None]:
        """Let Ctrl-C end the search, or keep it for later."""
        self._interrupted = False
        try:
            yield
        except KeyboardInterrupt:
            if self.on_interrupt == "raise":
                raise
            self._interrupted = True

    def _conclude(self, table: ScoreTable, method: Any, scorer: Any, evaluator: Evaluator) -> None:
        interrupted = self.__dict__.pop("_interrupted")
        known = table.complete
        if not known.any():
            if interrupted:
                raise KeyboardInterrupt
            raise ValueError(
                f"time_limit={self.time_limit} ended the search before any of {len(table.candidates)} "
                "settings was evaluated: allow more time, or give a smaller param_grid"
                if evaluator.limits.out_of_time()
                else "no setting has a finite score: see cv_results_ of a smaller param_grid, or the scorer"
            )
        whole = bool(known.all()) and method.missing == 0
        self.status_ = "interrupted" if interrupted else "complete" if whole else "time_limit"
        if not whole:
            warnings.warn(
                f"{type(self).__name__} ended early ({self.status_}): {int(known.sum())} of "
                f"{known.size + method.missing} settings were evaluated; the choice is the best of these",
                InterruptedSearchWarning,
                stacklevel=3,
            )
        if evaluator.unfinished:
            warnings.warn(
                f"{evaluator.unfinished} fits of the search stopped before their tolerance, at max_iter or "
                "where steps gain no more than rounding; their scores are those of nearly optimal machines",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.cv_results_ = table.as_dict()
        self.n_splits_ = table.n_columns
        self.scorer_ = scorer
        self.best_candidate_index_ = table.best()
        self.one_standard_error_index_ = table.one_standard_error()
        self.one_standard_error_params_ = table.candidates[self.one_standard_error_index_]
        simple = self.select == "one_standard_error"
        self.best_index_ = self.one_standard_error_index_ if simple else self.best_candidate_index_
        self.best_params_ = table.candidates[self.best_index_]
        self.best_score_ = float(table.means[self.best_index_])
        for name, value in method.extras.items():
            setattr(self, name, value)

    def _refit(self, evaluator: Evaluator, limits: Limits) -> None:
        """Fit the chosen machine on all rows, in the time that is left."""
        started = time.perf_counter()
        self.best_estimator_, ended = evaluator.refit(self.best_params_, limits)
        self.refit_time_ = time.perf_counter() - started
        if not ended:
            warnings.warn(
                f"time_limit={self.time_limit} ended the fit of the chosen setting on all rows early: its "
                "certificate shows how far it got; allow more time, or use refit=False and fit it yourself",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _chosen_scoring(self, template: Any, y: Any, weight: Any) -> Any:
        """Return what settings are judged by: as asked, else what suits the target, which the log tells."""
        if self.scoring is not None or y is None:
            return self.scoring
        if not is_classifier(template):
            return "r2" if is_regressor(template) else None
        fits = weight is not None and np.shape(weight) == np.shape(y)  # else it is refused soon
        name, why = chosen_scoring(y, True, weight if fits else None)
        if why:
            logging.getLogger("mercer").info("%s: %s", type(self).__name__, why)
        return name

    def _scorer(self, template: Any, y: Any = None) -> Any:
        scoring = self.scoring if y is None else self.scoring_
        plain = self.scoring is None and scoring in ("accuracy", "r2")  # the machine's own score
        return scorer_of(template, None if plain else scoring, y)

    # -- metadata ----------------------------------------------------------------------------------------

    def _routed(self, params: dict[str, Any], template: Any, scorer: Any) -> Any:
        given = {name: value for name, value in params.items() if value is not None}
        if _routing_enabled():
            return process_routing(self, "fit", **given)
        groups = given.pop("groups", None)
        score = {}
        if "sample_weight" in given:  # a weight of 2 equals the row twice: in the fit and in the score
            if takes_weights(scorer):
                score["sample_weight"] = given["sample_weight"]
            given[f"{prefix(template)}sample_weight"] = given.pop("sample_weight")
        return Bunch(
            estimator=Bunch(fit=given), splitter=Bunch(split={"groups": groups}), scorer=Bunch(score=score)
        )

    def get_metadata_routing(self) -> MetadataRouter:
        """Return who is handed what (scikit-learn's metadata routing).

        Returns
        -------
        MetadataRouter
            For the machine's ``fit``, the splitter's ``split`` and the scorer.
        """
        template = self._template()
        router = MetadataRouter(owner=type(self).__name__)
        router.add(estimator=template, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        scoring = MethodMapping().add(caller="score", callee="score").add(caller="fit", callee="score")
        router.add(scorer=self._scorer(template), method_mapping=scoring)
        splitter = check_cv(self.cv, classifier=is_classifier(template))
        router.add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        return router

    # -- the chosen machine ------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._template())
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.input_tags = inner.input_tags
        tags.target_tags = replace(inner.target_tags, multi_output=False)  # scores are of one target
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "cv_results_")

    def _chosen(self) -> Any:
        check_is_fitted(self)
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"{type(self).__name__}(refit=False) has no refitted model")
        return self.best_estimator_

    @_has("predict")
    def predict(self, X: Any) -> Any:
        """Return what the chosen machine predicts.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,)
            Predictions.
        """
        return self._chosen().predict(X)

    @_has("decision_function")
    def decision_function(self, X: Any) -> Any:
        """Return the decisions of the chosen machine.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray
            Decisions.
        """
        return self._chosen().decision_function(X)

    @_has("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the chosen machine (``probability=True``).

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Probabilities.
        """
        return self._chosen().predict_proba(X)

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """Return the score of the chosen machine, by the search's scorer.

        Parameters
        ----------
        X, y : data
            Points and their targets.
        **params
            What the scorer is to be handed (with metadata routing).

        Returns
        -------
        float
            The score.
        """
        model = self._chosen()
        asked = process_routing(self, "score", **params).scorer["score"] if _routing_enabled() else params
        return float(self.scorer_(model, X, *(() if y is None else (y,)), **asked))

    @property
    def classes_(self) -> Any:
        """The classes, of a classifier."""
        return self._chosen().classes_

    @property
    def n_features_in_(self) -> int:
        """Number of features seen by ``fit``."""
        try:
            check_is_fitted(self)
        except NotFittedError as error:
            raise AttributeError(f"{type(self).__name__} has no n_features_in_ before fit") from error
        return int(self._chosen().n_features_in_)
