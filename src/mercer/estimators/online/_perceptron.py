"""The perceptron in primal form."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer.estimators.interrupts import stoppable
from mercer.estimators.machine import naming
from mercer.estimators.online._base import SHARED_CONSTRAINTS, TallyMixin
from mercer.estimators.online._labels import StreamLabels
from mercer.estimators.online._novikoff import most_updates
from mercer.kernels import Linear
from mercer.problems.online import Tally, largest_radius
from mercer.solvers.base import Limits
from mercer.solvers.online.perceptron import PrimalPerceptron, Weights


class Perceptron(StreamLabels, TallyMixin, ClassifierMixin, BaseEstimator):
    r"""The perceptron in primal form: on a mistake, add the example to the weights.

    .. math::
        y_i (\langle w, x_i \rangle + b) \le 0: \quad w \leftarrow w + y_i x_i, \quad b \leftarrow b + R^2 y_i

    A stream is learned by :meth:`partial_fit`: the machine predicts, sees the truth, counts a mistake and
    changes only then. :meth:`fit` repeats this over a training set until a pass makes no mistake or a limit
    is met, and ``status_`` says which. It makes the same steps as :class:`KernelPerceptron` with the linear
    kernel, in a time per step that does not grow. More than two classes are learned one against the rest.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether there is a bias b, which moves by R^2.
    radius : float, optional
        R, the radius of a ball around the origin that holds the examples. If not given it is the largest norm
        of the data in ``fit``, and of the first batch in ``partial_fit``.
    max_iter : int, default=1000
        Most passes of ``fit``; -1 for no limit.
    shuffle : bool, default=False
        Whether each pass of ``fit`` has its own order.
    random_state : int, RandomState instance or None, default=None
        Of the orders.
    time_limit : float, optional
        Seconds after which ``fit`` stops.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does: raise, which leaves a model that ``partial_fit`` had begun with as it was before the
        call, or keep what was learned so far (``t_`` says how far that is).
    verbose : bool, default=False
        Print a line per pass.

    Attributes
    ----------
    coef_ : ndarray of shape (n_machines, n_features)
        w of each machine.
    intercept_ : ndarray of shape (n_machines,)
        b of each machine.
    mistakes_ : int
        Wrong predictions so far, each made before its truth was seen (f = 0 is wrong).
    loss_ : float
        Losses so far: mistakes of all machines.
    loss_curve_ : ndarray of shape (n_points, 3)
        Steps, and loss and mistakes up to there; at most 4096 points, evenly spaced.
    n_updates_ : ndarray of shape (n_machines,)
        Changes of each machine.
    t_ : int
        Examples seen, each time counted.
    status_ : {"no_mistakes", "iteration_limit", "time_limit", "interrupted", "streaming"}
        How ``fit`` ended; "streaming" after ``partial_fit``.
    n_iter_ : int
        Passes.
    radius_ : float
        R.
    classes_, shape_fit_
        As in scikit-learn.

    References
    ----------
    Rosenblatt (1958), The perceptron: a probabilistic model for information storage and organization in the
    brain, Psychological Review 65. Novikoff (1962), On convergence proofs on perceptrons. Cristianini and
    Shawe-Taylor (2000), An Introduction to Support Vector Machines, section 2.1.

    Examples
    --------
    >>> from mercer import Perceptron
    >>> model = Perceptron().fit([[2, 1], [3, 4], [-1, 0], [-2, -3]], [1, 1, 0, 0])
    >>> model.status_, model.mistakes_
    ('no_mistakes', 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED_CONSTRAINTS,
        "fit_intercept": ["boolean"],
        "radius": [Interval(Real, 0.0, None, closed="neither"), None],
    }

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        radius: float | None = None,
        max_iter: int = 1000,
        shuffle: bool = False,
        random_state: Any = None,
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        verbose: Any = False,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.radius = radius
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt
        self.verbose = verbose

    def _check_X(self, X: Any, *, reset: bool) -> Any:  # noqa: N802
        given = X
        with naming("X"):
            X = Linear().check(given, estimator=self)
        validate_data(self, given, reset=reset, skip_check_array=True)  # number and names of the features
        return X

    def _open(self, X: Any) -> None:
        self.__dict__.pop("t_", None)  # not fitted until this fit ends
        diagonal = np.asarray(Linear().evaluate_diag(X), dtype=np.float64)
        self.radius_ = largest_radius(diagonal) if self.radius is None else float(self.radius)
        self.shape_fit_ = (0, X.shape[1])

    def _learner(self, limits: Limits) -> PrimalPerceptron:
        return PrimalPerceptron(self.radius_**2 if self.fit_intercept else 0.0, limits)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learn from all examples again and again, until a pass makes no mistake or a limit is met.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features)
            Training data.
        y : array of shape (n_samples,)
            Class labels.

        Returns
        -------
        self
            ``status_`` says how it ended.
        """
        X = self._check_X(X, reset=True)
        y = self._check_labels(X.shape[0], y)
        classes, labels = np.unique(y, return_inverse=True)
        self._enough(classes, "y")
        self._open(X)
        self.classes_ = classes
        limits = Limits(max_iter=self.max_iter, time_limit=self.time_limit)
        with stoppable(limits, self.on_interrupt == "keep") as stop:
            weights, tally, done, status = self._learner(limits).passes(
                X, self._signs(labels), labels, order=self._order(), report=self._reporter()
            )
        self.n_iter_ = done
        self.shape_fit_ = tuple(X.shape)
        self._keep(weights, tally)
        self._ended(status, stop.requested, "no_mistakes")
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn from each example once, in their order, on top of what was learned before.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features)
            The next examples of the stream.
        y : array of shape (n_samples,)
            Their class labels.
        classes : array, optional
            All classes that can occur; needed on the first call.

        Returns
        -------
        self
        """
        first = not hasattr(self, "t_")
        X = self._check_X(X, reset=first)
        y = self._check_labels(X.shape[0], y)
        self._announce(classes)
        labels = self._known_labels(y)
        signs = self._signs(labels)
        if first:
            self._open(X)
            weights, tally = Weights.zero(signs.shape[1], X.shape[1]), Tally.empty()
        else:
            weights, tally = Weights(self.coef_, self.intercept_, self.n_updates_), self._tally()
        limits = Limits()
        with stoppable(limits, self.on_interrupt == "keep") as stop:
            weights, tally = self._learner(limits).stream(weights, tally, X, signs, labels)
        before = 0 if first else self.t_
        self.shape_fit_ = (self.shape_fit_[0] + tally.steps - before, X.shape[1])
        self.n_iter_ = getattr(self, "n_iter_", 1)
        self._keep(weights, tally)
        self.status_ = "interrupted" if stop.requested else "streaming"
        return self

    def _keep(self, weights: Weights, tally: Tally) -> None:
        self._keep_tally(tally)
        self.coef_, self.intercept_, self.n_updates_ = weights.coef, weights.bias, weights.updates

    def _raw_decision(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = self._check_X(X, reset=False)
        return np.asarray(X @ self.coef_.T + self.intercept_)

    def _norms(self) -> np.ndarray:
        """Return ||w|| of each machine."""
        return np.asarray(np.linalg.norm(self.coef_, axis=1))

    def novikoff(self, X: Any, y: ArrayLike) -> Any:
        r"""Return the most updates that each machine can make on these examples, by Novikoff's theorem.

        It is R^2 / gamma^2 without a bias and 2 (R^2 + b^2) / gamma^2 with one, for the hard margin machine
        of margin gamma and, scaled to a weight vector of norm 1, bias b; infinite where it does not exist.
        ``n_updates_`` is the count beside it.

        Parameters
        ----------
        X : {array, CSR} of shape (n, n_features)
            Examples.
        y : array of shape (n,)
            Their classes.

        Returns
        -------
        float, or ndarray of shape (n_machines,)
            The bounds.
        """
        return most_updates(self, X, y)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "t_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
