"""The perceptron in dual form."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval

from mercer.estimators.online._classifier import OnlineClassifier
from mercer.estimators.online._novikoff import most_updates
from mercer.problems.online import Rule, largest_radius, perceptron
from mercer.values import keep_parameters


class KernelPerceptron(OnlineClassifier):
    r"""The perceptron in dual form: on a mistake, add the example to the function.

    .. math::
        y_i f(x_i) \le 0: \quad \alpha_i \leftarrow \alpha_i + 1, \quad b \leftarrow b + R^2 y_i, \qquad
        f(x) = \sum_i \alpha_i y_i k(x_i, x) + b

    A stream is learned by :meth:`partial_fit`: the machine predicts, sees the truth, counts a mistake and
    changes only then. :meth:`fit` repeats this over a training set until a pass makes no mistake or a limit
    is met, and ``status_`` says which. More than two classes are learned one against the rest, all machines
    from the same kernel values.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether there is a bias b, which moves by R^2.
    radius : float, optional
        R, the radius of a ball around the origin of feature space that holds the examples. If not given it is
        the largest sqrt(k(x, x)) of the data in ``fit``, and of the first batch in ``partial_fit``.
    max_iter : int, default=100
        Most passes of ``fit``; -1 for no limit.
    budget : int, optional
        Most examples to keep, at any time; None for as many as make mistakes.
    removal : {"weakest", "oldest"}, default="weakest"
        Which example makes room when the budget is used up: the one without which the function changes least
        (the smallest k(x, x) times the sum of its squared coefficients; of equals the one that came first),
        or the one that came first. The bias stays.

    Attributes
    ----------
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
    classes_, support_vectors_, intercept_, coef_, shape_fit_
        As in scikit-learn.
    support_, entered_ : ndarray
        Numbers of the kept examples among all rows given so far, and the steps at which they came in.
    dual_coef_ : ndarray of shape (n_machines, n_support)
        y_i alpha_i.
    kernel_ : Kernel
        The kernel with its data-dependent parameters fixed.

    References
    ----------
    Freund and Schapire (1999), Large margin classification using the perceptron algorithm, Machine Learning
    37. Crammer, Kandola and Singer (2003), Online classification on a budget, NIPS. Shawe-Taylor and
    Cristianini (2004), Kernel Methods for Pattern Analysis, Algorithm 7.52.

    Examples
    --------
    >>> from mercer import KernelPerceptron
    >>> model = KernelPerceptron(kernel="poly", degree=2)
    >>> model.fit([[1, 1], [-1, -1], [1, -1], [-1, 1]], [1, 1, 0, 0]).status_
    'no_mistakes'
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **OnlineClassifier._parameter_constraints,
        "fit_intercept": ["boolean"],
        "radius": [Interval(Real, 0.0, None, closed="neither"), None],
    }

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        fit_intercept: bool = True,
        radius: float | None = None,
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

    def _begin(self, diagonal: np.ndarray) -> None:
        self.radius_ = largest_radius(diagonal) if self.radius is None else float(self.radius)

    def _rule(self) -> Rule:
        return perceptron(bias_step=self.radius_**2 if self.fit_intercept else 0.0)

    def novikoff(self, X: Any, y: ArrayLike) -> Any:
        r"""Return the most updates that each machine can make on these examples, by Novikoff's theorem.

        It is R^2 / gamma^2 without a bias and 2 (R^2 + b^2) / gamma^2 with one, for the hard margin machine
        of margin gamma and, scaled to a weight vector of norm 1, bias b; infinite where it does not exist.
        ``n_updates_`` is the count beside it, which a budget may drive higher.

        Parameters
        ----------
        X : array, CSR or sequence
            Examples.
        y : array of shape (n,)
            Their classes.

        Returns
        -------
        float, or ndarray of shape (n_machines,)
            The bounds.
        """
        return most_updates(self, X, y)
