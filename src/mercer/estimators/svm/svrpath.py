"""The epsilon support vector regressor for every C."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.machine import KernelMachine
from mercer.estimators.splits import Outputs
from mercer.estimators.svm.path_base import PathMixin
from mercer.estimators.svm.regressor import BaseSVR
from mercer.estimators.svm.svr import SVR
from mercer.estimators.targets import check_targets
from mercer.gram import Gram
from mercer.problems import Dual
from mercer.problems.parametric_family import ParametricFamily, tube_family
from mercer.problems.regression import epsilon_tube
from mercer.values import keep_parameters

SHARED = ("kernel", "degree", "gamma", "coef0", "cache_size", "epsilon", "n_jobs", "fit_intercept", "tol")
FITTED = ("kernel_", "shape_fit_", "_gamma", "n_features_in_", "feature_names_in_")


class SVRPath(PathMixin, BaseSVR):
    r"""The exact solution of epsilon-support vector regression for every C, at a fixed epsilon.

    .. math::
        \min_{w, b} \tfrac12 \|w\|^2
        + C \sum_i w_i \max(0, |y_i - \langle w, \phi(x_i) \rangle - b| - \epsilon),
        \qquad C_{\min} \le C \le C_{\max}

    With lambda = 1 / C the coefficients are C theta(lambda), where theta is piecewise linear in lambda;
    ``fit`` finds all its knots. :meth:`at` gives the fitted :class:`mercer.SVR` of any C, with its
    certificate, at the price of a look-up. The estimator itself predicts with the parameter ``C``.

    Parameters
    ----------
    C : float, default=1.0
        The value that ``predict`` uses when it is given none.
    epsilon : float, default=0.1
        Half width of the tube inside which there is no loss.
    kernel : str, Kernel or callable, default="rbf"
        As in :class:`mercer.SVR`; it must be positive semi-definite.
    max_iter : int, default=-1
        Most events; -1 for no limit.

    Attributes
    ----------
    lambdas_, Cs_ : arrays of shape (n_knots,)
        1 / C (falling) and C (rising) at the knots.
    thetas_ : array of shape (n_knots, n_samples)
        Coefficients divided by C at the knots, in [-w_i, w_i]. Below the first knot they stay as they are
        there.
    intercepts_ : array of shape (n_knots,)
        The bias at the knots.
    events_ : structured array with the fields C, kind and index
        Which row entered or left the elbow (the rows on the edge of the tube), and when.
    C_range_ : tuple of float
        The values of C that the path knows.
    kkt_violation_ : float
        The largest at any knot.
    paths_ : list of Path
        The path with all it knows.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, fit_status_, shape_fit_,
    certificate_, kernel_
        Those of the machine at ``C``, as in :class:`mercer.SVR`.

    References
    ----------
    Gunter and Zhu (2007), Efficient computation and model selection for the support vector regression, Neural
    Computation 19. Hastie, Rosset, Tibshirani and Zhu (2004), The entire regularization path for the support
    vector machine, Journal of Machine Learning Research 5.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVRPath
    >>> X = np.linspace(0, 3, 30)[:, None]
    >>> path = SVRPath(epsilon=0.05).fit(X, np.sin(X[:, 0]))
    >>> bool(np.abs(path.at(10.0).predict(X) - np.sin(X[:, 0])).max() < 0.06)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: rule
            for name, rule in KernelMachine._parameter_constraints.items()
            if name not in ("shrinking", "solver", "criterion", "precision", "warm_start", "trace")
        },
        **PathMixin._range_constraints,
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        C_min: float = 0.0,
        C_max: float = 1e4,
        epsilon: float = 0.1,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-8,
        cache_size: float = 200,
        verbose: Any = False,
        max_iter: int = -1,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        fit_intercept: bool = True,
        on_interrupt: str = "raise",
    ) -> None:
        keep_parameters(self, locals())

    def _problem(self, target: Any, weight: np.ndarray, matrix: Gram) -> Dual:
        return epsilon_tube(target, self._nearest() * weight, self.epsilon, fit_intercept=self.fit_intercept)

    def _split(self, X: Any, y: Any, sample_weight: Any) -> Outputs:
        target = check_targets(y, type(self).__name__)
        self._check_lengths(X, target)
        base = self._check_weight(sample_weight, X, target.size)
        return Outputs(target[:, None], base, weighted_only=True)

    def _family(self, target: np.ndarray, weight: np.ndarray) -> ParametricFamily:
        return tube_family(target, weight, self.epsilon, fit_intercept=self.fit_intercept)

    def _remember(self, X: Any, split: Any) -> None:
        self._data, self._there, self._n = X, split.tasks[0].rows, split.n

    # -- along the path ----------------------------------------------------------------------------------

    def at(self, C: float) -> SVR:
        """Return the fitted machine of a value of C.

        Parameters
        ----------
        C : float
            Within ``C_range_``.

        Returns
        -------
        SVR
            With everything that its own ``fit`` would have given it, ``certificate_`` included.
        """
        check_is_fitted(self, "paths_")
        C = self._check_C(C)
        model = SVR(C=C, **{name: getattr(self, name) for name in SHARED})
        model.__dict__.update({name: value for name, value in vars(self).items() if name in FITTED})
        weight = np.zeros(self._n)
        weight[self._there] = 1.0
        found: SVR = self._give(model, C, Outputs(np.zeros((self._n, 1)), weight, weighted_only=True))
        return found

    def _predictions_at(self, X: Any, C: Any) -> np.ndarray:
        return self._values_at(X, C)

    def training_error(self, C: Any, number: int = 0) -> np.ndarray:
        """Return the weighted mean absolute error of the training rows, at some values of C.

        Parameters
        ----------
        C : sequence of float
            Values within ``C_range_``.
        number : int, default=0
            Always 0: a regression has one path.

        Returns
        -------
        ndarray of shape (number of values of C,)
            Errors.
        """
        check_is_fitted(self, "paths_")
        family = self.paths_[number].family
        weight, target = family.rests[:, -1], -family.slopes.mean(axis=1)
        return np.asarray(np.abs(self.curves(C)["values"] - target) @ weight / weight.sum())

    def _slack_sums(self, C: Any, number: int) -> np.ndarray:
        family = self.paths_[number].family
        weight, target = family.rests[:, -1], -family.slopes.mean(axis=1)
        off = np.abs(self.curves(C)["values"] - target) - self.epsilon
        return np.asarray(np.maximum(off, 0.0) @ weight)

    def _rows(self) -> list[np.ndarray]:
        return [self._there]

    @property
    def thetas_(self) -> np.ndarray:
        """The coefficients divided by C, at the knots."""
        check_is_fitted(self, "paths_")
        (path,) = self.paths_
        table = np.zeros((path.t.size, self._n))
        table[:, self._there] = path.a
        return table
