"""Support vector machines of structured outputs."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer.estimators.fitting import Solved, proof
from mercer.estimators.machine import KernelMachine, ProblemMachine
from mercer.estimators.structured._split import StructuredTarget, shipped
from mercer.gram import Gram
from mercer.gram.joint import JointFeatures
from mercer.kernels import Kernel, Linear
from mercer.problems import Certificate
from mercer.problems.structured import StructuredRisk
from mercer.solvers import Solver
from mercer.structured import Structure
from mercer.threads import Workers
from mercer.values import keep_parameters

CACHE = 100_000_000  # bytes that a solver may take beside the data
SOLVERS = {"auto", "block_frank_wolfe", "cutting_planes", "stochastic_subgradient"}


class StructuredSVM(ProblemMachine):
    r"""Support vector machine whose values are structures: sequences, sets of labels, matchings, ...

    .. math::
        \min_w \tfrac12 \|w\|^2 + C \sum_i w_i \max_y \bigl[ \Delta(y_i, y)
        - \langle w, \psi(x_i, y_i) - \psi(x_i, y) \rangle \bigr]

    The true output of each row shall beat every other by a margin of at least that one's loss. What an output
    is, ``model`` says: its joint features psi, its loss Delta, and how the maximum is found. Ready ones are
    in :mod:`mercer.structured`; one's own takes three methods (:class:`mercer.structured.Structure`).

    The certificate comes from one pass over all rows with the weights that are shipped. It proves something
    where the maximum is exact, or bounded from above; otherwise the status is "stationary", and nothing is
    proved.

    Parameters
    ----------
    model : mercer.structured.Structure
        What an output is.
    C : float, default=1.0
        Price of a unit of loss.
    tol : float, default=1e-3
        Relative duality gap at which to stop.
    solver : str or mercer.solvers.Solver, default="auto"
        "cutting_planes": a small quadratic problem with a plane for each pass; "auto" takes it for up to 300
        weights, for which it reaches any accuracy. "block_frank_wolfe": steps on the multipliers of a row,
        and on known outputs between two passes. "stochastic_subgradient" is there to be compared with.
    max_iter : int, default=-1
        Most passes over the rows; -1 for no limit.

    Attributes
    ----------
    coef_ : ndarray of shape (n_weights,)
        w.
    model_ : Structure
        ``model`` with what it reads off the training data.
    support_ : ndarray of shape (n_support,)
        Rows of the outputs that have a multiplier, a row once for each.
    support_outputs_ : sequence of length n_support
        These outputs.
    dual_coef_ : ndarray of shape (n_support,)
        Their multipliers: the proof of the dual value.
    certificate_ : Certificate
        Primal, dual, gap, violation.
    n_iter_ : int
        Passes of the solver.
    n_features_in_, feature_names_in_
        For structures whose inputs are the rows of a table.
    fit_status_, shape_fit_, history_
        As in :class:`SVC`.

    See Also
    --------
    mercer.structured.Chain : Sequences of labels.
    mercer.structured.MultiLabel : Several labels for each row.
    mercer.structured.CostSensitive : Classes whose errors have prices.

    References
    ----------
    I. Tsochantaridis, T. Joachims, T. Hofmann and Y. Altun (2005), Large margin methods for structured and
    interdependent output variables, JMLR 6. B. Taskar, C. Guestrin and D. Koller (2003), Max-margin Markov
    networks, NIPS 16.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import StructuredSVM
    >>> from mercer.structured import Chain
    >>> X = [np.array([[0.0], [1.0], [1.0]]), np.array([[1.0], [0.0]])]
    >>> y = [np.array([0, 1, 1]), np.array([1, 0])]
    >>> words = StructuredSVM(Chain(), C=10.0).fit(X, y)
    >>> words.predict([np.array([[1.0], [1.0], [0.0], [0.0]])])
    [array([1, 1, 0, 0])]
    >>> words.score(X, y)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: KernelMachine._parameter_constraints[name]
            for name in ("tol", "verbose", "time_limit", "n_jobs", "warm_start", "on_interrupt", "trace")
        },
        "model": [Structure],
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "solver": [StrOptions(SOLVERS), Solver],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
    }

    criterion = (
        "gap"  # a maximum has kinks, where every slope is right: only the gap says how good weights are
    )
    coef_: np.ndarray
    model_: Any

    def __init__(
        self,
        model: Any,
        *,
        C: float = 1.0,
        tol: float = 1e-3,
        solver: Any = "auto",
        max_iter: int = -1,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        on_interrupt: str = "raise",
        trace: bool = False,
        verbose: Any = False,
    ) -> None:
        keep_parameters(self, locals())

    # -- fit ---------------------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the weights.

        Parameters
        ----------
        X : sequence of length n_samples
            Inputs: whatever the structure takes.
        y : sequence of length n_samples
            Their true outputs.
        sample_weight : array of shape (n_samples,), optional
            Non-negative factors of C; a weight of 2 equals the row twice.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight)
        return self

    def _kernel(self) -> Kernel:
        return Linear()

    def _cache_bytes(self) -> int:
        return CACHE

    def _check_X(self, X: Any, *, kernel: Kernel, reset: bool) -> Any:  # noqa: N802
        structure: Structure = self.model if reset else self.model_
        if not structure.takes_tables:
            for name in ("n_features_in_", "feature_names_in_") if reset else ():
                self.__dict__.pop(name, None)
            return structure.checked_inputs(X)
        X = validate_data(self, X, reset=reset, dtype=np.float64, order="C")
        return structure.checked_inputs(X)

    def _split(self, X: Any, y: Any, sample_weight: Any) -> StructuredTarget:
        return self._target(self.model, X, y, sample_weight)

    def _split_again(self, X: Any, y: Any, sample_weight: Any) -> StructuredTarget:
        return self._target(self.model_, X, y, sample_weight)

    def _target(self, structure: Structure, X: Any, y: Any, sample_weight: Any) -> StructuredTarget:
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None"
            )
        outputs = structure.checked_outputs(X, y)
        if len(outputs) != len(X):
            raise ValueError(
                f"X and y have inconsistent numbers of samples: X has {len(X)} rows, y has "
                f"{len(outputs)} entries"
            )
        base = self._check_weight(sample_weight, X, len(X))
        return StructuredTarget(structure.resolve(X, outputs), outputs, base)

    def _matrix(self, kernel: Kernel, X: Any, split: Any, workers: Workers) -> Gram:
        return JointFeatures(self.model_.examples(X, split.tasks[0].target, workers))

    def _problem(self, target: Any, weight: Any, matrix: Any) -> StructuredRisk:
        return StructuredRisk(matrix, self.C * weight)

    def _stated(self, target: Any, weight: Any, matrix: Any, beside: Any = None) -> StructuredRisk:
        return self._problem(target, weight, matrix)

    def _keep_history(self, history: list[Any]) -> None:
        super()._keep_history(history[0])

    def _certify(self, X: Any, y: Any, sample_weight: Any) -> Certificate:
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        self._fitted_length(X)
        split = self._split_again(X, y, sample_weight)
        self.model_.check_weights(self.coef_)
        matrix = JointFeatures(self.model_.examples(X, split.tasks[0].target, self._workers()))
        problem, machine = self._stated(None, split.weight, matrix), shipped(self, matrix.n)
        known = self.certificate_
        found = Solved(problem, machine, known.n_iter, known.status, matrix.noise(self.coef_))
        return proof(self, [found])

    def _fitted_length(self, X: Any) -> int:
        if len(X) != self.shape_fit_[0]:
            raise ValueError(f"X has {len(X)} rows; this model was fitted on {self.shape_fit_[0]}")
        return len(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tables = bool(getattr(self.model, "takes_tables", False))
        tags.input_tags.two_d_array, tags.input_tags.sparse = tables, False
        tags.input_tags.pairwise = tags.input_tags.positive_only = False
        tags.target_tags.required = True
        return tags

    # -- use ---------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> Any:
        """Return the outputs of the largest scores.

        Parameters
        ----------
        X : sequence
            Inputs.

        Returns
        -------
        sequence
            A structure for each input: a list, or an array where structures have all the same shape.
        """
        check_is_fitted(self)
        X = self._check_X(X, kernel=self.kernel_, reset=False)
        self.model_.check_weights(self.coef_)
        return self.model_.predictions(X, self.coef_, self._workers())

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return one minus the mean loss, per part where an output has parts (the labels of a sequence).

        Parameters
        ----------
        X : sequence
            Inputs.
        y : sequence
            Their true outputs.
        sample_weight : array of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        float
            1 where all is right.
        """
        found = self.predict(X)
        if len(found) != len(y):
            raise ValueError(
                f"X and y have inconsistent numbers of samples: X has {len(found)} rows, y has "
                f"{len(y)} entries"
            )
        weight = self._check_weight(sample_weight, X, len(found))
        rows = list(zip(list(y), found, strict=True))
        losses = np.array([self.model_.loss(true, other) for true, other in rows])
        parts = np.array([self.model_.parts(true) for true, _ in rows])
        return 1.0 - float(weight @ losses) / float(weight @ parts)
