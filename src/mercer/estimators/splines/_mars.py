"""Multivariate adaptive regression splines."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from mercer.arrays import Float64
from mercer.estimators.splines._base import SplineRegressor
from mercer.problems.splines.hinges import HingeTerms
from mercer.solvers.splines.hinge_passes import fit_hinges
from mercer.values import keep_parameters

MOST, FEWEST = 200, 20  # terms of the forward pass by default, beside the constant
FRIEDMAN = -1  # his rules for the distances of knots


class MARS(SplineRegressor):
    r"""Multivariate adaptive regression splines: sums of products of hinges, found by greedy search.

    .. math::
        f(x) = \beta_0 + \sum_m \beta_m \prod_k \bigl(\pm (x_{v_{mk}} - t_{mk})\bigr)_+

    A forward pass adds, again and again, the pair of hinges :math:`(x_v - t)_+, (t - x_v)_+`, times a term
    that is there already, that lowers the squared error most. A backward pass drops the term that is missed
    least and keeps the model of least generalised cross-validation

    .. math::
        \mathrm{GCV} = \frac{\mathrm{RSS}}{n (1 - C / n)^2}, \qquad C = M + c (M - 1) / 2

    for M terms. Variables that do not help are left out by themselves. Several targets share the terms.

    Parameters
    ----------
    degree : int, default=1
        Most hinges in a product: 1 is an additive model, 2 has interactions of pairs of variables.
    max_terms : int or "auto", default="auto"
        Most terms of the forward pass, the constant included; "auto" is one more than twice the number of
        variables, between 21 and 201.
    penalty : float or "auto", default="auto"
        c, the charge for a knot; "auto" is 2 for degree 1 and 3 for more. 0 charges for terms only.
    threshold : float, default=0.001
        The forward pass ends where a pair explains less than this share of the variance of y, or less than
        this share is left.
    minspan, endspan : int or "auto", default="auto"
        Every ``minspan``-th point may be a knot, and none of the ``endspan`` outermost on each side. "auto"
        is Friedman's choice, with which runs of noise of either sign are followed with probability 0.05.
        1 and 0 try all points.
    prune : bool, default=True
        Whether there is a backward pass.

    Attributes
    ----------
    coef_ : ndarray of shape (n_terms,) or (n_terms, n_outputs)
        Coefficients of the terms; the first is the constant.
    term_variables_ : ndarray of shape (n_terms, degree)
        The variables of each term's hinges, -1 where there are fewer.
    term_knots_, term_signs_ : ndarrays of shape (n_terms, degree)
        t, and +1 for :math:`(x - t)_+`, -1 for :math:`(t - x)_+`.
    n_terms_, n_forward_terms_ : int
        Terms that were kept, and that the forward pass had found.
    gcv_, rss_ : float
        Generalised cross-validation and squared error of the model, summed over the outputs.
    features_used_ : ndarray of int
        Variables that occur.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    For each parent and variable all knots are tried in one sweep through the sorted points with running sums,
    so the forward pass costs O(n p M^3) operations, in compiled code.

    References
    ----------
    .. [1] J. Friedman (1991). Multivariate adaptive regression splines. *Annals of Statistics* 19(1), 1-67.
    .. [2] T. Hastie, R. Tibshirani and J. Friedman (2009). *The Elements of Statistical Learning*, 2nd
       edition, section 9.4. Springer.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import MARS
    >>> x = np.linspace(0.0, 1.0, 101)[:, None]
    >>> model = MARS(endspan=0, minspan=1).fit(x, np.maximum(x[:, 0] - 0.3, 0.0))
    >>> model.term_names(), model.coef_.round(6)
    (['(Intercept)', 'h(x0-0.3)'], array([0., 1.]))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "degree": [Interval(Integral, 1, None, closed="left")],
        "max_terms": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "penalty": [StrOptions({"auto"}), Interval(Real, 0.0, None, closed="left")],
        "threshold": [Interval(Real, 0.0, 1.0, closed="left")],
        "minspan": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "endspan": [StrOptions({"auto"}), Interval(Integral, 0, None, closed="left")],
        "prune": ["boolean"],
    }

    def __init__(
        self,
        *,
        degree: int = 1,
        max_terms: Any = "auto",
        penalty: Any = "auto",
        threshold: float = 0.001,
        minspan: Any = "auto",
        endspan: Any = "auto",
        prune: bool = True,
    ) -> None:
        keep_parameters(self, locals())

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Variables.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.

        Returns
        -------
        self
        """
        X, Y = self._checked(X, y)
        p = X.shape[1]
        most = min(MOST, max(FEWEST, 2 * p)) + 1 if self.max_terms == "auto" else int(self.max_terms)
        found = fit_hinges(
            X, Y, degree=int(self.degree), most=most, threshold=float(self.threshold),
            penalty=(2.0 if self.degree == 1 else 3.0) if self.penalty == "auto" else float(self.penalty),
            minspan=FRIEDMAN if self.minspan == "auto" else int(self.minspan),
            endspan=FRIEDMAN if self.endspan == "auto" else int(self.endspan),
            prune=self.prune,
        )  # fmt: skip
        self.term_knots_ = found.terms.knots
        # As files hold them: whole numbers from 0 on, within bounds that can be checked.
        self._variables = np.maximum(found.terms.variables, 0)
        self._directions = found.terms.signs % 3
        self.coef_ = found.coef[:, 0] if self._one_target else found.coef
        self.gcv_, self.rss_ = found.gcv, found.squared_error
        self.n_terms_, self.n_forward_terms_ = found.coef.shape[0], found.forward_terms
        used = np.unique(found.terms.variables)
        self.features_used_ = used[used >= 0]
        return self

    @property
    def term_variables_(self) -> np.ndarray:
        """The variables of each term's hinges, -1 where there are fewer."""
        return np.where(self._directions > 0, self._variables, -1)

    @property
    def term_signs_(self) -> np.ndarray:
        """+1 for a hinge that rises from its knot on, -1 for one that falls up to it, 0 for none."""
        return np.array([0, 1, -1])[self._directions]

    def _terms(self) -> HingeTerms:
        return HingeTerms(self.term_variables_, self.term_knots_, self.term_signs_)

    def _functions(self, X: Float64) -> Float64:
        return np.asarray(self._terms().design(X) @ self.coef_.reshape(self.n_terms_, -1))

    def term_names(self, input_features: Any = None) -> list[str]:
        """Return the terms in words: ``h(girth-14.2)`` rises from 14.2 on, ``h(14.2-girth)`` falls up to it.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names of the variables; those of ``fit``, or x0, x1, ..., if not given.

        Returns
        -------
        list of str
            In the order of ``coef_``.
        """
        check_is_fitted(self)
        return self._terms().names([str(n) for n in _check_feature_names_in(self, input_features)])
