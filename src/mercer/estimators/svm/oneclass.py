"""The one-class support vector machine."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.approximation._mixin import APPROXIMATION, ApproximationMixin
from mercer.estimators.degenerate import DegenerateFitWarning
from mercer.estimators.machine import KernelMachine
from mercer.estimators.sklearn_models import TwinMixin
from mercer.estimators.svm.detector import BaseDetector
from mercer.estimators.updating.mixin import UPDATES, UpdateMixin
from mercer.estimators.user_warnings import warn_user
from mercer.gram import Gram
from mercer.problems import Dual
from mercer.problems.linear_plane import LinearPlane, plane_of
from mercer.problems.novelty import Hyperplane, PlaneMachine
from mercer.values import keep_parameters


class OneClassSVM(UpdateMixin, ApproximationMixin, TwinMixin, BaseDetector):
    r"""One-class SVM: the hyperplane that separates the data from the origin with the largest margin.

    .. math::
        \min_{w, \rho} \tfrac12 \|w\|^2 - \nu W \rho + \sum_i w_i \max(0, \rho - \langle w, \phi(x_i)
        \rangle), \qquad W = \sum_i w_i

    At most a share nu of the weight lies below the plane and at least a share nu is on support vectors.
    Points on the plane count as normal: rho is the largest value for which no point below its bound is
    called novel, where LIBSVM takes a mean over the points on the plane and calls half of them novel. For
    kernels with k(x, x) = 1 it finds the same region as :class:`SVDD` with the same nu: there r^2 -
    distance^2 = 2 / (nu W) times ``decision_function``.

    Parameters
    ----------
    tol : float, default=1e-3
        Largest KKT violation (``criterion="kkt"``), in units of rho where that is below one, or relative gap
        (``"gap"``) at which to stop.
    nu : float, default=0.5
        In (0, 1]: upper bound on the share of outliers, lower bound on the share of support vectors.

    Attributes
    ----------
    offset_ : array of shape (1,)
        rho: ``decision_function(X) = score_samples(X) - offset_``.
    intercept_ : array of shape (1,)
        Minus rho.
    outside_fraction_ : float
        Share of the weight strictly below the plane; at most nu.
    support_fraction_ : float
        Share of the weight on support vectors; at least nu.
    certificate_ : Certificate
        Primal, dual, gap, KKT violation.
    coef_ : array of shape (1, n_features)
        Weights of the features, for the linear kernel.
    support_, support_vectors_, n_support_, dual_coef_, n_iter_, fit_status_, shape_fit_
        As in scikit-learn's OneClassSVM.
    kernel_ : Kernel
        The kernel with its data-dependent parameters fixed.
    kernel_weights_ : ndarray of shape (n_kernels,)
        With :class:`~mercer.kernels.MultipleKernel`: the weights of its kernels.
    history_ : list of dict
        With ``trace=True``, a line per round of the solver: ``n_iter``, ``seconds``, ``dual``, ``primal``,
        ``gap``, ``kkt_violation``, ``margin``, ``n_support`` and ``kernel_evaluations``.
    feature_map_, feature_weights_, n_components_, distance_from_exact_
        With ``approximation``: the fitted map, the weights of its features (a row for each function), their
        number, and a :class:`~mercer.problems.DistanceFromExact`. There are no support vectors then;
        ``dual_coef_`` has the multipliers of all rows, sparse, where the weights do not determine them.
    X_fit_, sample_weight_fit_
        With ``updatable=True``: the training rows in order of arrival, and their weights.

    References
    ----------
    Schoelkopf, Platt, Shawe-Taylor, Smola and Williamson (2001), Estimating the support of a high-dimensional
    distribution, Neural Computation 13. Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern
    Analysis, Remark 7.16.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import OneClassSVM
    >>> X = np.random.default_rng(0).standard_normal((100, 2))
    >>> model = OneClassSVM(nu=0.1).fit(X)
    >>> model.predict([[0.5, -0.5], [9.0, 9.0]])
    array([ 1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
        **APPROXIMATION,
        **UPDATES,
    }
    _parameter_constraints.pop("fit_intercept")
    _learns_kernel_weights = True
    _reads_target = False

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: Any = False,
        max_iter: int = -1,
        solver: Any = "auto",
        criterion: str = "kkt",
        time_limit: float | None = None,
        n_jobs: int | None = None,
        precision: str = "auto",
        warm_start: bool = False,
        on_interrupt: str = "raise",
        trace: bool = False,
        approximation: Any = None,
        n_components: Any = "auto",
        updatable: bool = False,
        window: int | None = None,
    ) -> None:
        keep_parameters(self, locals())

    def _problem(self, target: Any, weight: np.ndarray, matrix: Gram) -> Dual:
        return Hyperplane(weight, self.nu, float(matrix.diag()[weight > 0].max(initial=0.0)))

    def _on_features(self, target: Any, weight: Any, features: Any) -> LinearPlane:
        return LinearPlane(features, weight, self.nu)

    def _keep_biases(self, biases: np.ndarray, split: Any) -> None:
        self.intercept_ = biases - 1.0  # minus rho

    def _biases(self) -> np.ndarray:
        return np.asarray(self.intercept_ + 1.0)

    def _keep_on_features(self, machines: list[Any], split: Any) -> None:
        self._keep([plane_of(machine, split.weight) for machine in machines], split)

    def _price_of_loss(self) -> float:
        return float(self.nu)

    def _keep(self, machines: list[PlaneMachine], split: Any) -> None:
        (machine,) = machines
        self.offset_ = 0.0 - self.intercept_
        self.outside_fraction_ = machine.outside
        self.support_fraction_ = machine.support
        if machine.collapsed:
            warn_user(
                "the origin of feature space lies inside the reduced convex hull of the points at "
                f"nu={self.nu:g}: the optimum is w = 0 and no plane separates the data from the origin. The "
                "scores are zero up to rounding; take a kernel with positive values (rbf), or SVDD.",
                DegenerateFitWarning,
            )

    def score_samples(self, X: Any) -> np.ndarray:
        """Return <w, phi(x)>.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n,)
            Larger is more normal; ``offset_`` is the threshold.
        """
        check_is_fitted(self)
        return self._products(self._check_X(X, kernel=self.kernel_, reset=False))[:, 0]
