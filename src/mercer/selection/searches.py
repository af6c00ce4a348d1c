"""The searches: one for each kind of machine."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from mercer.estimators import SVC, SVR, OneClassSVM
from mercer.selection.base_search import BaseSearch
from mercer.selection.consistency import Accepted


class SVCSearch(BaseSearch):
    r"""Choose the parameters of a support vector classifier.

    .. math::
        \hat\theta = \arg\max_{\theta \in \Theta} \; \text{score}(f_\theta), \qquad
        f_\theta = \arg\min_f \tfrac12 \|w\|^2 + C \sum_i w_i L(y_i f(x_i))

    over a grid of settings :math:`\theta` (C, gamma, degree, nu, ...), scored by ``method``. Distances are
    computed once for all gammas, the kernel matrix once for all folds and all C, and each solution starts the
    next: a grid costs a fraction of as many fits.

    Parameters
    ----------
    estimator : estimator, optional
        What is tuned: SVC (the default), NuSVC, or a pipeline that ends in one of them. The first steps of a
        pipeline are fitted on the training rows of each fold; a data frame with text, dates or gaps puts
        :func:`mercer.prepare` there, and the machine's parameters are then called ``machine__C`` and so on.
        Any other classifier works with ``method="kfold"``, by plain fits.
    param_grid : dict or list of dict, optional
        Values of the parameters to be tried, as in scikit-learn. If not given: C from 2^-5 to 2^13 (for
        NuSVC, ten feasible values of nu), and gamma from 4^-6 to 4^3 times "scale", or the degrees 2 to 4 of
        a polynomial kernel.
    method : str, default="kfold"
        How a setting is judged; larger scores are better throughout.

        - "kfold": the mean score over the folds of ``cv``.
        - "path": the same for every C between the least and the largest of the grid, by the exact paths of
          the folds (two classes, hinge). Accuracy is a step function of C, and all its steps are found; other
          scores are looked at in 200 places. ``path_curves_`` has the curves.
        - "sv_fraction", "xi_alpha", "span_bound": 1 minus a bound on the leave-one-out error, from one fit
          (see :func:`mercer.selection.leave_one_out`; the last two for two classes).
        - "span_rule": the score of the span rule's estimate of leave-one-out predictions, from one fit.
        - "alignment": centred kernel-target alignment. It looks at the kernel alone and cannot choose C.
        - "bound": 1 minus the margin bound of :func:`mercer.bounds.report`, with ``delta`` divided among all
          settings (two classes). ``bound_reports_`` has the reports.
    cv : int, splitter or iterable, optional
        Folds of "kfold" and "path", as in scikit-learn: 5 stratified ones if not given.
    scoring : str or callable, optional
        A scorer of scikit-learn. If not given: accuracy, or balanced accuracy where a class is so rare that
        accuracy would hide it (below a fifth of the rows, of two classes); ``scoring_`` says which.
    select : {"one_standard_error", "best"}, default="one_standard_error"
        What ``best_params_`` is: the simplest setting (least C, then least gamma, ...) whose score is within
        one standard error of the best, which no data of this size can tell from it, or the best itself.
    refit : bool, default=True
        Whether to fit the chosen machine on all rows.
    cache_size : float, default=1000
        Memory for kernel matrices, in MB. Where all rows do not fit (16 n^2 bytes), machines are fitted one
        by one, each started by its neighbour in C.
    time_limit : float, optional
        Seconds for all of it: the settings are given four fifths, or all without ``refit``, and the best
        of those that were evaluated is fitted in what is left.
    n_jobs : int, optional
        Threads; None for all cores (one inside joblib workers).
    on_interrupt : {"keep", "raise"}, default="keep"
        What Ctrl-C does: keep the best setting so far, or raise.
    delta : float, default=0.05
        Probability with which the bound of ``method="bound"`` may fail.
    verbose : bool, default=False
        Show a progress bar with the time left (with ``rich`` installed; else lines).

    Attributes
    ----------
    cv_results_ : dict of arrays
        All settings, as in scikit-learn's GridSearchCV, with the column ``standard_error``.
    best_params_, best_score_, best_index_ : dict, float, int
        The choice.
    one_standard_error_params_, one_standard_error_index_ : dict, int
        The simplest setting within one standard error of the best. Methods without a standard error
        ("alignment", "bound", scorers other than accuracy with "span_rule") know of no simpler one than the
        best.
    best_candidate_index_ : int
        The setting with the best score, whatever ``select`` says.
    best_estimator_ : estimator
        The chosen machine, fitted on all rows.
    scoring_ : str or callable
        What settings were judged by.
    status_ : {"complete", "time_limit", "interrupted"}
        Whether all settings were evaluated.
    path_curves_ : list of dict
        With ``method="path"``: for each setting of the other parameters, C and the scores.
    bound_reports_ : list of Report
        With ``method="bound"``: the report on each setting.
    n_splits_, scorer_, refit_time_, classes_, n_features_in_
        As in GridSearchCV.

    References
    ----------
    Hastie, Tibshirani and Friedman (2009), The Elements of Statistical Learning, sections 7.10 and 12.3.5.
    Hsu, Chang and Lin (2003), A practical guide to support vector classification. DeCoste and Wagstaff
    (2000), Alpha seeding for support vector machines, KDD.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mercer import SVC, SVCSearch
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = SVCSearch(estimator=make_pipeline(StandardScaler(), SVC())).fit(X, y)
    >>> bool(search.best_score_ > 0.97)
    True
    >>> sorted(search.best_params_)
    ['svc__C', 'svc__gamma']
    """

    def _default(self) -> Any:
        return SVC()


class SVRSearch(BaseSearch):
    r"""Choose the parameters of a support vector regressor.

    .. math::
        \hat\theta = \arg\max_{\theta \in \Theta} \; \text{score}(f_\theta), \qquad
        f_\theta = \arg\min_f \tfrac12 \|w\|^2 + C \sum_i w_i \max(0, |y_i - f(x_i)| - \epsilon)

    over a grid of settings :math:`\theta` (C, epsilon, gamma, degree, nu, ...), scored by ``method``, on
    shared kernel matrices, each solution starting the next.

    Parameters
    ----------
    estimator : estimator, optional
        What is tuned: SVR (the default), NuSVR, or a pipeline that ends in one of them. Any other regressor
        works with ``method="kfold"``, by plain fits.
    param_grid : dict or list of dict, optional
        Values of the parameters to be tried, as in scikit-learn. If not given: C from 2^-5 to 2^13 standard
        deviations of y, epsilon 0.01, 0.05 and 0.2 of them (for NuSVR, nu from 0.1 to 0.7), and gamma from
        4^-6 to 4^3 times "scale", or the degrees 2 to 4 of a polynomial kernel.
    method : str, default="kfold"
        How a setting is judged; larger scores are better throughout.

        - "kfold": the mean score over the folds of ``cv``.
        - "path": the same for 200 values of C between the least and the largest of the grid, by the exact
          paths of the folds (SVR with the 1-norm loss).
        - "span_rule": the score of the span rule's estimate of leave-one-out predictions, from one fit (SVR).
        - "alignment": centred kernel-target alignment. It looks at the kernel alone.
        - "bound": 1 minus the bound of :func:`mercer.bounds.report` on the probability of an error beyond
          ``tolerance``, with ``delta`` divided among all settings. A tolerance of half the range of y or more
          is refused: a constant keeps to it, w = 0 has the least bound there, and nothing is left to choose.
    cv : int, splitter or iterable, optional
        Folds of "kfold" and "path", as in scikit-learn: 5 if not given.
    scoring : str or callable, optional
        A scorer of scikit-learn; R^2 if not given.
    select : {"one_standard_error", "best"}, default="one_standard_error"
        What ``best_params_`` is: the simplest setting (least C, then least gamma, largest epsilon, ...) whose
        score is within one standard error of the best, or the best itself.
    refit : bool, default=True
        Whether to fit the chosen machine on all rows.
    cache_size : float, default=1000
        Memory for kernel matrices, in MB. Where all rows do not fit (16 n^2 bytes), machines are fitted one
        by one, each started by its neighbour in C.
    time_limit : float, optional
        Seconds for all of it: the settings are given four fifths, or all without ``refit``, and the best
        of those that were evaluated is fitted in what is left.
    n_jobs : int, optional
        Threads; None for all cores (one inside joblib workers).
    on_interrupt : {"keep", "raise"}, default="keep"
        What Ctrl-C does: keep the best setting so far, or raise.
    delta : float, default=0.05
        Probability with which the bound of ``method="bound"`` may fail.
    tolerance : float, optional
        The size of an error that matters, for ``method="bound"``.
    verbose : bool, default=False
        Show a progress bar with the time left (with ``rich`` installed; else lines).

    Attributes
    ----------
    cv_results_, best_params_, best_score_, best_index_, best_candidate_index_, best_estimator_,
    one_standard_error_params_, one_standard_error_index_, status_, path_curves_, bound_reports_, n_splits_,
    scorer_, refit_time_, n_features_in_
        As in :class:`SVCSearch`.

    References
    ----------
    Hastie, Tibshirani and Friedman (2009), The Elements of Statistical Learning, sections 7.10 and 12.3.6.
    Chang and Lin (2005), Leave-one-out bounds for support vector regression model selection, Neural
    Computation 17.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVRSearch
    >>> x = np.linspace(0, 6, 80)[:, None]
    >>> y = np.sin(x[:, 0])
    >>> search = SVRSearch(param_grid={"C": [1.0, 10.0], "epsilon": [0.01, 0.1]}, cv=4).fit(x, y)
    >>> search.best_params_["epsilon"]
    0.01
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSearch._parameter_constraints,
        "tolerance": [Interval(Real, 0, None, closed="neither"), None],
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
        tolerance: float | None = None,
        verbose: Any = False,
    ) -> None:
        super().__init__(
            estimator=estimator, param_grid=param_grid, method=method, cv=cv, scoring=scoring, select=select,
            refit=refit, cache_size=cache_size, time_limit=time_limit, n_jobs=n_jobs,
            on_interrupt=on_interrupt, delta=delta, verbose=verbose,
        )  # fmt: skip
        self.tolerance = tolerance

    def _default(self) -> Any:
        return SVR()

    def _methods(self) -> tuple[str, ...]:
        return ("kfold", "path", "span_rule", "alignment", "bound")


class DetectorSearch(BaseSearch):
    r"""Choose the kernel of a novelty detector, with or without known novelties.

    .. math::
        \hat\gamma = \max \Big\{ \gamma : \text{share of held-out rows rejected} \le
        \nu + 2 \sqrt{\nu (1 - \nu) / n} \Big\}

    Without novelties to judge by, the narrowest kernel is chosen that rejects about as many held-out rows as
    it was asked to (``method="consistency"``): narrower ones know their own rows by heart. With labels, any
    scorer will do (``method="kfold"``).

    Parameters
    ----------
    estimator : estimator, optional
        OneClassSVM (the default) or SVDD, or a pipeline that ends in one of them.
    param_grid : dict or list of dict, optional
        Values of the parameters to be tried; gamma from 4^-6 to 4^3 times "scale" if not given.
    method : {"consistency", "kfold"}, default="consistency"
        How a setting is judged. Scores of "consistency" are the shares of held-out rows that are accepted; it
        cannot choose nu, which is a wish.
    cv : int, splitter or iterable, optional
        Folds: 5 if not given. Rows in an order that means something should be shuffled.
    scoring : str or callable, optional
        For "kfold": a scorer of scikit-learn, of labels +1 (normal) and -1; needed, and so is y.
    select : {"best", "one_standard_error"}, default="best"
        What ``best_params_`` is: the choice, or the more careful one that allows one standard deviation
        instead of two ("consistency"), the simplest within one standard error ("kfold").
    refit : bool, default=True
        Whether to fit the chosen machine on all rows.
    cache_size : float, default=1000
        Not used: detectors are fitted one by one.
    time_limit : float, optional
        Seconds for all of it: the settings are given four fifths, or all without ``refit``, and the best
        of those that were evaluated is fitted in what is left.
    n_jobs : int, optional
        Threads; None for all cores.
    on_interrupt : {"keep", "raise"}, default="keep"
        What Ctrl-C does: keep the best setting so far, or raise.
    delta : float, default=0.05
        Not used.
    verbose : bool, default=False
        Show a progress bar with the time left.

    Attributes
    ----------
    cv_results_, best_params_, best_score_, best_index_, best_candidate_index_, best_estimator_,
    one_standard_error_params_, one_standard_error_index_, status_, n_splits_, scorer_, refit_time_,
    n_features_in_
        As in :class:`SVCSearch`.

    References
    ----------
    Tax and Mueller (2004), A consistency-based model selection for one-class classification, ICPR.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import DetectorSearch, OneClassSVM
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> search = DetectorSearch(estimator=OneClassSVM(nu=0.1)).fit(X)
    >>> bool(abs(search.best_score_ - 0.9) < 0.06)
    True
    """

    def __init__(
        self,
        *,
        estimator: Any = None,
        param_grid: Any = None,
        method: str = "consistency",
        cv: Any = None,
        scoring: Any = None,
        select: str = "best",
        refit: bool = True,
        cache_size: float = 1000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        on_interrupt: str = "keep",
        delta: float = 0.05,
        verbose: Any = False,
    ) -> None:
        super().__init__(
            estimator=estimator, param_grid=param_grid, method=method, cv=cv, scoring=scoring, select=select,
            refit=refit, cache_size=cache_size, time_limit=time_limit, n_jobs=n_jobs,
            on_interrupt=on_interrupt, delta=delta, verbose=verbose,
        )  # fmt: skip

    def _default(self) -> Any:
        return OneClassSVM(nu=0.1)

    def _methods(self) -> tuple[str, ...]:
        return ("consistency", "kfold")

    def _scorer(self, template: Any, y: Any = None) -> Any:
        if self.method == "consistency":
            return Accepted()
        if self.scoring is None:
            raise ValueError("method='kfold' of a detector needs scoring=, a scorer of labels +1 and -1")
        return super()._scorer(template, y)

    def score_samples(self, X: Any) -> Any:
        """Return how normal points are, by the chosen machine.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,)
            Larger is more normal.
        """
        return self._chosen().score_samples(X)

    def fit_predict(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit, and return +1 for the training rows inside, -1 for those outside.

        Parameters
        ----------
        X, y, **params
            As for ``fit``.

        Returns
        -------
        ndarray of shape (n,)
            Of +1 and -1.
        """
        return self.fit(X, y, **params).predict(X)

    @property
    def offset_(self) -> Any:
        """What separates normal from novel in ``score_samples``."""
        return self._chosen().offset_
