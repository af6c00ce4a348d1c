"""The kernel adatron."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.online._classifier import OnlineClassifier
from mercer.estimators.online._proof import ProvedMachine
from mercer.problems import Certificate
from mercer.problems.online import Rule, adatron
from mercer.values import keep_parameters


class KernelAdatron(OnlineClassifier, ProvedMachine):
    r"""The kernel adatron: a support vector machine without bias, learned one example at a time.

    .. math::
        \min_w \tfrac12 \|w\|^2 + C \sum_i L(y_i \langle w, \phi(x_i) \rangle), \qquad
        \alpha_i \leftarrow \min\!\left(C, \max\!\left(0, \alpha_i +
        \eta \frac{1 - y_i f(x_i)}{k(x_i, x_i)}\right)\right)

    with L(m) = max(0, 1 - m) or its square. The step is gradient ascent in the dual, for the rate 1 to the
    best value of one multiplier, so passes over a training set (:meth:`fit`) converge to the machine that
    ``SVC(fit_intercept=False)`` finds, and ``certificate_`` proves how near they are. A stream
    (:meth:`partial_fit`) sees each example once: the machine predicts, sees the truth, and changes only if
    the example lies inside the margin. For a bias, add a constant to the kernel: ``RBF() + tau**2``. More
    than two classes are learned one against the rest.

    Parameters
    ----------
    C : float, default=1.0
        Price of a unit of loss; ``np.inf`` for the hard margin, which must exist through the origin.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The loss.
    learning_rate : float, default=1.0
        eta, between 0 and 2 (successive over-relaxation beyond 1).
    removal : {"weakest", "oldest"}, default="weakest"
        Which example makes room when the budget is used up: the one without which the function changes least
        (the smallest k(x, x) times the sum of its squared coefficients; of equals the one that came first),
        or the one that came first.

    Attributes
    ----------
    certificate_ : Certificate
        Primal, dual, gap, KKT violation; after ``fit`` only.
    margin_ : float or ndarray
        1 / ||w|| of each machine, for infinite C the margin that the points have; after ``fit`` only.
    mistakes_ : int
        Wrong predictions so far, each made before its truth was seen (f = 0 is wrong).
    loss_ : float
        Losses so far, of all machines.
    loss_curve_ : ndarray of shape (n_points, 3)
        Steps, and loss and mistakes up to there; at most 4096 points, evenly spaced.
    n_updates_ : ndarray of shape (n_machines,)
        Changes of each machine.
    t_ : int
        Examples seen, each time counted.
    status_ : {"optimal", "iteration_limit", "time_limit", "interrupted", "streaming"}
        How ``fit`` ended; "streaming" after ``partial_fit``.
    n_iter_ : int
        Passes.
    classes_, support_vectors_, intercept_, coef_, shape_fit_
        As in scikit-learn; the intercept is zero.
    support_, entered_ : ndarray
        Numbers of the kept examples among all rows given so far, and the steps at which they came in.
    dual_coef_ : ndarray of shape (n_machines, n_support)
        y_i alpha_i.
    kernel_ : Kernel
        The kernel with its data-dependent parameters fixed.

    References
    ----------
    Friess, Cristianini and Campbell (1998), The kernel-adatron: a fast and simple learning procedure for
    support vector machines, ICML. Anlauf and Biehl (1989), The AdaTron: an adaptive perceptron algorithm,
    Europhysics Letters 10. Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis,
    Algorithm 7.59.

    Examples
    --------
    >>> from mercer import KernelAdatron
    >>> model = KernelAdatron(C=10.0, kernel="poly", degree=2)
    >>> model.fit([[1, 1], [-1, -1], [1, -1], [-1, 1]], [1, 1, 0, 0]).status_
    'optimal'
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **OnlineClassifier._parameter_constraints,
        "C": [Interval(Real, 0.0, None, closed="right")],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "learning_rate": [Interval(Real, 0.0, 2.0, closed="neither")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
    }

    fit_intercept = False

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        C: float = 1.0,
        loss: str = "hinge",
        learning_rate: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 1000,
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
        return adatron(C=float(self.C), squared=self.loss == "squared_hinge", rate=float(self.learning_rate))

    def _proved(self, X: Any, target: np.ndarray) -> None:
        super()._proved(X, target)
        F = self._checked_values(X)
        squares = (self.dual_coef_ * F[self.support_].T).sum(axis=1)
        widths = self._rule().margins(target, F, squares)
        self.margin_ = float(widths[0]) if widths.size == 1 else widths
        self.class_weight_ = np.ones(self.classes_.size)

    def certify(self, X: Any, y: ArrayLike) -> Certificate:
        """Recompute the certificate from nothing but the model and all data that it was given, in float64.

        Parameters
        ----------
        X, y
            The data given to ``fit``, or all batches given to ``partial_fit`` one below the other.

        Returns
        -------
        Certificate
        """
        check_is_fitted(self)
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        labels = self._known_labels(y)
        self._check_lengths(X, labels)
        return self._certify(X, labels.size, self._signs(labels))
