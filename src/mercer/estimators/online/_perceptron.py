"""The perceptron in primal form."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer.estimators.online._base import SHARED_CONSTRAINTS, StreamLearner
from mercer.estimators.online._classifier import StreamClassifier
from mercer.estimators.online._novikoff import most_updates
from mercer.kernels import Linear
from mercer.kernels.data import naming
from mercer.problems.online import largest_radius
from mercer.solvers.base import Limits
from mercer.solvers.online.perceptron import PrimalPerceptron, Weights
from mercer.values import keep_parameters


class Perceptron(StreamClassifier, StreamLearner, ClassifierMixin, BaseEstimator):
    r"""The perceptron in primal form: on a mistake, add the example to the weights.

    .. math::
        y_i (\langle w, x_i \rangle + b) \le 0: \quad w \leftarrow w + y_i x_i, \quad b \leftarrow b + R^2 y_i

    A stream is learned by :meth:`partial_fit`: the machine predicts, sees the truth, counts a mistake and
    changes only then. :meth:`fit` repeats this over a training set until a pass makes no mistake or a limit
    is met, and ``status_`` says which. It makes the same steps as :class:`KernelPerceptron` with the linear
    kernel, in a time per step that does not grow. More than two classes are learned one against the rest.

    Parameters
    ----------
    penalty : None
        Rosenblatt's rule has none, and its bound on the number of mistakes holds without one only: other
        values of scikit-learn's parameter are refused. A penalised machine is ``SVC(kernel="linear")``.
    alpha, l1_ratio : float
        Of the penalty: without one they mean nothing, in scikit-learn, too.
    fit_intercept : bool, default=True
        Whether there is a bias b, which moves by R^2.
    max_iter : int, default=1000
        Most passes of ``fit``; -1 for no limit.
    tol, n_iter_no_change : float or None, int
        Accepted for compatibility: ``fit`` ends after a pass without a mistake or at a limit, never because
        mistakes have ceased to become fewer.
    shuffle : bool, default=False
        Whether each pass of ``fit`` has its own order.
    verbose : bool, default=False
        Print a line per pass.
    eta0 : float, default=1.0
        Step: a mistake adds ``eta0`` times what stands above. It is the unit of w and b and changes no
        decision of a machine that begins at zero.
    n_jobs : int, optional
        Accepted for compatibility: all machines learn in one pass over the data.
    random_state : int, RandomState instance or None, default=None
        Of the orders.
    early_stopping : False
        Refused otherwise: a held-out part would have to be chosen from what is a stream.
    validation_fraction : float
        Of ``early_stopping``.
    warm_start : bool, default=False
        Whether ``fit`` begins with the weights of the previous one, for the same classes.
    radius : float, optional
        R, the radius of a ball around the origin that holds the examples. If not given it is the largest norm
        of the data in ``fit``, and of the first batch in ``partial_fit``; 1 is scikit-learn's bias step.
    time_limit : float, optional
        Seconds after which ``fit`` stops.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does: raise, which leaves a model that ``partial_fit`` had begun with as it was before the
        call, or keep what was learned so far (``t_`` says how far that is).

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
        "penalty": [StrOptions({"l1", "l2", "elasticnet"}), None],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "fit_intercept": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "eta0": [Interval(Real, 0, None, closed="neither")],
        "n_jobs": [Integral, None],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "radius": [Interval(Real, 0.0, None, closed="neither"), None],
    }

    def __init__(
        self,
        *,
        penalty: str | None = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = False,
        verbose: Any = False,
        eta0: float = 1.0,
        n_jobs: int | None = None,
        random_state: Any = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        warm_start: bool = False,
        radius: float | None = None,
        time_limit: float | None = None,
        on_interrupt: str = "raise",
    ) -> None:
        keep_parameters(self, locals())

    def _refuse(self) -> None:
        """Refuse parameters of scikit-learn's that the rule does not have."""
        for name, only in (("penalty", None), ("early_stopping", False)):
            value = getattr(self, name)
            if value is not only and value != only:
                raise ValueError(
                    f"{name}={value!r} is not Rosenblatt's rule: leave it at {only!r}. A machine with a "
                    "penalty, weights of classes and a proof is SVC(kernel='linear')"
                )

    def _scaled(self, weights: Weights, factor: float) -> Weights:
        """Return weights in units of another step."""
        return Weights(weights.coef * factor, weights.bias * factor, weights.updates)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        given = X
        with naming("X"):
            X = Linear().check(given, estimator=self)
        validate_data(self, given, reset=reset, skip_check_array=True)  # number and names of the features
        return X

    def _open(self, X: Any) -> None:
        self._refuse()
        same = getattr(self, "coef_", np.empty((0, 0))).shape[1] == X.shape[1]
        self._start = self._known_function() if self.warm_start and hasattr(self, "t_") and same else None
        self.__dict__.pop("t_", None)  # not fitted until this fit ends
        diagonal = np.asarray(Linear().evaluate_diag(X), dtype=np.float64)
        self.radius_ = largest_radius(diagonal) if self.radius is None else float(self.radius)
        self.shape_fit_ = (0, X.shape[1])

    def _learner(self, limits: Limits) -> PrimalPerceptron:
        start = self.__dict__.pop("_start", None)
        return PrimalPerceptron(self.radius_**2 if self.fit_intercept else 0.0, limits, start)

    def _known_function(self) -> Weights:
        return self._scaled(Weights(self.coef_, self.intercept_, self.n_updates_), 1.0 / float(self.eta0))

    def _keep_function(self, f: Weights) -> None:
        f = self._scaled(f, float(self.eta0))
        self.coef_, self.intercept_, self.n_updates_ = f.coef, f.bias, f.updates

    def _raw_decision(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = self._checked(X, reset=False)
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
