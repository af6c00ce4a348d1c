"""What detectors made of a ball in feature space share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.diagonal import computed_diagonal, given_diagonal
from mercer.estimators.fitting import Fitted
from mercer.estimators.svm.detector import BaseDetector
from mercer.estimators.user_warnings import warn_user
from mercer.gram import Gram
from mercer.problems import Dual
from mercer.problems.novelty import BallMachine, EnclosingBall, ball_prices
from mercer.problems.novelty_promises import farthest_square, promised_gap


class EmptyPromiseWarning(UserWarning):
    """What is promised holds for every item there can be, so it says nothing."""


class BaseBall(BaseDetector):
    """Base of the detectors made of a ball.

    Parameters
    ----------
    tol : float, default=1e-3
        Largest KKT violation (``criterion="kkt"``), in units of the squared radius where that is below one,
        or relative gap (``"gap"``) at which to stop. The hard ball is solved a thousand times finer.
    """

    # -- what a subclass says ----------------------------------------------------------------------------

    def _share(self) -> tuple[float | None, float | None]:
        """Return (nu, None) or (None, C)."""
        raise NotImplementedError

    def _threshold(self) -> float:
        """Return ``offset_``."""
        return -self._squared_radius

    # -- fit ---------------------------------------------------------------------------------------------

    def _check_feasible(self, split: Any) -> None:
        ball_prices(split.weight, *self._share())

    def _problem(self, target: Any, weight: np.ndarray, matrix: Gram) -> Dual:
        return EnclosingBall(matrix.exact().diag(), ball_prices(weight, *self._share()))

    def _keep(self, machines: list[BallMachine], split: Any) -> None:
        (machine,), weight = machines, split.weight
        there = weight > 0
        slacks = machine.slacks
        self._squared_radius = machine.squared_radius
        self._rows = int(there.sum())
        self._mean_slack = float(slacks[there].mean())
        self.radius_ = math.sqrt(machine.squared_radius)
        self.center_squared_norm_ = machine.centre_norm
        self.slack_sum_ = float(weight @ slacks)
        self.outside_fraction_ = machine.outside
        self.support_fraction_ = machine.support
        self.offset_ = self._threshold()

    def _finish(self, fitted: Fitted) -> None:
        self._training_diagonal = None
        if self._pairwise_kernel:  # a normalised kernel needs no diagonal of new points
            diagonal = fitted.matrix.diag()
            if np.ptp(diagonal) <= 1e-9 * abs(float(diagonal[0])):
                self._training_diagonal = float(diagonal[0])

    def fit_predict(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> np.ndarray:
        """Fit, and return +1 for training points inside and -1 for those outside.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.

        Returns
        -------
        ndarray of shape (n,)
            Of +1 and -1.
        """
        self.fit(X, y, sample_weight)
        return self.predict(X, diag=np.diagonal(X) if self._pairwise_kernel else None)

    def _shipped(self, number: int, coef: np.ndarray, products: np.ndarray) -> BallMachine:
        return BallMachine(coef, 0.0, products, squared_radius=self._squared_radius)

    # -- use ---------------------------------------------------------------------------------------------

    def _diagonal(self, X: Any, diag: ArrayLike | None) -> np.ndarray:
        """Return k(x, x) of checked points in float64."""
        n = self._length(X)
        if not self._pairwise_kernel:
            return computed_diagonal(self.kernel_, X, n, diag)
        if diag is not None:
            return given_diagonal(diag, n)
        if self._training_diagonal is None:
            raise ValueError(
                "distances from the centre need k(x, x) of the new points, which is not constant here: pass "
                "it as diag= beside the rows of the precomputed kernel matrix"
            )
        return np.full(n, self._training_diagonal)

    def _squares(self, X: Any, diag: np.ndarray) -> np.ndarray:
        """Return squared distances of checked points from the centre."""
        return np.maximum(diag - 2.0 * self._products(X)[:, 0] + self.center_squared_norm_, 0.0)

    def distance(self, X: Any, *, diag: ArrayLike | None = None) -> np.ndarray:
        """Return the distances from the centre in feature space.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        diag : array of shape (n,), optional
            k(x, x), for a precomputed kernel only; not needed where it is the same for all training points.

        Returns
        -------
        ndarray of shape (n,)
            ||phi(x) - a||.
        """
        check_is_fitted(self)
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        return np.asarray(np.sqrt(self._squares(X, self._diagonal(X, diag))))

    def slacks(self, X: Any, *, diag: ArrayLike | None = None) -> np.ndarray:
        """Return max(0, ||phi(x) - a||^2 - r^2).

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        diag : array of shape (n,), optional
            k(x, x), for a precomputed kernel only.

        Returns
        -------
        ndarray of shape (n,)
            0 inside the ball.
        """
        check_is_fitted(self)
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        return np.maximum(self._squares(X, self._diagonal(X, diag)) - self._squared_radius, 0.0)

    def score_samples(self, X: Any, *, diag: ArrayLike | None = None) -> np.ndarray:
        """Return minus the squared distances from the centre.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        diag : array of shape (n,), optional
            k(x, x), for a precomputed kernel only.

        Returns
        -------
        ndarray of shape (n,)
            Larger is more normal; ``offset_`` is the threshold.
        """
        check_is_fitted(self)
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        return -self._squares(X, self._diagonal(X, diag))

    def decision_function(self, X: Any, *, diag: ArrayLike | None = None) -> np.ndarray:
        """Return ``score_samples(X) - offset_``: not negative inside.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        diag : array of shape (n,), optional
            k(x, x), for a precomputed kernel only.

        Returns
        -------
        ndarray of shape (n,)
            Values.
        """
        return np.asarray(self.score_samples(X, diag=diag) - self.offset_)

    def predict(self, X: Any, *, diag: ArrayLike | None = None) -> np.ndarray:
        """Return +1 for points inside, -1 for novelties.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        diag : array of shape (n,), optional
            k(x, x), for a precomputed kernel only.

        Returns
        -------
        ndarray of shape (n,)
            Of +1 and -1.
        """
        return np.where(self.decision_function(X, diag=diag) >= 0, 1, -1)

    def radius_for(self, q: float, delta: float = 0.05, *, support_radius: float | None = None) -> float:
        """Return the radius around the same centre that new points exceed with probability at most q.

        With p = q - 3 sqrt(ln(2 / delta) / (2 n)) its square is r^2 + (mean slack + 6 R^2 / sqrt(n)) / p
        where no training point lies outside the ball. Where some do, that number depends on them, and the
        theorem is about one fixed beforehand: then it is the smallest of k values that suffices at delta / k,
        between 6 R^2 / sqrt(n) and 4 R^2 in steps of sqrt(2). The promise is about points drawn like the n
        training points, independently; it holds with probability 1 - delta over their draw, for a kernel that
        was fixed before seeing them.

        A radius beyond which no item can lie at all promises nothing: an :class:`EmptyPromiseWarning` says
        so.

        Parameters
        ----------
        q : float
            Wished false positive rate.
        delta : float, default=0.05
            Probability with which the promise may fail.
        support_radius : float, optional
            R, the radius of a ball around the origin of feature space that holds the whole distribution, not
            only the sample. Known for kernels with bounded k(x, x) (rbf: 1); to be given for others.

        Returns
        -------
        float
            The radius.

        References
        ----------
        Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Corollary 7.14 and Remark
        7.13.
        """
        check_is_fitted(self)
        for name, value in (("q", q), ("delta", delta)):
            if not 0 < value < 1:
                raise ValueError(f"{name}={value} must lie strictly between 0 and 1")
        if support_radius is None:
            bound = self.kernel_.diagonal_bound
            if bound is None:
                raise ValueError(
                    f"k(x, x) of {self.kernel_!r} has no known bound over all items: give support_radius, "
                    "the radius of a ball around the origin of feature space that holds the distribution"
                )
            squared = bound
        else:
            if not support_radius > 0:
                raise ValueError(f"support_radius={support_radius} must be greater than 0")
            squared = float(support_radius) ** 2
        gap = promised_gap(self._mean_slack, self._rows, squared, q, delta)
        found = math.sqrt(self._squared_radius + gap)
        nonnegative = bool(self.kernel_.is_nonnegative)
        farthest = math.sqrt(farthest_square(squared, self.center_squared_norm_, nonnegative=nonnegative))
        if found >= farthest:
            warn_user(
                f"the radius {found:.4g} for a rate of q={q:g} promises nothing: no item lies farther than "
                f"{farthest:.4g} from the centre. More points, a larger q or a smaller nu are needed.",
                EmptyPromiseWarning,
            )
        return found
