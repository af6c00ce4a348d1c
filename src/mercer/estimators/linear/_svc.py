"""The linear support vector classifier, with the parameters of scikit-learn's class."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from mercer.estimators.linear._classifier import WeightClassifier
from mercer.problems.losses import CLASSIFICATION, Loss, as_loss
from mercer.values import keep_parameters

DUAL = {"auto": "auto", True: "coordinate_descent", False: "linear_newton"}


class LinearSVC(WeightClassifier):
    r"""The linear support vector machine, in time and memory linear in the rows.

    .. math::
        \min_{w, b} \tfrac12 \|w\|^2 + \tfrac12 (b / s)^2
        + C \sum_i w_i \, L(y_i (\langle w, x_i \rangle + b))

    with the hinge or the squared hinge, and s the ``intercept_scaling``. Parameters, defaults and attributes
    are those of :class:`sklearn.svm.LinearSVC`; what is new is that every fit proves how near it is to the
    optimum (``certificate_``), that the bias may be left unpenalised, and that the hinge does not need
    thousands of sweeps.

    Parameters
    ----------
    penalty : {"l2"}, default="l2"
        "l1" is refused.
    loss : {"hinge", "squared_hinge"}, default="squared_hinge"
        The loss.
    tol : float, default=1e-4
        Relative duality gap at which to stop: 1e-4 means proved within 0.01 % of the optimum.
    multi_class : {"ovr"}, default="ovr"
        One machine per class. "crammer_singer" is refused.
    class_weight : dict or "balanced", optional
        Factors of C for the classes.
    verbose : int, default=0
        Print a line per round.
    max_iter : int, default=1000
        Most Newton steps or sweeps; -1 for no limit.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Biases.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    certificate_ : Certificate
        Primal, dual, gap, violation; one part per function.
    dual_coef_ : sparse array of shape (n_functions, n_samples)
        The multipliers that prove the gap, for the hinge and after coordinate descent.
    n_iter_ : int
        Most steps of any function's solver.
    loss_, fit_status_, shape_fit_, class_weight_, history_
        As in :class:`mercer.KernelClassifier`.

    See Also
    --------
    LinearClassifier : The same with any loss.
    SVC : The same with any kernel, and support vectors.

    References
    ----------
    .. [1] R.-E. Fan, K.-W. Chang, C.-J. Hsieh, X.-R. Wang and C.-J. Lin (2008). LIBLINEAR: a library for
       large linear classification. *Journal of Machine Learning Research* 9, 1871-1874.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mercer import LinearSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = LinearSVC(loss="hinge").fit(X, y)
    >>> bool(model.certificate_.relative_gap < 1e-4), round(model.score(X, y), 2)
    (True, 0.99)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{k: v for k, v in WeightClassifier._parameter_constraints.items() if k != "solver"},
        "penalty": [StrOptions({"l1", "l2"})],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "dual": ["boolean", StrOptions({"auto"})],
        "multi_class": [StrOptions({"ovr", "crammer_singer"})],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: bool | str = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool | str = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        on_interrupt: str = "raise",
        trace: bool = False,
    ) -> None:
        keep_parameters(self, locals())

    @property
    def solver(self) -> str:
        """The solver that ``dual`` asks for."""
        return DUAL[self.dual]

    def _check_parameters(self) -> None:
        if self.penalty == "l1":
            raise ValueError(
                "penalty='l1' is not supported: these machines have a Euclidean norm, whose dual proves how "
                "good they are. Use penalty='l2', or scikit-learn's LinearSVC for sparse weights"
            )
        if self.multi_class == "crammer_singer":
            raise ValueError(
                "multi_class='crammer_singer' is not supported: use multi_class='ovr', which needs less time "
                "and is rarely less accurate"
            )

    def _loss(self, n_classes: int) -> Loss:
        return as_loss(self.loss, CLASSIFICATION)
