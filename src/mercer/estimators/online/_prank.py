"""The perceptron of ordered classes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.online._classifier import OnlineClassifier
from mercer.estimators.ranking._ordinal import OrdinalSVC
from mercer.gram import Segment, cross_products
from mercer.kernels import Precomputed
from mercer.problems.online import Rule, ordered_perceptron
from mercer.values import keep_parameters


class PRank(OnlineClassifier):
    r"""The perceptron of ordered classes: one function, and thresholds that a mistake moves towards it.

    .. math::
        s_r (f(x) - \theta_r) \le 0: \quad \tau_r = s_r, \text{ else } 0, \qquad
        f \leftarrow f + \sum_r \tau_r k(x, \cdot), \quad \theta_r \leftarrow \theta_r - \tau_r

    with :math:`s_r = 1` where the class lies above threshold r, else -1. The class of x is the number of
    thresholds that f(x) reaches; they stay in order by themselves. On examples that some function with
    thresholds separates, the thresholds that are missed in all passes together are at most
    :meth:`mistake_bound`. A stream is learned by :meth:`partial_fit`, a training set by :meth:`fit`, again
    and again until a pass makes no mistake or a limit is met.

    Parameters
    ----------
    max_iter : int, default=100
        Most passes of ``fit``; -1 for no limit.

    Attributes
    ----------
    thresholds_ : ndarray of shape (n_classes - 1,)
        theta, ascending.
    mistakes_ : int
        Wrong predictions so far, each made before its truth was seen (f on a threshold is wrong).
    loss_ : float
        Thresholds missed so far: by how many classes the predictions were wrong.
    dual_coef_ : ndarray of shape (n_classes - 1, n_support)
        What each threshold's mistakes added; the function's coefficients are the sums of the columns.
    intercept_ : ndarray of shape (n_classes - 1,)
        Minus the thresholds.
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted: from lowest to highest.
    status_, n_iter_, t_, loss_curve_, n_updates_, support_, entered_, support_vectors_, coef_, kernel_,
    shape_fit_
        As in :class:`KernelPerceptron`.

    See Also
    --------
    OrdinalSVC : The largest margin between ordered classes.

    References
    ----------
    K. Crammer and Y. Singer (2001), Pranking with ranking, NIPS 14.

    Examples
    --------
    >>> from mercer import PRank
    >>> model = PRank(kernel="linear").fit([[-2.0], [-1.0], [1.0], [2.0], [4.0], [5.0]], [0, 0, 1, 1, 2, 2])
    >>> model.status_, model.predict([[-3.0], [1.5], [6.0]]).tolist()
    ('no_mistakes', [0, 1, 2])
    """

    multiclass = "joint"

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        max_iter: int = 100,
        budget: int | None = None,
        removal: str = "weakest",
        shuffle: bool = False,
        random_state: Any = None,
        cache_size: float = 200,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        on_interrupt: str = "raise",
        verbose: Any = False,
    ) -> None:
        keep_parameters(self, locals())

    def _rule(self) -> Rule:
        return ordered_perceptron()

    def _signs(self, labels: np.ndarray) -> np.ndarray:
        above = labels[:, None] > np.arange(self.classes_.size - 1)
        return np.where(above, 1.0, -1.0)

    @property
    def thresholds_(self) -> np.ndarray:
        """The thresholds between the classes."""
        check_is_fitted(self)
        return np.asarray(-self.intercept_)

    # -- use ---------------------------------------------------------------------------------------------

    def _function(self, X: Any) -> np.ndarray:
        """Return f at checked data, a column."""
        coef = np.ascontiguousarray(self.dual_coef_.sum(axis=0)[:, None])
        segment = Segment(0, coef.shape[0], coef, np.arange(1))
        return cross_products(self.kernel_, X, self._reference(), [segment], 1, self._workers())

    def _checked_values(self, X: Any) -> np.ndarray:
        return np.asarray(self._function(X) + self.intercept_)

    def _feature_weights(self) -> Any:
        return self.dual_coef_.sum(axis=0, keepdims=True) @ self.support_vectors_

    def _norms(self) -> np.ndarray:
        if isinstance(self.kernel_, Precomputed):
            raise ValueError("the norm needs kernel values between kept examples, which are not kept")
        square = float(self.dual_coef_.sum(axis=0) @ self._function(self.support_vectors_)[:, 0])
        return np.full(self.intercept_.size, math.sqrt(max(square, 0.0)))

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values of new points.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            Two classes: the function above the threshold. More: for each class the sum of the function above
            the thresholds below it, which is largest for the class that ``predict`` returns.
        """
        F = self._raw_decision(X)
        if F.shape[1] == 1:
            return np.asarray(F[:, 0])
        return np.concatenate([np.zeros((F.shape[0], 1)), np.cumsum(F, axis=1)], axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """Return the classes of new points: how many thresholds the function reaches.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        check_is_fitted(self)
        labels: np.ndarray = self.classes_[(self._raw_decision(X) >= 0).sum(axis=1)]
        return labels

    def margins(self, X: Any, y: ArrayLike) -> np.ndarray:
        """Return how far each point lies from the nearest threshold of its class, on the right side.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        y : array of shape (n,)
            Their classes.

        Returns
        -------
        ndarray of shape (n,)
            Positive means classified correctly.
        """
        signs = self._signs(self._known_labels(y))
        return np.asarray((signs * self._raw_decision(X)).min(axis=1))

    def mistake_bound(self, X: Any, y: ArrayLike, C: float = 1e4) -> float:
        r"""Return the most thresholds that can be missed on these examples, in any order and all passes.

        It is :math:`(k - 1)(R^2 + 1) / \gamma^2` for k classes, the largest norm R of an example, and the
        least distance gamma from the thresholds of any function with thresholds, scaled so that the squares
        of its norm and of the thresholds add up to one; here that of :class:`OrdinalSVC`.

        Parameters
        ----------
        X : array, CSR or sequence
            Examples.
        y : array of shape (n,)
            Their classes.
        C : float, default=1e4
            Price of a loss in the machine that separates them.

        Returns
        -------
        float
            The bound on ``loss_``, which a budget may drive higher; infinite where that machine does not
            separate the examples.
        """
        check_is_fitted(self)
        signs = self._signs(self._known_labels(y))
        machine = OrdinalSVC(kernel=self.kernel_, C=C, tol=1e-4).fit(X, y)
        least = float((signs * (machine.latent(X)[:, None] - machine.thresholds_)).min())
        if not least > 0.0:
            return math.inf
        square = machine.margin_**-2 + float(machine.thresholds_ @ machine.thresholds_)
        radius = float(np.max(self.kernel_.diag(X)))
        return float((self.classes_.size - 1) * (radius + 1.0) * square / least**2)
