"""Classes whose errors have prices."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from mercer.arrays import Float64, Index, Ints
from mercer.structured.costs import checked_costs
from mercer.structured.examples import Examples
from mercer.structured.tables import TableStructure
from mercer.threads import Workers


class CostSensitive(TableStructure):
    r"""Classes, with a price for each way to take one for another.

    .. math::
        \langle w, \psi(x, y) \rangle = \langle u_y, x \rangle

    Parameters
    ----------
    costs : array of shape (k, k), optional
        What it costs to predict a class (column) where another (row) is true, classes in ascending order; 1
        for every wrong class by default.
    bias : bool, default=True
        Whether each class has a weight of its own, beside those of the features.
    classes : array of shape (k,), optional
        The classes, in ascending order; those of the training data by default.
    n_features : int, optional
        Read off the training data when not given.

    References
    ----------
    K. Crammer and Y. Singer (2001), On the algorithmic implementation of multiclass kernel-based vector
    machines, JMLR 2. I. Tsochantaridis, T. Joachims, T. Hofmann and Y. Altun (2005), Large margin methods for
    structured and interdependent output variables, JMLR 6.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import StructuredSVM
    >>> from mercer.structured import CostSensitive
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array(["no", "no", "yes", "yes"])
    >>> StructuredSVM(CostSensitive(), C=10).fit(X, y).predict([[0.5]])
    array(['yes'], dtype='<U3')
    """

    def __init__(
        self, costs: Any = None, *, bias: bool = True, classes: Any = None, n_features: int | None = None
    ) -> None:
        self.costs = costs
        self.bias = bias
        self.classes = classes
        self.n_features = n_features

    # -- the three methods -----------------------------------------------------------------------------------

    def joint_feature(self, x: Any, y: Any) -> Float64:
        """Return the features of x in the place of the class y."""
        row = self.with_constant(np.asarray(x, dtype=np.float64)[None])[0]
        table = np.zeros((self._classes.size, row.size))
        table[self._code(y)] = row
        return table.ravel()

    def loss(self, y: Any, other: Any) -> float:
        """Return the cost."""
        return float(self._costs()[self._code(y), self._code(other)])

    def argmax(self, x: Any, w: Float64, y: Any = None) -> Any:
        """Return the best class."""
        scores = self.scores(np.asarray(x, dtype=np.float64)[None], w)[0]
        if y is not None:
            scores = scores + self._costs()[self._code(y)]
        return self._classes[int(scores.argmax())]

    def validate(self) -> None:
        """Refuse parameters that are not allowed."""
        super().validate()
        if self.classes is not None:
            classes = self._classes
            if classes.ndim != 1 or classes.size < 2 or not np.array_equal(np.unique(classes), classes):
                raise ValueError(f"CostSensitive: classes={self.classes!r} must be distinct and ascending")
            if self.costs is not None:
                checked_costs(self.costs, classes.size)

    # -- what follows ----------------------------------------------------------------------------------------

    def scores(self, X: Float64, w: Float64) -> Float64:
        """Return the scores of all classes, a column for each."""
        self.check_weights(w)
        return np.asarray(self.with_constant(X) @ w.reshape(self._classes.size, -1).T)

    @property
    def n_weights(self) -> int:
        """The length of w, once classes and features are known."""
        return self._classes.size * (int(self._known("n_features")) + bool(self.bias))

    @property
    def _classes(self) -> np.ndarray:
        return np.asarray(self._known("classes"))

    def _code(self, y: Any) -> int:
        code = int(np.searchsorted(self._classes, y))
        if code == self._classes.size or self._classes[code] != y:
            raise ValueError(f"the class {y!r} is not one of {self._classes.tolist()}")
        return code

    def _costs(self) -> Float64:
        k = self._classes.size
        return 1.0 - np.eye(k) if self.costs is None else checked_costs(self.costs, k)

    def checked_outputs(self, X: Any, Y: Any) -> np.ndarray:
        """Return the classes, or refuse them."""
        labels: np.ndarray = column_or_1d(Y, warn=True)
        check_classification_targets(labels)
        if self.classes is not None:
            unknown = np.setdiff1d(labels, self._classes)
            if unknown.size:
                raise ValueError(f"y holds {unknown[0]!r}, which is not one of {self._classes.tolist()}")
        return labels

    def resolve(self, X: Any, Y: Any) -> Self:
        """Return this structure with its classes and its number of features."""
        classes = np.unique(Y) if self.classes is None else self._classes
        if classes.size < 2:
            raise ValueError(
                f"The number of classes has to be greater than one; got {classes.size} class in y: {classes}"
            )
        costs = None if self.costs is None else checked_costs(self.costs, classes.size)
        return self.sized(X, classes=classes, costs=costs)

    def examples(self, X: Any, Y: Any, workers: Workers) -> Examples:
        """Return the training data as solvers see them."""
        return ClassExamples(self, X, Y, workers)

    def predictions(self, X: Any, w: Float64, workers: Workers) -> np.ndarray:
        """Return the best classes."""
        found: np.ndarray = self._classes[self.scores(X, w).argmax(axis=1)]
        return found

    def collected(self, outputs: Any) -> Ints:
        """Return the numbers of the classes."""
        return np.asarray(outputs, dtype=np.int64)


class ClassExamples(Examples):
    """Rows with their classes, which are numbers here.

    Parameters
    ----------
    structure : CostSensitive
        With its classes and its number of features.
    X : (n, d) float64
        Inputs.
    Y : (n,) array
        Classes.
    workers : Workers
        Threads.
    """

    def __init__(self, structure: CostSensitive, X: Float64, Y: np.ndarray, workers: Workers) -> None:
        self.structure, self.X, self.workers = structure, structure.with_constant(X), workers
        self.Y = np.searchsorted(structure._classes, Y)
        self.n, self.width, self.exact = len(X), structure.n_weights, True
        self.costs = structure._costs()
        self.reach = 2.0 * np.sqrt(np.einsum("ij,ij->i", self.X, self.X))

    def true_feature(self, i: int) -> Float64:
        """Return psi(x_i, y_i)."""
        table = np.zeros((len(self.costs), self.X.shape[1]))
        table[self.Y[i]] = self.X[i]
        return table.ravel()

    def worst(self, rows: Index, w: Float64) -> tuple[Any, Float64, Float64]:
        """Return for each row the class of the largest score with its cost."""
        truth, here = self.Y[rows], np.arange(rows.size)
        scores = self.X[rows] @ w.reshape(len(self.costs), -1).T
        augmented = scores + self.costs[truth]
        found = augmented.argmax(axis=1)
        values = augmented[here, found] - scores[here, truth]
        return found, values, np.maximum(values, 0.0)

    def differences(self, rows: Index, outputs: Any) -> tuple[sp.csr_array, Float64]:
        """Return the differences of features, and the costs."""
        truth, found, part = self.Y[rows], self._codes(outputs), self.X[rows]
        d = part.shape[1]
        apart = np.where(truth != found, 1.0, 0.0)[:, None]
        data = np.concatenate([part * apart, -part * apart], axis=1)
        indices = np.concatenate(
            [truth[:, None] * d + np.arange(d), found[:, None] * d + np.arange(d)], axis=1
        )
        indptr = np.arange(rows.size + 1) * (2 * d)
        table = sp.csr_array(
            (data.ravel(), indices.ravel().astype(np.int32), indptr.astype(np.int32)),
            shape=(rows.size, self.width),
        )
        table.sum_duplicates()  # of rows whose class is right: nothing is left of them
        table.eliminate_zeros()
        return table, self.costs[truth, found]

    def keys(self, rows: Index, outputs: Any) -> list[Hashable]:
        """Return the numbers of the classes, None for those that are true."""
        found = self._codes(outputs)
        return [None if y == t else y for y, t in zip(found.tolist(), self.Y[rows].tolist(), strict=True)]

    def suits(self, rows: Index, outputs: Any) -> bool:
        """Return whether classes of an earlier fit are classes of this one."""
        found = np.asarray(outputs)
        return not found.size or (int(found.min()) >= 0 and int(found.max()) < len(self.costs))

    def _codes(self, outputs: Any) -> Ints:
        found = np.asarray(outputs, dtype=np.int64)
        if not self.suits(np.zeros(0, dtype=np.intp), outputs):
            raise ValueError(f"outputs must be numbers of classes from 0 to {len(self.costs) - 1}")
        return found
