"""Class probabilities of classifiers made of two-class machines."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.splits import BinaryTask
from mercer.estimators.verdict import UNSET as UNSET
from mercer.estimators.verdict import wants_probabilities as wants_probabilities
from mercer.gram import Gram
from mercer.gram.base import MatrixGram
from mercer.problems import Dual
from mercer.problems.calibration import link_logits
from mercer.solvers import Solution, Solver
from mercer.solvers.calibration.coupling import couple
from mercer.solvers.calibration.link import fit_link
from mercer.solvers.dual.held_out import held_out

FOLDS = 5


class Calibration:
    """Links of all two-class machines of one fit, each found right after its machine.

    Parameters
    ----------
    labels : (n,) intp
        Class number of each row.
    weight : (n,) float64
        Sample weights without class weights: probabilities are about the population that the rows stand for.
    random_state : int, RandomState or None
        Of the folds; None is 0.
    n_machines : int
        Number of two-class machines.
    """

    def __init__(self, labels: np.ndarray, weight: np.ndarray, random_state: Any, n_machines: int) -> None:
        self.fold = folds(labels, weight > 0, random_state)
        self.weight = weight
        self.links: list[Any] = [None] * n_machines
        self.n_iter = np.zeros(n_machines, dtype=np.int32)

    @staticmethod
    def watch(matrix: Gram) -> Gram:
        """Return the kernel matrix in a form that remembers what the solver asked for."""
        return matrix if isinstance(matrix, MatrixGram) else MatrixGram(None, origin=matrix)

    def learn(
        self,
        number: int,
        task: BinaryTask,
        matrix: Gram,
        dual: Dual,
        solution: Solution,
        problem: Callable[[np.ndarray, np.ndarray, Gram], Dual],
        weight: np.ndarray,
        solver: Solver,
    ) -> None:
        """Fit the link of one machine to decision values of rows that were held out.

        Parameters
        ----------
        number : int
            Which machine.
        task : BinaryTask
            Its rows and signs.
        matrix, dual, solution
            Its kernel matrix, problem and solution.
        problem : callable
            The estimator's ``_problem``.
        weight : (rows,) float64
            The weights that the problem was made with.
        solver : Solver
            The estimator's solver.
        """
        fold = self.fold[task.rows]
        left = partial(
            weight_without, sign=task.sign, weight=weight, even=_decides_bias(dual, solution.b, fold)
        )
        found = held_out(
            dual.view(matrix),
            dual,
            solution,
            fold,
            task.sign,
            lambda out: problem(task.sign, left(out), matrix),
            solver,
        )
        positive = task.sign[found.rows] > 0
        self.links[number] = fit_link(found.values, positive, self.weight[task.rows[found.rows]])
        self.n_iter[number] = found.n_iter


def _decides_bias(dual: Dual, b: np.ndarray, fold: np.ndarray) -> bool:
    """Return whether a fold takes more from the sum of the multipliers than those inside their box can give.

    So it is with a small C, where most are at their bounds: a row more of one class than of the other then
    moves the bias as far as the data reach, and machines of folds would jump between the classes.
    """
    inside = (b > dual.lo) & (b < dual.hi)
    spare = float(np.minimum(b - dual.lo, dual.hi - b)[inside].sum())
    taken = np.bincount(fold[fold >= 0], weights=b[fold >= 0]) if (fold >= 0).any() else np.zeros(1)
    return bool(np.abs(taken).max() > spare)


def weight_without(out: np.ndarray, sign: np.ndarray, weight: np.ndarray, even: bool) -> np.ndarray:
    """Return the weights of the rows that a fold leaves.

    Parameters
    ----------
    out : (n,) bool
        The rows of the fold.
    sign : (n,) float64
        Labels +1 and -1.
    weight : (n,) float64
        Weights of all rows.
    even : bool
        Whether the rarer class is weighed so that the classes keep the proportion of all rows.
    """
    left = np.where(out, 0.0, weight)
    if not even:
        return left
    few = sign > 0
    if few.sum() > (~few).sum():
        few = ~few
    before, after = (w[few].sum() / w[~few].sum() if w[~few].any() else 0.0 for w in (weight, left))
    if before > 0 and after > 0:
        left[few] *= before / after
    return left


def folds(labels: np.ndarray, present: np.ndarray, random_state: Any) -> np.ndarray:
    """Return a fold number for each row, every class spread evenly over the folds.

    A class of fewer rows than folds loses one at a time. A class of a single row, without which nothing
    could be learned, is never held out (-1), and neither are rows that are not present.

    Parameters
    ----------
    labels : (n,) intp
        Class number of each row.
    present : (n,) bool
        Whether the row has a weight.
    random_state : int, RandomState or None
        None is 0: the same data give the same model, and no global state is touched.
    """
    random = check_random_state(0 if random_state is None else random_state)
    fold = np.full(labels.size, -1, dtype=np.intp)
    dealt = 0
    for c in range(int(labels.max()) + 1):
        rows = np.flatnonzero((labels == c) & present)
        if rows.size > 1:
            fold[random.permutation(rows)] = (dealt + np.arange(rows.size)) % FOLDS
            dealt += rows.size
    return fold


def _asked_for(estimator: Any) -> bool:
    if not wants_probabilities(estimator):
        raise AttributeError(
            f"predict_proba is not available when probability=False: fit {type(estimator).__name__} with "
            "probability=True, or use CalibratedClassifierCV"
        )
    return True


class ProbabilityMixin:
    """``predict_proba`` of a classifier made of two-class machines.

    The classifier has ``classes_``, ``multiclass``, ``_raw_decision(X)`` (a column per machine) and
    ``_choose(F)`` (the number of the predicted class, from those columns); its ``fit`` calls a
    :class:`Calibration` after each machine.

    Attributes
    ----------
    link_knots_, link_slopes_ : ndarray of shape (n_machines, 2, n_pieces)
        How decision values below 0 and above 0 become logits: piecewise linear, 0 at 0.
    """

    def _calibration(self, split: Any) -> Calibration:
        random_state = getattr(self, "random_state", None)
        return Calibration(split.labels.numbers, split.base, random_state, len(split.tasks))

    def _keep_links(self, calibration: Calibration) -> None:
        self.link_knots_ = np.array([knots for knots, _ in calibration.links])
        self.link_slopes_ = np.array([slopes for _, slopes in calibration.links])

    @available_if(_asked_for)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes; the largest is that of ``predict``.

        A link that is 1/2 at decision 0 was fitted to the decision values of rows that were held out in
        turn. For more than two classes the pairs are coupled under the condition that the predicted class
        leads.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        check_is_fitted(self)
        if not hasattr(self, "link_knots_"):
            raise NotFittedError(
                "predict_proba is not available when fitted with probability=False: fit it again with True"
            )
        this: Any = self
        F: np.ndarray = this._raw_decision(X)
        choice: np.ndarray = this._choose(F)
        logits = link_logits(F, self.link_knots_, self.link_slopes_)
        return couple(logits, this.classes_.size, choice, pairs=this.multiclass == "ovo")

    @available_if(_asked_for)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Logarithms of ``predict_proba``.
        """
        logarithms: np.ndarray = np.log(self.predict_proba(X))
        return logarithms
