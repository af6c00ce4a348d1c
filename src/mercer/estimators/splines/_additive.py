"""Additive splines that choose their terms: BRUTO."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from mercer.arrays import Float64
from mercer.estimators.splines._base import SplineRegressor
from mercer.estimators.user_warnings import warn_user
from mercer.problems.splines.natural_cubic import natural_spline
from mercer.solvers.splines.adaptive_backfitting import AdaptiveBackfitting, AdditiveFit
from mercer.values import keep_parameters

KINDS = ("excluded", "linear", "smooth")


class AdaptiveAdditiveSplines(SplineRegressor):
    r"""Additive model that selects each term by cross-validation: none, linear or a spline (BRUTO).

    .. math::
        \min_{\alpha, f_1, \ldots, f_p} \sum_i w_i \Bigl(y_i - \alpha - \sum_j f_j(x_{ij})\Bigr)^2 + \sum_j
        \lambda_j \int f_j''(t)^2 \, dt

    over natural cubic splines; :math:`\lambda_j = \infty` is a line, and a term may be left out. In each step
    the best form of every term is found, given all others, and the one change is made that lowers

    .. math::
        \mathrm{GCV} = \frac{\mathrm{RSS}}{n \bigl(1 - (1 + c \sum_j \mathrm{df}_j) / n\bigr)^2}

    most; df is the trace of a term's smoother without the constant, 1 for a line. When no change is worth it,
    the penalties stay, and back-fitting finds the minimum. Several targets share the forms of the terms.

    Parameters
    ----------
    cost : float, default=2.0
        c, the charge for a degree of freedom. 1 is plain generalised cross-validation, which chooses rougher
        functions and more of them.
    max_df : float, default=6.0
        Most degrees of freedom of a term.
    start_linear : bool, default=True
        Whether to begin with the linear fit, instead of nothing.
    tol : float, default=1e-4
        Relative gain in GCV for which a step is made.
    max_iter : int, default=100
        Most steps of the selection.
    max_backfit : int, default=1000
        Most rounds of back-fitting at the end.

    Attributes
    ----------
    kinds_ : ndarray of shape (n_features,)
        "excluded", "linear" or "smooth".
    df_ : ndarray of shape (n_features,)
        Degrees of freedom of each term.
    penalties_ : ndarray of shape (n_features,)
        :math:`\lambda_j` in the units of the problem above: infinite for lines, nan where a term is left out.
    intercept_ : float or ndarray of shape (n_outputs,)
        :math:`\alpha`, the mean of y.
    gcv_, rss_ : float
        Of the model, a mean over the outputs.
    gcv_path_ : ndarray
        GCV after each step of the selection.
    n_iter_ : int
        Rounds of back-fitting.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    .. [1] T. Hastie and R. Tibshirani (1990). *Generalized Additive Models*, section 9.4.3. Chapman and Hall.
    .. [2] T. Hastie, R. Tibshirani and A. Buja (1994). Flexible discriminant analysis by optimal scoring.
       *Journal of the American Statistical Association* 89(428), 1255-1270.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import AdaptiveAdditiveSplines
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, size=(200, 3))
    >>> y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=200)
    >>> AdaptiveAdditiveSplines().fit(X, y).kinds_.tolist()
    ['smooth', 'linear', 'excluded']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "cost": [Interval(Real, 0.0, None, closed="left")],
        "max_df": [Interval(Real, 1.0, None, closed="left")],
        "start_linear": ["boolean"],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "max_backfit": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        cost: float = 2.0,
        max_df: float = 6.0,
        start_linear: bool = True,
        tol: float = 1e-4,
        max_iter: int = 100,
        max_backfit: int = 1000,
    ) -> None:
        keep_parameters(self, locals())

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Variables.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        sample_weight : array of shape (n_samples,), optional
            Non-negative; a weight of 2 equals the row twice.

        Returns
        -------
        self
        """
        X, Y = self._checked(X, y)
        w = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        there = w > 0
        if not there.any():
            raise ValueError("sample_weight is zero for every row: nothing is left to fit")
        X, Y, w = X[there], Y[there], w[there]
        search = AdaptiveBackfitting(
            X, Y, w, cost=float(self.cost), most=float(self.max_df), tol=float(self.tol),
            max_steps=int(self.max_iter), max_rounds=int(self.max_backfit),
        )  # fmt: skip
        self._keep(search, search.fit(start_linear=self.start_linear))
        return self

    def _keep(self, search: AdaptiveBackfitting, found: AdditiveFit) -> None:
        self._kinds = np.array([KINDS.index(term.kind) for term in found.terms])
        self.df_ = np.array([term.df for term in found.terms])
        self.penalties_ = search.penalties()
        self.intercept_ = float(found.level[0]) if self._one_target else found.level
        self.gcv_, self.rss_ = found.gcv, found.squared_error
        self.gcv_path_ = np.array(found.selection)
        self.n_iter_ = found.rounds
        parts = search.pieces()
        self._owners = np.repeat(np.arange(len(parts)), [part.size for part, _, _ in parts])
        self._knots = np.concatenate([part for part, _, _ in parts])
        self._values = np.concatenate([values for _, values, _ in parts])
        self._curvatures = np.concatenate([bends for _, _, bends in parts])
        if not found.settled:
            warn_user(
                f"AdaptiveAdditiveSplines: back-fitting did not converge in max_backfit={self.max_backfit} "
                "rounds; variables that explain each other make it slow. The model is usable.",
                ConvergenceWarning,
            )

    def term(self, j: int, x: ArrayLike) -> Float64:
        """Return one term's function at some values of its variable.

        Parameters
        ----------
        j : int
            Which variable.
        x : array of shape (n,)
            Values.

        Returns
        -------
        ndarray of shape (n, n_outputs)
            f_j, of mean 0 over the training rows; 0 for a term that is left out.
        """
        check_is_fitted(self)
        at = self._owners == j
        x = np.asarray(x, dtype=np.float64)
        if not at.any():
            return np.zeros((x.size, self._values.shape[1]))
        return natural_spline(x, self._knots[at], self._values[at], self._curvatures[at])

    @property
    def kinds_(self) -> np.ndarray:
        """What became of each variable's term: "excluded", "linear" or "smooth"."""
        return np.asarray(np.array(KINDS)[self._kinds])

    def _functions(self, X: Float64) -> Float64:
        out = np.zeros((X.shape[0], self._values.shape[1])) + self.intercept_
        for j, x in enumerate(X.T):
            out += self.term(j, x)
        return out
